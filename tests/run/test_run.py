"""Tests are bought one by one, only where needed, whatever goes wrong on the way."""

import asyncio
import functools
import hashlib
import itertools
import threading
import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings

import askless
from askless.exceptions import InvalidAnswerError, InvalidOptionError
from askless.policy import Sequence
from askless.problem import Costs, Table
from askless.run import SKIP, Session
from tests.policy.examples import EXAMPLES, make_example
from tests.strategies import solved, tables_with_policies


@pytest.fixture
def policy():
    table = Table(
        {"lamp": ["dark", "dark", "dim"], "socket": ["dead", "live", "live"]},
        ["fuse", "bulb", "dimmer"],
        costs={"lamp": 1, "socket": 5},
        prior=[0.1, 0.3, 0.6],
    )
    return solved(table)


HALL = {"lamp": "dark", "socket": "live"}


def look_up(case, test):
    return case[test]


class Shop:
    """A fetch that reads rows, counts its calls, and prices them with its own bill."""

    def __init__(self, policy, rows):
        self.policy, self.rows = policy, rows
        self.calls = Counter()
        self.by_case = {}

    def __call__(self, case, test):
        self.calls[case, test] += 1
        self.by_case.setdefault(case, []).append(test)
        return self.rows[case][test]

    def price(self, case):
        """Return what the fetched tests charge, worked out from the price list."""
        prices, names = self.policy.prices, self.policy.test_names
        is_open, total = set(), 0.0
        for name in self.by_case.get(case, []):
            test = names.index(name)
            group = prices.group[test]
            price = prices.discounted[test] if group in is_open else prices.full[test]
            by_outcome = prices.by_outcome.get(test)
            code = self.policy.tests[test].code_of(self.rows[case][name])
            if by_outcome is not None and code < len(by_outcome):
                price = by_outcome[code]
            if group is not None:
                is_open.add(group)
            total += price
        return total


def rows_of(policy, n, rng):
    """Return rows that show what the tests know, and sometimes what they do not."""
    rows = []
    for _ in range(n):
        row = {}
        for test in policy.tests:
            if test.kind == "number":
                value = float(rng.normal(np.mean(test.cuts or (0,)), 30))
            else:
                value = rng.choice(len(test.outcomes))
                value = test.outcomes[value] if test.outcomes else "never seen"
            row[test.name] = value if rng.random() > 0.1 else None
        rows.append(row)
    return rows


def as_columns(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


# Only what is needed.


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_fetched_is_what_the_policy_charges(name, rng):
    policy = make_example(name)
    rows = rows_of(policy, 200, rng.spawn(len(EXAMPLES))[list(EXAMPLES).index(name)])
    shop = Shop(policy, rows)
    report = policy.run_many(shop, range(len(rows)))
    costs, decided = policy.cost(as_columns(rows)), policy.predict(as_columns(rows))
    assert [result.spent for result in report] == costs.tolist()
    assert report.decisions == decided.tolist()
    assert max(shop.calls.values()) == 1
    for case, result in enumerate(report):
        assert shop.price(case) == pytest.approx(result.spent, abs=1e-9)
        assert set(result.bought) == set(shop.by_case.get(case, []))
        assert result.n_calls == len(result.bought)
        assert Session.replay(policy, result.log).spent == result.spent


@given(tables_with_policies())
@settings(max_examples=40)
def test_no_fetch_is_unpaid_on_random_tables(pair):
    table, policy = pair
    columns = table.rows()
    rows = [
        {name: columns[name][case] for name in columns} for case in range(table.n_cases)
    ]
    shop = Shop(policy, rows)
    report = policy.run_many(shop, range(len(rows)), max_workers=2)
    assert [result.spent for result in report] == policy.cost(columns).tolist()
    for case, result in enumerate(report):
        assert set(result.bought) == set(shop.by_case.get(case, []))
        assert shop.price(case) == pytest.approx(result.spent, rel=1e-9, abs=1e-9)


def test_a_number_compared_twice_is_fetched_once():
    table = Table(
        {"age": [1.0, 2.0, 3.0, 4.0]}, list("abcd"), thresholds=True, costs=[3]
    )
    calls = []
    result = solved(table).run(lambda case, test: calls.append(test) or 4.0)
    assert (result.decision, result.spent, calls) == ("d", 3.0, ["age"])


def test_a_delayed_test_is_fetched_with_all_that_it_orders():
    table = Table(
        {"x": [0, 0, 1, 1], "y": [0, 1, 0, 1]},
        list("abcd"),
        costs=Costs([2, 3], delayed=[0, 1]),
    )
    calls = []
    policy = solved(table)
    result = policy.run(lambda case, test: calls.append(test) or 0)
    assert (sorted(calls), result.spent, result.decision) == (["x", "y"], 5.0, "a")
    assert result.spent == policy.worst_cost


def test_a_policy_that_never_tests_fetches_nothing():
    policy = Sequence.from_table(Table([[0], [1]], ["same", "same"]))
    result = policy.run(lambda case, test: pytest.fail("called"))
    assert (result.decision, result.spent, result.n_calls) == ("same", 0.0, 0)


# Failures, retries, time-outs.


def test_a_failure_is_retried_with_growing_waits(policy, monkeypatch):
    waits = []
    monkeypatch.setattr(time, "sleep", waits.append)
    errors = iter([OSError("down"), OSError("down"), OSError("down")])

    def fetch(case, test):
        if test == "lamp" and (error := next(errors, None)):
            raise error
        return case[test]

    result = policy.run(fetch, HALL, retries=3, backoff=0.5, errors=OSError)
    assert (result.decision, result.n_calls, result.failures) == ("bulb", 5, ())
    assert waits == [0.5, 1.0, 2.0]


def test_what_cannot_be_fetched_is_skipped_unpaid_and_named(policy):
    def fetch(case, test):
        raise OSError("down")

    result = policy.run(fetch, HALL, retries=1, errors=(OSError,))
    assert (result.decision, result.spent, result.bought) == ("dimmer", 0.0, ())
    assert result.log == [{"test": "lamp", "skipped": True}]
    (failure,) = result.failures
    assert (failure.test, failure.error, failure.attempts) == (
        "lamp",
        "OSError: down",
        2,
    )
    # Skipping rules nothing out.
    assert result.probabilities == pytest.approx(
        {"bulb": 0.3, "dimmer": 0.6, "fuse": 0.1}
    )


def test_a_failure_can_end_the_case_or_be_raised(policy):
    def fetch(case, test):
        if test == "socket":
            raise ValueError("no such socket")
        return case[test]

    result = policy.run(fetch, HALL, on_failure="stop", errors=ValueError)
    assert (result.decision, result.stopped, result.spent) == (None, "failure", 1.0)
    assert result.failure == (
        "'socket' failed after 1 attempt: ValueError: no such socket"
    )
    with pytest.raises(ValueError, match="no such socket"):
        policy.run(fetch, HALL, on_failure="raise")
    with pytest.raises(ValueError, match="no such socket"):
        policy.run_many(fetch, [HALL] * 50, on_failure="raise", max_workers=3)


def test_what_a_test_cannot_show_is_a_failure(rng):
    table = Table({"age": [1.0, 3.0]}, ["a", "b"], thresholds=True)
    answers = iter(["n/a", 3.0])
    result = solved(table).run(
        lambda case, test: next(answers), retries=1, errors=InvalidAnswerError
    )
    assert (result.decision, result.n_calls, result.spent) == ("b", 2, 1.0)


def test_a_fetch_can_skip_without_failing(policy):
    result = policy.run(
        lambda case, test: SKIP if test == "lamp" else "live", retries=5
    )
    assert (result.n_calls, result.failures, result.spent) == (1, (), 0.0)
    assert repr(SKIP) == "SKIP"


def test_a_call_that_takes_too_long_is_left_behind(policy):
    release = threading.Event()

    def fetch(case, test):
        if test == "socket":
            release.wait(30)
        return case[test]

    start = time.perf_counter()
    result = policy.run(fetch, HALL, timeout=0.05, retries=1)
    release.set()
    assert time.perf_counter() - start < 5
    assert [f.error for f in result.failures] == [
        "TimeoutError: no outcome within 0.05 s"
    ]
    assert result.failures[0].attempts == 2
    assert result.bought == ("lamp",)


def test_an_error_within_a_time_limit_is_told(policy):
    def fetch(case, test):
        raise OSError("down")

    result = policy.run(fetch, HALL, timeout=5, errors=OSError)
    assert result.failures[0].error == "OSError: down"


# Mistakes in a program.


def misspelled(case, test):
    return case[tset]  # noqa: F821


def test_a_mistake_in_a_program_is_raised(policy):
    with pytest.raises(NameError, match="tset") as caught:
        policy.run(misspelled, HALL, retries=9, backoff=100)
    assert "errors=NameError" in caught.value.__notes__[0]
    for max_workers in (1, 3):
        with pytest.raises(NameError, match="tset"):
            policy.run_many(misspelled, [HALL] * 20, max_workers=max_workers)
    with pytest.raises(NameError, match="tset"):
        policy.run(misspelled, HALL, timeout=5)

    async def soon(case, test):
        return misspelled(case, test)

    with pytest.raises(NameError, match="tset"):
        asyncio.run(policy.run_many_async(soon, [HALL] * 20))


def test_what_a_test_cannot_show_is_raised(policy):
    with pytest.raises(InvalidAnswerError, match="must be text, a number or a bool"):
        policy.run(lambda case, test: {"lamp": "dark"})


def test_a_fetch_that_is_to_be_awaited_is_refused(policy):
    async def fetch(case, test):
        return case[test]

    class Shop:
        async def __call__(self, case, test):
            return case[test]

    for one in (fetch, Shop(), functools.partial(fetch)):
        with pytest.raises(InvalidOptionError, match=r"await policy.run_async\("):
            policy.run(one, HALL)
        with pytest.raises(InvalidOptionError, match=r"await policy.run_many_async\("):
            policy.run_many(one, [HALL])
    # One that does not look like it.
    with pytest.raises(InvalidOptionError, match="to be awaited"):
        policy.run(lambda case, test: fetch(case, test), HALL, errors=Exception)
    with pytest.raises(InvalidOptionError, match="Use run or run_many for it"):
        asyncio.run(policy.run_async(look_up, HALL, errors=Exception))


def test_outcomes_at_hand_are_taken_as_they_are(policy):
    result = policy.run(HALL)
    assert (result.decision, result.spent) == ("bulb", 6.0)
    assert policy.run({"lamp": SKIP}).decision == "dimmer"
    with pytest.raises(InvalidAnswerError, match="Got none for 'socket'"):
        policy.run({"lamp": "dark"})
    with pytest.raises(InvalidOptionError, match="fetch must be a function"):
        policy.run_many(HALL, [HALL])
    with pytest.raises(InvalidOptionError, match="Got list"):
        policy.run(["dark"])


# Budgets.


def test_a_case_stops_where_its_budget_ends(policy):
    result = policy.run(look_up, HALL, budget=5.5)
    assert (result.decision, result.stopped, result.spent) == ("bulb", "budget", 1.0)
    assert policy.run(look_up, HALL, budget=6).stopped == "decided"
    assert policy.run(look_up, HALL, budget=0).decision == "dimmer"


def test_a_budget_reckons_with_the_dearest_outcome():
    costs = Costs([1], by_outcome={0: {"dark": 9, "dim": 2}})
    policy = solved(Table([["dark"], ["dim"]], ["a", "b"], costs=costs))
    assert policy.run(lambda c, t: "dim", budget=8.9).n_calls == 0
    assert policy.run(lambda c, t: "dim", budget=9).spent == 2.0


@pytest.mark.parametrize("max_workers", [1, 4])
def test_all_cases_together_keep_to_the_total_budget(policy, max_workers):
    report = policy.run_many(
        look_up, [HALL] * 20, total_budget=33, max_workers=max_workers
    )
    assert report.spent <= 33
    assert None not in report.decisions
    # What is set aside and not needed comes back: nothing more could be bought.
    assert 33 - report.spent < 5 or all(r.stopped == "decided" for r in report)


def test_a_random_policy_never_breaks_its_budget(rng):
    for name, source in zip(EXAMPLES, rng.spawn(len(EXAMPLES)), strict=True):
        policy = make_example(name)
        rows = rows_of(policy, 60, source)
        for budget in (0.0, 1.0, 3.3, 8.0, 50.0):
            report = policy.run_many(
                lambda case, test, rows=rows: rows[case][test],
                range(60),
                budget=budget,
            )
            assert max(result.spent for result in report) <= budget


# Many cases.


def flaky(seed, share):
    """Return a fetch that fails for a share of its calls, as a hash of them says."""
    attempts = Counter()
    lock = threading.Lock()

    def fetch(case, test):
        with lock:
            attempts[case["id"], test] += 1
            n = attempts[case["id"], test]
        key = f"{seed} {case['id']} {test} {n}".encode()
        if hashlib.blake2b(key).digest()[0] < share * 256:
            raise ConnectionError(f"attempt {n}")
        return case[test]

    return fetch, attempts


@pytest.mark.parametrize("on_failure", ["skip", "stop"])
def test_ten_thousand_cases_with_a_flaky_fetch(on_failure):
    table = askless.datasets.load_questions()
    policy = askless.solve(table).policy
    columns = table.rows()
    cases = [
        {name: columns[name][i % table.n_cases] for name in columns} | {"id": i}
        for i in range(10_000)
    ]
    fetch, attempts = flaky(3, 0.3)
    report = policy.run_many(
        fetch,
        iter(cases),
        max_workers=8,
        retries=2,
        on_failure=on_failure,
        errors=ConnectionError,
    )
    assert [result.case["id"] for result in report] == list(range(10_000))
    assert all((r.decision is None) == (r.failure is not None) for r in report)
    assert report.n_calls == sum(attempts.values())
    failed = [r for r in report if r.failures]
    assert 0.05 < len(failed) / 10_000 < 0.3
    perfect = policy.cost(columns)
    for i, result in enumerate(report):
        if not result.failures:
            assert result.decision == table.case_classes[i % table.n_cases]
            assert result.spent == perfect[i % table.n_cases]
        elif on_failure == "stop":
            assert "ConnectionError: attempt 3" in result.failure
        assert set(result.bought).isdisjoint(f.test for f in result.failures)
    counts = report.to_dict()
    assert counts["n_decided"] + counts["n_failed"] == 10_000
    assert (counts["n_failed"] > 0) == (on_failure == "stop")


def test_workers_run_at_the_same_time_and_results_keep_the_order(policy):
    under_way, most = Counter(), []

    def fetch(case, test):
        under_way[case[0]] += 1
        most.append(len(under_way))
        time.sleep(0.01)
        del under_way[case[0]]
        return HALL[test]

    report = policy.run_many(fetch, [(i,) for i in range(40)], max_workers=8)
    assert [result.case[0] for result in report] == list(range(40))
    assert 1 < max(most) <= 8


def test_cases_are_read_as_they_are_needed(policy):
    taken = []

    def cases():
        for i in itertools.count():
            taken.append(i)
            yield HALL

    def stop_at(result):
        if len(taken) > 100:
            raise KeyboardInterrupt

    report = policy.run_many(look_up, cases(), max_workers=2, on_result=stop_at)
    assert report.interrupted
    assert len(taken) < 130
    assert 100 < len(report) <= len(taken)


@pytest.mark.parametrize("max_workers", [1, 3])
def test_ctrl_c_keeps_what_was_bought(policy, max_workers):
    seen = []

    def on_result(result):
        seen.append(result)
        if len(seen) == 20:
            raise KeyboardInterrupt

    report = policy.run_many(
        look_up, [HALL] * 200, max_workers=max_workers, on_result=on_result
    )
    assert report.interrupted
    assert len(report) == 200
    n_decided = sum(result.decision == "bulb" for result in report)
    assert 20 <= n_decided < 200
    for result in report:
        assert (result.decision is None) == (result.stopped == "interrupted")
    assert str(report).startswith(f"200 cases: {n_decided} decided, {200 - n_decided}")


def test_ctrl_c_inside_a_fetch_keeps_the_case(policy):
    def fetch(case, test):
        if test == "socket":
            raise KeyboardInterrupt
        return HALL[test]

    report = policy.run_many(fetch, range(3))
    assert [result.stopped for result in report] == ["interrupted"] * 3
    assert [result.spent for result in report] == [1.0, 0.0, 0.0]


def test_the_report_adds_up(policy):
    cases = [HALL, {"lamp": "dim"}, {"lamp": "dark", "socket": "dead"}]
    report = policy.run_many(look_up, cases)
    assert report.bought == {"lamp": 3, "socket": 2}
    assert (report.spent, report.saved, report.n_calls) == (13.0, 5.0, 5)
    assert str(report) == (
        "3 cases: 3 decided, 0 failed.\n"
        "Bought 5 tests for 13. Every test would have cost 18: saved 5 (27.8 %).\n"
        "  lamp    bought 3\n"
        "  socket  bought 2"
    )
    assert report.to_dict()["stopped"] == {"decided": 3}
    nothing = policy.run_many(look_up, [])
    assert (len(nothing), nothing.spent, nothing.decisions) == (0, 0.0, [])
    assert str(nothing).startswith("0 cases")


# Coroutines.


def test_coroutines_come_to_the_same():
    table = askless.datasets.load_questions()
    policy = askless.solve(table).policy
    columns = table.rows()
    under_way, most, attempts = set(), [], Counter()

    async def fetch(case, test):
        attempts[case, test] += 1
        under_way.add(case)
        most.append(len(under_way))
        await asyncio.sleep(0)
        under_way.discard(case)
        if attempts[case, test] == 1 and case % 3 == 0:
            raise ConnectionError
        return columns[test][case]

    report = asyncio.run(
        policy.run_many_async(
            fetch,
            range(table.n_cases),
            max_workers=5,
            retries=1,
            errors=ConnectionError,
        )
    )
    assert report.decisions == list(table.case_classes)
    assert [r.spent for r in report] == policy.cost(columns).tolist()
    assert 1 < max(most) <= 5
    one = asyncio.run(policy.run_async(fetch, 1))
    assert one.decision == table.case_classes[1]


def test_coroutines_time_out_and_stop(policy):
    async def fetch(case, test):
        if test == "socket":
            await asyncio.sleep(30)
        return case[test]

    result = asyncio.run(
        policy.run_async(fetch, HALL, timeout=0.02, retries=1, on_failure="stop")
    )
    assert result.failure == (
        "'socket' failed after 2 attempts: TimeoutError: no outcome within 0.02 s"
    )


def test_coroutines_fetch_together_what_is_ordered_together():
    table = Table(
        {"x": [0, 0, 1, 1], "y": [0, 1, 0, 1]},
        list("abcd"),
        costs=Costs([2, 3], delayed=[0, 1]),
    )
    both = asyncio.Event()
    asked = []

    async def fetch(case, test):
        asked.append(test)
        if len(asked) == 2:
            both.set()
        await asyncio.wait_for(both.wait(), 10)
        return 1

    result = asyncio.run(solved(table).run_async(fetch))
    assert (result.decision, result.spent, result.failures) == ("d", 5.0, ())


def test_an_error_among_coroutines_is_raised_and_ends_the_others(policy):
    async def fetch(case, test):
        await asyncio.sleep(0)
        if case == 3:
            raise ValueError("three")
        return "dark" if test == "lamp" else "live"

    with pytest.raises(ValueError, match="three"):
        asyncio.run(policy.run_many_async(fetch, range(50), on_failure="raise"))


# Wrong terms.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": -1}, "budget must be a number >= 0, or None. Got -1"),
        ({"budget": float("nan")}, "budget must be"),
        ({"timeout": "1"}, "timeout must be"),
        ({"retries": 1.5}, "retries must be a whole number"),
        ({"backoff": -0.1}, "backoff must be"),
        ({"on_failure": "ignore"}, "on_failure must be 'skip', 'stop' or 'raise'"),
        ({"errors": "OSError"}, "errors must be a type of exception"),
        ({"errors": (OSError, 3)}, "errors must be a type of exception"),
    ],
)
def test_wrong_terms_are_refused(policy, options, message):
    with pytest.raises(InvalidOptionError, match=message):
        policy.run(look_up, HALL, **options)


def test_wrong_numbers_of_workers_are_refused(policy):
    for wrong in (0, -1, 2.0):
        with pytest.raises(InvalidOptionError, match="max_workers must be a whole"):
            policy.run_many(look_up, [HALL], max_workers=wrong)
    with pytest.raises(InvalidOptionError, match="total_budget must be"):
        policy.run_many(look_up, [HALL], total_budget=-1)
