"""What is reported for many rows is what each would pay, to the last bit."""

import json

import numpy as np
import pytest
from hypothesis import given, settings

from askless.policy import Sequence
from askless.problem import Costs, Table
from askless.run import Session
from askless.testing import check_policy, plain_run
from tests.strategies import generators, random_rows, solved, tables_with_policies


def answer_all(policy, row):
    """Answer a session from a row until it decides."""
    session = policy.start()
    while session.test is not None:
        session.answer(row[session.test], allow_unseen=True)
    return session


@settings(max_examples=300)
@given(drawn=tables_with_policies(), rng=generators())
def test_replayed_spend_is_reported_spend(drawn, rng):
    _, policy = drawn
    columns = random_rows(rng, policy.tests, 9)
    reported = policy.cost(columns).tolist()
    decided = policy.predict(columns).tolist()
    for i, cost in enumerate(reported):
        row = {name: column[i] for name, column in columns.items()}
        session = answer_all(policy, row)
        assert session.spent == cost
        assert session.decision == decided[i]
        replayed = Session.replay(policy, json.loads(json.dumps(session.log)))
        assert (replayed.spent, replayed.decision) == (cost, decided[i])


@settings(max_examples=200)
@given(drawn=tables_with_policies(), rng=generators())
def test_every_policy_passes_the_public_check(drawn, rng):
    table, policy = drawn
    check_policy(policy, random_rows(rng, policy.tests, 5))
    check_policy(policy, table.rows())


@settings(max_examples=200)
@given(drawn=tables_with_policies(), rng=generators())
def test_rows_pay_and_are_decided_as_by_the_plain_rules(drawn, rng):
    _, policy = drawn
    columns = random_rows(rng, policy.tests, 9)
    codes = policy.coding.encode(columns)
    runs = [plain_run(policy, row.tolist()) for row in codes.T]
    assert policy.cost(columns).tolist() == [run.cost for run in runs]
    expected = [policy.classes[run.decision] for run in runs]
    assert policy.predict(columns).tolist() == expected


@pytest.fixture
def slow_tests():
    """Return the costs of the specification's worked case of delays and a group."""
    return Costs(
        {"alpha": 5, "beta": 10, "delta": 7, "epsilon": 10},
        groups={"A": ["delta", "epsilon"]},
        discounted={"delta": 5, "epsilon": 8},
        delayed=["delta", "epsilon"],
        mistakes=50,
    )


def test_delayed_tests_are_ordered_together_and_share_their_group(slow_tests):
    table = Table(
        [[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0], [1, 0, 0, 0], [1, 1, 0, 0]],
        ["a", "b", "c", "d", "e"],
        tests=["alpha", "beta", "delta", "epsilon"],
        costs=slow_tests,
    )
    tree = solved(table)
    assert tree.start().test == "alpha"
    assert tree.cost([[0, 0, 0, 0], [1, 1, 0, 0]]).tolist() == [20.0, 15.0]
    session = tree.start()
    session.answer(0)
    assert (session.test, session.price) == ("delta", 15.0)
    session.answer(0)
    assert (session.test, session.price) == ("epsilon", 0.0)
    session.answer(1)
    assert [entry["paid"] for entry in session.log] == [5.0, 15.0, 0.0]


def test_a_skipped_delayed_test_orders_nothing(slow_tests):
    table = Table(
        [[0, 0, 0, 0], [0, 0, 0, 1], [0, 1, 1, 1]],
        ["a", "b", "c"],
        tests=["alpha", "beta", "delta", "epsilon"],
        costs=slow_tests,
    )
    sequence = Sequence.from_table(table, [2, 0, 3], stops_early=False)
    session = sequence.start()
    assert session.price == 7 + 5 + 8
    session.skip()
    assert (session.spent, session.test, session.price) == (0.0, "alpha", 5.0)


def test_an_outcome_without_a_branch_pays_its_own_price():
    table = Table(
        [["flat"], ["full"], ["weak"]],
        ["charge", "other", "other"],
        tests=["battery"],
        costs=Costs([2], by_outcome={0: {"flat": 1, "full": 3, "weak": 8}}),
    )
    tree = solved(table)
    rows = [["flat"], ["full"], ["weak"], [None], ["gone"]]
    assert tree.cost(rows).tolist() == [1, 3, 8, 2, 2]
    # A tree with two of the branches sends the third outcome down one of them, and yet
    # charges what the third outcome costs.
    pruned = solved(
        Table(
            [["flat"], ["full"]],
            ["charge", "other"],
            tests=["battery"],
            costs=Costs([2], by_outcome={0: {"flat": 1, "full": 3}}),
        )
    )
    assert pruned.cost([["flat"], ["full"], ["weak"]]).tolist() == [1, 3, 2]


def test_costs_add_up_in_the_order_of_payment():
    prices = [0.1, 0.2, 0.3, 1e16, 1.0]
    table = Table(np.eye(5, dtype=int), list("abcde"), costs=prices)
    for order in ([0, 1, 2, 3, 4], [3, 4, 2, 1, 0]):
        sequence = Sequence.from_table(table, order, stops_early=False)
        expected = 0.0
        for test in order:
            expected += prices[test]
        assert sequence.cost([[0] * 5]).tolist() == [expected]
        assert (
            answer_all(sequence, dict.fromkeys(table.test_names, 0)).spent == expected
        )
