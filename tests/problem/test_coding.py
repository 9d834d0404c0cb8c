"""Levels of numbers are exact in single precision; categories keep their identity."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from askless.exceptions import InvalidTableError
from askless.problem import Coding, Test
from askless.problem._coding import (
    category_test,
    float32_cuts,
    quantile_test,
    quantile_tests,
    uniform_test,
)
from askless.problem._column import clean_column

TINY = 5e-324
F32_TINY = float(np.float32(1e-45))
F32_MAX = float(np.finfo(np.float32).max)

finite = st.floats(allow_nan=False, allow_infinity=False)
near = st.builds(
    lambda x, steps: float(np.nextafter(x, x + steps) if steps else x),
    st.floats(-1e6, 1e6, width=32),
    st.integers(-1, 1),
)
special = st.sampled_from(
    (
        *(0.0, TINY, -TINY, F32_TINY, 2 * F32_TINY, -F32_TINY, F32_MAX, -F32_MAX),
        *(1e300, -1e300, 3.4028235e38, 3.5e38, 16777216.0, 16777217.0),
        *(1.0, 1.0 + 2**-52, np.inf, -np.inf),
    )
)
values = finite | near | special


def in_single(x):
    with np.errstate(over="ignore"):
        return float(np.float32(x))


def smallest_fitting_cut(below, above):
    """Return the least single-precision number that parts the two, or None."""
    low = max(below, in_single(below))
    high = min(above, in_single(above))
    if low > F32_MAX:
        return None
    cut = np.float32(max(low, -F32_MAX))
    if float(cut) < low:
        cut = np.nextafter(cut, np.float32(np.inf))
    return float(cut) if float(cut) < high and abs(float(cut)) <= F32_MAX else None


@given(a=values, b=values)
@example(a=0.0, b=TINY)
@example(a=-TINY, b=TINY)
@example(a=F32_TINY, b=2 * F32_TINY)
@example(a=F32_MAX, b=1e300)
@example(a=3.5e38, b=3.6e38)
@example(a=-1.7e308, b=1.7e308)
@example(a=1.0, b=1.0 + 2**-52)
@example(a=16777216.0, b=16777217.0)
@example(a=-1e300, b=-F32_MAX)
def test_a_cut_parts_two_numbers_in_double_and_in_single_precision(a, b):
    below, above = min(a, b), max(a, b)
    cuts, exists = float32_cuts(np.array([below]), np.array([above]))
    cut = float(cuts[0])
    if exists[0]:
        assert in_single(cut) == cut
        assert below <= cut < above
        assert in_single(below) <= cut < in_single(above)
    else:
        assert smallest_fitting_cut(below, above) is None


@given(a=values, b=values)
def test_a_cut_is_found_wherever_there_is_one(a, b):
    below, above = min(a, b), max(a, b)
    _, exists = float32_cuts(np.array([below]), np.array([above]))
    assert exists[0] == (smallest_fitting_cut(below, above) is not None)


@given(st.floats(-F32_MAX, F32_MAX, width=32, exclude_max=True))
def test_neighbours_in_single_precision_are_parted(x):
    neighbour = np.nextafter(np.float32(x), np.float32(np.inf)).astype(np.float64)
    cuts, exists = float32_cuts(np.array([x]), np.array([neighbour]))
    assert exists[0]
    assert cuts[0] == x


def test_a_cut_is_near_the_middle():
    cuts, _ = float32_cuts(np.array([1.0, 10.0, -3.0]), np.array([2.0, 20.0, 5.0]))
    assert cuts.tolist() == [1.5, 15.0, 1.0]


def level_by_rule(x, low, high, levels=10):
    return min(levels - 1, math.floor(levels * (x - low) / (high - low)))


columns = st.lists(
    st.floats(-1e6, 1e6) | st.integers(-100, 100).map(float), min_size=1, max_size=60
)


@given(columns, st.sampled_from([2, 3, 10, 100]))
def test_levels_of_equal_width_follow_the_rule(column, levels):
    test = uniform_test("t", np.array(column), levels)
    distinct = sorted(set(column))
    if len(distinct) == 1:
        assert test.cuts == ()
        return
    by_rule = [level_by_rule(x, distinct[0], distinct[-1], levels) for x in distinct]
    pairs = zip(distinct, distinct[1:], by_rule, by_rule[1:], strict=False)
    if all(smallest_fitting_cut(a, b) is not None for a, b, i, j in pairs if i != j):
        # A level without values has no code of its own.
        codes = test.encode(np.array(distinct)).tolist()
        assert codes == [sorted(set(by_rule)).index(level) for level in by_rule]


def test_a_cut_that_single_precision_cannot_make_moves_to_the_nearest_that_it_can():
    just_below = np.nextafter(5.0, 0.0)
    column = np.array([0.0, 1.0, just_below, 5.0, 10.0])
    assert uniform_test("t", column, 2).encode(column).tolist() == [0, 0, 0, 0, 1]
    column = np.array([0.0, 1.0, just_below, 5.0, np.nextafter(5.0, 9.0), 10.0])
    assert uniform_test("t", column, 2).encode(column).tolist() == [0, 0, 1, 1, 1, 1]


def test_seconds_keep_their_levels_though_single_precision_is_coarse(rng):
    a_month = 30 * 86_400
    seconds = 1.7e9 + rng.choice(a_month, 20_000, replace=False).astype(np.float64)
    test = quantile_test("t", seconds, 64)
    assert test.n_levels == 64
    rows = np.bincount(test.encode(seconds))
    assert rows.max() <= 1.5 * 20_000 / 64


def test_ten_levels_of_round_numbers_are_those_of_the_rule():
    column = np.arange(0, 101, dtype=np.float64)
    codes = uniform_test("t", column, 10).encode(column)
    assert codes.tolist() == [level_by_rule(x, 0, 100) for x in column]
    assert codes.max() == 9


def test_a_hundred_levels_are_not_thrown_off_by_rounding():
    # 100 * (29 / 100) is less than 29 in floating point.
    column = np.arange(0, 101, dtype=np.float64)
    codes = uniform_test("t", column, 100).encode(column)
    assert codes.tolist() == [*range(100), 99]


def test_a_constant_number_has_one_level():
    assert uniform_test("t", np.array([7.0, 7.0]), 10).encode([7.0]).tolist() == [0]


def test_levels_are_cut_though_the_range_is_infinite_in_double_precision():
    column = np.array([-1.7e308, 0.0, 1.7e308])
    assert uniform_test("t", column, 10).encode(column).tolist() == [0, 1, 2]


def test_missing_numbers_do_not_shift_the_levels():
    column = np.array([np.nan, 0.0, 5.0, 10.0])
    assert uniform_test("t", column, 2).encode(column).tolist() == [2, 0, 1, 1]


@given(columns)
def test_few_numbers_get_a_level_each_where_single_precision_can_part_them(column):
    test = quantile_test("t", np.array(column))
    distinct = sorted(set(column))
    codes = test.encode(np.array(distinct)).tolist()
    for i in range(len(distinct) - 1):
        separable = smallest_fitting_cut(distinct[i], distinct[i + 1]) is not None
        assert (codes[i] != codes[i + 1]) == separable


def test_many_numbers_get_levels_of_about_as_many_rows(rng):
    column = rng.normal(size=20_000)
    test = quantile_test("t", column, 64)
    rows = np.bincount(test.encode(column), minlength=64)
    assert len(rows) == 64
    assert rows.min() >= 20_000 // 64 - 2
    assert rows.max() <= 20_000 // 64 + 2


def test_a_number_that_fills_many_rows_takes_one_level_only():
    column = np.concatenate([np.zeros(5_000), np.arange(1.0, 1_001.0)])
    test = quantile_test("t", column, 10)
    codes = test.encode(column)
    assert np.all(codes[:5_000] == 0)
    assert codes.max() == len(test.cuts) >= 1


def test_a_long_column_is_cut_by_a_sample_that_is_always_the_same(rng):
    column = rng.normal(size=300_000)
    test = quantile_test("t", column)
    assert test == quantile_test("t", column)
    assert 250 <= test.n_levels <= 254
    rows = np.bincount(test.encode(column))
    assert rows.min() > 0.5 * rows.mean()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_rows", [1, 7, 3000, 250_000])
def test_the_columns_of_a_matrix_get_the_levels_they_get_alone(rng, n_rows, dtype):
    columns = {
        "two": rng.integers(0, 2, n_rows),
        "same": np.full(n_rows, 7),
        "few": rng.integers(-3, 4, n_rows),
        "many": rng.integers(-4000, 9000, n_rows),
        "skewed": np.floor(rng.exponential(30, n_rows)),
        "wide": rng.integers(-(10**6), 10**6, n_rows),
        "real": rng.normal(size=n_rows),
        "halves": rng.integers(0, 9, n_rows) / 2,
        "negative zero": -0.0 * rng.integers(0, 2, n_rows),
    }
    holes = rng.random(n_rows) < 0.1
    missing = {
        f"{name} or missing": np.where(holes, np.nan, columns[name])
        for name in ("two", "same", "many", "real")
    }
    columns |= missing | {"missing": np.full(n_rows, np.nan)}
    matrix = np.ascontiguousarray(np.column_stack(list(columns.values())).astype(dtype))
    tests = quantile_tests(list(columns), matrix)
    assert tests == tuple(
        quantile_test(name, matrix[:, i]) for i, name in enumerate(columns)
    )
    assert tests == quantile_tests(list(columns), np.asfortranarray(matrix))


@pytest.mark.parametrize("column", [np.array([]), np.array([np.nan, np.nan])])
def test_numbers_that_are_all_missing_have_one_level(column):
    assert quantile_test("t", column).cuts == ()
    assert uniform_test("t", column, 10).cuts == ()


def test_infinite_numbers_are_parted_from_finite_ones():
    column = np.array([-np.inf, 1.0, np.inf])
    assert quantile_test("t", column).encode(column).tolist() == [0, 1, 2]
    assert quantile_test("t", column[::2]).encode(column[::2]).tolist() == [0, 1]


def test_categories_are_in_ascending_order():
    column = clean_column(["b", None, "a", "ü", "B"])
    assert category_test("t", column).outcomes == ("B", "a", "b", "ü")


def test_categories_of_several_types_are_kept_apart():
    column = clean_column([1, "1", "x", 1.5, False])
    outcomes = category_test("t", column).outcomes
    assert outcomes == (False, 1.5, 1, "1", "x")
    assert [type(v) for v in outcomes] == [bool, float, int, str, str]


def test_whole_numbers_stay_whole_though_some_are_missing():
    outcomes = category_test("t", clean_column([3, None, 1])).outcomes
    assert outcomes == (1, 3)
    assert all(type(v) is int for v in outcomes)


def test_a_column_without_any_value_has_no_outcomes():
    assert category_test("t", clean_column([None, None])).outcomes == ()
    assert category_test("t", np.array([np.nan])).outcomes == ()


def test_too_many_categories_are_refused():
    column = clean_column([f"c{i}" for i in range(100_000)])
    message = r"at most 65,534 outcomes\. Got 100,000 different values of 'id'\."
    with pytest.raises(InvalidTableError, match=message):
        category_test("id", column)


def test_as_many_categories_as_two_bytes_hold_are_coded():
    column = np.arange(65_534)
    test = category_test("id", column)
    codes = test.encode(column)
    assert codes.dtype == np.uint16
    assert np.array_equal(codes, column)
    assert (test.missing_code, test.unknown_code) == (65_534, 65_535)


@pytest.mark.parametrize(
    ("n_levels", "dtype"), [(254, np.uint8), (255, np.uint16), (2, np.uint8)]
)
def test_codes_take_two_bytes_only_when_they_must(n_levels, dtype):
    column = np.arange(n_levels)
    test = category_test("t", column)
    codes = test.encode([*column, None, -1])
    assert codes.dtype == dtype
    assert codes.tolist() == list(range(n_levels + 2))


def test_a_coding_codes_each_column_by_its_test():
    coding = Coding(
        (
            Test("cough", "category", outcomes=("no", "yes")),
            Test("fever", "number", cuts=(37.0, 38.5)),
        )
    )
    columns = {"fever": [36.5, 39.0, None], "cough": ["yes", None, "?"]}
    assert coding.names == ("cough", "fever")
    assert coding.encode(columns).tolist() == [[1, 2, 3], [0, 2, 3]]
    assert coding.encode(columns, only=[1]).tolist() == [[0, 2, 3]]


def test_a_coding_takes_the_type_of_its_widest_test():
    narrow = Test("a", "category", outcomes=(0, 1))
    wide = Test("b", "category", outcomes=tuple(range(300)))
    assert Coding((narrow,)).dtype == np.uint8
    codes = Coding((narrow, wide)).encode({"a": [1, None], "b": [299, None]})
    assert codes.dtype == np.uint16
    assert codes.tolist() == [[1, 2], [299, 300]]


def test_a_column_that_is_absent_is_named():
    coding = Coding((Test("cough", "category", outcomes=("no", "yes")),))
    message = r"Got no column 'cough'\. Did you mean 'couhg'\? Add the column\."
    with pytest.raises(InvalidTableError, match=message):
        coding.encode({"couhg": ["yes"]})


def test_columns_of_different_length_are_refused():
    coding = Coding((Test("a", "number"), Test("b", "number")))
    message = r"same length\. Got 2 in 'a' and 1 in 'b'\."
    with pytest.raises(InvalidTableError, match=message):
        coding.encode({"a": [1, 2], "b": [1]})
