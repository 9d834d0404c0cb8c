"""The compiled coding agrees with its plain twin, value by value."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askless._core.code._codes import encode_matrix, encode_numbers, encode_objects
from askless.testing import encode_category, encode_number

IN_ORDER = np.zeros(0, dtype=np.uint32)

numbers = st.floats(width=32) | st.floats() | st.integers(-5, 5).map(float)
cut_lists = st.lists(
    st.floats(width=32, allow_nan=False, allow_infinity=False)
    | st.integers(-5, 5).map(float),
    max_size=20,
).map(lambda cuts: sorted(set(cuts)))
outcomes = st.text(max_size=3) | st.integers(-3, 3) | st.booleans() | st.floats(-2, 2)


def coded(values, cuts, dtype=np.uint8):
    codes = np.full(len(values), 99, dtype=dtype)
    encode_numbers(values, np.array(cuts, dtype=np.float64), codes)
    return codes.tolist()


@given(values=st.lists(numbers), cuts=cut_lists)
def test_numbers_are_coded_as_one_by_one(values, cuts):
    expected = [encode_number(value, cuts) for value in values]
    array = np.array(values, dtype=np.float64)
    assert coded(array, cuts) == expected
    assert coded(array, cuts, np.uint16) == expected


@given(values=st.lists(st.floats(width=32)), cuts=cut_lists)
def test_numbers_of_single_precision_are_coded_as_in_double(values, cuts):
    single = np.array(values, dtype=np.float32)
    assert coded(single, cuts) == coded(single.astype(np.float64), cuts)


def test_a_value_on_a_cut_belongs_to_the_level_below():
    values = np.array([37.0, np.nextafter(37.0, 99), 38.5, 39.0])
    assert coded(values, (37.0, 38.5)) == [0, 1, 1, 2]


def test_infinite_numbers_fall_in_the_outer_levels_and_nan_is_missing():
    assert coded(np.array([-math.inf, math.inf, math.nan]), (0.0,)) == [0, 1, 2]


def test_a_number_without_cuts_has_one_level():
    assert coded(np.array([-1.0, 1e300, math.nan]), ()) == [0, 0, 1]


def test_a_column_of_a_matrix_is_coded_in_place():
    matrix = np.arange(12.0).reshape(4, 3)
    assert coded(matrix[:, 1], (1.0, 5.0)) == [0, 1, 2, 2]


@pytest.mark.parametrize("n_cuts", [1, 2, 3, 253, 254, 255, 1000, 65_533])
def test_every_number_of_cuts_is_searched_right(n_cuts):
    cuts = np.arange(n_cuts, dtype=np.float64)
    values = np.concatenate([cuts - 0.5, cuts, cuts + 0.5])
    dtype = np.uint8 if n_cuts + 3 <= 256 else np.uint16
    expected = [np.arange(n_cuts), np.arange(n_cuts), np.arange(n_cuts) + 1]
    assert coded(values, cuts, dtype) == np.concatenate(expected).tolist()


@given(shown=st.lists(outcomes, unique=True), data=st.data())
def test_categories_are_coded_as_one_by_one(shown, data):
    values = data.draw(
        st.lists(st.sampled_from([*shown, None, math.nan, "never seen"]))
    )
    lookup = {outcome: code for code, outcome in enumerate(shown)}
    codes = np.full(len(values), 99, dtype=np.uint8)
    encode_objects(values, lookup, len(shown), len(shown) + 1, codes)
    assert codes.tolist() == [encode_category(value, shown) for value in values]


def test_categories_of_two_bytes_are_coded_whatever_the_size_of_the_codes():
    codes = np.zeros(4, dtype=np.uint16)
    encode_objects(["a", None, "c", "b"], {"a": 0, "b": 299}, 300, 301, codes)
    assert codes.tolist() == [0, 300, 301, 299]
    encode_objects(["a", None, "c", "b"], {"a": 0, "b": 1}, 2, 3, codes)
    assert codes.tolist() == [0, 2, 3, 1]


def random_matrix(rng, n_rows, n_tests, dtype, order):
    values = rng.integers(-50, 50, size=(n_rows, n_tests)) / 4
    values[rng.random(values.shape) < 0.1] = np.nan
    return np.asarray(values, dtype=dtype, order=order)


def random_cuts(rng, n_tests, n_most):
    cuts = [
        np.unique(rng.integers(-60, 60, size=rng.integers(0, n_most)) / 4)
        for _ in range(n_tests)
    ]
    starts = np.cumsum([0] + [len(c) for c in cuts]).astype(np.int64)
    # The kernel takes the address of the first cut, so there is always one.
    return cuts, np.concatenate([*cuts, [0.0]]), starts


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("code_dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("moves_rows", [False, True])
@pytest.mark.parametrize("n_rows", [1, 5, 1024, 3000])
def test_a_matrix_is_coded_column_by_column(
    rng, n_rows, moves_rows, code_dtype, dtype, n_jobs
):
    for order in "CF":
        values = random_matrix(rng, n_rows, 7, dtype, order)
        cuts, all_cuts, starts = random_cuts(rng, 7, 120)
        position = rng.permutation(n_rows).astype(np.uint32) if moves_rows else IN_ORDER
        # One column more than there are rows, which must stay as it is.
        codes = np.full((7, n_rows + 1), 77, dtype=code_dtype)
        encode_matrix(values, all_cuts, starts, position, codes, n_jobs)
        place = position if moves_rows else np.arange(n_rows)
        for test in range(7):
            expected = np.zeros(n_rows, dtype=code_dtype)
            encode_numbers(values[:, test], cuts[test], expected)
            assert np.array_equal(codes[test][place], expected)
        assert np.all(codes[:, -1] == 77)


def test_a_matrix_is_coded_the_same_by_any_number_of_threads(rng):
    values = random_matrix(rng, 10_000, 5, np.float64, "C")
    _, all_cuts, starts = random_cuts(rng, 5, 50)
    position = rng.permutation(10_000).astype(np.uint32)
    by_one = np.zeros((5, 10_000), dtype=np.uint8)
    by_many = np.ones((5, 10_000), dtype=np.uint8)
    encode_matrix(values, all_cuts, starts, position, by_one, 1)
    encode_matrix(values, all_cuts, starts, position, by_many, 4)
    assert np.array_equal(by_one, by_many)


def test_a_matrix_without_rows_is_left_alone():
    codes = np.zeros((2, 0), dtype=np.uint8)
    starts = np.zeros(3, dtype=np.int64)
    encode_matrix(np.zeros((0, 2)), np.zeros(1), starts, IN_ORDER, codes, 2)
    assert codes.shape == (2, 0)


@pytest.mark.parametrize(
    "cuts",
    [
        # Evenly, all in one part of the range, near the ends of what a number can be,
        # and as close as numbers can be.
        np.arange(-100.5, 100, 1.0),
        np.append(np.geomspace(1e-12, 1e-3, 60), 1e6),
        np.array([-1.7e308, -1.0, 0.0, 1.0, 1.7e308]),
        np.nextafter(1.0, 2.0) + np.arange(8) * 2.0**-52,
        np.array([0.0, 5e-324, 1e-323, 1.5e-323, 2e-323]),
        np.array([-np.inf, 0.0, 1.0, 2.0, np.inf]),
    ],
)
def test_a_table_of_cuts_finds_what_a_search_finds(rng, cuts):
    near = np.concatenate(
        [cuts, np.nextafter(cuts, np.inf), np.nextafter(cuts, -np.inf)]
    )
    between = (cuts[:-1] / 2 + cuts[1:] / 2)[rng.integers(0, len(cuts) - 1, 200)]
    values = np.concatenate([near, between, [-np.inf, np.inf, np.nan, 0.0]])
    codes = np.zeros((1, len(values)), dtype=np.uint8)
    starts = np.array([0, len(cuts)], dtype=np.int64)
    encode_matrix(values[:, None], cuts, starts, IN_ORDER, codes, 1)
    expected = np.searchsorted(cuts, values)
    expected[np.isnan(values)] = len(cuts) + 1
    assert codes[0].tolist() == expected.tolist()
