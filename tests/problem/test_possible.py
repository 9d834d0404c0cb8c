"""Which outcomes are possible, and which tests are sure to tell two cases apart."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askless.problem import Table, _possible
from askless.problem._possible import Possible, find_recheck
from askless.testing import PlainUnknown

cells = st.sampled_from([0, 1, 2, None, "?"])


@st.composite
def tables(draw):
    """Draw tables with missing and unknown outcomes, and chances that may be 0."""
    n_cases, n_tests = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    row = st.lists(cells, min_size=n_tests, max_size=n_tests)
    rows = draw(st.lists(row, min_size=n_cases, max_size=n_cases))
    classes = draw(st.lists(st.sampled_from("abc"), min_size=n_cases, max_size=n_cases))
    names = [f"t{i}" for i in range(n_tests)]
    missing = draw(st.sampled_from(["unknown", "outcome"]))
    chances = {}
    for i, name in enumerate(names):
        seen = sorted({row[i] for row in rows} - {None, "?"})
        if seen and draw(st.booleans()):
            likely = draw(st.sampled_from(seen))
            parts = {x: draw(st.sampled_from([0, 1])) + (x == likely) for x in seen}
            chances[name] = {x: p / sum(parts.values()) for x, p in parts.items()}
    return Table(
        rows, classes, tests=names, unknown="?", missing=missing, chances=chances
    )


@given(tables())
def test_what_may_be_seen_is_what_has_a_chance(table):
    plain = PlainUnknown(table)
    for test in range(table.n_tests):
        n_codes = table.tests[test].n_levels + 1
        if n_codes == 1:
            continue
        for case in range(table.n_cases):
            codes = [c for c in range(n_codes) if plain.chance(test, c, case) > 0]
            assert table.possible.list_codes(test, [case]) == codes
            shows = table.possible.can_show_each(test)[:, case]
            assert np.flatnonzero(shows[:n_codes]).tolist() == codes
        everyone = set().union(
            *(table.possible.list_codes(test, [case]) for case in range(table.n_cases))
        )
        assert table.possible.list_codes(test) == sorted(everyone)


@given(tables())
def test_a_test_tells_two_cases_apart_if_no_outcome_is_possible_for_both(table):
    plain, possible = PlainUnknown(table), table.possible
    for a in range(table.n_cases):
        from_a = possible.tells_from(a)
        for test, b in itertools.product(range(table.n_tests), range(table.n_cases)):
            tells = plain.tells(test, a, b)
            assert from_a[test, b] == tells
            assert possible.tells(test)[a, b] == tells


@given(tables())
def test_a_test_may_rule_out_what_cannot_show_all_that_is_possible(table):
    plain, possible = PlainUnknown(table), table.possible
    everyone = range(table.n_cases)
    for test, a, b in itertools.product(range(table.n_tests), everyone, everyone):
        codes = range(table.tests[test].n_levels + 1)
        expected = table.tests[test].n_levels > 0 and any(
            plain.chance(test, code, a) > 0 and plain.chance(test, code, b) == 0
            for code in codes
        )
        assert possible.rules_out(test)[a, b] == expected
        assert possible.rules_out_others(a, [b])[test, 0] == expected


@given(tables())
def test_some_cases_are_compared_as_all_of_them_are(table):
    some = np.arange(table.n_cases)[::2]
    for test in range(table.n_tests):
        for compare in (table.possible.tells, table.possible.rules_out):
            assert np.array_equal(
                compare(test, some), compare(test)[np.ix_(some, some)]
            )


@given(tables())
def test_the_pairs_are_those_that_no_test_is_sure_to_tell_apart(table):
    plain = PlainUnknown(table)
    expected = {
        (a, b)
        for a, b in itertools.combinations(range(table.n_cases), 2)
        if table.class_ids[a] != table.class_ids[b] and plain.is_near(a, b)
    }
    found = set(table.indistinct)
    assert found <= expected
    assert table.indistinct == sorted(found)
    # Of identical cases only some pairs are listed, but every case is in one of them.
    assert set(itertools.chain(*found)) == set(itertools.chain(*expected))
    is_partial = table.is_unknown.any(axis=0)
    assert {p for p in expected if is_partial[list(p)].any()} <= found


def test_a_test_without_a_level_tells_nothing():
    # Nobody knows what it can show but that nothing was recorded.
    table = Table([[None], ["?"]], ["a", "b"], unknown="?", missing="outcome")
    assert table.tests[0].n_levels == 0
    assert not table.possible.tells(0).any()
    assert not table.possible.rules_out(0).any()
    assert table.indistinct == [(0, 1)]
    assert find_recheck(table.possible, {0: 0}) == ()


def test_draws_follow_the_chances():
    table = Table([[0], [None], [1]], list("abc"), chances={"t0": {0: 0.9, 1: 0.1}})
    rng = np.random.default_rng(0)
    drawn = table.possible.draw_all(0, np.full(2000, 1), rng)
    assert drawn.mean() == pytest.approx(0.1, abs=0.03)
    assert table.possible.draw_all(0, np.array([0, 2]), rng).tolist() == [0, 1]
    # One by one or all at once, the same seed draws the same.
    one, many = np.random.default_rng(3), np.random.default_rng(3)
    singly = [table.possible.draw(0, 1, one) for _ in range(50)]
    assert singly == table.possible.draw_all(0, np.full(50, 1), many).tolist()
    assert {table.possible.draw(0, case, one) for case in (0, 2)} == {0, 1}


def test_the_ways_to_draw_are_counted():
    table = Table([[None, None], [0, 0], [1, 1], [2, 1]], list("abcd"))
    assert np.exp2(table.possible.draw_bits) == pytest.approx([6, 1, 1, 1])
    with_zero = Table([[None], [0], [1]], list("abc"), chances={"t0": {0: 1, 1: 0}})
    assert with_zero.possible.draw_bits.tolist() == [0, 0, 0]


def test_chances_of_ones_own_are_looked_at():
    table = Table([[None], [0], [1], [2]], list("abcd"))
    only = np.array([0, 0, 1.0, 0, 0])
    assert table.possible.list_codes(0, [0], only) == [2]
    assert table.possible.list_codes(0, [0, 1], only) == [0, 2]


def test_what_is_possible_needs_no_table():
    table = Table([[0, None], [1, 1]], list("ab"))
    possible = Possible(table.codes, table.tests, table.chances)
    assert possible.tells_from(0).tolist() == table.possible.tells_from(0).tolist()
    flat, starts = possible.flat_chances
    assert flat.tolist() == [0.5, 0.5, 1.0]
    assert starts.tolist() == [0, 2, 3]


def test_beyond_a_size_only_identical_cases_are_compared(monkeypatch):
    rows, classes = [[0], [None], [1], [1]], list("abab")
    assert Table(rows, classes).indistinct == [(0, 1), (1, 2), (2, 3)]
    monkeypatch.setattr(_possible, "MOST_CELLS", 3)
    assert Table(rows, classes).indistinct == [(2, 3)]
