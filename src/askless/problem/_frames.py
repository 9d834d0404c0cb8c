"""Take data apart into columns, whatever it comes as.

The only module that knows arrays, lists, pandas, polars and Arrow from one another.
It must not know what the columns mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidTableError

__all__ = ["Column", "as_columns", "clean_column", "is_frame", "is_missing"]

# A column is one of: bool, int64, float64 (NaN is missing), or object (None is missing).
Column = NDArray[Any]


def is_missing(value: object) -> bool:
    """Return whether a value stands for "no value": None, NaN, NaT, pandas.NA."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        # pandas.NA refuses to be a truth value; nothing else compares to such.
        return type(value).__name__ == "NAType"


def clean_column(values: Any, name: str = "") -> Column:
    """Return values as a bool, int64, float64 or object column.

    Examples
    --------
    >>> clean_column([3, 1, 2]).dtype
    dtype('int64')
    >>> clean_column([3, None, 2])
    array([ 3., nan,  2.])
    >>> clean_column(["a", float("nan")])
    array(['a', None], dtype=object)
    """
    array = values if isinstance(values, np.ndarray) else _object_array(values)
    if array.ndim != 1:
        raise InvalidTableError(
            f"A column must have one dimension. Got {array.ndim} in column {name!r}. "
            "Pass one value for each row."
        )
    kind = array.dtype.kind
    if kind == "b":
        return array
    if kind in "iu":
        return array.astype(np.int64, copy=False)
    if kind == "f":
        return array.astype(np.float64, copy=False)
    if kind in "US":
        return array.astype(object)
    if kind == "O":
        return _clean_objects(array, name)
    raise InvalidTableError(
        f"A column must hold text, numbers or booleans. Got {array.dtype} in column "
        f"{name!r}. Convert it to one of these, for example to text."
    )


def _object_array(values: Any) -> NDArray[Any]:
    items = list(values)
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def _clean_objects(array: NDArray[Any], name: str) -> Column:
    """Turn a column of Python objects into the narrowest kind that holds it."""
    items: list[Any] = [
        None if is_missing(v) else v.item() if isinstance(v, np.generic) else v
        for v in array.tolist()
    ]
    kinds = {type(v) for v in items}
    has_missing = type(None) in kinds
    kinds.discard(type(None))
    if kinds == {bool} and not has_missing:
        return np.array(items, dtype=bool)
    if kinds and kinds <= {int, float}:
        if kinds == {int} and not has_missing:
            return _integers(items, name)
        return np.array([np.nan if v is None else v for v in items], dtype=np.float64)
    for value in items:
        if value is not None and not isinstance(value, (str, bool, int, float)):
            raise InvalidTableError(
                "An outcome must be text, a number or a boolean. Got "
                f"{type(value).__name__} in column {name!r}. Convert it to text."
            )
    return _object_array(items)


def _integers(items: list[int], name: str) -> Column:
    try:
        return np.array(items, dtype=np.int64)
    except OverflowError:
        raise InvalidTableError(
            "A whole number must fit in 64 bits. Got a larger one in column "
            f"{name!r}. Write such numbers as text."
        ) from None


def is_frame(data: object) -> bool:
    """Return whether data is a pandas, polars, Arrow or other eager frame."""
    try:
        nw.from_native(data, eager_only=True)  # type: ignore[call-overload]
    except TypeError:
        return False
    return True


def as_columns(
    data: Any, names: Sequence[str] | None = None, *, prefix: str = "t"
) -> dict[str, Column]:
    """Take a frame, a mapping of columns, an array or a list of rows apart.

    Parameters
    ----------
    data : frame, mapping, array-like of shape (n_rows, n_columns)
        What to take apart.
    names : sequence of str, optional
        Names of the columns of an array; of a frame or mapping, which to take and in
        which order.
    prefix : str, default="t"
        Columns of an array without names are called by prefix and position.

    Returns
    -------
    dict of str to ndarray
        The columns in order.

    Examples
    --------
    >>> as_columns([[1, "a"], [2, None]])
    {'t0': array([1, 2]), 't1': array(['a', None], dtype=object)}
    """
    if isinstance(data, Mapping):
        columns = {str(key): clean_column(value, str(key)) for key, value in data.items()}
        return _checked(_take(columns, names))
    if is_frame(data):
        return _checked(_take(_frame_columns(data), names))
    return _checked(_array_columns(data, names, prefix))


def _frame_columns(data: Any) -> dict[str, Column]:
    frame = nw.from_native(data, eager_only=True)
    columns: dict[str, Column] = {}
    for name in frame.columns:
        series = frame[name]
        if series.dtype.is_numeric() and series.null_count() == 0:
            values: Any = series.to_numpy()
        else:
            values = series.to_list()
        columns[str(name)] = clean_column(values, str(name))
    return columns


def _take(columns: dict[str, Column], names: Sequence[str] | None) -> dict[str, Column]:
    if names is None:
        return columns
    absent = [name for name in names if name not in columns]
    if absent:
        raise InvalidTableError(
            f"Every test must be a column of the data. Got no column {absent[0]!r} "
            f"({len(absent)} absent); the columns are {_some(columns)}. "
            "Add the column, or name the tests that the data has."
        )
    return {name: columns[name] for name in names}


def _array_columns(
    data: Any, names: Sequence[str] | None, prefix: str
) -> dict[str, Column]:
    rows = data if isinstance(data, np.ndarray) else _rows_of(data)
    if rows.ndim != 2:
        raise InvalidTableError(
            "Outcomes must have two dimensions, cases by tests. Got "
            f"{rows.ndim}. Pass one list of outcomes for each case."
        )
    if names is None:
        names = [f"{prefix}{i}" for i in range(rows.shape[1])]
    if len(names) != rows.shape[1]:
        raise InvalidTableError(
            "There must be one name for each column. Got "
            f"{len(names)} names for {rows.shape[1]} columns. Name every test once."
        )
    repeated = sorted({str(n) for n in names if list(names).count(n) > 1})
    if repeated:
        raise InvalidTableError(
            f"Tests must have different names. Got {repeated[0]!r} more than once. "
            "Rename one of them."
        )
    return {str(n): clean_column(rows[:, i], str(n)) for i, n in enumerate(names)}


def _rows_of(data: Iterable[Any]) -> NDArray[Any]:
    try:
        rows = [list(row) for row in data]
    except TypeError:
        raise InvalidTableError(
            "Outcomes must be a frame, an array or a list of rows. Got "
            f"{type(data).__name__}. Pass one list of outcomes for each case."
        ) from None
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
        array[i, :] = row
    return array


def _checked(columns: dict[str, Column]) -> dict[str, Column]:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        (first, n), (other, m) = next(
            (a, b)
            for a in lengths.items()
            for b in lengths.items()
            if a[1] != b[1]
        )
        raise InvalidTableError(
            f"Columns must have the same length. Got {n} in {first!r} and {m} in "
            f"{other!r}. Give every column a value for each row."
        )
    return columns


def _some(names: Iterable[str], most: int = 8) -> str:
    listed = [repr(n) for n in names]
    more = ", ..." if len(listed) > most else ""
    return ", ".join(listed[:most]) + more
