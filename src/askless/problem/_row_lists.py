"""Stack rows that come as lists into one array of objects.

It must not know what the values mean, nor frames of any kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidTableError

__all__ = ["NOT_A_LIST", "object_array", "stack_rows"]

# Iterables that are no list of values: text would fall into letters, a mapping into
# its keys, and a set has no order.
NOT_A_LIST = (str, bytes, Mapping, AbstractSet)


def object_array(values: Iterable[Any]) -> NDArray[Any]:
    """Return values as an array of objects; a list among them stays a list."""
    items = list(values)
    # Unlike array[:] = items, this leaves a list inside the list alone.
    return np.fromiter(items, dtype=object, count=len(items))


def stack_rows(data: Any) -> NDArray[Any]:
    """Return a list of rows as an array with a column for each value of a row."""
    if not isinstance(data, Iterable):
        raise _no_rows(type(data).__name__)
    rows = [_row_of(row) for row in data]
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        short = next(i for i, row in enumerate(rows) if len(row) != len(rows[0]))
        raise InvalidTableError(
            "Every case must have an outcome for each test. Got "
            f"{len(rows[0])} outcomes for case 0 and {len(rows[short])} for case "
            f"{short}. Mark unknown outcomes by None."
        )
    array = np.empty((len(rows), len(rows[0]) if rows else 0), dtype=object)
    for i, row in enumerate(rows):
        array[i, :] = object_array(row)
    return array


def _row_of(row: Any) -> list[Any]:
    # A sparse matrix falls into sparse rows.
    is_list = isinstance(row, Iterable) and not isinstance(row, NOT_A_LIST)
    if not is_list or hasattr(row, "toarray"):
        raise _no_rows(f"rows of type {type(row).__name__}")
    return list(row)


def _no_rows(got: str) -> InvalidTableError:
    return InvalidTableError(
        f"Outcomes must be a frame, an array or a list of rows. Got {got}. Pass one "
        "list of outcomes for each case."
    )
