"""The search: equal to brute force, every switch, every limit, both objectives."""

from __future__ import annotations

import itertools
import signal
import threading
import time

import numpy as np
import pytest

import askless
from askless import Costs, Table
from askless._core.search._cover import Cover, bound_cases
from askless._core.search._hitting import Hitting
from askless.datasets import make_random_table
from askless.solve._solve import make_task
from askless.solve.search._bounds import BOUNDS
from askless.solve.search._integers import state_in_integers
from askless.solve.search._search import KnownRace
from askless.solve.search._worst_proof import WorstProof
from askless.testing import brute_force_cost, brute_force_pareto

OBJECTIVES = ("expected", "worst")


def random_tables(rng, n, *, most_cases=9, **options):
    """Yield n random tables; draws that cannot be completed are redrawn."""
    made = 0
    while made < n:
        settings = {
            "n_outcomes": int(rng.integers(2, 4)),
            "n_classes": int(rng.integers(2, 6)),
            "costs": str(rng.choice(["unit", "integers", "uniform"])),
            "prior": str(rng.choice(["uniform", "random"])),
            "outcome_costs": bool(rng.integers(2)),
            **options,
        }
        try:
            table = make_random_table(
                int(rng.integers(2, most_cases + 1)),
                int(rng.integers(3, 7)),
                random_state=int(rng.integers(2**31)),
                **settings,
            )
        except askless.exceptions.AsklessError:
            continue
        if table.n_classes > 1:
            made += 1
            yield table


def with_groups(table, rng):
    """Return the table with random groups and discounts, openers that pay included."""
    names = list(table.test_names)
    costs = dict(zip(names, rng.integers(1, 9, len(names)).tolist(), strict=True))
    members = rng.permutation(names).tolist()
    groups = {"g": members[:2]}
    if len(members) >= 5:
        groups["h"] = members[2:4]
    grouped = [name for tests in groups.values() for name in tests]
    return Table(
        table.rows(),
        table.case_classes,
        prior=table.prior,
        missing="outcome",
        costs=Costs(
            costs,
            groups=groups,
            discounted={
                name: int(rng.integers(0, costs[name] + 1)) for name in grouped
            },
        ),
    )


def points_of(solution):
    return np.array([(p.worst_cost, p.expected_cost) for p in solution.pareto])


def cost_of(solution):
    return (solution.worst_cost, solution.expected_cost)[
        solution.objective == "expected"
    ]


@pytest.mark.parametrize("part", range(4))
def test_exact_equals_brute_force_in_both_costs_and_every_trade_off(rng, part):
    # Four parts of 500 tables, each part with tables of its own.
    for table in random_tables(rng.spawn(4)[part], 500):
        front = np.array(brute_force_pareto(table))
        least = {"worst": front[0, 0], "expected": front[-1, 1]}
        for objective, best in least.items():
            solution = askless.solve(
                table, method="exact", objective=objective, n_jobs=1
            )
            assert solution.status == "optimal"
            assert solution.gap == pytest.approx(0, abs=1e-6)
            assert cost_of(solution) == pytest.approx(best, rel=1e-6)
            assert solution.lower_bound <= best * (1 + 1e-9)
            check_priced(solution.policy, table, solution)
        both = askless.solve(table, objective="both", n_jobs=1)
        assert points_of(both) == pytest.approx(front, rel=1e-6)
        for point in both.pareto:
            check_priced(point.policy, table, point)


@pytest.mark.filterwarnings("ignore:No test is sure to tell")
def test_cases_that_no_test_tells_apart_are_ends(rng):
    n_met = 0
    for own in rng.spawn(150):
        n_cases, n_tests = int(own.integers(3, 8)), int(own.integers(1, 4))
        table = Table(
            own.integers(0, int(own.integers(2, 4)), (n_cases, n_tests)),
            own.integers(0, int(own.integers(2, 7)), n_cases),
            prior=own.integers(1, 4, n_cases) if own.random() < 0.5 else None,
            costs=own.integers(1, 6, n_tests).tolist(),
        )
        if own.random() < 0.3 and n_tests > 1:
            table = with_groups(table, own)
        n_met += bool(table.indistinct)
        for objective in OBJECTIVES:
            best = brute_force_cost(table, objective)
            for method in ("exact", "auto"):
                solution = askless.solve(
                    table, method=method, objective=objective, n_jobs=1
                )
                assert cost_of(solution) == pytest.approx(best)
                assert solution.lower_bound == pytest.approx(best)
                again = askless.evaluate(solution.policy, table)
                assert again.expected_cost == pytest.approx(solution.expected_cost)
                assert again.worst_cost == pytest.approx(solution.worst_cost)
        both = askless.solve(table, objective="both", n_jobs=1)
        assert points_of(both) == pytest.approx(np.array(brute_force_pareto(table)))
    assert n_met > 50


def check_priced(policy, table, claim):
    """Evaluate a policy again, by other code, and compare with what is claimed."""
    again = askless.evaluate(policy, table)
    assert again.error == 0
    assert again.expected_cost == pytest.approx(claim.expected_cost)
    assert again.worst_cost == pytest.approx(claim.worst_cost)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_exact_with_groups_equals_brute_force(rng, objective):
    for plain in random_tables(rng, 100, most_cases=7, outcome_costs=False):
        table = with_groups(plain, rng)
        solution = askless.solve(table, method="exact", objective=objective, n_jobs=1)
        assert solution.status == "optimal"
        assert cost_of(solution) == pytest.approx(brute_force_cost(table, objective))


def test_a_test_that_shows_nothing_is_bought_if_its_group_makes_it_pay():
    table = Table(
        [[0, 0], [0, 1]],
        ["a", "b"],
        tests=["key", "safe"],
        costs=Costs(
            {"key": 1, "safe": 9}, groups={"g": ["key", "safe"]}, discounted={"safe": 2}
        ),
    )
    solution = askless.solve(table, method="exact")
    assert solution.expected_cost == 3
    assert askless.evaluate(solution.policy, table).expected_cost == 3


def test_every_trade_off_with_groups_equals_brute_force(rng):
    for plain in random_tables(rng, 60, most_cases=7, outcome_costs=False):
        table = with_groups(plain, rng)
        solution = askless.solve(table, objective="both", n_jobs=1)
        assert points_of(solution) == pytest.approx(np.array(brute_force_pareto(table)))


def test_a_budget_picks_one_trade_off_or_says_that_none_fits(rng):
    seen = 0
    for table in random_tables(rng, 60, most_cases=8):
        whole = askless.solve(table, objective="both", n_jobs=1)
        for point in whole.pareto:
            picked = askless.solve(table, objective="both", budget=point.worst_cost)
            assert picked.expected_cost == pytest.approx(point.expected_cost)
            seen += 1
        least = whole.pareto[0].worst_cost
        with pytest.raises(askless.exceptions.NoPolicyError, match="least worst cost"):
            askless.solve(table, objective="both", budget=0.9 * least)
    assert seen >= 60


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_switch_changes_time_only(rng, objective):
    names = ("use_certificate", "use_entropy", "use_children", "use_additivity")
    tables = list(random_tables(rng, 6, most_cases=9))
    tables.append(make_random_table(24, 10, n_classes=2, random_state=5))
    tables.append(
        make_random_table(20, 9, n_classes=20, costs="integers", random_state=6)
    )
    for table in tables:
        values = set()
        for switches in itertools.product((True, False), repeat=len(names)):
            solution = askless.solve(
                table, method="exact", objective=objective, n_jobs=1,
                **dict(zip(names, switches, strict=True)),
            )  # fmt: skip
            assert solution.status == "optimal"
            values.add(round(cost_of(solution), 9))
        for options in ({"cover_depth": 1}, {"cover_depth": 3}, {"n_jobs": 2}):
            solution = askless.solve(
                table, method="exact", objective=objective, **options
            )
            values.add(round(cost_of(solution), 9))
        assert len(values) == 1


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_forgetting_states_changes_time_only(objective):
    table = make_random_table(40, 14, n_classes=2, random_state=1)
    roomy = askless.solve(table, method="exact", objective=objective, n_jobs=1)
    tight = askless.solve(
        table, method="exact", objective=objective, n_jobs=1, max_memory=2**20,
        use_certificate=False,
    )  # fmt: skip
    assert roomy.status == tight.status == "optimal"
    assert cost_of(roomy) == pytest.approx(cost_of(tight))


def test_states_are_really_forgotten_and_the_answer_stays(rng):
    from askless._core.search._search import Search

    table = make_random_table(48, 16, n_classes=2, random_state=2)
    task = make_task(table, "expected", "class")
    whole = state_in_integers(task)
    cases = np.arange(whole.n_cases, dtype=np.uint16)
    found = []
    for max_bytes in (2**30, 400_000):
        engine = Search(whole.kernel, is_worst=False, max_bytes=max_bytes)
        found.append((engine.run(cases, 2**59, 60.0)[0], engine.states.n_evictions))
    assert found[0][0] == found[1][0]
    assert found[0][1] == 0
    assert found[1][1] > 0


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_bound_is_at_most_the_optimum(rng, objective):
    for table in random_tables(rng, 300):
        best = brute_force_cost(table, objective)
        task = make_task(table, objective, "class")
        for name, bound in BOUNDS.items():
            assert bound(task) <= best * (1 + 1e-9) + 1e-12, name


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_bound_holds_with_groups(rng, objective):
    for plain in random_tables(rng, 100, most_cases=7, outcome_costs=False):
        table = with_groups(plain, rng)
        best = brute_force_cost(table, objective)
        task = make_task(table, objective, "class")
        for name, bound in BOUNDS.items():
            assert bound(task) <= best * (1 + 1e-9) + 1e-12, name


def least_cover(table, case):
    """Return the least price of a set of tests that tells a case from its opponents."""
    opponents = [
        other
        for other in range(table.n_cases)
        if table.class_ids[other] != table.class_ids[case]
    ]
    best = float("inf")
    for size in range(table.n_tests + 1):
        for chosen in itertools.combinations(range(table.n_tests), size):
            told = all(
                any(table.codes[t, case] != table.codes[t, other] for t in chosen)
                for other in opponents
            )
            if told:
                best = min(best, sum(table.prices.full[t] for t in chosen))
    return best


def test_certificates_are_exact_up_to_their_depth_and_never_too_large(rng):
    for table in random_tables(rng, 100, outcome_costs=False, costs="integers"):
        whole = state_in_integers(make_task(table, "worst", "class"))
        for depth in (1, 2, 3, 6):
            cover = Cover(whole.codes, whole.class_id, whole.case_prices, depth)
            bounds = bound_cases(cover, np.arange(whole.n_cases, dtype=np.uint16))
            for case in range(table.n_cases):
                least = least_cover(table, case) * whole.cost_scale
                bound = bounds[whole.merged[case]]
                assert bound <= least
                if depth == 6:
                    assert bound == least


def test_a_case_is_proved_above_every_limit_below_its_least_cover(rng):
    for table in random_tables(rng, 60, outcome_costs=False, costs="integers"):
        whole = state_in_integers(make_task(table, "worst", "class"))
        cover = Cover(whole.codes, whole.class_id, whole.case_prices, 1)
        hitting = Hitting(cover)
        everyone = np.arange(whole.n_cases, dtype=np.uint16)
        for case in range(table.n_cases):
            least = round(least_cover(table, case) * whole.cost_scale)
            place = int(whole.merged[case])
            for limit in {-1, 0, least - 1, least, least + 1}:
                proved = hitting.costs_more(place, everyone, limit, max_nodes=10**6)
                assert proved == (least > limit)
            # Cut short, nothing is proved that does not hold.
            assert not hitting.costs_more(place, everyone, least, max_nodes=1)


def check_worst_proofs(rng):
    for table in random_tables(rng, 60, most_cases=8, costs="integers"):
        whole = state_in_integers(make_task(table, "worst", "class"))
        cover = Cover(whole.codes, whole.class_id, whole.case_prices, 1)
        proof = WorstProof(whole, cover, lambda: 1.0)
        everyone = np.arange(whole.n_cases, dtype=np.uint16)
        worst = round(brute_force_cost(table, "worst") * whole.cost_scale)
        for level in (0, 1, table.n_tests):
            assert not proof.is_above(everyone, worst, level)
        # With as many tests unrolled as there are, the proof is complete.
        assert proof.is_above(everyone, worst - 1, table.n_tests)


def test_the_worst_case_is_proved_above_every_limit_below_it(rng):
    check_worst_proofs(rng)


def test_a_test_that_moves_to_the_front_in_a_part_is_still_tried_in_the_whole():
    """Among these tables is one where it would be passed over, and too much proved."""
    check_worst_proofs(np.random.default_rng(2192028132))


def test_out_of_time_the_worst_case_proves_nothing(rng):
    (table,) = random_tables(rng, 1)
    whole = state_in_integers(make_task(table, "worst", "class"))
    cover = Cover(whole.codes, whole.class_id, whole.case_prices, 1)
    everyone = np.arange(whole.n_cases, dtype=np.uint16)
    assert not WorstProof(whole, cover, lambda: 0.0).is_above(everyone, 0, 3)


def test_identification_meets_huffman(rng):
    for n in (8, 16, 23):
        table = make_random_table(n, 12, n_classes=n, prior="random", random_state=n)
        solution = askless.solve(table, stop="case", n_jobs=1)
        assert solution.status == "optimal"
        task = make_task(table, "expected", "case")
        assert BOUNDS["huffman"](task) <= solution.expected_cost + 1e-12


def test_more_breadth_is_never_dearer_and_all_tests_are_exact(rng):
    for table in random_tables(rng, 20, most_cases=9):
        exact = askless.solve(table, method="exact", n_jobs=1).expected_cost
        costs = [
            askless.solve(table, method="search", max_breadth=k).expected_cost
            for k in range(1, table.n_tests + 1)
        ]
        assert costs == sorted(costs, reverse=True)
        assert costs[-1] == pytest.approx(exact)


# Limits.


@pytest.fixture(scope="module")
def hard_table():
    return make_random_table(300, 40, n_classes=2, random_state=3)


@pytest.mark.parametrize("limit", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("method", ["exact", "search", "auto"])
def test_a_time_limit_holds_and_leaves_a_policy_and_a_bound(hard_table, limit, method):
    start = time.monotonic()
    solution = askless.solve(hard_table, method=method, time_limit=limit)
    # A second for setting up and for a busy machine.
    assert time.monotonic() - start < limit + 1.5
    assert solution.error == 0
    assert 0 <= solution.lower_bound <= solution.expected_cost
    assert 0 <= solution.gap <= 1


def test_more_time_never_hurts(hard_table):
    short = askless.solve(hard_table, method="exact", time_limit=0.2)
    longer = askless.solve(hard_table, method="exact", time_limit=2.0)
    assert longer.expected_cost <= short.expected_cost + 1e-12
    assert longer.lower_bound >= short.lower_bound - 1e-12


def test_an_error_of_the_listener_ends_the_search(hard_table):
    def tell(progress):
        raise RuntimeError("planted")

    with pytest.raises(RuntimeError, match="planted"):
        askless.solve(hard_table, method="exact", callbacks=tell)


def test_a_search_that_fails_ends_the_others(hard_table, monkeypatch):
    def fail(self):
        raise MemoryError("planted")

    monkeypatch.setattr(KnownRace, "improve", fail)
    with pytest.raises(MemoryError, match="planted"):
        askless.solve(hard_table, method="exact", n_jobs=2)


def test_progress_is_told_and_improves(hard_table):
    told = []
    askless.solve(hard_table, method="exact", time_limit=1.0, callbacks=told.append)
    best = [p.best for p in told if p.best is not None]
    assert len(told) > 3
    assert best == sorted(best, reverse=True)
    assert [p.bound for p in told] == sorted(p.bound for p in told)


def test_ctrl_c_returns_the_best_so_far(hard_table):
    timer = threading.Timer(0.7, signal.raise_signal, [signal.SIGINT])
    start = time.monotonic()
    timer.start()
    solution = askless.solve(hard_table, method="exact", time_limit=60)
    timer.join()
    assert time.monotonic() - start < 20
    assert solution.status == "feasible"
    assert solution.error == 0
    assert 0 < solution.lower_bound < solution.expected_cost


# What it refuses.


def test_delayed_tests_are_refused_by_the_search_and_solved_otherwise():
    table = Table(
        [[0, 0], [0, 1], [1, 0]], ["a", "b", "c"], costs=Costs([1, 1], delayed=[0])
    )
    with pytest.raises(askless.exceptions.InvalidOptionError, match="delayed"):
        askless.solve(table, method="exact")
    assert askless.solve(table).error == 0


def test_thresholds_are_refused_by_the_search_and_solved_otherwise():
    table = Table([[1.5], [2.5], [3.5]], ["a", "b", "a"], thresholds=True)
    with pytest.raises(askless.exceptions.InvalidOptionError, match="thresholds"):
        askless.solve(table, method="exact")
    assert askless.solve(table).policy.cut.max() >= 0


def test_costs_that_no_scale_makes_whole_still_give_a_true_bound(rng):
    for table in random_tables(rng, 50, outcome_costs=False):
        prices = [float(p) for p in rng.uniform(0.1, 3, table.n_tests)]
        odd = Table(
            table.rows(), table.case_classes, prior=rng.uniform(0.1, 1, table.n_cases),
            costs=dict(zip(table.test_names, prices, strict=True)), missing="outcome",
        )  # fmt: skip
        solution = askless.solve(odd, method="exact", n_jobs=1)
        best = brute_force_cost(odd, "expected")
        assert solution.lower_bound <= best * (1 + 1e-12)
        assert solution.expected_cost == pytest.approx(best, rel=1e-6)
        assert solution.gap < 1e-6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_breadth": 0, "method": "search"}, "max_breadth must be at least 1"),
        ({"objective": "both", "method": "greedy"}, "is for the exact search"),
        ({"objective": "both", "max_error": 0.1}, "is for the exact search"),
        ({"time_limit": -1}, "time_limit must be a number >= 0"),
        ({"time_limit": "soon"}, "time_limit must be a number >= 0"),
        ({"method": "exact", "cover": 3}, "Did you mean 'cover_depth'"),
    ],
)
def test_wrong_options_are_explained(options, message):
    table = Table([[0], [1]], ["a", "b"])
    with pytest.raises(askless.exceptions.InvalidOptionError, match=message):
        askless.solve(table, **options)
