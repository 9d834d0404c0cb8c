"""Read a pipeline of scikit-learn: splits of its model, as splits of the raw columns.

Every column that the model sees must come from one raw column, so that buying the raw
one tells it: scaled, filled in, encoded. What is made of it is then asked of the fitted
transformers themselves, value by value, so nothing is worked out a second way. This
module must not know any model.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.learn.sources._source import SetSplit, Source, SourceTree, refuse
from askless.learn.sources._transformers import Step, outputs_of
from askless.problem import Outcome

__all__ = ["is_pipeline", "read_pipeline"]

Floats = NDArray[np.float64]
# Numbers are searched between these.
MOST = float(np.finfo(np.float64).max)


def is_pipeline(model: Any) -> bool:
    """Return whether a model is a pipeline of scikit-learn."""
    return any(kind.__name__ == "Pipeline" for kind in type(model).__mro__) and hasattr(
        model, "steps"
    )


def read_pipeline(pipeline: Any, read_model: Callable[[Any], Source]) -> Source:
    """Read a fitted pipeline; its last step is read by `read_model`."""
    model = pipeline.steps[-1][1]
    source = read_model(model)
    before = [s for _, s in pipeline.steps[:-1] if s not in (None, "passthrough")]
    first = before[0] if before else model
    names = getattr(first, "feature_names_in_", None)
    n_raw = int(first.n_features_in_) if before else source.n_features
    columns = [
        _Column(*origin, _list_cuts(source, i))
        for i, origin in enumerate(_compose(before, n_raw))
    ]
    if len(columns) != source.n_features:
        refuse(
            "Each column that the model sees must come from one raw column",
            f"{source.n_features} columns, where {len(columns)} were expected",
            "Fit the model without the pipeline, on prepared columns",
        )
    categories = _find_categories(columns, source)
    trees = [_move_tree(tree, columns, categories) for tree in source.trees]
    return replace(
        source,
        names=None if names is None else [str(name) for name in names],
        n_features=n_raw,
        trees=trees,
        categories=categories,
    )


def _compose(transformers: list[Any], n_raw: int) -> list[tuple[int, tuple[Step, ...]]]:
    """Return, for each column at the end, its raw column and the steps to it."""
    reached: list[tuple[int, tuple[Step, ...]]] = [(i, ()) for i in range(n_raw)]
    for transformer in transformers:
        reached = [
            (reached[column][0], (*reached[column][1], *steps))
            for column, steps in outputs_of(transformer, len(reached))
        ]
    return reached


def _list_cuts(source: Source, feature: int) -> Floats:
    """Return the thresholds of a column in all trees, ascending."""
    found = [tree.threshold[tree.feature == feature] for tree in source.trees]
    return np.unique(np.concatenate([np.zeros(0), *found]))


@dataclass(frozen=True, eq=False)
class _Column:
    """A column that the model sees: which raw column it is made of, and how.

    Transformers take their time for each call, so all cuts are looked at together.
    """

    raw: int
    steps: tuple[Step, ...]
    cuts: Floats
    _kept: dict[str, tuple[Floats, float]] = field(default_factory=dict)

    def make(self, values: Any) -> Floats:
        """Return what becomes of raw values."""
        made = np.asarray(values)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for step in self.steps:
                made = step.apply(made)
        return np.asarray(made, dtype=np.float64)

    def make_one(self, value: Any) -> float | None:
        """Return what becomes of one raw value; None if the pipeline refuses it."""
        lone = np.empty(1, dtype=object)
        lone[0] = value
        if isinstance(value, float):
            lone = lone.astype(np.float64)
        try:
            return float(self.make(lone)[0])
        except (ValueError, TypeError):
            return None

    @cached_property
    def is_rising(self) -> bool:
        """Whether larger numbers become larger ones."""
        low, high = self.make(np.array([-MOST, MOST]))
        return bool(low <= high)

    @cached_property
    def limits(self) -> Floats:
        """The largest raw number on the lower side of each cut."""
        return _find_last(self, self.cuts, is_rising=self.is_rising)

    @cached_property
    def missing(self) -> float:
        """What becomes of a missing value."""
        made = self.make_one(np.nan)
        return _or_nan(self.make_one(None) if made is None else made)

    def make_outcomes(self, outcomes: tuple[Outcome, ...]) -> tuple[Floats, float]:
        """Return what becomes of the outcomes of a category, and of one never seen."""
        if "made" not in self._kept:
            made = [_or_nan(self.make_one(outcome)) for outcome in outcomes]
            unknown = _or_nan(self.make_one(_stranger(outcomes)))
            self._kept["made"] = (np.array(made), unknown)
        return self._kept["made"]

    @property
    def outcomes(self) -> tuple[Outcome, ...] | None:
        """The categories that an encoder knows; None of a number."""
        for step in self.steps:
            if step.categories is not None:
                return step.categories
        return None


def _find_categories(
    columns: list[_Column], source: Source
) -> dict[int, tuple[Outcome, ...]]:
    """Return the outcomes of the raw columns that are categories."""
    found: dict[int, dict[Outcome, None]] = {}
    numbers = set()
    for i, column in enumerate(columns):
        outcomes = column.outcomes
        if not column.steps and i in source.categories:
            outcomes = source.categories[i]
        if outcomes is None:
            numbers.add(column.raw)
        else:
            found.setdefault(column.raw, {}).update(dict.fromkeys(outcomes))
    both = sorted(numbers & set(found))
    if both:
        refuse(
            "A raw column must be a number or a category",
            f"column {both[0]}, which the pipeline uses as both",
            "Encode it, or scale it",
        )
    return {raw: tuple(outcomes) for raw, outcomes in found.items()}


def _move_tree(
    tree: SourceTree,
    columns: list[_Column],
    categories: dict[int, tuple[Outcome, ...]],
) -> SourceTree:
    """Return a tree that asks raw columns, and answers the same."""
    moved: dict[str, Any] = {
        "feature": tree.feature.copy(),
        "threshold": tree.threshold.copy(),
        "left": tree.left.copy(),
        "right": tree.right.copy(),
        "missing_left": tree.missing_left.copy(),
    }
    sets = dict(tree.sets)
    for feature in np.unique(tree.feature[tree.feature >= 0]).tolist():
        column = columns[feature]
        nodes = np.flatnonzero(tree.feature == feature)
        moved["feature"][nodes] = column.raw
        if not column.steps:
            continue
        if any(node in tree.sets for node in nodes.tolist()):
            refuse(
                "A category of the model must come to it as it is",
                "one that a transformer has changed",
                "Pass the column through, or encode it",
            )
        if column.raw in categories:
            _ask_category(moved, sets, nodes, column, categories[column.raw])
        else:
            _ask_number(moved, nodes, column)
    return replace(tree, **moved, sets=sets)


def _ask_category(
    moved: dict[str, Any],
    sets: dict[int, SetSplit],
    nodes: NDArray[np.int64],
    column: _Column,
    outcomes: tuple[Outcome, ...],
) -> None:
    """Make splits of what a category becomes splits of the category."""
    made, unknown = column.make_outcomes(outcomes)
    missing = column.missing
    for node in nodes.tolist():
        cut, nan_left = moved["threshold"][node], bool(moved["missing_left"][node])
        left = np.where(np.isnan(made), nan_left, made <= cut)
        sets[node] = SetSplit(
            _by_place(left),
            unknown_left=nan_left if np.isnan(unknown) else bool(unknown <= cut),
        )
        is_left = nan_left if np.isnan(missing) else missing <= cut
        moved["missing_left"][node] = is_left
        moved["threshold"][node] = 0.0


def _by_place(left: NDArray[np.bool_]) -> Callable[[Floats], NDArray[np.bool_]]:
    """Return what tells whether outcomes go left, given by their places."""
    return lambda places: np.asarray(left[places.astype(np.int64)])


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else value


def _stranger(outcomes: tuple[Outcome, ...]) -> Outcome:
    """Return an outcome that is none of these, of the same kind."""
    if all(isinstance(outcome, str) for outcome in outcomes):
        return "\0".join(map(str, outcomes)) + "\0"
    return max((o for o in outcomes if not isinstance(o, str)), default=0) + 1


def _ask_number(
    moved: dict[str, Any], nodes: NDArray[np.int64], column: _Column
) -> None:
    """Make splits of what a number becomes splits of the number."""
    cuts = moved["threshold"][nodes]
    threshold = column.limits[np.searchsorted(column.cuts, cuts)]
    # Falling: what goes left lies above the threshold, so the sides change places.
    # So they do where nothing goes left, since no number is below all others.
    is_swapped = np.full(len(nodes), not column.is_rising)
    is_nowhere = threshold == -np.inf
    threshold = np.where(is_nowhere, np.inf, threshold)
    is_swapped ^= is_nowhere
    if not np.isnan(column.missing):
        moved["missing_left"][nodes] = column.missing <= cuts
    moved["threshold"][nodes] = threshold
    swap = nodes[is_swapped]
    left, right = moved["left"][swap].copy(), moved["right"][swap].copy()
    moved["left"][swap], moved["right"][swap] = right, left
    moved["missing_left"][swap] = ~moved["missing_left"][swap]


def _find_last(column: _Column, cuts: Floats, *, is_rising: bool) -> Floats:
    """Return, for each cut, the largest number on its lower side.

    The lower side is what is made at most the cut where the column rises, and above it
    where it falls. Infinite where all numbers are on one side.
    """

    def is_below(values: Floats) -> NDArray[np.bool_]:
        made = column.make(values)
        return np.asarray(made <= cuts) if is_rising else np.asarray(made > cuts)

    low = np.full(len(cuts), _to_key(np.array([-MOST]))[0])
    high = np.full(len(cuts), _to_key(np.array([MOST]))[0])
    none_below = ~is_below(_from_key(low))
    all_below = is_below(_from_key(high))
    # Below holds at low and not at high; doubles in between are halved by their order.
    while np.any(low + 1 < high):
        middle = (low >> 1) + (high >> 1) + (low & high & 1)
        below = is_below(_from_key(middle))
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    found = np.where(all_below, np.inf, _from_key(low))
    return np.where(none_below, -np.inf, found)


def _to_key(values: Floats) -> NDArray[np.int64]:
    """Return whole numbers in the order of doubles."""
    bits = values.view(np.int64)
    return np.where(bits < 0, -(bits & np.int64(2**63 - 1)), bits)


def _from_key(keys: NDArray[np.int64]) -> Floats:
    magnitude = np.abs(keys).view(np.float64)
    return np.where(keys < 0, -magnitude, magnitude)
