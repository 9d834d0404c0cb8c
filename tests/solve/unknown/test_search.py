"""The search of unknown outcomes: brute force, switches, limits, stops."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import askless
from askless._core.unknown_search._problem import Mode
from askless._core.unknown_search._search import UnknownSearch
from askless.solve._solve import make_task
from askless.solve._task import Limits
from askless.solve.unknown._search import UnknownRace, search_unknown
from askless.solve.unknown._table import state_unknown
from askless.testing import PlainUnknown, brute_force_unknown
from tests.solve.unknown.tables import (
    draw_unknown,
    make_loose,
    make_toy,
    solve_quietly,
)


def random_unknown(rng, n_cases, n_tests, unknown, **options):
    cells = rng.integers(0, 2, (n_cases, n_tests)).astype(object)
    cells[rng.random(cells.shape) < unknown] = None
    return askless.Table(cells, range(n_cases), **options)


@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("objective", ["expected", "worst"])
def test_the_optimum_is_that_of_brute_force(rng, part, objective):
    # Four parts of 80 tables, for each objective.
    for own in rng.spawn(4)[part].spawn(80):
        table = draw_unknown(own)
        find_case = bool(own.random() < 0.3)
        best = brute_force_unknown(table, objective, find_case=find_case)
        solution = solve_quietly(
            table,
            objective=objective,
            method="exact",
            stop="case" if find_case else "class",
        )
        assert solution.cost == pytest.approx(best, abs=1e-9)
        assert solution.status == "optimal"
        assert solution.lower_bound == pytest.approx(best, rel=1e-6, abs=1e-9)
        check = askless.evaluate(solution.policy, table)
        assert check.expected_cost == pytest.approx(solution.expected_cost, abs=1e-9)
        assert check.worst_cost == pytest.approx(solution.worst_cost, abs=1e-9)


@pytest.mark.parametrize("part", range(2))
def test_neighbourhoods_are_searched_as_by_brute_force(rng, part):
    for own in rng.spawn(2)[part].spawn(40):
        table = draw_unknown(own)
        best = brute_force_unknown(table, stop="neighbourhood")
        solution = solve_quietly(table, method="exact", stop="neighbourhood")
        assert solution.expected_cost == pytest.approx(best, abs=1e-9)


def test_the_toy_takes_two_tests():
    solution = askless.solve(make_toy(), method="exact")
    assert solution.expected_cost == pytest.approx(2, abs=1e-12)
    assert solution.status == "optimal"


def test_auto_searches_tables_with_unknown_outcomes():
    solution = askless.solve(make_toy())
    assert solution.method == "exact"
    assert solution.status == "optimal"


@pytest.mark.parametrize(
    "switches",
    [
        {"use_entropy": False},
        {"use_huffman": False},
        {"use_children": False},
        {"use_shares": False},
        {"use_entropy": False, "use_huffman": False, "use_children": False},
    ],
    ids=lambda switches: " ".join(switches),
)
def test_switches_change_time_never_the_answer(rng, switches):
    for own in rng.spawn(15):
        table = draw_unknown(own, max_cases=9, max_tests=8)
        task = make_task(table, "expected", "class")
        full = search_unknown(task, Limits())
        less = search_unknown(task, Limits(), **switches)
        assert less.policy.expected_cost == pytest.approx(
            full.policy.expected_cost, abs=1e-9
        )
        assert less.lower_bound == pytest.approx(full.lower_bound, abs=1e-6)


def test_certificates_change_time_never_the_answer(rng):
    compared = 0
    while compared < 12:
        (own,) = rng.spawn(1)
        weights = own.exponential(size=14) ** 3
        table = random_unknown(own, 14, 12, 0.15, prior=weights)
        if table.indistinct:
            # Nothing is certified where cases cannot all be told apart.
            continue
        compared += 1
        task = make_task(table, "expected", "class")
        full = search_unknown(task, Limits())
        less = search_unknown(task, Limits(), use_certificate=False)
        assert less.policy.expected_cost == pytest.approx(
            full.policy.expected_cost, abs=1e-9
        )
        assert less.lower_bound == pytest.approx(full.lower_bound, abs=1e-6)


def test_certificates_save_states_where_weights_are_uneven(rng):
    weights = np.exp(-np.arange(60) / 6)
    table = random_unknown(np.random.default_rng(5), 60, 30, 0.1, prior=weights)
    counts = []
    for use_certificate in (False, True):
        stated = state_unknown(make_task(table, "expected", "class"))
        engine = UnknownSearch(
            stated.problem,
            mode=Mode.FRESH_DRAWS,
            max_bytes=2**26,
            use_certificate=use_certificate,
        )
        undrawn = np.zeros(60, dtype=np.int64)
        value = engine.run(stated.cases, undrawn, 4.6 * stated.weight_scale, 60.0)
        assert value is not None
        counts.append(engine.n_expanded)
    assert 0 < counts[1] < counts[0]


def test_shares_save_states_where_much_is_unknown():
    table = random_unknown(np.random.default_rng(3), 20, 24, 0.4)
    counts, values = [], []
    for use_shares in (False, True):
        race = UnknownRace(
            make_task(table, "expected", "class"),
            Limits(),
            2**26,
            {"use_shares": use_shares},
        )
        engine = race._engine(Mode.FRESH_DRAWS)
        value, is_exact, _ = race._run(engine, race.best, 60.0)
        assert is_exact
        counts.append(engine.n_expanded)
        values.append(value)
    assert values[0] == pytest.approx(values[1], rel=1e-9)
    assert counts[1] * 3 < counts[0]


def test_threads_do_not_change_a_proved_cost(rng):
    table = random_unknown(rng, 24, 16, 0.15)
    one = solve_quietly(table, method="exact", n_jobs=1)
    two = solve_quietly(table, method="exact", n_jobs=2)
    assert one.status == two.status == "optimal"
    assert one.expected_cost == pytest.approx(two.expected_cost, rel=1e-9)


def test_little_memory_is_enough(rng):
    table = random_unknown(rng, 40, 24, 0.15)
    full = solve_quietly(table, method="exact")
    little = solve_quietly(table, method="exact", max_memory=2**20)
    assert little.expected_cost == pytest.approx(full.expected_cost, rel=1e-9)
    assert little.status == "optimal"


def test_proofs_that_need_the_tests_done_find_them(rng):
    # Without fresh draws, the search that keeps the tests done proves the same.
    for own in rng.spawn(40):
        table = draw_unknown(own)
        task = make_task(table, "expected", "class")
        race = UnknownRace(task, Limits(), 2**24, {})
        race.run(lambda race=race: race._prove_by(Mode.TRACKED))
        assert race.find_result().policy.expected_cost == pytest.approx(
            brute_force_unknown(table), abs=1e-9
        )


def test_a_wider_search_is_never_dearer(rng):
    table = random_unknown(rng, 60, 24, 0.2)
    costs = [
        solve_quietly(table, method="search", max_breadth=breadth).expected_cost
        for breadth in (1, 2, 3)
    ]
    assert costs == sorted(costs, reverse=True)


def test_time_limits_hold_and_give_a_bound(rng):
    table = random_unknown(rng, 128, 60, 0.3)
    began = time.monotonic()
    seen = []
    solution = solve_quietly(
        table, method="exact", time_limit=1.0, callbacks=seen.append
    )
    assert time.monotonic() - began < 10
    assert solution.status == "feasible"
    assert 0 < solution.lower_bound < solution.expected_cost
    assert solution.lower_bound >= np.log2(128) - 1e-6
    assert solution.error == 0
    assert [s.bound for s in seen] == sorted(s.bound for s in seen)


def test_ctrl_c_returns_the_best_so_far(rng):
    import _thread

    table = random_unknown(rng, 128, 60, 0.3)
    timer = threading.Timer(1.0, _thread.interrupt_main)
    began = time.monotonic()
    timer.start()
    solution = solve_quietly(table, method="exact", time_limit=60)
    timer.join()
    assert time.monotonic() - began < 20
    assert solution.status == "feasible"
    assert 0 < solution.lower_bound < solution.expected_cost


# Stopping where cases cannot all be told apart.


def test_stops_of_the_loose_table():
    table = make_loose()
    assert table.indistinct == [(2, 4), (3, 4)]
    costs = {}
    for stop in ("neighbourhood", "clique"):
        solution = askless.solve(table, method="exact", stop=stop)
        check = askless.evaluate(solution.policy, table)
        assert check.expected_cost == pytest.approx(solution.expected_cost)
        assert check.error == pytest.approx(solution.error)
        assert solution.expected_cost == pytest.approx(
            brute_force_unknown(table, stop=stop.replace("clique", "class"))
        )
        costs[stop] = solution.expected_cost
    # {3, 4, 5} lies inside the neighbourhood of 5, and is no clique.
    assert costs["neighbourhood"] == pytest.approx(1 + 2 / 5)
    assert costs["clique"] == pytest.approx(2)
    with pytest.warns(askless.exceptions.IndistinctCasesWarning):
        alike = askless.solve(table, method="exact")
    assert alike.expected_cost == costs["clique"]


@pytest.mark.parametrize(
    ("cases", "is_near_one", "is_clique"),
    [
        ([2, 3, 4], True, False),
        ([2, 4], True, True),
        ([2, 3], True, False),
        ([0, 1], False, False),
    ],
)
def test_settled_sets_of_the_loose_table(cases, is_near_one, is_clique):
    table = make_loose()
    left = dict.fromkeys(cases, 1)
    for stop, settled in (("neighbourhood", is_near_one), ("class", is_clique)):
        assert PlainUnknown(table, stop=stop).is_settled(left) == settled
        task = make_task(table, "expected", stop)
        race = UnknownRace(task, Limits(), 2**24, {})
        engine = race._engine(Mode.TRACKED)
        chosen = np.array(cases, dtype=np.int32)
        value, is_exact, test = engine.run(
            chosen, np.zeros(len(cases), dtype=np.int64), 1e9, 10.0
        )
        assert is_exact
        assert (value == 0) == settled
        assert (test < 0) == settled
    degrees = [
        sum(PlainUnknown(table).is_near(a, b) for b in range(5) if a != b)
        for a in range(5)
    ]
    assert degrees == [0, 0, 1, 1, 2]


@pytest.mark.parametrize("stop", ["neighbourhood", "clique"])
def test_loose_tables_have_bounds_of_blocks(stop):
    table = random_unknown(np.random.default_rng(0), 16, 12, 0.35)
    assert table.indistinct
    solution = solve_quietly(table, method="exact", stop=stop)
    assert solution.status == "optimal"
    greedy = solve_quietly(table, method="elimination", stop=stop)
    assert 2 < greedy.lower_bound <= solution.lower_bound + 1e-6


def test_only_some_methods_stop_early():
    with pytest.raises(askless.exceptions.InvalidOptionError, match="elimination"):
        askless.solve(make_loose(), method="greedy", stop="clique")


def price_in_context(rng, table):
    """Return a table with groups, or prices by outcome, or both."""
    names, full = list(table.test_names), rng.integers(1, 7, table.n_tests)
    cut = int(rng.integers(0, table.n_tests + 1))
    grouped, priced = names[:cut], names[cut:]
    own = {
        name: {outcome: int(rng.integers(0, 6)) for outcome in test.outcomes}
        for name, test in zip(names, table.tests, strict=True)
        if name in priced and test.outcomes
    }
    costs = askless.Costs(
        dict(zip(names, full.tolist(), strict=True)),
        groups={"blood": grouped} if len(grouped) > 1 else None,
        discounted=(
            {
                name: int(rng.integers(0, full[names.index(name)] + 1))
                for name in grouped
            }
            if len(grouped) > 1
            else None
        ),
        by_outcome=own or None,
    )
    return askless.Table(
        table.rows(),
        table.case_classes,
        costs=costs,
        prior=table.prior,
        alphabet={test.name: test.outcomes for test in table.tests},
        chances={
            test.name: dict(zip(test.outcomes, chances, strict=True))
            for test, chances in zip(table.tests, table.chances, strict=True)
        },
    )


@pytest.mark.parametrize("objective", ["expected", "worst"])
@pytest.mark.parametrize("part", range(2))
def test_prices_in_context_are_searched_as_by_brute_force(rng, part, objective):
    kinds = set()
    for own in rng.spawn(2)[part].spawn(40):
        table = price_in_context(own, draw_unknown(own))
        kinds.add((bool(table.prices.groups), bool(table.prices.by_outcome)))
        best = brute_force_unknown(table, objective)
        solution = solve_quietly(table, method="exact", objective=objective)
        cost = solution.worst_cost if objective == "worst" else solution.expected_cost
        assert cost == pytest.approx(best, abs=1e-9)
        assert solution.status == "optimal" or best == 0
        assert solution.lower_bound == pytest.approx(best, rel=1e-6, abs=1e-9)
        check = askless.evaluate(solution.policy, table)
        assert check.expected_cost == pytest.approx(solution.expected_cost, abs=1e-9)
        assert check.worst_cost == pytest.approx(solution.worst_cost, abs=1e-9)
        short = solve_quietly(
            table, method="search", objective=objective, max_breadth=2
        )
        found = short.worst_cost if objective == "worst" else short.expected_cost
        assert found >= best - 1e-9
    assert len(kinds) == 3 or kinds >= {(True, True), (False, True)}


def test_a_test_that_tells_nothing_may_open_a_group():
    costs = askless.Costs(
        {"needle": 1, "iron": 5, "sugar": 9},
        groups={"blood": ["needle", "iron"]},
        discounted={"iron": 2},
    )
    cells = {"needle": [0, 0, 0], "iron": [0, 1, 1], "sugar": [None, 0, 1]}
    table = askless.Table(cells, ["a", "b", "b"], costs=costs)
    solution = askless.solve(table, method="exact")
    assert solution.policy.start().test == "needle"
    assert solution.expected_cost == brute_force_unknown(table) == 3


def test_what_the_search_does_not_carry_is_refused():
    cells = [[0, None], [1, 0]]
    delayed = askless.Table(cells, list("ab"), costs=askless.Costs([1, 1], delayed=[0]))
    with pytest.raises(askless.exceptions.InvalidOptionError, match="too late"):
        askless.solve(delayed, method="exact")
    assert askless.solve(delayed).error == 0
    with pytest.raises(askless.exceptions.InvalidOptionError, match="both"):
        askless.solve(make_toy(), method="exact", objective="both")
