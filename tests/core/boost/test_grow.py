"""Trees that charge rows: each split is one of the best that the twin finds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from askless._core.boost._grow import TreeGrower
from askless.testing import PlainBoostColumn, PlainBoostSplit, plain_charged_tree
from tests.strategies import generators

# Sums of these are exact, in whatever order they are added up.
GRAIN = 1 / 64


@dataclass
class Columns:
    """Columns of codes, and what is the same for all trees."""

    codes: NDArray[np.uint16]
    n_levels: NDArray[np.int32]
    is_category: NDArray[np.uint8]
    weights: NDArray[np.float64]
    n_outputs: int
    n_leaves: int = 4
    l2: float = 1.0
    least_rows: int = 1

    @property
    def n_rows(self):
        return self.codes.shape[1]

    def grower(self, **options):
        return TreeGrower(
            self.codes, self.n_levels, self.is_category, self.weights,
            n_outputs=self.n_outputs, n_leaves=self.n_leaves, l2=self.l2,
            least_rows=self.least_rows, **options,
        )  # fmt: skip


@dataclass
class Round:
    """What one tree is grown on."""

    derivatives: NDArray[np.float64]
    prices: NDArray[np.float64]
    charged: NDArray[np.float64]
    rows: NDArray[np.int32]
    columns: NDArray[np.uint8]
    n_drawn: int = 0
    seed: int = 0

    def grow(self, grower):
        return grower.grow(
            self.derivatives, self.prices, self.charged, self.rows, self.columns,
            self.n_drawn, self.seed,
        )  # fmt: skip


def random_codes(rng, n_levels, is_category, n_rows, *, is_new=False):
    """Return codes with missing values; categories, and new numbers, may be unknown."""
    drawn = [rng.integers(0, max(n, 1), n_rows) for n in n_levels]
    codes = np.array(drawn, dtype=np.uint16).reshape(len(n_levels), n_rows)
    for f, n in enumerate(n_levels):
        codes[f, rng.random(n_rows) < rng.choice([0.0, 0.2]) + (n == 0)] = n
        if is_category[f] or is_new:
            codes[f, rng.random(n_rows) < 0.1] = n + 1
    return codes


def one_by_one(listed, is_category):
    """Return columns of numbers or categories, given as lists of codes."""
    codes = np.array(listed, dtype=np.uint16)
    n_levels = codes.max(axis=1, initial=0).astype(np.int32) + 1
    kinds = np.full(len(codes), is_category, dtype=np.uint8)
    return Columns(codes, n_levels, kinds, np.ones(codes.shape[1]), 1, l2=0.0)


@st.composite
def all_columns(draw):
    rng = draw(generators())
    n_columns, n_rows = draw(st.integers(1, 4)), int(rng.choice([3, 20, 50, 70]))
    is_category = rng.integers(0, 2, n_columns).astype(np.uint8)
    n_levels = rng.integers(1 - is_category, 13).astype(np.int32)
    return Columns(
        random_codes(rng, n_levels, is_category, n_rows),
        n_levels,
        is_category,
        rng.choice([0.5, 1.0, 3.0], n_rows),
        n_outputs=draw(st.integers(1, 4)),
        n_leaves=int(rng.choice([1, 3, 5, 8])),
        l2=draw(st.sampled_from([0.0, 1.0, 3.5])),
        least_rows=int(rng.choice([1, 2, 5])),
    )


def random_round(rng, columns, *, prices=(0.0, 0.1, 0.5, 0.5, 1e6)):
    n_rows, n_columns = columns.n_rows, len(columns.codes)
    shape = (n_rows, columns.n_outputs)
    first, second = rng.integers(-128, 129, shape), rng.integers(1, 33, shape)
    # Rows that hardly count: three of them make a leaf, two do not.
    faint = rng.random(n_rows) < rng.choice([0.0, 0.3])
    first[faint], second[faint] = 0, 0
    second = second * GRAIN
    second[faint, 0] = 0.00048828125
    n_some = int(rng.choice([0, n_rows // 2, n_rows], p=[0.05, 0.45, 0.5]))
    return Round(
        np.hstack([first * GRAIN, second]),
        rng.choice(prices, n_columns) * rng.random(n_columns),
        rng.integers(0, 9, n_rows) / 8,
        np.sort(rng.permutation(n_rows)[:n_some]).astype(np.int32),
        (rng.random(n_columns) < 0.8).astype(np.uint8),
        int(rng.choice([0, rng.integers(n_columns + 2)])),
        int(rng.integers(2**63)),
    )


def read_splits(grower, columns):
    """Return the splits of the last tree, in the order in which they were made."""
    column, cut, left, _, missing_left, goes_left = grower.tree()[:6]
    splits = []
    for node in sorted(np.flatnonzero(column >= 0).tolist(), key=lambda n: left[n]):
        n = int(columns.n_levels[column[node]])
        if columns.is_category[column[node]]:
            codes = set(np.flatnonzero(goes_left[node]).tolist())
        else:
            codes = set(range(cut[node] + 1))
            codes |= {n, n + 1} if missing_left[node] else set()
        splits.append(PlainBoostSplit(node, int(column[node]), frozenset(codes)))
    return splits


def grow_plainly(columns, drawn, bought, like=()):
    asked = [
        PlainBoostColumn(
            codes.tolist(), int(n), bool(is_category), float(price), bool(may_ask)
        )
        for codes, n, is_category, price, may_ask in zip(
            columns.codes, columns.n_levels, columns.is_category, drawn.prices,
            drawn.columns, strict=True,
        )
    ]  # fmt: skip
    return plain_charged_tree(
        asked, drawn.derivatives.tolist(), drawn.charged.tolist(), bought.tolist(),
        drawn.rows.tolist(), n_leaves=columns.n_leaves, l2=columns.l2,
        least_rows=columns.least_rows, n_drawn=drawn.n_drawn, seed=drawn.seed,
        like=like,
    )  # fmt: skip


def walk_slowly(grower, columns, codes):
    """Return the path of each row: the nodes that it comes to, the leaf last."""
    _, _, left, right = grower.tree()[:4]
    splits = {split.node: split for split in read_splits(grower, columns)}
    paths = []
    for row in codes.T.tolist():
        path = [0]
        while path[-1] in splits:
            split = splits[path[-1]]
            side = left if row[split.column] in split.goes_left else right
            path.append(int(side[split.node]))
        paths.append(path)
    return paths


def bought_by(grower):
    return np.array(grower.bought, dtype=bool)


def walked(grower, codes, n_outputs, *, rate=1.0):
    sums = np.zeros((codes.shape[1], n_outputs))
    grower.add_walked(codes, sums, rate)
    return sums


@settings(max_examples=300)
@given(columns=all_columns(), rng=generators())
def test_every_split_is_one_of_the_best_and_says_what_the_twin_says(columns, rng):
    grower = columns.grower()
    for _ in range(3):
        drawn = random_round(rng, columns)
        before = bought_by(grower)
        n_nodes = drawn.grow(grower)
        splits = read_splits(grower, columns)
        plain = grow_plainly(columns, drawn, before, like=splits)
        assert [s.place for s in splits] == [s.place for s in plain.splits]
        assert n_nodes == 2 * len(splits) + 1
        # Rows that it is grown on have bought, others and rows that only walk have not.
        after, others = np.array(plain.bought), np.ones(columns.n_rows, dtype=bool)
        others[drawn.rows] = False
        found = bought_by(grower)
        assert np.array_equal(found[drawn.rows], after[drawn.rows])
        assert np.array_equal(found[others], before[others])
        # Whoever buys for the first time is charged, and nobody else.
        new = (after & ~before)[drawn.rows] * drawn.charged[drawn.rows, None]
        assert sum(s.charge for s in plain.splits) == pytest.approx(
            float((new * drawn.prices).sum())
        )
        found = walked(grower, columns.codes, columns.n_outputs)
        np.testing.assert_allclose(found, plain.values, rtol=1e-9, atol=1e-12)
        assert np.array_equal(bought_by(grower)[others], before[others])


@given(columns=all_columns(), rng=generators())
def test_the_nodes_of_a_tree_are_those_that_rows_walk(columns, rng):
    drawn, grower = random_round(rng, columns, prices=(0.0, 0.1)), columns.grower()
    drawn.grow(grower)
    before = bought_by(grower)
    value = grower.tree()[6]
    new = random_codes(rng, columns.n_levels, columns.is_category, 30, is_new=True)
    leaves = [path[-1] for path in walk_slowly(grower, columns, new)]
    sums = rng.normal(size=(30, columns.n_outputs))
    expected = sums + 0.5 * value[leaves]
    grower.add_walked(new, sums, 0.5)
    assert np.array_equal(sums, expected)
    assert np.array_equal(bought_by(grower), before)


@pytest.mark.parametrize("by_rows", [0.0, 0.25, 1.0])
@given(columns=all_columns(), rng=generators())
def test_nodes_weigh_what_their_rows_and_second_derivatives_do(by_rows, columns, rng):
    drawn, grower = random_round(rng, columns, prices=(0.0, 0.1)), columns.grower()
    n_nodes, n = drawn.grow(grower), columns.n_outputs
    # The rows that it was grown on, and no others.
    paths = walk_slowly(grower, columns, columns.codes[:, drawn.rows])
    rows, seconds = np.zeros((n_nodes, 1)), np.zeros((n_nodes, n))
    for row, path in zip(drawn.rows, paths, strict=True):
        rows[path] += columns.weights[row]
        seconds[path] += drawn.derivatives[row, n:]
    some = [part / np.where(part[0] > 0, part[0], 1) for part in (rows, seconds)]
    expected = by_rows * some[0] + (1 - by_rows) * some[1]
    weight = grower.tree(by_rows)[7]
    assert weight.shape == (n_nodes, n)
    np.testing.assert_allclose(weight, expected, rtol=1e-12)


@given(columns=all_columns(), rng=generators())
def test_rows_that_a_tree_was_grown_on_need_not_walk_it(columns, rng):
    drawn, grower = random_round(rng, columns, prices=(0.0, 0.1)), columns.grower()
    drawn.grow(grower)
    grown = rng.normal(size=(columns.n_rows, columns.n_outputs))
    before, by_walking = grown.copy(), grown.copy()
    grower.add_grown(grown, 0.3)
    grower.add_walked(columns.codes, by_walking, 0.3)
    others = np.delete(np.arange(columns.n_rows), drawn.rows)
    assert np.array_equal(grown[drawn.rows], by_walking[drawn.rows])
    assert np.array_equal(grown[others], before[others])


@given(columns=all_columns(), rng=generators())
def test_rows_that_are_left_out_tell_nothing(columns, rng):
    drawn = random_round(rng, columns, prices=(0.0, 0.1))
    codes = random_codes(
        rng, columns.n_levels, columns.is_category, columns.n_rows, is_new=True
    )
    other = random_round(rng, columns)
    codes[:, drawn.rows] = columns.codes[:, drawn.rows]
    other.derivatives[drawn.rows] = drawn.derivatives[drawn.rows]
    other.charged[drawn.rows] = drawn.charged[drawn.rows]
    growers = columns.grower(), replace(columns, codes=codes).grower()
    assert drawn.grow(growers[0]) == replace(
        drawn, derivatives=other.derivatives, charged=other.charged
    ).grow(growers[1])
    for found, expected in zip(*(grower.tree() for grower in growers), strict=True):
        assert np.array_equal(found, expected)


def told_by(columns, derivatives, **options):
    """Return a round on all rows and columns that charges nothing."""
    n_columns, n_rows = columns.codes.shape
    found = Round(
        np.array(derivatives, dtype=float), np.zeros(n_columns), np.ones(n_rows),
        np.arange(n_rows, dtype=np.int32), np.ones(n_columns, dtype=np.uint8),
    )  # fmt: skip
    return replace(found, **options)


# Two rows of each kind.
APART = [(-1, 1), (-1, 1), (1, 1), (1, 1)]


def test_nothing_is_bought_that_is_not_worth_its_price():
    columns = one_by_one([[0, 0, 1, 1]], is_category=False)
    # It lowers the loss by 4 and charges 4 rows.
    for price, n_nodes in ((1.01, 1), (0.99, 3)):
        grower = columns.grower()
        drawn = told_by(columns, APART, prices=np.array([price]))
        assert drawn.grow(grower) == n_nodes
        assert bought_by(grower).any() == (n_nodes > 1)
    drawn = told_by(columns, APART, prices=np.array([1e300]))
    assert drawn.grow(grower) == 3, "every row has bought it"
    assert drawn.grow(columns.grower()) == 1


def test_a_single_leaf_is_shrunk_by_l2():
    columns = replace(one_by_one([[0, 0, 0]], is_category=False), l2=2.0)
    grower = columns.grower()
    assert told_by(columns, [(1, 1), (1, 2), (1, 1)]).grow(grower) == 1
    assert grower.tree()[6] == pytest.approx(-3 / 6)


def test_what_some_rows_have_bought_is_charged_to_the_others():
    columns = one_by_one([[0, 0, 1, 1]], is_category=False)
    grower = columns.grower()
    half = np.array([0, 2], dtype=np.int32)
    assert told_by(columns, APART, rows=half).grow(grower) == 3
    assert bought_by(grower)[:, 0].tolist() == [1, 0, 1, 0]
    # Two rows are left to charge, one of which counts half.
    charged = np.array([1, 0.5, 1, 1])
    for price, n_nodes in ((2.7, 1), (2.6, 3)):
        drawn = told_by(columns, APART, prices=np.array([price]), charged=charged)
        assert drawn.grow(grower) == n_nodes


def test_leaves_are_worth_what_their_own_rows_say():
    # The larger side is what is left of sums that are far larger than its own.
    n = 200_000
    columns = one_by_one([[0] * 4 + [1] * (n - 4)], is_category=False)
    columns = replace(columns, n_outputs=2, l2=0.0)
    tiny = 1e-16
    rows = [(-1e3, 1e3, 1e3, 1e3)] * 4 + [(1.0, tiny, 1.0, tiny)] * (n - 4)
    drawn = told_by(columns, rows)
    grower = columns.grower()
    assert drawn.grow(grower) == 3
    total = tiny * (n - 4)
    value = grower.tree()[6]
    assert value[-1].tolist() == pytest.approx([-1.0, -total / (total + 1e-12)])


@pytest.mark.parametrize("is_category", [False, True])
def test_a_column_may_tell_only_by_what_is_missing(is_category):
    columns = one_by_one([[0, 1, 2, 2]], is_category)
    # The last code stands for nothing.
    columns.n_levels -= 1
    grower = columns.grower()
    assert told_by(columns, APART).grow(grower) == 3
    assert walked(grower, columns.codes, 1)[:, 0] == pytest.approx([1, 1, -1, -1])
    # What is unknown goes with what is missing; of a category, to the right.
    codes = np.array([[0, 1, 2, 3]], dtype=np.uint16)
    found = walked(grower, codes, 1)[:, 0]
    assert found[3] == found[2] == pytest.approx(-1)


@pytest.mark.parametrize("n_low", [2, 3])
def test_a_number_that_is_missing_for_the_first_time_goes_with_most_rows(n_low):
    columns = one_by_one([[0] * n_low + [1] * (5 - n_low)], is_category=False)
    grower = columns.grower()
    derivatives = [(-1, 1)] * n_low + [(1, 1)] * (5 - n_low)
    assert told_by(columns, derivatives).grow(grower) == 3
    codes = np.array([[2, 3]], dtype=np.uint16)
    most = 1 if n_low == 3 else -1
    assert walked(grower, codes, 1)[:, 0] == pytest.approx([most, most])


def test_missing_numbers_go_where_they_belong_and_unknown_ones_with_them():
    columns = replace(one_by_one([[0, 0, 1, 1, 2]], is_category=False), n_leaves=2)
    columns.n_levels -= 1
    for gone in (-1, 1):
        grower = columns.grower()
        assert told_by(columns, [*APART, (gone, 1)]).grow(grower) == 3
        codes = np.array([[0, 1, 2, 3]], dtype=np.uint16)
        expected = [1, -1, -gone, -gone]
        assert walked(grower, codes, 1)[:, 0] == pytest.approx(expected)


def test_a_category_never_seen_goes_right():
    columns = one_by_one([[0, 0, 2, 2]], is_category=True)
    columns.n_levels += 1
    for sign in (1, -1):
        grower = columns.grower()
        told_by(columns, np.array(APART) * [sign, 1]).grow(grower)
        codes = np.array([[0, 1, 2, 3, 4, 5]], dtype=np.uint16)
        # Levels that lower the sum come first.
        assert walked(grower, codes, 1)[:, 0] == pytest.approx(
            [sign, -1, -sign, -1, -1, -1]
        )


def test_of_equal_splits_the_first_is_made():
    same = [0, 0, 1, 1, 2, 2, 3, 3]
    columns = one_by_one([same, same], is_category=False)
    first = [-5, -5, -4, -4, 4, 4, 5, 5]
    drawn = told_by(columns, [(g, 1) for g in first])
    grower = replace(columns, n_leaves=3).grower()
    assert drawn.grow(grower) == 5
    # Of equal columns the first; then of equal leaves.
    assert grower.tree()[0].tolist() == [0, 0, -1, -1, -1]
    # Of equal cuts of one column, too.
    alike = one_by_one([[0, 1, 2]], is_category=False)
    grower = replace(alike, n_leaves=2).grower()
    assert told_by(alike, [(1, 1), (-2, 1), (1, 1)]).grow(grower) == 3
    assert grower.tree()[1][0] == 0


def test_a_tree_grows_where_it_gains_most_though_it_has_few_leaves():
    columns = replace(one_by_one([range(8)], is_category=False), n_leaves=3)
    grower = columns.grower()
    # The left half of the first split hardly gains, the right half does.
    first = [-1, -1, -1.5, -1.5, 4, 4, 9, 9]
    assert told_by(columns, [(g, 1) for g in first]).grow(grower) == 5
    found = walked(grower, columns.codes, 1)[:, 0]
    assert found == pytest.approx([1.25] * 4 + [-4] * 2 + [-9] * 2)


def test_threads_do_not_change_trees():
    rng = np.random.default_rng(5)
    n_rows, n_columns, n_levels = 30_000, 8, 5_000
    is_category = np.arange(n_columns, dtype=np.uint8) % 2
    levels = np.full(n_columns, n_levels, dtype=np.int32)
    columns = Columns(
        random_codes(rng, levels, is_category, n_rows), levels, is_category,
        np.ones(n_rows), n_outputs=3, n_leaves=8, least_rows=20,
    )  # fmt: skip
    # Enough for all threads: rows of the root, and levels of every leaf.
    assert n_rows * n_columns > 200_000
    assert levels.sum() * 7 > 200_000
    rounds = [random_round(rng, columns, prices=(0.0, 1e-3)) for _ in range(3)]
    trees = []
    for n_threads in (1, 2):
        grower = columns.grower(n_threads=n_threads)
        for drawn in rounds:
            rows = np.arange(n_rows, dtype=np.int32)
            assert replace(drawn, rows=rows).grow(grower) == 15
            trees.append(grower.tree())
    for one, two in zip(trees[:3], trees[3:], strict=True):
        for found, expected in zip(one, two, strict=True):
            assert np.array_equal(found, expected)
