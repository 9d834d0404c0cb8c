"""Tests that can err: what deciding costs in mistakes, and unlikely answers."""

import itertools
import json

import numpy as np
import pytest

from askless import Costs, Sequence, Table, load, solve
from askless.run import Interview, Session, describe

CHANCES = {
    "smear": {"ill": 0.95, "well": 0.04},
    "scan": {"ill": 0.99, "well": 0.02},
    "blood": {"ill": 0.9, "well": 0.3},
}


@pytest.fixture
def tree():
    table = Table.from_likelihoods(
        CHANCES, costs=Costs({t: 1 for t in CHANCES}, mistakes=500)
    )
    return solve(table, objective="total").policy


def ends(tree):
    """Yield the answers of every way to a decision, with the session there."""
    stack = [Session(tree)]
    while stack:
        session = stack.pop()
        if session.test is None:
            yield {e["test"]: e["outcome"] for e in session.log}, session
            continue
        for outcome in session.outcomes:
            after = session.copy()
            after.answer(outcome)
            stack.append(after)


def chance_of(answers, case):
    """Work out how likely a case gives the answers, from the chances above."""
    chances = [
        CHANCES[test][case] if shown == "yes" else 1 - CHANCES[test][case]
        for test, shown in answers.items()
    ]
    return float(np.prod(chances))


def test_the_posterior_and_the_price_of_deciding_follow_bayes(tree):
    for answers, session in ends(tree):
        joint = {case: chance_of(answers, case) / 2 for case in ("ill", "well")}
        total = sum(joint.values())
        assert session.probabilities == pytest.approx(
            {case: weight / total for case, weight in joint.items()}
        )
        assert session.mistake_now == pytest.approx(500 * min(joint.values()) / total)


def test_oddity_is_the_share_of_cases_that_fit_as_badly(tree):
    found = [(answers, session.oddity) for answers, session in ends(tree)]
    fits = [max(chance_of(a, case) for case in ("ill", "well")) for a, _ in found]
    weight = [sum(chance_of(a, c) for c in ("ill", "well")) / 2 for a, _ in found]
    deepest = max(len(answers) for answers, _ in found)
    for (answers, oddity), fit in zip(found, fits, strict=True):
        assert oddity.chance == pytest.approx(fit)
        if len(answers) == deepest:
            # After as many tests everyone has come to a decision.
            as_odd = [w for w, f in zip(weight, fits, strict=True) if f <= fit + 1e-12]
            assert oddity.share == pytest.approx(sum(as_odd))
    assert any(oddity.is_rare for _, oddity in found)


def test_usual_is_what_half_of_the_cases_reach(tree):
    for _, session in ends(tree):
        assert 0.9 < session.oddity.usual <= 1
        assert session.oddity.chance <= 1


def test_unlikely_answers_are_said_to_be_unlikely_and_never_certain(tree):
    interview = Interview(tree)
    for outcome in ("yes", "no", "no"):
        assert describe(interview)["unlikely"] is None
        interview.answer(outcome)
    shown = describe(interview)
    assert shown["unlikely"]["best"] == "well"
    assert shown["unlikely"]["chance"] == pytest.approx(0.02 * 0.96 * 0.7)
    assert shown["unlikely"]["share"] == pytest.approx(
        (0.02 * 0.96 * 0.7 + 0.99 * 0.05 * 0.1) / 2
    )
    assert "unlikely whatever is true" in shown["why"]
    assert "which fits them best, gives them in 1.34 %" in shown["why"]
    assert "no test is left: deciding now costs" in shown["why"]
    assert json.loads(json.dumps(shown)) == shown


def test_why_says_that_no_test_is_worth_its_price(tree):
    session = tree.start()
    session.answer("no")
    assert session.why() == (
        "Decided 'well': it has 99 %; no test left is worth its price: deciding "
        "now costs 5.051 in mistakes on average. Spent 1."
    )


def test_a_tree_that_was_not_solved_for_the_total_does_not_speak_of_worth(tree):
    other = tree.with_costs({"smear": 2, "scan": 1, "blood": 1})
    session = other.start()
    session.answer("no")
    assert "the policy has no further test here: deciding" in session.why()
    assert "worth its price" not in session.why()


def test_a_file_says_what_a_tree_was_solved_for_and_old_ones_need_not(tree, tmp_path):
    path = tmp_path / "policy.json"
    tree.save(path)
    assert load(path).objective == "total"
    text = path.read_text()
    assert '"objective": "total"' in text
    old = tmp_path / "old.json"
    old.write_text(text.replace(' "objective": "total",\n', ""))
    assert load(old, edited=True).objective is None


def test_nothing_is_odd_before_the_first_answer_or_after_a_skip(tree):
    session = tree.start()
    assert session.oddity is None
    assert session.mistake_now == 250
    session.skip()
    assert session.oddity is None


def test_policies_without_prices_of_mistakes_say_nothing_of_them():
    table = Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"])
    for policy in (solve(table).policy, Sequence.from_table(table)):
        for answers in itertools.product([0, 1], repeat=2):
            session = policy.start()
            for answer in answers:
                if session.test is not None:
                    session.answer(answer)
            assert (session.oddity, session.mistake_now) == (None, None)
            assert "worth" not in session.why()


def test_a_rule_that_chooses_while_it_asks_says_the_same():
    table = Table.from_likelihoods(
        CHANCES, costs=Costs({t: 1 for t in CHANCES}, mistakes=500)
    )
    policy = solve(table, objective="total", method="value", online=True).policy
    session = policy.start()
    while session.test is not None:
        session.answer("no")
    answers = {entry["test"]: entry["outcome"] for entry in session.log}
    joint = sorted(chance_of(answers, case) for case in ("ill", "well"))
    assert session.mistake_now == pytest.approx(500 * joint[0] / sum(joint))
    assert "deciding now costs" in session.why()
