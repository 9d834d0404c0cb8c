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

from askless._core.code._row_keys import mix_numbers
from askless.problem._column import Column, is_number
from askless.problem._frames import Columns

__all__ = ["Keys", "key_columns", "key_rows", "key_values", "sample_rows"]

Keys = NDArray[np.uint64]

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
        return mix_numbers(_as_floats(values))
    return key_columns(values, [is_number(column) for column in values.values()])


def key_columns(values: dict[str, Column], are_numbers: list[bool]) -> Keys:
    """Return the same for columns of which is known which ones are numbers."""
    columns = [
        mix_numbers(_as_floats(column[:, None]), place)
        if is_numeric
        else _mix_text(column, place)
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


def _as_floats(numbers: Column) -> Column:
    is_real = numbers.dtype in (np.float32, np.float64)
    return numbers if is_real else numbers.astype(np.float64)


def _mix_text(column: Column, place: int) -> Keys:
    """Return the mixed text of a column of this number."""
    # As `mix_numbers` mixes numbers: a column may turn out to be either.
    start = _stir(np.array([place + 1], dtype=np.uint64) * MIX)
    return _stir(_text_bits(column) + start)


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
