"""Walking rows: numbers, codes and the plain twin end in the same leaf."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askless._core.tree._walk import charge_rows, walk_codes, walk_numbers
from askless.policy import NodesBuilder, Tree
from askless.problem import Costs, PriceList, Test
from askless.testing import plain_run, plain_walk
from tests.strategies import (
    generators,
    grow_at_random,
    number_trees,
    random_rows,
    random_values,
    tables_with_policies,
)


def matrix_of(rng, tree, n_rows, dtype=np.float64):
    columns = [random_values(rng, test, n_rows) for test in tree.tests]
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(np.array(columns, dtype=np.float64).T, dtype)


def plain_leaves(tree, matrix):
    """Walk each row of numbers by its codes, in plain Python."""
    return [
        plain_walk(
            tree, [t.code_of(v) for t, v in zip(tree.tests, row.tolist(), strict=True)]
        )[-1]
        for row in matrix
    ]


def compare_numbers(tree, matrix, n_jobs=1):
    left, right, default = tree._binary_children
    return walk_numbers(
        matrix, tree.thresholds, tree.test, left, right, default, tree.depth, n_jobs
    ).tolist()


def compare_codes(tree, columns, n_jobs=1):
    codes = tree.coding.encode(columns)
    return walk_codes(
        codes, tree.test, tree._child_start, tree._child_of_code, n_jobs
    ).tolist()


@given(
    tree=number_trees(),
    rng=generators(),
    n_rows=st.integers(0, 40),
    dtype=st.sampled_from([np.float32, np.float64]),
    n_jobs=st.sampled_from([1, 2]),
)
def test_numbers_and_codes_end_in_the_leaf_of_the_plain_walk(
    tree, rng, n_rows, dtype, n_jobs
):
    matrix = matrix_of(rng, tree, n_rows, dtype)
    leaves = plain_leaves(tree, matrix)
    columns = dict(zip(tree.test_names, matrix.T, strict=True))
    assert compare_numbers(tree, matrix, n_jobs) == leaves
    assert compare_codes(tree, columns, n_jobs) == leaves
    assert tree.apply(matrix, n_jobs=n_jobs).tolist() == leaves
    assert tree.apply(columns, n_jobs=n_jobs).tolist() == leaves


@given(drawn=tables_with_policies(kinds=("solved", "random")), rng=generators())
def test_codes_of_any_kind_end_in_the_leaf_of_the_plain_walk(drawn, rng):
    _, tree = drawn
    columns = random_rows(rng, tree.tests, 21)
    codes = tree.coding.encode(columns)
    leaves = [plain_walk(tree, row.tolist())[-1] for row in codes.T]
    assert compare_codes(tree, columns) == leaves
    assert compare_codes(tree, columns, n_jobs=2) == leaves
    assert tree.apply(columns).tolist() == leaves
    assert tree.apply_codes(codes, n_jobs=2).tolist() == leaves


@given(drawn=tables_with_policies(kinds=("solved", "random")), rng=generators())
def test_rows_pay_what_the_plain_rules_say(drawn, rng):
    _, tree = drawn
    codes = tree.coding.encode(random_rows(rng, tree.tests, 13))
    costs = [plain_run(tree, row.tolist()).cost for row in codes.T]
    if tree.prices.delayed.any():
        # Rows are charged one by one only where prices depend on the outcome, and
        # then nothing is ordered in advance.
        assert tree.spent[tree.apply_codes(codes)].tolist() == costs
    else:
        assert tree.charge_codes(codes).tolist() == costs


@pytest.mark.parametrize("n_rows", [0, 1, 7, 8, 9, 15, 16, 17, 1023, 1025])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_no_row_is_left_out_whatever_the_count(rng, n_rows, n_jobs):
    tests = (Test("x", "number", cuts=(1.0, 2.0)), Test("y", "number", cuts=(5.0,)))
    prices = PriceList.plain([1.0, 2.0])
    tree = grow_at_random(rng, tests, ("a", "b"), prices, cuts_only=True)
    matrix = matrix_of(rng, tree, n_rows)
    assert compare_numbers(tree, matrix, n_jobs) == plain_leaves(tree, matrix)


def one_cut(threshold):
    """Return a tree that asks once whether x is at most a number."""
    builder = NodesBuilder()
    builder.add_test(0, [0, 1], {0: 1.0, 1: 1.0}, default=0, cut=0)
    builder.add_leaf({0: 1.0})
    builder.add_leaf({1: 1.0})
    return Tree(
        (Test("x", "number", cuts=(threshold,)),),
        ("low", "high"),
        PriceList.plain([1.0]),
        nodes=builder.build(),
    )


@pytest.mark.parametrize("threshold", [0.0, 2.5, -1e30, float(np.float32(0.1))])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_value_on_a_threshold_goes_down_and_its_neighbour_up(threshold, dtype):
    tree = one_cut(threshold)
    on = dtype(threshold)
    column = np.array([on, np.nextafter(on, dtype(np.inf)), np.inf, -np.inf, np.nan])
    matrix = column.astype(dtype)[:, None]
    expected = ["low", "high", "high", "low", "low"]
    assert tree.predict(matrix).tolist() == expected
    assert tree.predict({"x": column}).tolist() == expected


def test_a_double_just_above_a_threshold_goes_up_although_it_rounds_down():
    tree = one_cut(2.5)
    above = np.nextafter(2.5, np.inf)
    assert np.float32(above) == 2.5
    assert tree.predict(np.array([[above]])).tolist() == ["high"]
    assert tree.predict([[above]]).tolist() == ["high"]


LAYOUTS = {
    "by columns": np.asfortranarray,
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "backwards": lambda X: X[::-1].copy()[::-1],
    "other byte order": lambda X: X.astype(">f8"),
    "more bits": lambda X: X.astype(np.longdouble),
    "masked": np.ma.masked_invalid,
    "objects": lambda X: X.astype(object),
    "lists": lambda X: X.tolist(),
    "tuples": lambda X: [tuple(row) for row in X.tolist()],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_layout_of_the_rows_does_not_matter(rng, layout):
    tests = tuple(Test(f"x{i}", "number", cuts=(0.0, 1.0)) for i in range(3))
    prices = PriceList.plain([1.0] * 3)
    tree = grow_at_random(rng, tests, ("a", "b"), prices, cuts_only=True, max_depth=5)
    # The last but one is above 1 as a double, and 1 in single precision.
    X = rng.choice([0.0, 0.5, 1.0, 2.0, np.nextafter(1.0, 2.0), np.nan], (49, 3))
    assert tree.apply(LAYOUTS[layout](X)).tolist() == tree.apply(X).tolist()


def test_half_precision_and_whole_numbers_are_walked_too(rng):
    tests = (Test("x", "number", cuts=(0.0, 1.0)),)
    tree = grow_at_random(
        rng, tests, ("a", "b"), PriceList.plain([1.0]), cuts_only=True, max_depth=3
    )
    X = np.arange(-2, 4)[:, None]
    expected = tree.apply(X.astype(np.float64)).tolist()
    assert tree.apply(X).tolist() == expected
    assert tree.apply(X.astype(np.float16)).tolist() == expected
    assert tree.apply(X.astype(np.uint8)[2:]).tolist() == expected[2:]


def test_a_tree_without_tests_walks_nowhere():
    tree = grow_at_random(
        np.random.default_rng(0), (), ("a",), PriceList.plain([]), max_depth=0
    )
    assert tree.apply(np.zeros((3, 0))).tolist() == [0, 0, 0]
    assert tree.cost(np.zeros((9, 0))).tolist() == [0.0] * 9
    assert tree.apply_codes(np.zeros((0, 3), dtype=np.uint8)).tolist() == [0, 0, 0]


def test_wide_codes_are_walked_like_narrow_ones():
    outcomes = tuple(range(300))
    tests = (Test("many", "category", outcomes=outcomes),)
    costs = Costs([1.0], by_outcome={0: {299: 5.0}}).price_list(tests)
    rng = np.random.default_rng(3)
    tree = grow_at_random(rng, tests, ("a", "b"), costs, max_depth=1)
    while tree.n_nodes < 100:
        tree = grow_at_random(rng, tests, ("a", "b"), costs, max_depth=1)
    codes = tree.coding.encode({"many": [*outcomes, None, "other"]})
    assert codes.dtype == np.uint16
    leaves = [plain_walk(tree, [code])[-1] for code in codes[0].tolist()]
    assert tree.apply_codes(codes).tolist() == leaves
    ended, paid = charge_rows(
        costs.engine, codes, tree.test, tree.test, tree._child_start,
        tree._child_of_code,
    )  # fmt: skip
    assert ended.tolist() == leaves
    assert paid.tolist() == [1.0] * 299 + [5.0, 1.0, 1.0]
