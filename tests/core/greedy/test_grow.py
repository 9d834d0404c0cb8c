"""The grower: every switch changes time only, and rows stay what they were."""

from __future__ import annotations

import numpy as np
import pytest

from askless._core.greedy._criteria import Pairs, measure_impurity
from askless._core.greedy._grow import grow_greedy
from askless._core.greedy._options import GrowthLimits, GrowthRows
from askless.problem import Costs, Test


def grow(
    codes,
    classes,
    levels,
    ordered,
    *,
    weights=None,
    costs=None,
    limits=None,
    **switches,
):
    """Grow on codes in any order of rows; returns the arrays of the tree."""
    order = np.argsort(classes, kind="stable")
    tests = [
        Test(f"t{i}", "number", cuts=tuple(map(float, range(n - 1))))
        for i, n in enumerate(levels)
    ]
    prices = Costs([1.0] * len(levels) if costs is None else costs).price_list(tests)
    rows = GrowthRows(
        np.ascontiguousarray(codes[:, order]),
        np.bincount(classes).astype(np.int64),
        np.array(levels, dtype=np.int32),
        np.array(ordered, dtype=np.uint8),
        weights=None if weights is None else np.ascontiguousarray(weights[order]),
    )
    limits = GrowthLimits(max_depth=50) if limits is None else limits
    return grow_greedy(rows, Pairs(), prices.engine, limits=limits, **switches)


def random_rows(rng, dtype=np.uint8):
    n_tests, n_rows = int(rng.integers(1, 6)), int(rng.integers(2, 200))
    levels = rng.integers(2, 300 if dtype == np.uint16 else 20, n_tests).tolist()
    codes = np.array([rng.integers(0, n + 1, n_rows) for n in levels], dtype=dtype)
    classes = rng.integers(0, int(rng.integers(2, 5)), n_rows)
    return codes, classes, levels


def scores(tree):
    """Return the larger child impurity of each cut, which is what is compared."""
    pairs = []
    for node in np.flatnonzero(tree["test"] >= 0):
        first = tree["branch_start"][node]
        children = tree["branch_child"][first : tree["branch_start"][node + 1]]
        pairs.append(max(node_pairs(tree, child) for child in children))
    return pairs


def node_pairs(tree, node):
    start, end = tree["weight_start"][node], tree["weight_start"][node + 1]
    return measure_impurity(Pairs(), tree["weight"][start:end].copy())


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_the_crossing_finds_what_the_scan_finds(rng, dtype):
    for _ in range(150):
        codes, classes, levels = random_rows(rng, dtype)
        ordered = [1] * len(levels)
        costs = rng.integers(1, 6, len(levels)).astype(float).tolist()
        # One split each: ties may lead the two down different ways further below.
        by_crossing, by_scan = (
            grow(
                codes, classes, levels, ordered, costs=costs,
                limits=GrowthLimits(max_depth=1), use_crossing=use,
            )
            for use in (True, False)
        )  # fmt: skip
        assert by_crossing["test"][0] == by_scan["test"][0]
        assert scores(by_crossing) == scores(by_scan)


def test_bounds_change_nothing_but_time(rng):
    for _ in range(150):
        codes, classes, levels = random_rows(rng)
        ordered = rng.integers(0, 2, len(levels))
        costs = rng.integers(0, 6, len(levels)).astype(float).tolist()
        with_bounds, without = (
            grow(codes, classes, levels, ordered, costs=costs, use_bounds=use)
            for use in (True, False)
        )
        for name, array in with_bounds.items():
            assert np.array_equal(array, without[name]), name


def test_the_order_of_rows_changes_nothing(rng):
    for _ in range(50):
        codes, classes, levels = random_rows(rng)
        ordered = rng.integers(0, 2, len(levels))
        shuffled = rng.permutation(len(classes))
        one = grow(codes, classes, levels, ordered)
        two = grow(codes[:, shuffled], classes[shuffled], levels, ordered)
        for name, array in one.items():
            assert np.array_equal(array, two[name]), name


def test_one_and_two_bytes_give_the_same_tree(rng):
    for _ in range(50):
        codes, classes, levels = random_rows(rng)
        ordered = rng.integers(0, 2, len(levels))
        narrow = grow(codes, classes, levels, ordered)
        wide = grow(codes.astype(np.uint16), classes, levels, ordered)
        for name, array in narrow.items():
            assert np.array_equal(array, wide[name]), name


def test_weights_of_one_change_nothing(rng):
    for _ in range(50):
        codes, classes, levels = random_rows(rng)
        ordered = rng.integers(0, 2, len(levels))
        plain = grow(codes, classes, levels, ordered)
        weighted = grow(codes, classes, levels, ordered, weights=np.ones(len(classes)))
        for name, array in plain.items():
            assert np.array_equal(array, weighted[name]), name


def walk(tree, row):
    node = 0
    while tree["test"][node] >= 0:
        start, end = tree["branch_start"][node], tree["branch_start"][node + 1]
        code = row[tree["test"][node]]
        if tree["cut"][node] >= 0:
            branch = int(code > tree["cut"][node])
        else:
            branch = tree["branch_code"][start:end].tolist().index(code)
        node = tree["branch_child"][start + branch]
    return node


def test_every_leaf_holds_the_rows_that_walk_there(rng):
    for _ in range(50):
        codes, classes, levels = random_rows(rng)
        ordered = rng.integers(0, 2, len(levels))
        tree = grow(codes, classes, levels, ordered)
        found = {}
        for row, label in zip(codes.T, classes, strict=True):
            leaf = walk(tree, row)
            found.setdefault(leaf, {}).setdefault(int(label), 0)
            found[leaf][int(label)] += 1
        for leaf in np.flatnonzero(tree["test"] < 0):
            start, end = tree["weight_start"][leaf], tree["weight_start"][leaf + 1]
            held = dict(
                zip(
                    tree["weight_class"][start:end].tolist(),
                    tree["weight"][start:end].tolist(),
                    strict=True,
                )
            )
            assert held == found[leaf]


def test_every_cut_is_a_code_that_occurs_on_its_left(rng):
    n_cuts = 0
    for _ in range(20):
        codes, classes, levels = random_rows(rng)
        tree = grow(codes, classes, levels, [1] * len(levels))
        for node in np.flatnonzero(tree["cut"] >= 0):
            assert tree["cut"][node] in codes[tree["test"][node]]
            n_cuts += 1
    assert n_cuts


def test_too_large_a_tree_stops_with_an_error(rng):
    codes = np.arange(40, dtype=np.uint8)[None, :]
    with pytest.raises(OverflowError, match="more than 10 nodes"):
        grow(codes, np.arange(40) % 2, [40], [1], limits=GrowthLimits(max_nodes=10))
