"""Exported ensembles buy what Askless buys, in the same order, and decide the same.

Rows lie on every cut and beside it, in single and in double precision; values are
missing, infinite, or were never seen. ``ASKLESS_PARITY_ROWS=10000`` takes so many rows
of each; fewer are the rule, because a program in Python takes a while.
"""

import ctypes
import os

import numpy as np
import pandas
import pytest
from sklearn import ensemble as sklearn_ensemble

import askless
from askless.exceptions import InvalidOptionError
from askless.export import show
from askless.testing import make_hard_rows
from tests.export.ensemble_engines import (
    FULL_ENGINES,
    RUN_ENGINES,
    compile_c,
    full_model,
    own_run,
    run_c,
    run_javascript,
    run_python,
)
from tests.policy.random_ensembles import random_ensemble, random_rows

GIVEN = os.environ.get("ASKLESS_PARITY_ROWS")
N_ROWS = {"python": 25, "javascript": 200, "c": 400}
ENGINES = {**RUN_ENGINES, **FULL_ENGINES}
COSTS = {
    "age": 1.0,
    "dose": 5.0,
    "heart": 2.0,
    "blood": 3.0,
    "colour": 2.0,
    "site": 1.0,
}
STOPS = (
    {}, {"is_complete": True}, {"threshold": 0.7}, {"threshold": 3.0}, {"max_cost": 5},
    {"threshold": 0.4, "varies_together": True},
)  # fmt: skip


def examples(n=500):
    """Return rows of numbers and categories, with what is missing, and classes."""
    rng = np.random.default_rng(3)
    X = pandas.DataFrame(
        {
            "age": rng.normal(50, 20, n).round(1),
            "dose": rng.gamma(2, 3, n),
            "heart": rng.integers(0, 9, n).astype(float),
            "blood": rng.normal(0, 1e-3, n),
            "colour": rng.choice(["red", "green", "it's", "blue"], n),
            "site": rng.choice(["a", "b", "c", "d", "e", "f"], n),
        }
    )
    risk = np.where(X.colour == "red", X.age - 60, 9 * (X.dose - 7))
    risk = risk + 8 * (X.heart % 3) + 3000 * X.blood + rng.normal(0, 4, n)
    X.loc[rng.random(n) < 0.1, "age"] = np.nan
    X = X.astype({"colour": "category", "site": "category"})
    return X, np.digitize(risk, [-20.0, 10.0]), risk.to_numpy()


NUMBERS = ["age", "dose", "heart", "blood"]


def adaptive(model, columns, **options):
    costs = {name: COSTS[name] for name in columns}
    return askless.AdaptiveEnsemble(model, costs=costs, **options).fit().policy_


def lightgbm_model(kind):
    lightgbm = pytest.importorskip("lightgbm")
    X, y, risk = examples()
    options = {"n_estimators": 20, "num_leaves": 7, "verbose": -1, "n_jobs": 1,
               "random_state": 0, "min_child_samples": 5}  # fmt: skip
    if kind == "number":
        return adaptive(lightgbm.LGBMRegressor(**options).fit(X, risk), X.columns)
    labels = np.array(["no", "maybe", "yes"])[y] if kind == "classes" else y > 0
    return adaptive(lightgbm.LGBMClassifier(**options).fit(X, labels), X.columns)


def xgboost_model(kind):
    xgboost = pytest.importorskip("xgboost")
    X, y, _ = examples()
    labels = y if kind == "classes" else (y > 0).astype(int)
    options = {"n_estimators": 12, "max_depth": 3, "n_jobs": 1, "random_state": 0}
    model = xgboost.XGBClassifier(**options).fit(X[NUMBERS], labels)
    return adaptive(model, NUMBERS)


def sklearn_model(name, **options):
    X, y, _ = examples()
    model = getattr(sklearn_ensemble, name)(random_state=0, **options)
    return adaptive(model.fit(X[NUMBERS].fillna(-1.0), y), NUMBERS)


def forest_model():
    X, y, _ = examples()
    forest = askless.BudgetForestClassifier(
        COSTS, n_estimators=9, max_depth=5, random_state=0
    )
    return askless.AdaptiveEnsemble(forest.fit(X, y), costs=COSTS).fit().policy_


def budget_boost():
    pytest.importorskip("lightgbm")
    X, y, _ = examples()
    model = askless.BudgetBoostClassifier(
        COSTS, budget=8.0, n_estimators=25, random_state=0
    )
    return model.fit(X, y > 0).policy_


MODELS = {
    "budget boost": budget_boost,
    "budget forest": forest_model,
    "lightgbm classes": lambda: lightgbm_model("classes"),
    "lightgbm number": lambda: lightgbm_model("number"),
    "lightgbm two classes": lambda: lightgbm_model("two"),
    "sklearn boosting": lambda: sklearn_model(
        "GradientBoostingClassifier", n_estimators=8
    ),
    "sklearn forest": lambda: sklearn_model(
        "RandomForestClassifier", n_estimators=9, max_depth=6
    ),
    "sklearn histograms": lambda: sklearn_model(
        "HistGradientBoostingClassifier", max_iter=8, max_leaf_nodes=7
    ),
    "xgboost classes": lambda: xgboost_model("classes"),
    "xgboost two classes": lambda: xgboost_model("two"),
}


@pytest.fixture(scope="module")
def models():
    """Return policies by name, each made once."""
    made = {}

    def find(name):
        if name not in made:
            made[name] = MODELS[name]()
        return made[name]

    return find


def check(policy, rows, answers, tolerance):
    run, full = answers
    if run is not None:
        wanted = own_run(policy, rows)
        assert run.asked == wanted.asked
        assert run.spent == wanted.spent
        assert run.decision == wanted.decision
    wanted = full_model(policy, rows)
    assert full.decision == wanted.decision
    if full.sums is not None:
        assert np.array_equal(full.sums, wanted.sums)
    if wanted.probabilities is not None:
        np.testing.assert_allclose(
            full.probabilities, wanted.probabilities, rtol=tolerance, atol=1e-300
        )
        if not tolerance:
            assert np.array_equal(full.probabilities, wanted.probabilities)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("engine", ENGINES)
def test_hard_rows_of_every_library(engine, name, models, tmp_path):
    policy = models(name)
    n_rows = int(GIVEN) if GIVEN else N_ROWS.get(engine, 1000)
    rows = make_hard_rows(policy, n_rows, infinite=True)
    # The last bits of an exponential are each engine's own.
    tolerance = 3e-6 if policy.output.is_single else 1e-12
    check(policy, rows, ENGINES[engine](policy, rows, tmp_path), tolerance)


@pytest.mark.parametrize("name", MODELS)
def test_c_has_the_bits_of_what_works_its_links_out_in_c(name, models, tmp_path):
    policy = models(name)
    output = policy.output
    if not (output.is_single or output.functions == "libm" or output.link == "share"):
        pytest.skip("its source has an exponential of its own")
    rows = make_hard_rows(policy, 200, infinite=True)
    check(policy, rows, run_c(policy, rows, tmp_path), 0)


def random_policies(seed, **options):
    """Yield a random ensemble with each way to keep bounds that it allows."""
    stop = STOPS[seed % len(STOPS)]
    first = random_ensemble(np.random.default_rng(seed), bounds="path", **stop)
    bounds = ["path", "deep"]
    bounds += [] if first.answers_number else ["joint"]
    is_booster = not first.answers_number and first.trees.value.shape[1] == 1
    bounds += ["leaves"] if is_booster else []
    bounds += ["vote"] if first._is_vote else []
    for one in bounds:
        yield random_ensemble(np.random.default_rng(seed), bounds=one, **stop)


@pytest.mark.parametrize("run", [run_python, run_javascript])
def test_random_ensembles_with_every_kind_of_bounds(run, rng, tmp_path):
    n_seeds = 30 if run is run_python else 6
    for seed in rng.integers(2**32, size=n_seeds).tolist():
        for policy in random_policies(seed):
            rows = random_rows(np.random.default_rng(seed), policy, 8)[0]
            check(policy, rows, run(policy, rows, tmp_path), 1e-12)


@pytest.mark.parametrize("run", [run_python, run_javascript, run_c])
def test_a_delayed_order_that_the_limit_just_allows_is_made(run, tmp_path):
    """Of a group that is ordered together, only the first test pays in full."""
    seed = 131922
    policy = random_ensemble(np.random.default_rng(seed), bounds="deep")
    assert policy.prices.delayed.any()
    rows = random_rows(np.random.default_rng(seed), policy, 8)[0]
    limited = policy.with_stop(max_cost=float(policy.cost(rows).max()))
    assert limited.cost(rows).tolist() == policy.cost(rows).tolist()
    check(limited, rows, run(limited, rows, tmp_path), 1e-12)


@pytest.mark.parametrize("link", ["logit", "softmax", "votes", "number"])
def test_random_ensembles_in_c(link, rng, tmp_path):
    policies = [
        random_ensemble(rng, link, bounds, **stop)
        for bounds, stop in zip(
            ["path", "deep", "vote" if link == "votes" else "deep"], STOPS, strict=False
        )
    ]
    if link != "number":
        policies.append(random_ensemble(rng, link, "joint"))
    if link in ("logit", "softmax"):
        policies += [random_ensemble(rng, link, "leaves", **stop) for stop in STOPS]
    for i, policy in enumerate(policies):
        folder = tmp_path / str(i)
        folder.mkdir()
        rows = random_rows(rng, policy, 40)[0]
        check(policy, rows, run_c(policy, rows, folder), 1e-12)


@pytest.mark.parametrize("bounds", ["joint", "leaves"])
def test_what_is_skipped_stays_open_as_in_askless(bounds, rng, tmp_path):
    policy = random_ensemble(np.random.default_rng(6), "softmax", bounds)
    assert len(policy.used_tests) > 2
    library = compile_c(policy, tmp_path)
    module = {}
    exec(show(policy, "python"), module)
    case = ctypes.create_string_buffer(library.size_of_case())
    for paid in (False, True):
        session, one = policy.start(), module["Case"]()
        library.askless_start(case)
        names = [policy.test_names[i] for i in policy.used_tests]
        while session.test is not None:
            assert one.test == session.test == names[library.askless_next(case)]
            assert one.price == library.askless_price(case)
            session.skip(paid=paid)
            one.skip(paid)
            library.askless_skip(case, int(paid))
        assert one.test is None
        assert library.askless_next(case) == -1
        assert one.spent == session.spent == library.askless_spent(case)
        assert one.decision == session.decision
        assert policy.classes[library.askless_decide(case)] == session.decision


def test_a_function_is_asked_for_nothing_but_what_is_needed(models):
    policy = models("lightgbm two classes")
    module = {}
    exec(show(policy, "python"), module)
    asked = []

    def buy(test):
        asked.append(test)

    assert module["explain"](buy)["asked"] == asked
    assert 0 < len(asked) <= len(policy.used_tests)


def test_a_javascript_module_exports(models):
    assert "export { Case, decide" in show(
        models("sklearn forest"), "javascript", module=True
    )


def test_engines_without_single_precision_are_refused_by_name(models):
    policy = models("xgboost two classes")
    for dialect in ("sqlite", "bigquery", "snowflake"):
        with pytest.raises(InvalidOptionError, match=f"duckdb or.*Got {dialect}"):
            show(policy, "sql", dialect=dialect)


def test_what_cannot_be_shown_says_what_can(models):
    with pytest.raises(InvalidOptionError, match=r"Got an ensemble.*python.* c, sql"):
        show(models("sklearn forest"), "svg")
    tree = askless.solve(askless.Table([[0], [1]], ["even", "odd"])).policy
    with pytest.raises(InvalidOptionError, match=r"C must be.*Got a tree.*python"):
        show(tree, "c")
