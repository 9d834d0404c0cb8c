"""Take data apart into columns, whatever it comes as.

The only module that knows arrays, lists, pandas, polars and Arrow from one another.
It must not know what the columns mean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from fractions import Fraction
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from askless.exceptions import InvalidTableError, suggest_name

__all__ = [
    "Column",
    "as_columns",
    "clean_column",
    "is_frame",
    "is_missing",
    "list_some",
]

# A column is one of: bool, int64, float64 (NaN is missing), object (None is missing).
Column = NDArray[Any]

# Iterables that are no list of values: text would fall into letters, a mapping into
# its keys, and a set has no order.
NOT_A_LIST = (str, bytes, Mapping, AbstractSet)


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
    array = values if isinstance(values, np.ndarray) else _as_array(values, name)
    if array.ndim != 1:
        raise InvalidTableError(
            f"A column must have one dimension. Got {array.ndim} in column {name!r}. "
            "Pass one value for each row."
        )
    if isinstance(array, np.ma.MaskedArray):
        array = _object_array(array.tolist())
    kind = array.dtype.kind
    if kind == "b":
        return array
    if array.dtype == np.uint64:
        return _integers(array.tolist(), name)
    if kind in "iu":
        return array.astype(np.int64, copy=False)
    if kind == "f":
        return array.astype(np.float64, copy=False)
    if kind == "U":
        return array.astype(object)
    if kind in "OST":
        return _clean_objects(array.astype(object, copy=False), name)
    raise InvalidTableError(
        f"A column must hold text, numbers or booleans. Got {array.dtype} in column "
        f"{name!r}. Convert it to one of these, for example to text."
    )


def _as_array(values: Any, name: str) -> NDArray[Any]:
    """Return a series, an Arrow array or any other list of values as an array."""
    if isinstance(values, NOT_A_LIST) or not isinstance(values, Iterable):
        raise InvalidTableError(
            f"A column must be a list of values. Got {type(values).__name__} for "
            f"column {name!r}. Pass one value for each row."
        )
    if hasattr(values, "to_pylist"):
        # Going through an Arrow array one by one would give Arrow's scalars.
        return _object_array(values.to_pylist())
    try:
        series = nw.from_native(values, series_only=True)  # type: ignore[call-overload]
    except TypeError:
        return _object_array(values)
    return _series_array(series)


def _series_array(series: Any) -> NDArray[Any]:
    if series.dtype.is_numeric():
        # Missing numbers come as NaN, or as objects that are cleaned later.
        return np.asarray(series.to_numpy())
    return _object_array(series.to_list())


def _object_array(values: Iterable[Any]) -> NDArray[Any]:
    items = list(values)
    # Unlike array[:] = items, this leaves a list inside the list alone.
    return np.fromiter(items, dtype=object, count=len(items))


def _clean_objects(array: NDArray[Any], name: str) -> Column:
    """Turn a column of Python objects into the narrowest kind that holds it."""
    items: list[Any] = array.tolist()
    kinds = set(map(type, items))
    if kinds <= {str, type(None)}:
        return array
    items = [_plain_value(v) for v in items]
    kinds = set(map(type, items))
    has_missing = type(None) in kinds
    kinds.discard(type(None))
    if kinds == {bool} and not has_missing:
        return np.array(items, dtype=bool)
    if kinds and kinds <= {int, float}:
        if kinds == {int} and not has_missing:
            return _integers(items, name)
        return _floats(items, name)
    for value in items:
        if value is not None and not isinstance(value, (str, bool, int, float)):
            raise InvalidTableError(
                "An outcome must be text, a number or a boolean. Got "
                f"{type(value).__name__} in column {name!r}. Convert it to text."
            )
    return _object_array(items)


def _plain_value(value: Any) -> Any:
    """Return a value as the plain Python object that it stands for."""
    if is_missing(value):
        return None
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (Decimal, Fraction)):
        return float(value)
    return value


def _integers(items: list[int], name: str) -> Column:
    try:
        return np.array(items, dtype=np.int64)
    except OverflowError:
        raise InvalidTableError(
            "A whole number must fit in 64 bits. Got a larger one in column "
            f"{name!r}. Write such numbers as text."
        ) from None


def _floats(items: list[float | None], name: str) -> Column:
    try:
        return np.array([np.nan if v is None else v for v in items], dtype=np.float64)
    except OverflowError:
        raise InvalidTableError(
            "A number must fit in double precision. Got a larger one in column "
            f"{name!r}. Write such numbers as text."
        ) from None


def is_frame(data: object) -> bool:
    """Return whether data is a pandas, polars, Arrow or other eager frame."""
    return _as_frame(data) is not None


def _as_frame(data: Any) -> Any:
    """Return data as a narwhals frame, or None if it is no frame."""
    try:
        return nw.from_native(data, eager_only=True)
    except TypeError:
        return None
    except DuplicateError as error:
        # narwhals lists the names after "got:", a line for each.
        got = " ".join(str(error).partition("got:")[2].split()).lstrip("- ")
        raise InvalidTableError(
            f"Columns must have different names. Got {got or error}. Rename one of "
            "them."
        ) from error


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
        _check_names(data)
        # Only what is taken is cleaned: the other columns may hold anything.
        taken = _take({str(k): v for k, v in data.items()}, names)
        return _checked({k: clean_column(v, k) for k, v in taken.items()})
    frame = _as_frame(data)
    if frame is not None:
        return _checked(_frame_columns(frame, names))
    return _checked(_array_columns(data, names, prefix))


def _frame_columns(frame: Any, names: Sequence[str] | None) -> dict[str, Column]:
    _check_names(frame.columns)
    # A name need not be text in pandas, so frame[name] could mean a row.
    taken = _take({str(name): name for name in frame.columns}, names)
    return {
        name: clean_column(_series_array(frame.get_column(key)), name)
        for name, key in taken.items()
    }


def _check_names(names: Iterable[object]) -> None:
    counts = Counter(map(str, names))
    for name, count in counts.items():
        if count > 1:
            raise InvalidTableError(
                f"Columns must have different names. Got {name!r} more than once. "
                "Rename one of them."
            )


def _listed_names(names: Sequence[object]) -> list[str]:
    if isinstance(names, str):
        raise InvalidTableError(
            f"Names of tests must come as a list. Got the text {names!r}. Put it in a "
            f"list: [{names!r}]."
        )
    listed = [str(name) for name in names]
    _check_names(listed)
    return listed


def _take(columns: dict[str, Any], names: Sequence[str] | None) -> dict[str, Any]:
    if names is None:
        return columns
    wanted = _listed_names(names)
    absent = [name for name in wanted if name not in columns]
    if absent:
        raise InvalidTableError(
            f"Every test must be a column of the data. Got no column {absent[0]!r} "
            f"({len(absent)} absent); the columns are {list_some(columns)}. "
            f"{suggest_name(absent[0], columns)}"
            "Add the column, or name the tests that the data has."
        )
    return {name: columns[name] for name in wanted}


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
    listed = _listed_names(names)
    if len(listed) != rows.shape[1]:
        raise InvalidTableError(
            "There must be one name for each column. Got "
            f"{len(listed)} names for {rows.shape[1]} columns. Name every test once."
        )
    return {name: clean_column(rows[:, i], name) for i, name in enumerate(listed)}


def _rows_of(data: Any) -> NDArray[Any]:
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
        array[i, :] = _object_array(row)
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


def _checked(columns: dict[str, Column]) -> dict[str, Column]:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        (first, n), (other, m) = next(
            (a, b) for a in lengths.items() for b in lengths.items() if a[1] != b[1]
        )
        raise InvalidTableError(
            f"Columns must have the same length. Got {n} in {first!r} and {m} in "
            f"{other!r}. Give every column a value for each row."
        )
    return columns


def list_some(items: Iterable[object], most: int = 6) -> str:
    """Return the first few items for a message, and dots if there are more.

    Examples
    --------
    >>> list_some(["a", 1, "b"], most=2)
    "'a', 1, ..."
    """
    shown = [repr(item) for item in items]
    return ", ".join(shown[:most]) + (", ..." if len(shown) > most else "")
