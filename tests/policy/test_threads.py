"""Every kind of policy may be shared by threads, and no answer depends on it."""

import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)

import askless
from askless.policy import Forest, Posterior, Rule, Sequence

N_THREADS, N_CASES = 8, 500
ENSEMBLES = {
    "path": (RandomForestRegressor, "path"),
    "deep": (RandomForestClassifier, "deep"),
    "joint": (GradientBoostingClassifier, "joint"),
    "leaves": (GradientBoostingClassifier, "leaves"),
    "vote": (RandomForestClassifier, "vote"),
}


def make_table(rng, has_unknown=False):
    # Every case is a class of its own: there are more states than any memory holds.
    # No two are alike: digits of different numbers.
    numbers = rng.choice(3**12, N_CASES, replace=False)
    outcomes = (numbers[:, None] // 3 ** np.arange(12) % 3).astype(object)
    if has_unknown:
        outcomes[rng.random(outcomes.shape) < 0.02] = None
    return askless.Table(outcomes, list(range(N_CASES)))


def make_posterior(kind, rng):
    # Tests that err, and mistakes that are dear enough to ask several of them.
    table = askless.Table(
        rng.integers(0, 2, (60, 12)),
        rng.integers(0, 6, 60),
        costs=askless.Costs([1] * 12, mistakes=100),
    )
    errs = {
        case: {0: 0.9 - 0.1 * shown, 1: 0.1 + 0.1 * shown}
        for case, shown in enumerate(rng.integers(0, 8, 60).tolist())
    }
    table = table.with_likelihoods({name: errs for name in table.test_names})
    return Posterior.from_table(table, kind, factor=4.0)


def make_ensemble(kind, rng):
    make, bounds = ENSEMBLES[kind]
    X = rng.normal(size=(300, 10)).round(1)
    y = (X[:, :5].sum(axis=1) + rng.normal(size=300) > 0).astype(int)
    depth = None if bounds == "vote" else 4
    model = make(n_estimators=12, max_depth=depth, random_state=0).fit(X, y)
    return askless.AdaptiveEnsemble(model, bounds=bounds).fit().policy_


def make_policy(kind, rng):
    if kind.startswith("ensemble"):
        return make_ensemble(kind.split(" ")[1], rng)
    if kind.startswith("posterior"):
        return make_posterior(kind.split(" ")[1], rng)
    table = make_table(rng, has_unknown=kind == "rule, unknown outcomes")
    if kind == "sequence":
        return Sequence.from_table(table)
    if kind.startswith("rule"):
        name = "elimination" if "," in kind else kind.split(" ")[1]
        return Rule.from_table(table, name)
    tree = askless.solve(table, method="greedy").policy
    return tree if kind == "tree" else Forest.from_trees([tree, tree, tree])


KINDS = [
    "tree", "forest", "sequence", "rule odtn-r", "rule gbs", "rule ec2",
    "rule, unknown outcomes", "posterior information", "posterior value",
    "ensemble path", "ensemble leaves", "ensemble deep", "ensemble joint",
    "ensemble vote",
]  # fmt: skip


def run_all(policy, codes):
    """Follow every row; return what was asked and decided."""
    found = []
    for row in codes:
        state, asked = policy.initial_state(), []
        while (test := policy.next_test(state)) is not None:
            asked.append(test)
            policy.tests_ahead(state)
            state = policy.advance(state, int(row[test]))
        found.append((tuple(asked), policy.answer(state)))
    return found


@pytest.fixture
def switch_often():
    """Let threads take turns after every few steps of the interpreter."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.parametrize("kind", KINDS)
def test_threads_that_share_a_policy_all_get_its_answers(kind, rng, switch_often):
    policy = make_policy(kind, rng)
    codes = np.column_stack(
        [rng.integers(0, max(test.n_levels, 1), N_CASES) for test in policy.tests]
    )
    orders = [rng.permutation(N_CASES) for _ in range(N_THREADS)]
    # Nothing has been worked out before.
    with ThreadPoolExecutor(N_THREADS) as pool:
        found = list(pool.map(lambda order: run_all(policy, codes[order]), orders))
    alone = run_all(policy, codes)
    for order, own in zip(orders, found, strict=True):
        assert own == [alone[row] for row in order]


@pytest.mark.parametrize("kind", ["rule odtn-r", "ensemble joint", "ensemble vote"])
def test_cases_that_are_bought_at_once_end_as_one_by_one(kind, rng, switch_often):
    policy = make_policy(kind, rng)
    columns = {}
    for test in policy.tests:
        values = test.outcomes or (*test.cuts, 99.0)
        columns[test.name] = rng.choice(np.array(values, dtype=object), N_CASES)

    def fetch(case, name):
        return columns[name][case]

    many = policy.run_many(fetch, range(N_CASES), max_workers=N_THREADS)
    alone = policy.run_many(fetch, range(N_CASES))
    assert many.decisions == alone.decisions
    assert [r.spent for r in many.results] == [r.spent for r in alone.results]
    assert not [r.failures for r in many.results if r.failures]


@pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="needs free-threaded Python"
)
def test_kernels_leave_the_lock_off():
    code = (
        "import importlib, pkgutil, sys, askless, askless._core as core\n"
        "for module in pkgutil.walk_packages(core.__path__, 'askless._core.'):\n"
        "    importlib.import_module(module.name)\n"
        "sys.exit(sys._is_gil_enabled())"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
