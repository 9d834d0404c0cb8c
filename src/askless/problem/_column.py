"""Clean a column: whatever its values come as, four kinds of arrays are left.

Lists, arrays, masked arrays, series of any library and Arrow all become one of them. It
must not know what the column means.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidTableError
from askless.problem._row_lists import NOT_A_LIST, object_array

__all__ = [
    "EXACT_WHOLE",
    "Column",
    "clean_column",
    "is_missing",
    "is_number",
    "series_array",
]

# A column is one of: bool, int64, float64 (NaN is missing), object (None is missing).
Column = NDArray[Any]

# Dates have no one meaning: how long ago, which season, which day of the week.
TIMES = (datetime.date, datetime.time, datetime.timedelta)
DATES = (
    "Say what of a date or time matters, as a number: how many days ago, the hour, the "
    "month; in pandas, (today - column).dt.days or column.dt.month."
)

# Doubles hold every whole number below this one, and only some from here on.
EXACT_WHOLE = 2**53
# Whole numbers must fit in 64 bits.
MOST_WHOLE = 2**63


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

    A double would round a whole number this large, so it stays what it is:

    >>> clean_column([2**53 + 1, None])
    array([9007199254740993, None], dtype=object)
    """
    array = values if isinstance(values, np.ndarray) else _as_array(values, name)
    if array.ndim != 1:
        raise InvalidTableError(
            f"A column must have one dimension. Got {array.ndim} in column {name!r}. "
            "Pass one value for each row."
        )
    if isinstance(array, np.ma.MaskedArray):
        array = object_array(array.tolist())
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
    remedy = DATES if kind in "mM" else "Convert it to one of these, such as text."
    raise InvalidTableError(
        f"A column must hold text, numbers or booleans. Got {array.dtype} in column "
        f"{name!r}. {remedy}"
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
        return object_array(values.to_pylist())
    try:
        series = nw.from_native(values, series_only=True)  # type: ignore[call-overload]
    except TypeError:
        return object_array(values)
    return series_array(series)


def series_array(series: Any) -> NDArray[Any]:
    """Return a series of narwhals as an array that is still to be cleaned."""
    if series.dtype.is_integer() and series.null_count() and _has_large(series):
        return object_array(series.to_list())
    if series.dtype.is_numeric():
        # Missing numbers come as NaN, or as objects that are cleaned later.
        return np.asarray(series.to_numpy())
    return object_array(series.to_list())


def _has_large(series: Any) -> bool:
    """Return whether some whole number of a series may not fit in a double."""
    ends = (series.min(), series.max())
    return any(end is not None and abs(end) >= EXACT_WHOLE for end in ends)


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
        if _would_round(items, kinds == {int}):
            _integers([v for v in items if isinstance(v, int)], name)
            return object_array(items)
        return _floats(items, name)
    for value in items:
        if value is not None and not isinstance(value, (str, bool, int, float)):
            remedy = DATES if isinstance(value, TIMES) else "Convert it to text."
            raise InvalidTableError(
                "An outcome must be text, a number or a boolean. Got "
                f"{type(value).__name__} in column {name!r}. {remedy}"
            )
    return object_array(items)


def _would_round(items: list[Any], all_whole: bool) -> bool:
    """Return whether doubles would change a whole number among numbers.

    Among numbers with fractions, one beyond 64 bits is a measurement, and is rounded.
    """
    large = [v for v in items if isinstance(v, int) and abs(v) >= EXACT_WHOLE]
    if all_whole:
        return bool(large)
    fit = all(-MOST_WHOLE <= v < MOST_WHOLE for v in large)
    return fit and any(int(float(v)) != v for v in large)


def _plain_value(value: Any) -> Any:
    """Return a value as the plain Python object that it stands for."""
    if is_missing(value):
        return None
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (Decimal, Fraction)):
        size: Any = abs(value)
        is_whole = EXACT_WHOLE <= size < MOST_WHOLE and value == int(value)
        return int(value) if is_whole else float(value)
    return value


def is_number(column: Column) -> bool:
    """Return whether a clean column holds numbers that have an order.

    Examples
    --------
    >>> is_number(clean_column([2**53 + 1, None])), is_number(clean_column(["a", 1]))
    (True, False)
    """
    if column.dtype != object:
        return column.dtype.kind in "if"
    # Whole numbers that a double would round are objects. Text ends this at once.
    present = False
    for value in column:
        if value is not None:
            if type(value) not in (int, float):
                return False
            present = True
    return present


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
