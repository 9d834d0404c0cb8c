"""Rows of Dask are scored as in one process, on a cluster of real processes."""

import pandas as pd
import pytest

import askless
from askless.exceptions import InvalidTableError
from askless.scale._frames import score_frame
from askless.scale._scorer import Scorer
from askless.scale.dask import score
from tests.policy.examples import EXAMPLES, make_example
from tests.scale.test_batches import as_arrow
from tests.strategies import random_rows

dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client(dask_cluster):
    with distributed.Client(dask_cluster) as client:
        yield client


def make_rows(policy, rng, n=40):
    rows = as_arrow(random_rows(rng, policy.tests, n)).to_pandas()
    rows["key"] = range(n)
    return rows.set_index(pd.Index(range(100, 100 + n), name="row"))


def check_same(policy, rows, found, keep=("key",)):
    assert list(found.columns) == [*keep, "decision", "cost"]
    decided, paid = policy.predict_and_cost(rows)
    assert list(found.index) == list(rows.index)
    if len({type(label) for label in policy.classes}) > 1:
        decided = [str(label) for label in decided]
    assert list(found["decision"]) == list(decided)
    assert found["cost"].to_numpy().tobytes() == paid.tobytes()
    for name in keep:
        assert list(found[name]) == list(rows[name])


# First what needs no client: once there is one, it is used.


def test_without_a_client_it_runs_here(rng):
    policy = make_example("forest")
    rows = make_rows(policy, rng)
    scored = score(policy, dd.from_pandas(rows, npartitions=3), keep=["key"])
    check_same(policy, rows, scored.compute(scheduler="threads"))


def test_only_what_can_be_asked_is_read(tmp_path, rng):
    policy = make_example("numbers")
    rows = make_rows(policy, rng).assign(spare=1.0).reset_index(drop=True)
    rows.to_parquet(tmp_path / "rows.parquet")
    scored = score(policy, dd.read_parquet(tmp_path / "rows.parquet"))
    read = next(iter(scored.expr.simplify().find_operations(_reading())))
    assert set(read.columns) == set(policy.columns)
    check_same(policy, rows, scored.compute(scheduler="sync"), keep=())


def _reading():
    from dask.dataframe.dask_expr.io import ReadParquet

    return ReadParquet


def test_a_column_of_several_kinds_is_refused(rng):
    policy = make_example("numbers")
    rows = make_rows(policy, rng, 4).assign(age=[1, "two", 3.0, None])
    with pytest.raises(InvalidTableError, match="must hold one kind of value"):
        score_frame(Scorer(policy), rows)


def test_a_column_that_is_absent_is_named_at_once(rng):
    policy = make_example("numbers")
    rows = dd.from_pandas(make_rows(policy, rng), npartitions=2)
    with pytest.raises(InvalidTableError, match="Got no column 'age'"):
        score(policy, rows.drop(columns="age"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_kind_of_policy_scores_on_workers(name, client, rng):
    policy = make_example(name)
    rows = make_rows(policy, rng)
    scored = score(policy, dd.from_pandas(rows, npartitions=3), keep=["key"])
    assert scored.npartitions == 3
    check_same(policy, rows, scored.compute())


def test_what_is_computed_has_the_types_that_were_said(client, rng):
    policy = make_example("numbers")
    rows = dd.from_pandas(make_rows(policy, rng), npartitions=2)
    scored = score(policy, rows, keep=["key"], also=["probabilities", "leaf"])
    said, found = scored.dtypes, scored.compute().dtypes
    assert said.to_dict() == found.to_dict()


def test_the_policy_is_sent_to_a_worker_once(client, rng):
    clinic = askless.datasets.make_clinic(200, random_state=0)
    model = askless.GreedyTreeClassifier(max_depth=3).fit(clinic.to_frame(), clinic.y)
    rows = dd.from_pandas(clinic.to_frame(), npartitions=20)
    scored = score(model.policy_, rows)
    # The tasks hold a name of what was scattered, not the policy itself.
    sizes = [len(distributed.protocol.pickle.dumps(t)) for t in scored.dask.values()]
    assert max(sizes) < 100_000
    assert scored.compute()["decision"].tolist() == list(
        model.policy_.predict(clinic.to_frame())
    )
