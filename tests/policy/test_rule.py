"""Rules as policies: the same choices as their trees, sessions, contradictions."""

from __future__ import annotations

import os

import numpy as np
import pytest

import askless
from askless.policy import Rule
from askless.policy._first_steps import FirstSteps
from askless.policy._rule import LEAST_WORK
from askless.policy._sample import sample_policy
from tests.solve.unknown.tables import draw_unknown, make_toy, solve_quietly

RULES = ["odtn-r", "odtn-h", "elimination", "information", "gbs", "ec2"]


@pytest.mark.parametrize("name", RULES)
def test_a_rule_costs_what_its_tree_costs(rng, name):
    for own in rng.spawn(25):
        table = draw_unknown(own)
        tree = solve_quietly(table, method=name)
        rule = Rule.from_table(table, name)
        check = askless.evaluate(rule, table)
        assert check.is_exact
        assert check.expected_cost == pytest.approx(tree.expected_cost, abs=1e-9)
        assert check.worst_cost == pytest.approx(tree.worst_cost, abs=1e-9)
        assert check.error == pytest.approx(tree.error, abs=1e-9)


@pytest.mark.parametrize("name", ["odtn-h", "elimination"])
def test_online_costs_are_worked_out_state_by_state(rng, name):
    for own in rng.spawn(25):
        table = draw_unknown(own)
        tree = solve_quietly(table, method=name)
        online = solve_quietly(table, method=name, online=True)
        assert isinstance(online.policy, Rule)
        assert online.is_exact
        assert online.expected_cost == pytest.approx(tree.expected_cost, abs=1e-9)
        assert online.worst_cost == pytest.approx(tree.worst_cost, abs=1e-9)
        assert online.error == pytest.approx(tree.error, abs=1e-9)


def test_exact_costs_agree_with_simulation(rng):
    table = draw_unknown(rng.spawn(1)[0], max_cases=8, max_tests=7, complete=True)
    solution = solve_quietly(table, method="elimination")
    sample = sample_policy(
        solution.policy, table, table.class_ids, most_runs=3000, seconds=60
    )
    assert sample.n_runs == 3000
    assert (
        abs(sample.expected_cost - solution.expected_cost) <= 1.6 * sample.margin + 1e-9
    )
    assert sample.error == 0


def test_large_evaluations_are_sampled_and_say_so(monkeypatch):
    from askless.evaluate import _evaluate

    table = make_toy()
    rule = Rule.from_table(table, "elimination")
    monkeypatch.setattr(_evaluate, "MOST_ENDINGS", 1)
    check = askless.evaluate(rule, table)
    assert not check.is_exact
    assert check.expected_cost == pytest.approx(2, abs=check.margin + 1e-9)
    assert np.isnan(check.case_cost).all()
    assert check.to_dict()["is_exact"] is False


# Sessions.


def test_unknown_answers_weigh_and_do_not_rule_out():
    table = make_toy()
    session = Rule.from_table(table, "elimination").start()
    assert session.test == "e1"
    session.answer(1)
    assert session.test == "e2"
    session.answer(-1)
    assert session.decision == "x2"
    session.undo()
    session.skip()
    # x1 and x2 are left; e3 tells them only if it shows minus, so it is not sure to.
    shares = session.probabilities
    assert shares["x1"] == pytest.approx(4 / 7)
    assert shares["x2"] == pytest.approx(3 / 7)
    assert session.test is None
    assert session.decision == "x1"


def test_an_unknown_outcome_that_was_seen_makes_a_case_lighter():
    table = askless.Table(
        [[1, 0, 0], [None, 1, 0], [1, 1, 1]],
        ["a", "b", "c"],
        tests=["x", "y", "z"],
        alphabet={"x": [0, 1]},
    )
    policy = Rule.from_table(table, "elimination")
    state = policy.initial_state()
    kernel_cases, surprisal = policy.kernel.advance(state.cases, state.surprisal, 0, 1)
    assert policy.kernel.weigh_cases(kernel_cases, surprisal) * 3 == pytest.approx(
        [1, 0.5, 1]
    )


def test_contradictory_answers_name_the_fewest_to_recheck():
    rows = [[0, 0, 0, 0], [1, 1, 1, 0], [0, 1, None, 1], [1, 0, 1, 1]]
    table = askless.Table(rows, ["a", "b", "c", "d"], tests=list("wxyz"))
    assert table.recheck({"w": 1, "x": 1, "y": 1, "z": 0}) == []
    assert table.recheck({"w": 1, "x": 1, "y": 0, "z": 0}) == ["y"]
    assert table.recheck({"w": 0, "x": 1, "y": 0, "z": 1}) == []
    assert table.recheck({"w": None}) == []
    session = askless.Sequence.from_table(table, stops_early=False).start()
    for outcome in (1, 1, 0, 0):
        assert session.recheck == ()
        session.answer(outcome)
        if session.recheck:
            break
    assert session.recheck == ("y",)
    session.undo()
    assert session.recheck == ()
    with pytest.raises(askless.exceptions.InvalidAnswerError, match="'w' shows"):
        table.recheck({"w": 7})
    with pytest.raises(askless.exceptions.InvalidTableError, match="'q'"):
        table.recheck({"q": 7})


def test_the_smallest_set_is_found_by_brute_force(rng):
    from itertools import combinations

    for own in rng.spawn(40):
        table = draw_unknown(own)
        answers = {
            test.name: test.outcomes[own.integers(test.n_levels)]
            for test in table.tests
        }
        found = table.recheck(answers)

        def fits(kept, table=table):
            for case in range(table.n_cases):
                if all(may_show(table, case, name, kept[name]) for name in kept):
                    return True
            return False

        for size in range(len(answers) + 1):
            if any(
                fits({k: v for k, v in answers.items() if k not in left_out})
                for left_out in combinations(answers, size)
            ):
                break
        assert len(found) == size
        assert fits({k: v for k, v in answers.items() if k not in found})


def may_show(table, case, name, outcome):
    test = table.test_names.index(name)
    code = table.tests[test].code_of(outcome)
    if table.is_unknown[test, case]:
        return table.chances[test][code] > 0
    return table.codes[test, case] == code


def test_rows_are_walked(rng):
    table = draw_unknown(rng.spawn(1)[0], complete=True)
    full = {
        name: [o if o is not None else table.tests[i].outcomes[0] for o in column]
        for i, (name, column) in enumerate(table.rows().items())
    }
    rule, tree = Rule.from_table(table), solve_quietly(table, method="elimination")
    assert rule.cost(full) == pytest.approx(tree.policy.cost(full))
    assert rule.predict(full).tolist() == tree.policy.predict(full).tolist()
    assert rule.predict_proba(full).sum(axis=1) == pytest.approx(np.ones(table.n_cases))


# Wrong input.


def test_rules_are_checked():
    table = make_toy()
    with pytest.raises(askless.exceptions.UnknownNameError, match="elimination"):
        Rule.from_table(table, "elim")
    good = Rule.from_table(table)
    parts = {
        "rule": "elimination",
        "case_codes": good.case_codes,
        "case_class": good.case_class,
        "case_weights": good.case_weights,
        "chances": good.chances,
    }
    wrong = [
        {"case_codes": good.case_codes[:2]},
        {"case_codes": good.case_codes.astype(np.int64)},
        {"case_codes": good.case_codes + 9},
        {"case_class": good.case_class + 9},
        {"case_weights": -good.case_weights},
        {"chances": good.chances[:1]},
        {"chances": tuple(2 * c for c in good.chances)},
        {"rule": "order", "order": [0, 0]},
        {"rule": "order"},
        {"form": "printed"},
    ]
    for change in wrong:
        with pytest.raises(askless.exceptions.InvalidPolicyError):
            Rule(good.tests, good.classes, good.prices, **(parts | change))


# What is remembered.


def follow(policy, codes):
    state, states = policy.initial_state(), []
    while (test := policy.next_test(state)) is not None:
        states.append(state)
        state = policy.advance(state, int(codes[test]))
    return [*states, state]


def test_first_steps_are_found_once_and_steps_alike_are_equal(rng, monkeypatch):
    table = askless.Table(rng.integers(0, 3, (80, 12)), list(range(80)))
    asked = []
    choose = Rule._choose
    monkeypatch.setattr(
        Rule, "_choose", lambda self, state: asked.append(1) or choose(self, state)
    )
    plain = [follow(Rule.from_table(table), row) for row in table.codes.T]
    n_plain = len(asked)
    monkeypatch.setattr("askless.policy._rule.LEAST_KEPT", 0)
    policy = Rule.from_table(table)
    for _ in range(2):
        asked.clear()
        states = [follow(policy, row) for row in table.codes.T]
        # Equal, and of one hash, whether they were remembered or not.
        assert states == plain
        assert hash(states[0][-1]) == hash(plain[0][-1])
        assert states[0][-1] != states[1][-1]
    assert not asked
    assert n_plain > 80
    # With no room for them, all but the very first step are found again.
    forgetful = Rule.from_table(table)
    forgetful._chosen = FirstSteps(most_bytes=0)
    asked.clear()
    assert [follow(forgetful, row) for row in table.codes.T] == plain
    assert len(asked) == n_plain - 79


def test_a_second_thread_is_for_many_cases_only(rng):
    few = Rule.from_table(askless.Table([[0], [1]], ["a", "b"]))
    assert few.n_threads == 1
    few.n_threads = 2
    assert few._count_threads(few.initial_state()) == 1
    table = askless.Table(rng.integers(0, 2, (LEAST_WORK // 4, 4)), [0, 1] * 25_000)
    many = Rule.from_table(table)
    one = many._choose(many.initial_state())
    many.n_threads = 2
    assert many._count_threads(many.initial_state()) == min(2, os.cpu_count() or 1)
    assert many._choose(many.initial_state()) == one
