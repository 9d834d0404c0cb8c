"""Cases that show the same are merged."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from askless.problem import Costs, Table
from askless.problem._identical import number_columns

cells = st.sampled_from([0, 1, None])


@st.composite
def tables(draw):
    n_cases, n_tests = draw(st.integers(1, 7)), draw(st.integers(1, 3))
    row = st.lists(cells, min_size=n_tests, max_size=n_tests)
    rows = draw(st.lists(row, min_size=n_cases, max_size=n_cases))
    label = st.sampled_from("abc")
    classes = draw(st.lists(label, min_size=n_cases, max_size=n_cases))
    return rows, classes, Table(rows, classes)


@given(tables())
def test_merging_leaves_one_case_for_each_row(drawn):
    rows, classes, table = drawn
    merged = table.merged()
    firsts = list(dict.fromkeys(map(tuple, rows)))
    assert merged.n_cases == len(firsts)
    assert merged.cases == tuple(f"case {rows.index(list(row))}" for row in firsts)
    for case, row in enumerate(firsts):
        alike = [c for r, c in zip(rows, classes, strict=True) if tuple(r) == row]
        most = max(alike.count(c) for c in alike)
        commonest = min(c for c in alike if alike.count(c) == most)
        assert merged.case_classes[case] == commonest
        assert merged.prior[case] == pytest.approx(len(alike) / len(rows))
    assert list(merged.classes) == sorted(set(merged.case_classes))


def test_the_commonest_class_is_kept():
    table = Table([[0], [0], [0], [1]], ["a", "b", "b", "c"])
    merged = table.merged()
    assert merged.case_classes == ["b", "c"]
    assert merged.prior.tolist() == [0.75, 0.25]
    assert merged.indistinct == []
    assert table.n_cases == 4


def test_a_tie_goes_to_the_smallest_class():
    assert Table([[0], [0]], ["z", "a"]).merged().case_classes == ["a"]
    assert Table([[0]] * 4, [2, 1, 2, 1]).merged().case_classes == [1]


def test_commonest_is_by_weight():
    table = Table([[0], [0], [0]], ["a", "b", "b"], prior=[3, 1, 1])
    assert table.merged().case_classes == ["a"]


def test_sums_of_equal_weights_tie_however_they_are_rounded():
    # 0.1 + 0.2 and 0.3 differ in the last bit.
    table = Table([[0]] * 3, ["z", "z", "a"], prior=[0.1, 0.2, 0.3])
    assert table.merged().case_classes == ["a"]


def test_small_weights_are_told_apart():
    weights = [1.0, 1e-15, 2e-15]
    table = Table([[0], [1], [1]], ["x", "a", "b"], prior=weights)
    assert table.merged().case_classes == ["x", "b"]


def test_cases_without_weight_are_merged():
    table = Table([[0], [1], [1]], ["x", "b", "a"], prior=[1, 0, 0])
    merged = table.merged()
    assert merged.case_classes == ["x", "a"]
    assert merged.prior.tolist() == [1, 0]


def test_merged_cases_may_weigh_the_same():
    table = Table([[0], [0], [0], [1]], ["a", "b", "b", "a"])
    assert table.merged(weights="equal").prior.tolist() == [0.5, 0.5]


def test_a_class_without_cases_is_left_out_of_the_mistakes():
    matrix = [[0, 1, 2], [3, 0, 4], [5, 6, 0]]
    by_name = {"a": {"b": 1, "c": 2}, "b": {"a": 3, "c": 4}, "c": {"a": 5, "b": 6}}
    for mistakes in (matrix, by_name, 7):
        costs = Costs([1], mistakes=mistakes)
        table = Table([[0], [0], [0], [1]], ["a", "b", "b", "c"], costs=costs)
        merged = table.merged()
        assert merged.classes == ("b", "c")
        expected = [[0, 7], [7, 0]] if mistakes == 7 else [[0, 4], [6, 0]]
        found = merged.costs.mistake_matrix(merged.classes)
        assert found.tolist() == expected
    assert table.costs is costs


def test_a_merged_table_keeps_its_tests_and_prices():
    table = Table([[0.0, "x"], [0.0, "x"], [3.0, "y"]], [1, 1, 2], thresholds=True)
    merged = table.merged()
    assert merged.tests == table.tests
    assert merged.prices is table.prices
    assert merged.is_ordered.tolist() == [True, False]
    with pytest.raises(ValueError, match="read-only"):
        merged.codes[0, 0] = 1


def test_unknown_outcomes_are_merged_only_with_each_other():
    assert Table([[None], [0], [None]], list("aba")).merged().n_cases == 2


def test_wide_codes_are_compared_whole():
    # In two bytes each, 256 differs from 0 in the high byte only.
    rows = [[i] for i in range(300)]
    table = Table(rows, [i % 2 for i in range(300)])
    assert table.indistinct == []
    assert table.merged().n_cases == 300


def test_many_identical_cases_are_paired_in_no_time():
    n = 100_000
    table = Table(np.zeros((n, 1)), np.arange(n) % 2)
    assert len(table.indistinct) == n - 1


shapes = st.tuples(st.integers(1, 4), st.integers(0, 6))


@given(arrays(float, shapes, elements=st.sampled_from([0.0, 0.1, 0.2, 1.0])))
def test_equal_columns_have_one_number(rows):
    numbers = number_columns(rows)
    assert len(numbers) == rows.shape[1]
    for a, b in itertools.combinations(range(len(numbers)), 2):
        assert (numbers[a] == numbers[b]) == np.array_equal(rows[:, a], rows[:, b])
