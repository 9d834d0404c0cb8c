"""A session asks one test after another, and can always go back."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askless.exceptions import InvalidAnswerError
from askless.policy import Sequence
from askless.problem import Costs, Table
from askless.run import Session
from askless.run._ahead import walk_worst
from tests.policy.examples import make_example
from tests.strategies import (
    generators,
    grow_at_random,
    random_values,
    solved,
    tables_with_policies,
)


@pytest.fixture
def table():
    return Table(
        {"lamp": ["dark", "dark", "dim"], "socket": ["dead", "live", "live"]},
        ["fuse", "bulb", "dimmer"],
        costs={"lamp": 1, "socket": 5},
        prior=[0.1, 0.3, 0.6],
    )


@pytest.fixture
def session(table):
    return solved(table).start()


def snapshot(session):
    return (
        session.test,
        session.outcomes,
        session.price,
        session.spent,
        session.decision,
        session.probabilities,
        session.why(),
        list(session.log),
    )


def test_it_asks_charges_and_decides(session):
    assert (session.test, session.price, session.spent) == ("lamp", 1.0, 0.0)
    assert session.outcomes == ("dark", "dim")
    assert session.decision is None
    session.answer("dark")
    assert session.probabilities == pytest.approx(
        {"bulb": 0.75, "dimmer": 0.0, "fuse": 0.25}
    )
    session.answer("live")
    assert (session.test, session.price, session.outcomes) == (None, 0.0, ())
    assert (session.decision, session.spent) == ("bulb", 6.0)
    assert session.log == [
        {"test": "lamp", "outcome": "dark", "paid": 1.0},
        {"test": "socket", "outcome": "live", "paid": 5.0},
    ]


@settings(max_examples=200)
@given(
    drawn=tables_with_policies(), rng=generators(), steps=st.lists(st.integers(0, 4))
)
def test_any_walk_can_be_taken_back_step_by_step_and_replayed(drawn, rng, steps):
    _, policy = drawn
    session = policy.start()
    past = [snapshot(session)]
    for step in steps:
        if session.test is None:
            break
        if step == 0:
            spent = session.spent
            session.skip()
            assert session.spent == spent
        elif step == 1 and len(past) > 1:
            session.undo()
            past.pop()
            assert snapshot(session) == past[-1]
            continue
        else:
            test = policy.tests[policy.test_names.index(session.test)]
            session.answer(random_values(rng, test, 1)[0], allow_unseen=True)
        past.append(snapshot(session))
    log = json.loads(json.dumps(session.log))
    assert snapshot(Session.replay(policy, log)) == snapshot(session)
    for moment in reversed(past[:-1]):
        session.undo()
        assert snapshot(session) == moment
    assert session.log == []
    with pytest.raises(
        InvalidAnswerError, match=r"an answer to take back\. Got a session"
    ):
        session.undo()


# Answers.


def one_test(values, **options):
    table = Table({"t": values}, list(range(len(values))), **options)
    return solved(table)


@pytest.mark.parametrize(
    ("outcomes", "answer", "decision"),
    [
        ([0, 1, 2], "2", 2),
        ([0, 1, 2], 2.0, 2),
        ([0, 1, 2], np.int8(2), 2),
        ([0.5, 2.0], "2", 1),
        ([0.5, 2.0], "2.0", 1),
        ([False, True], "true", 1),
        ([False, True], "True", 1),
        ([False, True], 1, 1),
        ([False, True], np.True_, 1),
        (["1", "2"], 2, 1),
        (["no", "yes"], np.str_("yes"), 1),
    ],
)
def test_an_outcome_may_be_spelled_in_other_ways(outcomes, answer, decision):
    session = one_test(outcomes).start()
    session.answer(answer)
    assert session.decision == decision
    assert type(session.log[0]["outcome"]) in (str, bool, int, float)


@pytest.mark.parametrize(
    ("answer", "decision"),
    [("1.5", 0), (" 2.5 ", 1), (3, 1), (True, 0), (np.float32(1), 0), ("inf", 1)],
)
def test_a_number_may_come_as_text(answer, decision):
    session = one_test([1.0, 3.0], thresholds=True).start()
    assert session.outcomes == ()
    session.answer(answer)
    assert session.decision == decision


@pytest.mark.parametrize("answer", [None, np.nan, pd.NA, pd.NaT])
def test_a_missing_outcome_is_paid_for_and_logged_as_none(session, answer):
    session.answer(answer)
    assert session.log == [{"test": "lamp", "outcome": None, "paid": 1.0}]
    assert json.loads(json.dumps(session.log)) == session.log


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            "drak",
            r"'lamp' shows one of 'dark', 'dim'\. Got 'drak'\. Did you mean 'dark'",
        ),
        ("bright", r"Got 'bright'\. Use one of these, or skip the test"),
        (7, r"Got 7\. Use one of these"),
        (["dark"], r"'lamp' must be text, a number or a boolean\. Got list"),
        ({}, r"a number or a boolean\. Got dict"),
    ],
)
def test_an_answer_that_the_test_cannot_give_changes_nothing(session, answer, message):
    before = snapshot(session)
    with pytest.raises(InvalidAnswerError, match=message):
        session.answer(answer)
    assert snapshot(session) == before
    session.answer("dark")
    before = snapshot(session)
    with pytest.raises(InvalidAnswerError):
        session.answer(answer)
    assert snapshot(session) == before


@pytest.mark.parametrize("answer", ["warm", "", "1,5", [1], "0x10"])
def test_what_is_no_number_is_refused_where_numbers_are_shown(answer):
    session = one_test([1.0, 3.0], thresholds=True).start()
    before = snapshot(session)
    with pytest.raises(InvalidAnswerError, match=r"'t' shows a number\. Got"):
        session.answer(answer, allow_unseen=True)
    assert snapshot(session) == before


def test_a_long_list_of_outcomes_is_cut_short():
    session = one_test(list(range(30))).start()
    with pytest.raises(InvalidAnswerError, match=r"10, 11, \.\.\.\. Got 'x'"):
        session.answer("x")


def test_an_unseen_outcome_takes_the_default_branch_if_allowed(session):
    session.answer("flickers", allow_unseen=True)
    assert (session.decision, session.spent) == ("dimmer", 1.0)


def test_a_skipped_test_is_not_paid_for(session):
    session.skip()
    assert session.spent == 0.0
    assert session.log == [{"test": "lamp", "skipped": True}]
    assert session.decision == "dimmer"
    session.undo()
    assert session.log == []


def test_after_the_decision_there_is_nothing_to_answer(session):
    session.answer("dim")
    for act in (lambda: session.answer("dim"), session.skip):
        before = snapshot(session)
        with pytest.raises(
            InvalidAnswerError, match="session that has decided 'dimmer'"
        ):
            act()
        assert snapshot(session) == before
    session.undo()
    assert session.test == "lamp"


def test_a_policy_that_never_tests_has_decided_at_once():
    table = Table([[0], [1]], ["same", "same"])
    session = Sequence.from_table(table).start()
    assert (session.test, session.decision, session.spent) == (None, "same", 0.0)
    assert (
        session.why()
        == "Decided 'same': all known cases that fit are of this class. Spent 0."
    )


# Why.


def test_why_says_what_is_possible_and_what_is_likeliest(session):
    assert session.why() == (
        "'lamp' costs 1; 3 decisions are possible, 'dimmer' is the likeliest (60 %)."
    )
    session.answer("dark")
    assert session.why() == (
        "'socket' costs 5; 2 decisions are possible, 'bulb' is the likeliest (75 %)."
    )
    session.answer("live")
    assert (
        session.why()
        == "Decided 'bulb': all known cases that fit are of this class. Spent 6."
    )


def test_why_says_when_only_one_decision_is_left_to_confirm():
    table = Table([[0, 0], [1, 0]], ["a", "b"])
    session = Sequence.from_table(table, stops_early=False).start()
    session.answer(0)
    assert session.why() == (
        "'t1' costs 1; 1 decision is possible, 'a' is the likeliest (100 %)."
    )


def test_why_gives_the_share_of_the_decision_not_of_the_likeliest():
    table = Table(
        {"t": [0, 0]},
        ["bomb", "toy"],
        prior=[1, 9],
        costs=Costs([1], mistakes=[[0, 1000], [1, 0]]),
    )
    session = Sequence.from_table(table, []).start()
    assert session.why() == "Decided 'bomb': it has 10 %. Spent 0."


# Replaying.


def test_a_log_of_another_policy_is_refused(table, session):
    session.answer("dark")
    session.answer("dead")
    other = Sequence.from_table(table, [1])
    message = (
        r"A log must follow the policy\. Got 'lamp' where the policy asks 'socket'"
    )
    with pytest.raises(InvalidAnswerError, match=message):
        Session.replay(other, session.log)


def test_a_log_that_goes_on_after_the_decision_is_refused(session):
    session.answer("dim")
    for more in (
        {"test": "socket", "outcome": "live"},
        {"test": None, "outcome": 1},
        {},
    ):
        with pytest.raises(InvalidAnswerError, match="where the policy has decided"):
            Session.replay(session.policy, [*session.log, more])


def test_a_log_without_outcomes_is_refused(session):
    with pytest.raises(InvalidAnswerError, match="must have an outcome, or be skipped"):
        Session.replay(session.policy, [{"test": "lamp"}])


@given(seed=st.integers(0, 10_000), n_steps=st.integers(0, 4))
@settings(max_examples=60, deadline=None)
def test_what_is_left_at_worst_is_that_of_every_path(seed, n_steps):
    """Subtrees are priced at once; walking every path says the same."""
    rng = np.random.default_rng(seed)
    like = make_example(["numbers", "groups"][seed % 2])
    tree = grow_at_random(rng, like.tests, like.classes, like.prices, max_depth=5)
    session = tree.start()
    for _ in range(n_steps):
        if session.test is None:
            break
        how = rng.integers(3)
        if how == 0:
            session.skip(paid=bool(rng.integers(2)))
        else:
            test = tree.test_by_name[session.test]
            number = float(rng.uniform(0, 60))
            outcomes = test.outcomes or (number,)
            session.answer(outcomes[rng.integers(len(outcomes))])
    moment = session._moment
    assert session.left_at_worst == walk_worst(tree, moment.state, moment.bill)
