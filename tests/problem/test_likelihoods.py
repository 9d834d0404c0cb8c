"""Tests that can err: each cell may have chances of its own."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askless.datasets import make_random_table
from askless.evaluate import evaluate
from askless.exceptions import InvalidTableError
from askless.policy._sample import sample_policy
from askless.problem import Costs, Table
from askless.problem._possible import Possible
from askless.testing import plain_evaluate
from tests.strategies import grow_at_random, likelihood_tables, policies

FEVER = {"fever": {"flu": 0.8, "cold": 0.1}, "swab": {"flu": "yes", "cold": 0.02}}


@pytest.fixture
def fever():
    return Table.from_likelihoods(FEVER, prior={"flu": 1, "cold": 4})


def test_a_likelihood_is_an_unknown_outcome_with_chances_of_its_own(fever):
    assert fever.has_likelihoods
    assert fever.has_unknown
    assert fever.tests[0].outcomes == ("no", "yes")
    assert fever.codes.tolist() == [[3, 3], [1, 3]]
    assert np.allclose(fever.likelihoods[0], [[0.2, 0.9], [0.8, 0.1]])
    assert np.allclose(fever.likelihoods[1], [[0, 0.98], [1, 0.02]])
    assert fever.prior.tolist() == [0.2, 0.8]
    assert fever.case_classes == ["flu", "cold"]
    assert fever.repeats == (-1, -1)


def test_a_table_of_facts_has_no_likelihoods():
    facts = {"lamp": {"fuse": "dark", "bulb": "dark", "dimmer": "dim"}}
    table = Table.from_likelihoods(facts)
    plain = Table([["dark"], ["dark"], ["dim"]], ["fuse", "bulb", "dimmer"])
    assert table.likelihoods == plain.likelihoods == (None,)
    assert table.codes.tolist() == plain.codes.tolist()
    assert table.codes.dtype == plain.codes.dtype
    assert not table.has_likelihoods


def test_a_cell_with_the_chances_of_its_test_has_none_of_its_own():
    table = Table.from_likelihoods({"x": {"a": 0.5, "b": None, "c": "no"}})
    assert table.likelihoods == (None,)
    assert table.is_unknown.tolist() == [[True, True, False]]


def test_an_unknown_cell_beside_likelihoods_has_the_chances_of_its_test():
    table = Table.from_likelihoods(
        {"x": {"a": 0.2, "b": None, "c": "no"}}, chances={"x": {"yes": 0.7, "no": 0.3}}
    )
    assert np.allclose(table.likelihoods[0], [[0.8, 0.3, 1], [0.2, 0.7, 0]])


@given(likelihood_tables())
def test_chances_of_outcomes_agree_with_the_cells(table):
    for test in range(table.n_tests):
        chances = table.possible.outcome_chances(test)
        n_levels = table.tests[test].n_levels
        assert chances.shape == (n_levels + 1, table.n_cases)
        assert np.allclose(chances.sum(axis=0), 1)
        for case, code in enumerate(table.codes[test].tolist()):
            own = table.likelihoods[test]
            if code <= n_levels:
                assert chances[code, case] == 1
            elif not n_levels:
                assert chances[0, case] == 1
            elif own is not None:
                assert np.array_equal(chances[:-1, case], own[:, case])
            else:
                assert np.array_equal(chances[:-1, case], table.chances[test])


def with_levels(table):
    return [i for i, test in enumerate(table.tests) if test.n_levels]


def draw_bits(table, test):
    """Return the logarithm of how many outcomes each case may show."""
    alone = Possible(
        table.codes[[test]],
        [table.tests[test]],
        [table.chances[test]],
        [table.likelihoods[test]],
    )
    return alone.draw_bits


@given(likelihood_tables())
def test_what_is_possible_follows_from_the_chances(table):
    possible, n = table.possible, table.n_cases
    for test in with_levels(table):
        can = possible.outcome_chances(test) > 0
        assert np.array_equal(possible.can_show_each(test)[:-1], can)
        assert possible.list_codes(test, [0]) == np.flatnonzero(can[:, 0]).tolist()
        assert np.allclose(
            draw_bits(table, test), np.log2(np.count_nonzero(can, axis=0))
        )
        tells, rules_out = possible.tells(test), possible.rules_out(test)
        for a, b in itertools.product(range(n), repeat=2):
            assert tells[a, b] == (not np.any(can[:, a] & can[:, b]))
            assert rules_out[a, b] == np.any(can[:, a] & ~can[:, b])
            assert possible.tells_from(a, [b])[test, 0] == tells[a, b]
            assert possible.rules_out_others(a, [b])[test, 0] == rules_out[a, b]
    for a, b in itertools.combinations(range(n), 2):
        if table.class_ids[a] != table.class_ids[b]:
            is_told = possible.tells_from(a, [b]).any()
            # Of known cases that show the same, not every pair is listed.
            if is_told or table.is_unknown[:, [a, b]].any():
                assert ((a, b) in table.indistinct) == (not is_told)


@given(likelihood_tables(), st.integers(0, 99))
def test_draws_are_possible(table, seed):
    rng = np.random.default_rng(seed)
    for test in with_levels(table):
        chances = table.possible.outcome_chances(test)
        cases = np.arange(table.n_cases)
        drawn = table.possible.draw_all(test, cases, rng)
        assert np.all(chances[drawn, cases] > 0)
        assert all(chances[table.possible.draw(test, c, rng), c] > 0 for c in cases)


def test_drawn_cases_cost_what_is_worked_out():
    table = make_random_table(6, 5, likelihoods=0.7, costs="integers", random_state=1)
    rng = np.random.default_rng(2)
    parts = (table.tests, table.classes, table.prices)
    tree = next(
        t for t in (grow_at_random(rng, *parts) for _ in range(99)) if t.depth > 2
    )
    exact = evaluate(tree, table)
    drawn = sample_policy(tree, table, table.class_ids, most_runs=4000, seconds=60)
    assert drawn.n_runs == 4000
    assert exact.expected_cost > 0
    assert abs(drawn.expected_cost - exact.expected_cost) < 1.5 * drawn.margin
    assert drawn.error == pytest.approx(exact.error, abs=0.03)


def test_draws_come_as_often_as_they_are_likely(fever):
    rng = np.random.default_rng(0)
    drawn = fever.possible.draw_all(0, np.repeat([0, 1], 20_000), rng)
    assert drawn[:20_000].mean() == pytest.approx(0.8, abs=0.02)
    assert drawn[20_000:].mean() == pytest.approx(0.1, abs=0.02)


@given(st.data())
def test_a_policy_is_evaluated_as_by_trying_all_ways(data):
    table = data.draw(likelihood_tables())
    tree = data.draw(policies(table, ["random", "sequence", "forest"]))
    found, plain = evaluate(tree, table), plain_evaluate(tree, table)
    assert found.expected_cost == pytest.approx(plain.expected_cost)
    assert found.worst_cost == pytest.approx(plain.worst_cost)
    assert found.error == pytest.approx(plain.error)
    assert np.allclose(found.case_cost, plain.case_cost)
    if plain.mistake_cost is not None:
        assert found.mistake_cost == pytest.approx(plain.mistake_cost)


@given(st.data())
def test_splitting_a_case_by_its_own_chances_changes_no_cost(data):
    table = data.draw(likelihood_tables())
    tree = data.draw(policies(table, ["random", "sequence", "forest"]))
    levels = np.array([test.n_levels for test in table.tests])
    cells = np.argwhere(table.is_unknown & (levels[:, None] > 0)).tolist()
    if not cells:
        return
    test, case = data.draw(st.sampled_from(cells))
    split = table.split_unknown(case, table.tests[test].name)
    assert split.n_cases >= table.n_cases
    assert split.prior.sum() == pytest.approx(1)
    found, whole = evaluate(tree, split), evaluate(tree, table)
    assert found.expected_cost == pytest.approx(whole.expected_cost)
    assert found.error == pytest.approx(whole.error)


def test_splitting_every_likelihood_of_a_test_leaves_facts():
    table = Table.from_likelihoods({"x": {"a": 0.2, "b": "no"}, "y": {"a": 0, "b": 1}})
    split = table.split_unknown("a", "x")
    assert split.cases == ("a, x: no", "a, x: yes", "b")
    assert not split.has_likelihoods
    assert not split.has_unknown
    assert split.codes.tolist() == [[0, 1, 0], [0, 0, 1]]


def test_cases_are_merged_if_their_likelihoods_are_equal():
    rows = {"x": {"a": 0.2, "b": 0.2, "c": 0.3}, "y": {"a": "no", "b": "no", "c": "no"}}
    merged = Table.from_likelihoods(rows, prior=[1, 2, 3]).merged()
    assert merged.cases == ("a", "c")
    assert merged.case_classes == ["b", "c"]
    assert np.allclose(merged.likelihoods[0], [[0.8, 0.7], [0.2, 0.3]])
    assert merged.prior.tolist() == pytest.approx([0.5, 0.5])


def test_notes_name_what_no_test_can_tell():
    rows = {"x": {"a": 0.2, "b": 0.2, "c": 0.3}, "y": {"a": 0.1, "b": 0.1, "c": 0.1}}
    notes = Table.from_likelihoods(rows).notes
    assert notes[0].startswith("The test 'y' shows the same for every case")
    assert "with the same chances, for 'a' and 'b'" in notes[1]
    assert len(notes) == 2


def test_an_answer_that_is_only_unlikely_need_not_be_wrong(fever):
    assert fever.recheck({"fever": "no", "swab": "no"}) == []
    certain = Table.from_likelihoods({"x": {"a": 1, "b": 1}, "y": {"a": 0.5, "b": 0.1}})
    assert certain.recheck({"x": "no", "y": "no"}) == ["x"]


# Repeats.


def test_a_repeat_is_a_test_of_its_own_at_the_same_price():
    costs = Costs(
        {"fever": 3, "swab": 20},
        groups={"visit": ["fever", "swab"]},
        discounted={"fever": 1},
        mistakes=50,
    )
    table = Table.from_likelihoods(FEVER, costs=costs, repeatable={"fever": 3})
    assert table.test_names == ("fever", "fever (2)", "fever (3)", "swab")
    assert table.repeats == (-1, 0, 0, -1)
    assert table.prices.full.tolist() == [3, 3, 3, 20]
    assert table.prices.discounted.tolist() == [1, 1, 1, 20]
    assert table.prices.group == ("visit",) * 4
    assert table.costs.mistakes == 50
    assert all(
        np.array_equal(table.likelihoods[0], table.likelihoods[i]) for i in (1, 2)
    )


def test_a_repeat_is_priced_by_outcome_and_delayed_like_the_first():
    by_outcome = Costs([1, 2], by_outcome={"fever": {"yes": 9}})
    table = Table.from_likelihoods(FEVER, costs=by_outcome, repeatable={"fever": 2})
    assert table.prices.by_outcome[1].tolist() == [1, 9]
    delayed = Costs([1, 2], delayed=["fever"])
    table = Table.from_likelihoods(FEVER, costs=delayed, repeatable={"fever": 2})
    assert table.prices.delayed.tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("repeatable", "match"),
    [
        ({"fewer": 2}, "repeatable must name tests.*Did you mean 'fever'"),
        ({"fever": 0}, "a whole number of times, at least once. Got 0"),
        ({"fever": 1.5}, "Got 1.5"),
        ({"sure": 2}, "Only a test that can err is worth repeating. Got 'sure'"),
        ({"fever": 2}, "already. Rename"),
    ],
)
def test_repeats_that_make_no_sense_are_refused(repeatable, match):
    rows = FEVER | {
        "sure": {"flu": "yes", "cold": "no"},
        "fever (2)": {"flu": 0.5, "cold": 0.6},
    }
    with pytest.raises(InvalidTableError, match=match):
        Table.from_likelihoods(rows, repeatable=repeatable)
