"""An interview can be left, resumed, taken back and replayed at any point."""

import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askless.exceptions import AsklessError, DataFileError, InvalidAnswerError
from askless.problem import Table
from askless.run import Interview, Journal, Session, read_reply, replay_log
from tests.policy.examples import EXAMPLES, make_example
from tests.strategies import generators, level_value, solved, tables_with_policies


def act_at_random(interview, rng):
    """Do one thing that someone might do; return whether something was answered."""
    session = interview.session
    what = rng.choice(["answer", "answer", "answer", "unsure", "skip", "undo"])
    if what == "undo" or interview.is_over:
        if session.log:
            interview.undo()
        return
    if what == "answer":
        test = session.policy.test_by_name[session.test]
        if test.n_levels == 0:
            interview.skip()
            return
        interview.answer(level_value(test, int(rng.integers(test.n_levels))))
    else:
        getattr(interview, what)()


def facts(session):
    return (session.test, session.spent, session.decision, list(session.log))


@given(tables_with_policies(), generators(), st.integers(0, 8))
@settings(max_examples=30)
def test_a_log_leads_back_to_the_same_point_wherever_it_is_cut(
    tmp_path_factory, pair, rng, n_steps
):
    _, policy = pair
    path = tmp_path_factory.mktemp("logs") / "log.jsonl"
    interview = Interview(policy, Journal.create(path, policy))
    points = [(path.stat().st_size, facts(interview.session))]
    for _ in range(n_steps):
        act_at_random(interview, rng)
        points.append((path.stat().st_size, facts(interview.session)))
    interview.close()
    content = path.read_bytes()
    assert facts(replay_log(path, policy)) == points[-1][1]
    for size, expected in points:
        # Half a line more: what a kill may leave behind.
        path.write_bytes(content[:size] + b'{"test": "x')
        resumed = Interview.resume(policy, path)
        assert facts(resumed.session) == expected
        resumed.close()
        ended = replay_log(path, policy)
        assert facts(ended) == expected
        replayed = Session.replay(policy, ended.log)
        assert facts(replayed) == expected


@given(tables_with_policies(), generators(), st.integers(1, 12))
@settings(max_examples=60)
def test_undo_goes_back_one_answer_and_down_to_the_start(pair, rng, n_steps):
    _, policy = pair
    interview = Interview(policy)
    past = []
    for _ in range(n_steps):
        before = facts(interview.session)
        n_before = len(interview.session.log)
        act_at_random(interview, rng)
        if len(interview.session.log) > n_before:
            past.append((n_before, before[0]))
        else:
            past = past[:-1]
    while past:
        n_before, test = past.pop()
        interview.undo()
        assert (len(interview.session.log), interview.session.test) == (n_before, test)
    assert interview.session.log == []
    assert interview.session.spent == 0.0
    with pytest.raises(InvalidAnswerError, match="an answer to take back"):
        interview.undo()


def test_a_number_is_asked_for_once(tmp_path):
    table = Table({"age": [1.0, 2.0, 3.0, 4.0]}, list("abcd"), thresholds=True)
    policy = solved(table)
    journal = Journal.create(tmp_path / "log.jsonl", policy)
    interview = Interview(policy, journal)
    interview.answer(4)
    assert interview.session.decision == "d"
    assert len(interview.session.log) > 1
    interview.undo()
    assert interview.session.log == []
    interview.skip()
    assert interview.is_over
    assert interview.n_unanswered == 1
    interview.close()
    assert replay_log(tmp_path / "log.jsonl", policy).decision is not None


def test_a_finished_log_can_be_opened_again_and_changed(tmp_path):
    table = Table([["dark"], ["dim"]], ["bulb", "dimmer"], tests=["lamp"])
    policy, path = solved(table), tmp_path / "log.jsonl"
    interview = Interview(policy, Journal.create(path, policy))
    interview.answer("dark")
    interview.close()
    first = path.read_bytes()
    Interview.resume(policy, path).close()
    assert path.read_bytes() == first
    again = Interview.resume(policy, path)
    again.undo()
    again.answer("dim")
    again.close()
    assert replay_log(path, policy).decision == "dimmer"
    events = [json.loads(line) for line in path.read_text().splitlines()[1:]]
    assert [e.get("decision") for e in events] == [None, "bulb", None, None, "dimmer"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_no_damage_to_a_log_is_worse_than_an_error(name, tmp_path, rng):
    policy = make_example(name)
    rng = rng.spawn(len(EXAMPLES))[list(EXAMPLES).index(name)]
    path = tmp_path / "log.jsonl"
    interview = Interview(policy, Journal.create(path, policy))
    for _ in range(8):
        act_at_random(interview, rng)
    interview.close()
    content = path.read_bytes()
    for _ in range(60):
        damaged = bytearray(content)
        for _ in range(int(rng.integers(1, 4))):
            damaged[rng.integers(len(damaged))] = rng.integers(256)
        path.write_bytes(bytes(damaged))
        with suppress(AsklessError):
            replay_log(path, policy)


def test_what_is_no_log_is_refused(tmp_path):
    policy = make_example("groups")
    for content in (b"", b"\n", b"{}\n", b"null\n", b"\xff\xfe\n", b'{"format": 1}\n'):
        (tmp_path / "x").write_bytes(content)
        with pytest.raises(DataFileError):
            replay_log(tmp_path / "x", policy)


# What a session says ahead and after a skip.


@given(tables_with_policies(), generators())
@settings(max_examples=80)
def test_what_is_left_at_worst_is_the_dearest_way_to_the_end(pair, rng):
    _, policy = pair
    interview = Interview(policy)
    for _ in range(int(rng.integers(0, 4))):
        act_at_random(interview, rng)
    session = interview.session

    def dearest(here):
        if here.test is None:
            return here.spent
        test = policy.test_by_name[here.test]
        found = []
        for value in [None, *(level_value(test, i) for i in range(test.n_levels))]:
            after = here.copy()
            after.answer(value)
            found.append(dearest(after))
        return max(found)

    worst = dearest(session) - session.spent
    if policy.kind == "tree":
        assert session.left_at_worst == pytest.approx(worst, rel=1e-9, abs=1e-6)
    else:
        assert session.left_at_worst >= worst - 1e-6
    assert session.price_at_most >= session.price
    assert session.price_at_most <= session.left_at_worst + 1e-6


@given(st.integers(2, 7), st.integers(1, 4), generators())
@settings(max_examples=80)
def test_a_skip_rules_nothing_out(n_cases, n_tests, rng):
    outcomes = rng.integers(0, 3, (n_cases, n_tests))
    classes = [f"c{i}" for i in rng.integers(0, 3, n_cases)]
    prior = rng.integers(1, 9, n_cases)
    table = Table(outcomes, classes, prior=prior)
    policy = solved(table)
    session = policy.start()
    said, skipped = {}, set()
    while session.test is not None:
        name = session.test
        if rng.random() < 0.4:
            skipped.add(name)
            session.skip(paid=bool(rng.integers(2)))
        else:
            said[name] = int(rng.choice(session.policy.test_by_name[name].outcomes))
            session.answer(said[name])

    def steps(case):
        walk = policy.start()
        while walk.test is not None:
            shown = int(outcomes[case, table.test_names.index(walk.test)])
            yield walk, shown
            walk.answer(shown)

    # What cases show where they are: an answer that none of them shows says nothing.
    known = {
        (walk._moment.state, shown)
        for case in range(n_cases)
        for walk, shown in steps(case)
    }

    def is_possible(case):
        for walk, shown in steps(case):
            answer = said.get(walk.test)
            if answer != shown and (walk._moment.state, answer) in known:
                return False
        return True

    weights = dict.fromkeys(policy.classes, 0.0)
    for case in range(n_cases):
        weights[classes[case]] += prior[case] * is_possible(case)
    total = sum(weights.values())
    if skipped and total:
        expected = {label: weight / total for label, weight in weights.items()}
        assert session.probabilities == pytest.approx(expected)


def test_branches_say_what_follows():
    policy = make_example("numbers")
    session = policy.start()
    branches = session.branches()
    assert sum(branch.share for branch in branches) == pytest.approx(1.0)
    assert all(" <= " in b.label or " > " in b.label for b in branches)
    for branch in make_example("groups").start().branches():
        after = make_example("groups").start()
        after.answer(branch.outcomes[0])
        assert branch.test == after.test
        assert branch.decision == after.decision_now
        left = sum(share > 0 for share in after.probabilities.values())
        assert branch.n_decisions == left
    sequence = make_example("sequence").start()
    assert [branch.share for branch in sequence.branches()] == [None] * len(
        sequence.branches()
    )


# Replies.


def reply_of(policy, text):
    return tuple(read_reply(policy.start(), text))


def test_names_go_before_numbers_and_commands():
    table = Table(
        {"t": ["skip", "2", "1", "Undo it", "undo all"]}, list("abcde"), costs=[1]
    )
    policy = solved(table)
    assert policy.tests[0].outcomes == ("1", "2", "Undo it", "skip", "undo all")
    assert reply_of(policy, "skip") == ("answer", "skip")
    assert reply_of(policy, ":skip") == ("skip", None)
    assert reply_of(policy, "2") == ("answer", "2")
    assert reply_of(policy, "#1") == ("answer", "1")
    assert reply_of(policy, "#4") == ("answer", "skip")
    assert reply_of(policy, "undo") == ("undo", None)
    assert reply_of(policy, "undo i") == ("answer", "Undo it")
    assert reply_of(policy, "  UNDO   ALL ") == ("answer", "undo all")
    assert reply_of(policy, "what if #2") == ("what if", "2")
    assert reply_of(policy, "what if") == ("what if", None)
    for wrong in ("#0", "#6", "3", "", "un", "what if x", "-1"):
        match = "may be several" if wrong == "un" else "none of them"
        with pytest.raises(InvalidAnswerError, match=match):
            reply_of(policy, wrong) if wrong else read_reply(policy.start(), " .")


def test_numbers_are_values_where_numbers_are_measured():
    policy = solved(Table({"t": [1.0, 3.0]}, ["a", "b"], thresholds=True))
    assert reply_of(policy, "2") == ("answer", 2.0)
    assert reply_of(policy, "-1e3") == ("answer", -1000.0)
    assert reply_of(policy, "?") == ("unsure", None)
    assert reply_of(policy, "Don’t know") == ("unsure", None)
    for wrong in ("#1", "nan", "inf", "1,5", "warm"):
        with pytest.raises(InvalidAnswerError, match="shows a number"):
            reply_of(policy, wrong)


def test_after_the_decision_there_is_only_undo():
    session = solved(Table([["x"], ["x"]], ["same", "same"])).start()
    assert session.test is None
    assert read_reply(session, "undo").kind == "undo"
    assert read_reply(session, "q").kind == "quit"
    for text in ("x", "skip", "?", "what if x"):
        with pytest.raises(InvalidAnswerError, match="after the decision"):
            read_reply(session, text)


def test_whatever_is_typed_is_understood_or_refused(rng):
    policy = make_example("outcome prices")
    signs = list("012 #:?-. skipundowhatifTrue\t\0é")
    for _ in range(400):
        text = "".join(rng.choice(signs, int(rng.integers(0, 9))))
        try:
            reply = read_reply(policy.start(), text)
        except InvalidAnswerError:
            continue
        if reply.kind == "answer":
            policy.start().answer(reply.outcome)
    assert np.isfinite(policy.worst_cost)
