"""Put rows into an order that depends on what they hold, and repeat whole weights.

A learner that draws rows, for samples or for validation, draws them by their place. Put
into this order first, rows lead to the same model in whatever order they come, and a
row of weight 3 is three rows. This module must not know what is drawn.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.learn._examples import Examples, KnownRows
from askless.learn._row_keys import Keys, key_rows, key_values

__all__ = ["mix_rows", "settle_order"]

# Whole weights that sum to more than this many times the rows stay weights.
MOST_TIMES = 20


def settle_order(examples: Examples) -> Examples:
    """Return examples whose rows stand by what they hold, repeated by whole weights.

    Rows that hold the same stand beside each other; else the order is as good as
    random, so that no class and no value comes first.

    Examples
    --------
    >>> from askless.problem import Costs
    >>> def settled(values, weights):
    ...     rows = KnownRows(np.array(values, float)[:, None],
    ...                      np.zeros(len(values), dtype=np.int32), weights)
    ...     return settle_order(Examples(rows, ["x"], ("a",), Costs([1])))
    >>> twice = settled([5, 7, 5], None).rows.values.ravel()
    >>> weighted = settled([7, 5], np.array([1.0, 2.0])).rows
    >>> twice.tolist() == weighted.values.ravel().tolist(), weighted.weights
    (True, None)
    """
    rows = examples.rows
    weights = rows.weights
    # Rows of the same key are the same rows, so that their order matters only where
    # they may weigh differently. An unstable sort is several times as fast.
    kind: Any = "stable" if weights is not None else None
    order = np.argsort(mix_rows(rows), kind=kind)
    if weights is None or not _are_counts(weights):
        return replace(examples, rows=rows.take(order))
    order = np.repeat(order, weights[order].astype(np.int64))
    return replace(examples, rows=replace(rows, weights=None).take(order))


def mix_rows(rows: KnownRows) -> Keys:
    """Return a number for each row that depends on all that it holds."""
    return key_rows(key_values(rows.values), rows.class_ids)


def _are_counts(weights: NDArray[np.float64]) -> bool:
    is_whole = bool(np.all(weights == np.floor(weights)))
    return is_whole and float(weights.sum()) <= MOST_TIMES * len(weights)
