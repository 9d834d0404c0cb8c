"""Write naive Bayes as trees: for each column and class one, which only asks for it.

A column that is not bought says nothing, so a row may stop anywhere: where columns tell
of a class independently, no booster answers half-bought rows as well. This module must
not know what columns cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.learn.boost._booster_rows import BoosterRows
from askless.learn.sources import SetSplit, Source, SourceTree
from askless.policy import Output
from askless.problem import Outcome, Test

__all__ = ["MOST_LEVELS", "blend", "read_bayes"]

# Levels of a number, at most, and how their number grows with the cube root of rows.
MOST_LEVELS, LEVELS_BY_ROWS = 24, 1.7
# How much of a level each of its two neighbours gets: what is known of a level is
# little, and neighbours are alike.
NEIGHBOUR = 0.25
# Rows added to each level of each class, shared among classes as all rows are.
ADDED_ROWS = 1.0
LEAST_SHARE = 1e-9


@dataclass(frozen=True)
class _Levels:
    """The values of one column in a few levels; the last of all is for no value.

    Attributes
    ----------
    codes : ndarray of shape (n_rows,)
        The level of each row.
    n_values : int
        How many levels have values.
    cuts : ndarray of shape (n_values - 1,)
        The last value of each level but the last; of a category its number.
    is_category, is_smooth : bool
        Whether levels are categories; whether neighbours are alike.
    """

    codes: NDArray[np.int64]
    n_values: int
    cuts: NDArray[np.float64]
    is_category: bool
    is_smooth: bool


def read_bayes(train: BoosterRows, classes: tuple[Outcome, ...]) -> Source:
    """Return naive Bayes of rows as a model of trees.

    Parameters
    ----------
    train : BoosterRows
        Rows to count.
    classes : tuple
        The classes; there must be at least two.

    Examples
    --------
    >>> from askless.learn._examples import KnownRows
    >>> x, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])
    >>> rows = BoosterRows.of(KnownRows(x, y), (Test("x", "number"),))
    >>> [tree.feature.tolist()[0] for tree in read_bayes(rows, ("no", "yes")).trees]
    [0]
    """
    class_ids, n_classes = train.rows.class_ids, len(classes)
    weights = _even(train.rows.weights, len(class_ids))
    trees: list[SourceTree] = []
    for column, test in enumerate(train.tests):
        levels = _divide(train.matrix[:, column], test)
        if levels.n_values < 2:
            continue  # it says nothing, unless by being missing
        counts = np.zeros((n_classes, levels.n_values + 1))
        np.add.at(counts, (class_ids, levels.codes), weights)
        trees += _write_trees(column, levels, counts)
    prior = np.maximum(np.bincount(class_ids, weights, n_classes), LEAST_SHARE)
    log_prior = np.log(prior / prior.sum())
    return Source(
        None,
        len(train.tests),
        classes,
        trees or [_write_nothing()],
        Output("logit", (float(log_prior[1] - log_prior[0]),))
        if n_classes == 2
        else Output("softmax", tuple(log_prior.tolist())),
        {i: t.outcomes for i, t in enumerate(train.tests) if t.kind == "category"},
    )


def blend(source: Source, bayes: Source, share: float) -> Source:
    """Return a model whose log-odds lie between those of two models.

    Parameters
    ----------
    source, bayes : Source
        Models of the same columns and classes.
    share : float
        How much the second one says, from 0 to 1.
    """
    trees = []
    for model, factor in ((source, 1.0 - share), (bayes, share)):
        trees += [replace(tree, value=factor * tree.value) for tree in model.trees]
    first, second = (np.array(model.output.offset) for model in (source, bayes))
    offset = tuple(((1.0 - share) * first + share * second).tolist())
    return replace(source, trees=trees, output=replace(source.output, offset=offset))


def _even(weights: NDArray[np.float64] | None, n_rows: int) -> NDArray[np.float64]:
    """Return weights of a mean of 1, so that added rows weigh as rows do."""
    if weights is None or not weights.sum() > 0:
        return np.ones(n_rows)
    return np.asarray(weights * (n_rows / weights.sum()))


def _divide(values: NDArray[Any], test: Test) -> _Levels:
    is_known = ~np.isnan(values)
    known = values[is_known].astype(np.float64)
    if test.kind == "category":
        n_values = len(test.outcomes)
        cuts, is_smooth = np.arange(n_values - 1, dtype=np.float64), False
    else:
        cuts, is_smooth = _choose_cuts(known)
        n_values = len(cuts) + 1
    codes = np.full(len(values), n_values, dtype=np.int64)
    codes[is_known] = np.searchsorted(cuts, known)
    return _Levels(codes, n_values, cuts, test.kind == "category", is_smooth)


def _choose_cuts(known: NDArray[np.float64]) -> tuple[NDArray[np.float64], bool]:
    """Return cuts that divide rows evenly, and whether there are more values."""
    n_levels = min(MOST_LEVELS, int(np.ceil(LEVELS_BY_ROWS * len(known) ** (1 / 3))))
    distinct = np.unique(known)
    if len(distinct) <= n_levels:
        return distinct[:-1], False
    # Values themselves, and no means of them: those of a store are codes.
    places = np.linspace(0, 1, n_levels + 1)[1:-1]
    cuts = np.unique(np.quantile(known, places, method="lower"))
    return cuts[cuts < distinct[-1]], True


def _write_trees(
    column: int, levels: _Levels, counts: NDArray[np.float64]
) -> list[SourceTree]:
    """Return a tree for each class, or of two classes one, from counts of levels.

    A level that no row has says nothing.
    """
    if levels.is_smooth:
        counts = np.column_stack([_blur(counts[:, :-1]), counts[:, -1]])
    n_levels = counts.shape[1]
    is_seen = counts.sum(axis=0) > 0
    every = np.maximum(counts.sum(axis=0), LEAST_SHARE)
    every /= every.sum()
    shares = counts + ADDED_ROWS * n_levels * every
    shares /= shares.sum(axis=1, keepdims=True)
    if len(shares) == 2:
        values = np.where(is_seen, np.log(shares[1] / shares[0]), 0.0)
        return [_write_tree(column, levels, values, _balance(values, *shares), 0)]
    trees = []
    for output, of_class in enumerate(shares):
        values = np.where(is_seen, np.log(of_class / every), 0.0)
        weight = _balance(values, every, of_class)
        trees.append(_write_tree(column, levels, values, weight, output))
    return trees


def _blur(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return counts of which neighbouring levels share some."""
    wide = np.pad(counts, ((0, 0), (1, 1)), mode="edge")
    beside = NEIGHBOUR * (wide[:, :-2] + wide[:, 2:])
    return np.asarray((1 - 2 * NEIGHBOUR) * counts + beside)


def _balance(
    values: NDArray[np.float64], below: NDArray[np.float64], above: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return weights between two shares, by which the mean of values is zero.

    What is open is taken at its mean, and to naive Bayes it says nothing.

    Parameters
    ----------
    values : ndarray of shape (n_levels,)
        What each level says.
    below, above : ndarray of shape (n_levels,)
        Shares by which the mean is at most 0, and at least 0.
    """
    low, high = float(values @ below), float(values @ above)
    share = -low / (high - low) if high > low else 0.0
    return np.maximum((1 - share) * below + share * above, LEAST_SHARE)


def _write_tree(
    column: int,
    levels: _Levels,
    values: NDArray[np.float64],
    weights: NDArray[np.float64],
    output: int,
) -> SourceTree:
    """Return a tree that asks whether there is a value, and then halves levels."""
    nodes = _Nodes(column, output)
    root = nodes.add(0.0, float(weights.sum()))
    nodes.sets[root] = SetSplit(_goes_never, unknown_left=True)
    nodes.missing_left[root] = True
    left = nodes.add(float(values[-1]), float(weights[-1]))
    nodes.link(root, left, _halve(nodes, levels, values, weights, 0, levels.n_values))
    return nodes.finish()


def _halve(
    nodes: _Nodes,
    levels: _Levels,
    values: NDArray[np.float64],
    weights: NDArray[np.float64],
    first: int,
    end: int,
) -> int:
    """Add the subtree of some levels; return its root."""
    if end - first == 1:
        return nodes.add(float(values[first]), float(weights[first]))
    root = nodes.add(0.0, float(weights[first:end].sum()))
    middle = (first + end) // 2
    cut = float(levels.cuts[middle - 1])
    if levels.is_category:
        nodes.sets[root] = SetSplit(_goes_up_to(cut))
    nodes.threshold[root] = cut
    left = _halve(nodes, levels, values, weights, first, middle)
    nodes.link(root, left, _halve(nodes, levels, values, weights, middle, end))
    return root


def _goes_never(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.zeros(len(values), dtype=bool)


def _goes_up_to(cut: float) -> Callable[[NDArray[np.float64]], NDArray[np.bool_]]:
    return lambda values: values <= cut


class _Nodes:
    """The nodes of a tree that asks for one column, as they are added."""

    def __init__(self, column: int, output: int) -> None:
        self.column, self.output = column, output
        self.left: list[int] = []
        self.right: list[int] = []
        self.threshold: list[float] = []
        self.missing_left: list[bool] = []
        self.value: list[float] = []
        self.weight: list[float] = []
        self.sets: dict[int, SetSplit] = {}

    def add(self, value: float, weight: float) -> int:
        """Add a leaf; return its number."""
        self.left.append(-1)
        self.right.append(-1)
        self.threshold.append(0.0)
        self.missing_left.append(False)
        self.value.append(value)
        self.weight.append(weight)
        return len(self.left) - 1

    def link(self, node: int, left: int, right: int) -> None:
        """Make a split of a leaf."""
        self.left[node], self.right[node] = left, right

    def finish(self) -> SourceTree:
        """Return the tree."""
        left = np.array(self.left, dtype=np.int32)
        return SourceTree(
            feature=np.where(left >= 0, self.column, -1).astype(np.int32),
            threshold=np.array(self.threshold),
            left=left,
            right=np.array(self.right, dtype=np.int32),
            missing_left=np.array(self.missing_left),
            value=np.array(self.value)[:, None],
            weight=np.array(self.weight),
            output=self.output,
            sets=self.sets,
        )


def _write_nothing() -> SourceTree:
    """Return a tree that asks nothing, of a model that has no other."""
    nodes = _Nodes(0, 0)
    nodes.add(0.0, 1.0)
    return nodes.finish()
