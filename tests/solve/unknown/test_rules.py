"""Rules for unknown outcomes: the numbers of the toy, and plain twins."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import askless
from askless._core.unknown._scores import score_tests
from askless._core.unknown._table import Effect, UnknownTable
from askless.solve.unknown._rules import RULES
from askless.testing import PlainUnknown, plain_rule_cost, plain_rule_score
from tests.solve.unknown.tables import draw_unknown, make_toy, solve_quietly

NAMES = sorted({name for name, _ in RULES})
F = Fraction

# Scores of the five tests, the first test and the expected number of tests.
TOY = {
    ("odtn-r", "paper"): ("41/30 19/15 11/15 2/3 3/20", 0, 2),
    ("odtn-r", "released"): ("41/30 19/15 2/3 7/15 3/10", 0, 2),
    ("odtn-h", "paper"): ("29/30 19/15 11/15 13/15 3/5", 1, 2),
    ("elimination", "paper"): ("2/3 2/3 1/3 7/15 3/20", 0, 2),
    ("ec2", "paper"): ("13/50 29/100 557/2000 67/250 1041/4000", 1, 2),
}


def kernel_of(table, class_ids=None):
    return UnknownTable(
        table.codes,
        np.array([test.n_levels for test in table.tests], dtype=np.int32),
        *table.possible.flat_chances,
        table.class_ids if class_ids is None else class_ids,
        table.prior,
    )


def copies_of(table, done=()):
    bits = np.zeros(table.n_cases)
    for test, chances in enumerate(table.chances):
        if test not in done and np.count_nonzero(chances) > 1:
            bits += np.log2(np.count_nonzero(chances)) * table.is_unknown[test]
    return bits


@pytest.mark.parametrize(("rule", "form"), TOY, ids="-".join)
def test_the_toy_scores_as_computed(rule, form):
    table = make_toy()
    expected, first, cost = TOY[rule, form]
    expected = [Fraction(text) for text in expected.split()]
    plain = PlainUnknown(table)
    # Exactly, by the definitions, copies listed one by one.
    assert [
        plain_rule_score(plain, frozenset(), test, rule, form) for test in range(5)
    ] == expected
    scores, _ = score_tests(
        kernel_of(table),
        np.arange(4, dtype=np.int32),
        table.prior,
        RULES[rule, form],
        np.exp2(copies_of(table)) if rule == "odtn-h" else None,
    )
    assert scores == pytest.approx([float(s) for s in expected], abs=1e-12)
    options = {"form": form} if rule.startswith("odtn") else {}
    solution = askless.solve(table, method=rule, **options)
    assert solution.policy.test[0] == first
    assert solution.expected_cost == pytest.approx(cost, abs=1e-12)


def test_the_second_step_of_the_toy_scores_as_computed():
    # After the first test an order gains, over both of its outcomes together:
    plain = PlainUnknown(make_toy())
    gains = [
        sum(
            plain_rule_score(plain, frozenset({(0, code)}), test, "elimination")
            for code in (0, 1)
        )
        for test in range(1, 5)
    ]
    assert gains == [1, F(1, 5), F(1, 2), F(1, 10)]


def test_the_toy_has_twelve_copies():
    assert np.exp2(copies_of(make_toy())).sum() == 12


def test_equal_numbers_of_copies_tie_however_they_are_rounded():
    # By the first test: three copies of x with 0, three cases with 1. Worked out by
    # logarithms, three is not three to the last bit.
    cells = [[0, None], [1, 0], [1, 1], [1, 2]]
    for turned in (False, True):
        rows = [[1 - row[0], row[1]] for row in cells] if turned else cells
        table = askless.Table(
            rows,
            list("xabc"),
            prior=[4, 1, 1, 1],
            alphabet={"t0": [0, 1], "t1": [0, 1, 2]},
        )
        plain = PlainUnknown(table)
        for form in ("paper", "released"):
            score = plain_rule_score(plain, frozenset(), 0, "odtn-h", form)
            scores, _ = score_tests(
                kernel_of(table),
                np.arange(4, dtype=np.int32),
                table.prior,
                RULES["odtn-h", form],
                np.exp2(copies_of(table)),
            )
            assert scores[0] == pytest.approx(float(score), abs=1e-12)


def test_gbs_prefers_a_test_that_is_mostly_unknown_in_the_toy():
    # By the lighter half, unknown cases halved: 3/10, 2/5, 2/5, 2/5, 9/20. The weight
    # removed on average is twice the product of the halves.
    table = make_toy()
    halves = [F(3, 10), F(2, 5), F(2, 5), F(2, 5), F(9, 20)]
    plain = PlainUnknown(table)
    assert [plain_rule_score(plain, frozenset(), t, "gbs") for t in range(5)] == [
        2 * half * (1 - half) for half in halves
    ]
    assert plain_rule_cost(table, "gbs", skips=False)[1] == pytest.approx(13 / 4)
    # Without tests that can rule out no case it comes down to three.
    solution = askless.solve(table, method="gbs")
    assert solution.policy.test[0] == 4
    assert solution.expected_cost == pytest.approx(3, abs=1e-12)


@pytest.mark.parametrize("rule", NAMES)
def test_rules_equal_their_plain_twins(rng, rule):
    for own in rng.spawn(60):
        table = draw_unknown(own)
        find_case = bool(own.random() < 0.3)
        form = "released" if rule.startswith("odtn") and own.random() < 0.3 else "paper"
        worst, expected = plain_rule_cost(table, rule, form, find_case=find_case)
        options = {"form": form} if rule.startswith("odtn") else {}
        solution = solve_quietly(
            table, method=rule, stop="case" if find_case else "class", **options
        )
        assert solution.worst_cost == pytest.approx(worst, abs=1e-9)
        assert solution.expected_cost == pytest.approx(expected, abs=1e-9)


def test_scores_equal_their_plain_twins_after_any_history(rng):
    for own in rng.spawn(80):
        table = draw_unknown(own, max_cases=7)
        class_ids = table.class_ids
        if own.random() < 0.5:
            class_ids = np.arange(table.n_cases, dtype=np.int32)
        plain = PlainUnknown(table, find_case=class_ids is not table.class_ids)
        kernel = kernel_of(table, class_ids)
        cases = np.argsort(class_ids, kind="stable").astype(np.int32)
        surprisal = np.zeros(len(cases), dtype=np.int64)
        history = frozenset()
        for test in own.permutation(table.n_tests)[: own.integers(0, 3)]:
            code = int(own.choice(plain.outcomes(test, plain.alive(history))))
            history |= {(int(test), code)}
            cases, surprisal = kernel.advance(cases, surprisal, test, code)
        left = plain.alive(history)
        assert sorted(cases.tolist()) == sorted(left)
        if len({plain.class_of[x] for x in left}) < 2:
            continue
        weight = kernel.weigh_cases(cases, surprisal)
        truth = np.array([float(left[x]) for x in cases])
        scale = truth.sum() / weight.sum()
        assert weight * scale == pytest.approx(truth, rel=1e-9)
        copies = copies_of(table, {test for test, _ in history})[cases]
        for (rule, form), number in RULES.items():
            scores, effects = score_tests(
                kernel,
                cases,
                truth,
                number,
                np.exp2(copies) if rule == "odtn-h" else None,
            )
            for test in range(table.n_tests):
                if not plain.outcomes(test, left):
                    continue
                score = plain_rule_score(plain, history, test, rule, form)
                assert scores[test] == pytest.approx(float(score), abs=1e-9)
                is_sure = any(
                    plain.class_of[a] != plain.class_of[b] and plain.tells(test, a, b)
                    for a in left
                    for b in left
                )
                assert (effects[test] == Effect.SURE_TO_TELL) == is_sure


def test_threads_do_not_change_scores(rng):
    cells = rng.integers(0, 3, (300, 20)).astype(object)
    cells[rng.random(cells.shape) < 0.3] = None
    table = askless.Table(cells, range(300), prior=rng.random(300))
    kernel = kernel_of(table)
    cases = np.arange(300, dtype=np.int32)
    for number in RULES.values():
        one = score_tests(kernel, cases, table.prior, number, table.prior, 1)
        two = score_tests(kernel, cases, table.prior, number, table.prior, 2)
        assert np.array_equal(one[0], two[0])
        assert np.array_equal(one[1], two[1])


def test_costs_are_divided_by():
    # Alone, the second test tells more; at ten times the price the first is taken.
    cells = [[0, 0], [0, 1], [1, 2]]
    cheap = askless.Table(cells, list("abc"), costs=[1, 1])
    dear = askless.Table(cells, list("abc"), costs=[1, 10])
    assert askless.solve(cheap, method="elimination").policy.test[0] == 1
    assert askless.solve(dear, method="elimination").policy.test[0] == 0


def test_groups_are_scored_at_their_price_in_context():
    costs = askless.Costs(
        [4, 4, 3], groups={"lab": ["0", "1"]}, discounted={"0": 1, "1": 1}
    )
    cells = [[0, 0, 0], [0, 1, 1], [1, 0, 0], [1, 1, None]]
    table = askless.Table(cells, list("abcd"), costs=costs, tests=["0", "1", "2"])
    solution = askless.solve(table, method="elimination")
    check = askless.evaluate(solution.policy, table)
    assert check.expected_cost == pytest.approx(solution.expected_cost)
    assert solution.worst_cost == 5


def test_form_must_be_known():
    with pytest.raises(askless.exceptions.InvalidOptionError, match="released"):
        askless.solve(make_toy(), method="odtn-r", form="printed")
