"""Keys of rows: numbers of 64 bits that depend on all that a row holds.

Rows that hold the same have the same key, whichever frame, file or part of a file they
come from. Keys put rows into an order and choose a sample of them. This module must not
know what they are used for.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.problem._column import Column, is_number
from askless.problem._frames import Columns

__all__ = ["Keys", "key_columns", "key_rows", "key_values", "sample_rows"]

Keys = NDArray[np.uint64]

# Rows that are mixed at a time, few enough to stay in the cache.
CHUNK = 2048
# Odd numbers that mix bits well, as in common generators.
MIX = np.uint64(0x9E3779B97F4A7C15)
STIR = np.uint64(0xBF58476D1CE4E5B9)
BLEND = np.uint64(0x94D049BB133111EB)
NAN_BITS = int(np.array([np.nan]).view(np.uint64)[0])


def key_values(values: NDArray[Any] | Columns) -> Keys:
    """Return a number for each row that depends on its values alone.

    Examples
    --------
    >>> first, again, other = key_values(np.array([[1.0, 2.0], [1.0, 2.0], [2.0, 1.0]]))
    >>> first == again, first == other
    (np.True_, np.False_)
    """
    if isinstance(values, np.ndarray):
        parts = range(0, len(values), CHUNK)
        mixed = [_mix_numbers(values[start : start + CHUNK]) for start in parts]
        return np.concatenate([*mixed, np.zeros(0, dtype=np.uint64)])
    return key_columns(values, [is_number(column) for column in values.values()])


def key_columns(values: dict[str, Column], are_numbers: list[bool]) -> Keys:
    """Return the same for columns of which is known which ones are numbers."""
    columns = [
        _mix_numbers(column[:, None], place)
        if is_numeric
        else _mix_bits(_text_bits(column)[:, None], place)
        for place, (column, is_numeric) in enumerate(
            zip(values.values(), are_numbers, strict=True)
        )
    ]
    return np.asarray(np.sum(columns, axis=0, dtype=np.uint64))


def key_rows(value_keys: Keys, class_ids: NDArray[Any]) -> Keys:
    """Return a number for each row that depends on its values and its class."""
    if class_ids.dtype.kind == "f":
        # Where numbers are learned: all of their bits.
        class_ids = class_ids.astype(np.float64).view(np.int64)
    mixed_ids = (class_ids.astype(np.int64) + 1).astype(np.uint64) * MIX
    return _stir(value_keys + mixed_ids)


def sample_rows(
    value_keys: Keys, n_most: int
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Choose rows of different values by their keys; return how often each occurs.

    At most so many rows: those of the smallest keys, which are as good as random. They
    do not depend on the order of the rows, and the sample of two parts of the rows is
    a sample of their samples.

    Examples
    --------
    >>> keys = key_values(np.array([[5.0], [7.0], [5.0]]))
    >>> rows, counts = sample_rows(keys, 2)
    >>> sorted(zip(rows.tolist(), counts.tolist()))
    [(0, 2), (1, 1)]
    """
    mixed = _stir(value_keys)
    near = np.arange(len(mixed))
    if len(mixed) > 2 * n_most:
        # Most rows are out of the question, and need not be sorted.
        limit = np.uint64(2**64 * (1.25 * n_most / len(mixed)))
        near = np.flatnonzero(mixed < limit)
    distinct, first, counts = np.unique(
        mixed[near], return_index=True, return_counts=True
    )
    if len(distinct) < n_most and len(near) < len(mixed):
        near = np.arange(len(mixed))
        distinct, first, counts = np.unique(
            mixed, return_index=True, return_counts=True
        )
    return near[first[:n_most]], counts[:n_most].astype(np.int64)


def _mix_numbers(numbers: Column, first: int = 0) -> Keys:
    """Return the sum of the mixed numbers of each row."""
    # One zero, and one NaN.
    plain = np.asarray(numbers, dtype=np.float64) + 0.0
    plain[np.isnan(plain)] = np.nan
    return _mix_bits(np.ascontiguousarray(plain).view(np.uint64), first)


def _mix_bits(bits: Keys, first: int) -> Keys:
    """Return the sum of mixed bits of each row; columns count from ``first``."""
    places = np.arange(first + 1, first + 1 + bits.shape[1], dtype=np.uint64)
    # Each column begins elsewhere, at numbers that have nothing to do with each other:
    # with multiples of one number sums of different rows were the same now and then.
    stirred = _stir(bits + _stir(places * MIX))
    return np.asarray(stirred.sum(axis=1, dtype=np.uint64))


def _stir(bits: Keys) -> Keys:
    """Return numbers whose every bit depends on all bits; different ones differ."""
    bits = (bits ^ (bits >> np.uint64(30))) * STIR
    bits ^= bits >> np.uint64(27)
    bits *= BLEND
    bits ^= bits >> np.uint64(31)
    return bits


def _text_bits(column: Column) -> Keys:
    return np.array([_bits_of(value) for value in column.tolist()], dtype=np.uint64)


@lru_cache(maxsize=2**17)
def _bits_of_text(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def _bits_of(value: object) -> int:
    if value is None:
        # As a missing number: a column may turn out to be either.
        return NAN_BITS
    # By the text that shows it: 1, 1.0, True and "1" are different outcomes.
    return _bits_of_text(repr(value))
