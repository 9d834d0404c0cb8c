"""Sweeps give the same whoever runs them, and go on where they were stopped."""

import json
import os
import shutil
import sys

import joblib
import numpy as np
import pytest

import askless
from askless.datasets import make_clinic
from askless.exceptions import DataFileError, InvalidOptionError
from askless.problem._sweep import KeptResults, make_key, run_tasks

CLINIC = make_clinic(300, random_state=0)


def models():
    return {
        "tree": [askless.GreedyTreeClassifier(max_depth=depth) for depth in (1, 3)],
        "forest": askless.BudgetForestClassifier(n_estimators=4, random_state=0),
    }


def measure(**options):
    options = {"cv": 2, "budgets": [5, 40], **options}
    return askless.frontier(
        models(), CLINIC.to_frame(), CLINIC.y, CLINIC.costs, **options
    )


@pytest.fixture(scope="module")
def expected():
    return measure()


@pytest.fixture(scope="module")
def client(dask_cluster):
    distributed = pytest.importorskip("distributed")
    with distributed.Client(dask_cluster) as client:
        yield client


@pytest.mark.parametrize("backend", ["sequential", "threading", "loky"])
def test_a_frontier_is_the_same_under_every_back_end(backend, expected):
    with joblib.parallel_config(backend, n_jobs=2):
        assert measure() == expected


def test_a_frontier_is_the_same_on_dask(client, expected):
    with joblib.parallel_config("dask"):
        assert measure() == expected


def test_a_frontier_is_the_same_on_ray(ray_cluster, expected):
    from ray.util.joblib import register_ray

    register_ray()
    with joblib.parallel_config("ray", n_jobs=2):
        assert measure() == expected


# Spark says so of pandas 3, which is not used here; sessions leave sockets behind.
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
def test_a_frontier_is_the_same_on_spark(expected):
    joblibspark = pytest.importorskip("joblibspark", reason="joblibspark is missing")
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, which is not installed")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        sql.SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    joblibspark.register_spark()
    try:
        with joblib.parallel_config("spark", n_jobs=2):
            assert measure() == expected
    finally:
        session.stop()


def test_n_jobs_is_enough_to_run_fits_at_once(expected):
    assert measure(n_jobs=2) == expected


class Quitter(askless.GreedyTreeClassifier):
    """Fits until it is told to stop."""

    left = 0

    def fit(self, X, y, **others):
        if Quitter.left == 0:
            raise KeyboardInterrupt
        Quitter.left -= 1
        return super().fit(X, y, **others)


def test_a_frontier_that_was_stopped_goes_on(tmp_path):
    curve = {"tree": [Quitter(max_depth=depth) for depth in (1, 2, 3)]}
    data = (CLINIC.to_frame(), CLINIC.y, CLINIC.costs)
    Quitter.left = 4
    with pytest.raises(KeyboardInterrupt):
        askless.frontier(curve, *data, cv=2, kept=tmp_path)
    assert len(list(tmp_path.glob("*.json"))) == 4
    Quitter.left = 2
    found = askless.frontier(curve, *data, cv=2, kept=tmp_path)
    assert Quitter.left == 0
    Quitter.left = 6
    assert found == askless.frontier(curve, *data, cv=2)
    # All is there: nothing is fitted.
    assert found == askless.frontier(curve, *data, cv=2, kept=tmp_path)


@pytest.mark.parametrize(
    "change", [{"cv": 3}, {"budgets": [6, 40]}, {"metric": "mistakes"}]
)
def test_results_of_something_else_are_not_taken(change, tmp_path):
    metric = askless.Costs(dict(CLINIC.costs.costs), mistakes=3)
    options = {"cv": 2, "budgets": [5, 40]}
    curve, X = models(), CLINIC.to_frame()
    askless.frontier(curve, X, CLINIC.y, metric, kept=tmp_path, **options)
    options |= change
    found = askless.frontier(curve, X, CLINIC.y, metric, kept=tmp_path, **options)
    assert found == askless.frontier(curve, X, CLINIC.y, metric, **options)


def test_a_metric_without_a_name_is_not_kept(tmp_path):
    with pytest.raises(InvalidOptionError, match="must have a metric of a name"):
        measure(metric=lambda true, decided: 0.0, kept=tmp_path)


def test_every_fit_is_told():
    told = []
    measure(callbacks=told.append)
    assert sorted(progress.name for progress in told) == sorted(
        f"fold {fold} of 2, {model}"
        for fold in (1, 2)
        for model in ("tree max_depth=1", "tree max_depth=3", "forest ")
    )
    assert told[-1].done == 1


def test_a_stop_waits_for_the_first_fold():
    found = measure(callbacks=lambda told: True)
    assert found.n_folds == 1
    assert {point.model for point in found.points} == {"tree", "forest"}


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_boosters_are_the_same_under_every_back_end(backend):
    pytest.importorskip("lightgbm")
    # More than a megabyte, so that workers get the matrix by a read-only map.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 60))
    y = (X[:, :3].sum(axis=1) > 0).astype(int)
    options = {"budget": 3, "n_estimators": 5, "random_state": 0}
    options |= {"tradeoffs": (0.001, 0.15), "bagged_tradeoffs": (0.025,)}
    expected = askless.BudgetBoostClassifier(**options).fit(X, y)
    with joblib.parallel_config(backend, n_jobs=2):
        found = askless.BudgetBoostClassifier(**options).fit(X, y)
    assert found.point_ == expected.point_
    assert found.policy_.cost(X).tobytes() == expected.policy_.cost(X).tobytes()
    assert found.predict(X).tobytes() == expected.predict(X).tobytes()


def make_tables(n=4):
    rng = np.random.default_rng(0)
    costs = rng.integers(1, 9, size=(n, 6)).tolist()
    codes = rng.integers(0, 3, size=(12, 6))
    table = askless.Table(codes, [str(i) for i in range(12)])
    return [table.with_costs(some) for some in costs]


def check_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert one.expected_cost == other.expected_cost
        assert one.lower_bound == other.lower_bound
        assert askless.show(one.policy) == askless.show(other.policy)
        assert (one.status, one.notes) == (other.status, other.notes)


@pytest.mark.filterwarnings("ignore::askless.exceptions.IndistinctCasesWarning")
@pytest.mark.parametrize("options", [{}, {"objective": "both"}, {"max_error": 0.2}])
def test_many_tables_are_solved_as_each_is(options, tmp_path):
    tables = make_tables()
    expected = [askless.solve(table, n_jobs=1, **options) for table in tables]
    check_same(askless.solve_many(tables, **options), expected)
    with joblib.parallel_config("threading", n_jobs=2):
        check_same(askless.solve_many(tables, kept=tmp_path, **options), expected)
    told = []
    again = askless.solve_many(tables, kept=tmp_path, callbacks=told.append, **options)
    check_same(again, expected)
    assert [progress.name for progress in told] == [
        f"table {i} of 4" for i in (1, 2, 3, 4)
    ]
    assert [p.policy.expected_cost for p in again[0].pareto] == [
        p.policy.expected_cost for p in expected[0].pareto
    ]


def test_a_solution_of_many_can_be_asked_what_it_hangs_on():
    (solution,) = askless.solve_many(make_tables(1))
    assert solution.sensitivity(time_limit=0.1).rows


def test_kept_results_are_plain_and_whole(tmp_path):
    kept = KeptResults(tmp_path / "new")
    key = make_key("a", np.arange(3))
    assert run_tasks(pow, [(2, 3)], kept=kept, keys=[key]) == [8]
    (path,) = (tmp_path / "new").iterdir()
    assert json.loads(path.read_text()) == {"key": key, "result": 8}
    path.write_text(path.read_text()[:-3])
    assert kept.find(key) is None
    assert run_tasks(pow, [(2, 3)], kept=kept, keys=[key]) == [8]
    assert kept.find(key) == 8


def test_a_file_is_no_folder_for_results(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataFileError, match="must be kept in a folder"):
        KeptResults(tmp_path / "file")


def test_a_back_end_that_gives_results_in_parts_is_asked_for_parts(monkeypatch):
    from joblib._parallel_backends import ThreadingBackend

    class Parts(ThreadingBackend):
        supports_return_generator = False

    joblib.register_parallel_backend("parts", Parts)
    told = []
    with joblib.parallel_config("parts", n_jobs=2):
        found = run_tasks(
            pow, [(i, 2) for i in range(20)], on_done=lambda *done: told.append(done)
        )
    assert found == [i * i for i in range(20)]
    assert told == list(enumerate(found))
