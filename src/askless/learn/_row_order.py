"""Put rows into an order that depends on what they hold, and repeat whole weights.

A learner that draws rows, for samples or for validation, draws them by their place. Put
into this order first, rows lead to the same model in whatever order they come, and a
row of weight 3 is three rows. This module must not know what is drawn.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from askless.learn._examples import Examples, KnownRows
from askless.problem._column import Column, is_number

__all__ = ["settle_order"]

# Whole weights that sum to more than this many times the rows stay weights.
MOST_TIMES = 20
# Rows that are mixed at a time, few enough to stay in the cache.
CHUNK = 2048
# Odd numbers that mix bits well, as in common generators.
MIX = np.uint64(0x9E3779B97F4A7C15)
STIR = np.uint64(0xBF58476D1CE4E5B9)


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
    order = np.argsort(_mix_rows(rows), kind="stable")
    weights = rows.weights
    if weights is None or not _are_counts(weights):
        return replace(examples, rows=rows.take(order))
    order = np.repeat(order, weights[order].astype(np.int64))
    return replace(examples, rows=replace(rows, weights=None).take(order))


def _are_counts(weights: NDArray[np.float64]) -> bool:
    is_whole = bool(np.all(weights == np.floor(weights)))
    return is_whole and float(weights.sum()) <= MOST_TIMES * len(weights)


def _mix_rows(rows: KnownRows) -> NDArray[np.uint64]:
    """Return a number for each row that depends on all that it holds."""
    values = rows.values
    if isinstance(values, np.ndarray):
        parts = range(0, len(values), CHUNK)
        mixed = [_mix_numbers(values[start : start + CHUNK]) for start in parts]
        summed = np.concatenate([*mixed, np.zeros(0, dtype=np.uint64)])
    else:
        columns = [
            _mix_numbers(column[:, None], place)
            if is_number(column)
            else _mix_bits(_text_bits(column)[:, None], place)
            for place, column in enumerate(values.values())
        ]
        summed = np.asarray(np.sum(columns, axis=0, dtype=np.uint64))
    mixed_ids = (rows.class_ids.astype(np.int64) + 1).astype(np.uint64) * MIX
    total = (summed ^ mixed_ids) * STIR
    return np.asarray(total ^ (total >> np.uint64(31)))


def _mix_numbers(numbers: Column, first: int = 0) -> NDArray[np.uint64]:
    """Return the sum of the mixed numbers of each row."""
    # One zero, and one NaN.
    plain = np.asarray(numbers, dtype=np.float64) + 0.0
    plain[np.isnan(plain)] = np.nan
    return _mix_bits(np.ascontiguousarray(plain).view(np.uint64), first)


def _mix_bits(bits: NDArray[np.uint64], first: int) -> NDArray[np.uint64]:
    """Return the sum of mixed bits of each row; columns count from ``first``."""
    places = np.arange(first, first + bits.shape[1], dtype=np.uint64)
    # Odd, and another one for each column. Floats end in zeros, so their upper half is
    # brought down before it is multiplied.
    factors = (places * STIR + MIX) | np.uint64(1)
    bits = bits ^ (bits >> np.uint64(32))
    bits *= factors
    bits ^= bits >> np.uint64(29)
    bits *= STIR
    return np.asarray(bits.sum(axis=1, dtype=np.uint64))


def _text_bits(column: Column) -> NDArray[np.uint64]:
    texts = np.array([repr(value) for value in column.tolist()])
    return np.unique(texts, return_inverse=True)[1].astype(np.uint64) + np.uint64(1)
