"""The least total cost of tests and mistakes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import askless
from askless import Costs, Table
from askless.exceptions import InvalidOptionError
from askless.solve._solve import _make_task
from askless.solve._task import Limits
from askless.solve.total._search import search_total
from askless.testing import reference_total


def make_table(rng, *, mixed=True):
    """Return a small table of facts, unknown cells and likelihoods."""
    n_cases, n_tests = rng.integers(2, 6), rng.integers(1, 5)
    n_classes = rng.integers(2, n_cases + 1)
    classes = [f"c{i % n_classes}" for i in range(n_cases)]
    n_levels = rng.integers(2, 4, n_tests)
    cells = []
    for test in range(n_tests):
        column = []
        for _ in range(n_cases):
            kind = rng.integers(3) if mixed else 0
            if kind == 0:
                column.append(int(rng.integers(n_levels[test])))
            elif kind == 1:
                column.append(None)
            else:
                shares = rng.integers(0, 5, n_levels[test]) + 1e-9
                column.append(shares / shares.sum())
        cells.append(column)
    return classes, n_levels, cells


def build(rng, *, mixed=True, mistakes=None, outcome_prices=False, groups=False):
    classes, n_levels, cells = make_table(rng, mixed=mixed)
    n_tests, n_cases = len(cells), len(classes)
    names = [f"t{i}" for i in range(n_tests)]
    prices = rng.integers(0, 6, n_tests).astype(float)
    options = {}
    if groups and n_tests > 1:
        discounted = {n: float(p // 2) for n, p in zip(names, prices, strict=True)}
        options = {"groups": {"g": names[:2]}, "discounted": discounted}
        options["discounted"] = {n: discounted[n] for n in names[:2]}
    if outcome_prices:
        options = {
            "by_outcome": {
                names[0]: {
                    level: float(rng.integers(0, 6)) for level in range(n_levels[0])
                }
            }
        }
    if mistakes is None:
        n_classes = len(set(classes))
        mistakes = rng.integers(1, 40, (n_classes, n_classes)).astype(float)
        np.fill_diagonal(mistakes, 0)
    costs = Costs(dict(zip(names, prices, strict=True)), mistakes=mistakes, **options)
    rows = [
        [c if isinstance(c := cells[t][i], int) else None for t in range(n_tests)]
        for i in range(n_cases)
    ]
    table = Table(
        rows,
        classes,
        costs=costs,
        prior=rng.integers(1, 6, n_cases),
        tests=names,
        alphabet={n: list(range(k)) for n, k in zip(names, n_levels, strict=True)},
    )
    own = {}
    for t, name in enumerate(names):
        for i in range(n_cases):
            if isinstance(cells[t][i], np.ndarray):
                shares = dict(enumerate(cells[t][i].tolist()))
                own.setdefault(name, {})[table.cases[i]] = shares
    return table.with_likelihoods(own) if own else table


def least(table, **options):
    task = _make_task(table, "total", "class")
    found = search_total(task, Limits(60.0, None, 1), **options)
    return found


FEATURES = [
    {},
    {"mixed": False},
    {"groups": True},
    {"outcome_prices": True},
    {"mistakes": 7.0},
]


@pytest.mark.parametrize("features", FEATURES, ids=str)
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_it_is_the_least_of_all_policies(features, seed):
    table = build(np.random.default_rng(seed), **features)
    solution = askless.solve(table, objective="total", method="exact", n_jobs=1)
    assert solution.status == "optimal"
    assert solution.total_cost == pytest.approx(reference_total(table), abs=1e-7)
    assert solution.lower_bound == pytest.approx(solution.total_cost, abs=1e-6)


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_within_a_budget_it_is_the_least_too(seed):
    rng = np.random.default_rng(seed)
    table = build(rng, groups=bool(rng.integers(2)))
    budget = float(rng.integers(0, 12))
    solution = askless.solve(table, objective="total", budget=budget, n_jobs=1)
    assert solution.worst_cost <= budget + 1e-9
    best = reference_total(table, budget=budget)
    assert solution.total_cost == pytest.approx(best, abs=1e-7)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_switches_change_no_answer(seed):
    table = build(np.random.default_rng(seed))
    best = least(table).lower_bound
    for switches in (
        {"use_information": False},
        {"use_shares": False},
        {"max_memory": 2**20},
    ):
        assert least(table, **switches).lower_bound == pytest.approx(best, abs=1e-7)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_rules_are_policies_and_never_below_the_least(seed):
    table = build(np.random.default_rng(seed))
    best = reference_total(table)
    for method in ("information", "value", "search"):
        solution = askless.solve(table, objective="total", method=method, n_jobs=1)
        assert solution.total_cost >= best - 1e-7


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_what_it_says_is_what_evaluation_finds(seed):
    table = build(np.random.default_rng(seed))
    solution = askless.solve(table, objective="total", n_jobs=1)
    report = askless.evaluate(solution.policy, table)
    assert report.expected_cost == pytest.approx(solution.expected_cost)
    assert report.error == pytest.approx(solution.error)


def test_an_error_free_table_stops_early_on_purpose():
    table = Table(
        [[0, 0], [0, 1], [1, 1]],
        ["a", "b", "c"],
        costs=Costs([1.0, 3.0], mistakes=2.0),
        tests=["cheap", "dear"],
    )
    solution = askless.solve(table, objective="total")
    # Telling a from b would cost 3 for two of three cases, to save a mistake of 2.
    assert solution.total_cost == pytest.approx(4 / 3)
    assert solution.policy.worst_cost == 0
    assert solution.error == pytest.approx(2 / 3)


def test_mistakes_that_are_dear_leave_the_policy_without_error():
    costs = Costs([1.0, 3.0], mistakes=1000.0)
    rows, classes = [[0, 0], [0, 1], [1, 1]], ["a", "b", "c"]
    total = askless.solve(Table(rows, classes, costs=costs), objective="total")
    expected = askless.solve(Table(rows, classes, costs=costs))
    assert total.error == 0
    assert total.total_cost == pytest.approx(expected.expected_cost)


def test_what_does_not_go_with_it_is_refused():
    table = Table([[0], [1]], ["a", "b"])
    with pytest.raises(InvalidOptionError, match="mistakes must have a price"):
        askless.solve(table, objective="total")
    priced = Table([[0], [1]], ["a", "b"], costs=Costs([1.0], mistakes=5))
    with pytest.raises(InvalidOptionError, match="is for the methods auto"):
        askless.solve(priced, objective="total", method="gbs")
    with pytest.raises(InvalidOptionError, match="Leave it out"):
        askless.solve(priced, objective="total", max_error=0.1)
    with pytest.raises(InvalidOptionError, match="objective='total'"):
        askless.solve(priced, method="value")
    erring = priced.with_likelihoods({"t0": {"case 0": {0: 0.9, 1: 0.1}}})
    with pytest.raises(InvalidOptionError, match="can err"):
        askless.solve(erring)
    delayed = Costs([1.0], mistakes=5, delayed=[0])
    with pytest.raises(InvalidOptionError, match="too late to choose by"):
        askless.solve(
            Table([[0], [1]], ["a", "b"], costs=delayed),
            objective="total",
            method="exact",
        )
