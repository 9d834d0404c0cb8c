"""Take data apart into columns, whatever it comes as.

Frames, mappings, arrays and lists of rows are told apart here; what a column may hold
is settled in :mod:`._column`. It must not know what the columns mean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from askless.exceptions import (
    InvalidTableError,
    MissingExtraError,
    UnknownNameError,
    suggest_name,
)
from askless.problem._arrow_text import ArrowText, find_arrow_text
from askless.problem._column import Column, clean_column, series_array
from askless.problem._row_lists import stack_rows

__all__ = [
    "Columns",
    "as_columns",
    "clean_columns",
    "column_names",
    "is_frame",
    "list_some",
    "listed_names",
    "make_frame",
    "take_rows",
]


class Columns(dict[str, Column]):
    """Columns by name that have been cleaned, and need not be cleaned again.

    It stays inside the package: callers get a plain dict, since what they put into it
    must be cleaned. Taking columns out keeps the rest clean; nothing else changes it.
    """


def make_frame(content: Any, backend: str) -> Any:
    """Return columns, or a dict for each row, as a dataframe of pandas or polars.

    Examples
    --------
    >>> make_frame({"cost": [1, 5]}, "pandas")["cost"].tolist()
    [1, 5]
    """
    if backend not in ("pandas", "polars"):
        raise UnknownNameError(
            f"backend must be 'pandas' or 'polars'. Got {backend!r}. Choose one of "
            "them."
        )
    try:
        library = import_module(backend)
    except ImportError as error:
        raise MissingExtraError(
            f"to_frame('{backend}') needs {backend}. Got none installed. Type: pip "
            f"install {backend}"
        ) from error
    return library.DataFrame(content)


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
    return dict(clean_columns(data, names, prefix=prefix))


def clean_columns(
    data: Any,
    names: Sequence[str] | None = None,
    *,
    prefix: str = "t",
    as_text: Collection[str] = (),
) -> Columns:
    """Do what :func:`as_columns` does, once for data that pass through several hands.

    Parameters
    ----------
    data, names, prefix
        See :func:`as_columns`.
    as_text : collection of str, default=()
        Columns that may stay text of Arrow, if they come as such: whoever takes them
        codes them, and does nothing else.

    Examples
    --------
    >>> once = clean_columns({"lamp": ["dark", None]})
    >>> clean_columns(once, ["lamp"])["lamp"] is once["lamp"]
    True
    """
    if isinstance(data, Columns):
        return data if names is None else Columns(_take(data, names))
    if isinstance(data, Mapping):
        _check_names(data)
        # Only what is taken is cleaned: the other columns may hold anything.
        taken = _take({str(k): v for k, v in data.items()}, names)
        return _checked({k: _clean(v, k, as_text) for k, v in taken.items()})
    frame = _as_frame(data)
    if frame is not None:
        return _checked(_frame_columns(frame, names, as_text))
    return _checked(_array_columns(data, names, prefix))


def column_names(data: Any) -> list[str]:
    """Return the names of the columns of a frame or a mapping; nothing is read."""
    frame = None if isinstance(data, Mapping) else _as_frame(data)
    return [str(name) for name in (data if frame is None else frame.columns)]


def take_rows(data: Any, rows: Any) -> Any:
    """Return some rows of a frame, of a mapping of columns, or of a matrix.

    Parameters
    ----------
    data : frame, mapping of columns, or array-like of shape (n_rows, n_columns)
        What to take them from. A frame gives a frame, a mapping gives a mapping.
    rows : slice, or ndarray of int or bool
        Which rows, in which order.

    Examples
    --------
    >>> take_rows({"lamp": ["dark", "dim", "dark"]}, np.array([2, 1]))
    {'lamp': array(['dark', 'dim'], dtype=object)}
    >>> take_rows([[1, 2], [3, 4]], slice(1, None)).tolist()
    [[3, 4]]
    """
    if isinstance(data, Mapping):
        columns = clean_columns(data)
        taken = {name: column[rows] for name, column in columns.items()}
        return Columns(taken) if isinstance(data, Columns) else taken
    frame = None if isinstance(data, np.ndarray) else _as_frame(data)
    if frame is None:
        return np.asarray(data)[rows]
    # narwhals takes rows by number; a mask or a slice would mean columns to some.
    return frame[np.arange(len(frame))[rows].tolist(), :].to_native()


def _frame_columns(
    frame: Any, names: Sequence[str] | None, as_text: Collection[str]
) -> dict[str, Any]:
    _check_names(frame.columns)
    # A name need not be text in pandas, so frame[name] could mean a row.
    taken = _take({str(name): name for name in frame.columns}, names)
    columns: dict[str, Any] = {}
    for name, key in taken.items():
        series = frame.get_column(key)
        text = _series_text(series) if name in as_text else None
        if text is None:
            columns[name] = clean_column(series_array(series), name)
        else:
            columns[name] = text
    return columns


def _clean(values: Any, name: str, as_text: Collection[str]) -> Any:
    text = find_arrow_text(values) if name in as_text else None
    return clean_column(values, name) if text is None else text


def _series_text(series: Any) -> ArrowText | None:
    """Return a series as text of Arrow, if it is little work to make it such."""
    native = series.to_native()
    if (found := find_arrow_text(native)) is not None:
        return found
    # pandas says where it keeps text by the storage of the type, or by its name.
    # Columns of pyarrow have no dtype: if they are no text, they are made none.
    dtype = getattr(native, "dtype", None)
    kept = getattr(dtype, "storage", None) or str(dtype)
    is_arrow = series.implementation.is_polars() or "pyarrow" in kept
    is_coded = series.dtype in (nw.Categorical, nw.Enum)
    if not is_coded and not (is_arrow and series.dtype == nw.String):
        return None
    try:
        return find_arrow_text(series.to_arrow())
    except ImportError:
        return None


def _check_names(names: Iterable[object]) -> None:
    counts = Counter(map(str, names))
    for name, count in counts.items():
        if count > 1:
            raise InvalidTableError(
                f"Columns must have different names. Got {name!r} more than once. "
                "Rename one of them."
            )


def listed_names(names: Sequence[object]) -> list[str]:
    """Return names as text; they must come as a list, and differ."""
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
    wanted = listed_names(names)
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
    rows = data if isinstance(data, np.ndarray) else stack_rows(data)
    if rows.ndim != 2:
        raise InvalidTableError(
            "Outcomes must have two dimensions, cases by tests. Got "
            f"{rows.ndim}. Pass one list of outcomes for each case."
        )
    if names is None:
        names = [f"{prefix}{i}" for i in range(rows.shape[1])]
    listed = listed_names(names)
    if len(listed) != rows.shape[1]:
        raise InvalidTableError(
            "There must be one name for each column. Got "
            f"{len(listed)} names for {rows.shape[1]} columns. Name every test once."
        )
    return {name: clean_column(rows[:, i], name) for i, name in enumerate(listed)}


def _checked(columns: dict[str, Column]) -> Columns:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        (first, n), (other, m) = next(
            (a, b) for a in lengths.items() for b in lengths.items() if a[1] != b[1]
        )
        raise InvalidTableError(
            f"Columns must have the same length. Got {n} in {first!r} and {m} in "
            f"{other!r}. Give every column a value for each row."
        )
    return Columns(columns)


def list_some(items: Iterable[object], most: int = 6) -> str:
    """Return the first few items for a message, and dots if there are more.

    Examples
    --------
    >>> list_some(["a", 1, "b"], most=2)
    "'a', 1, ..."
    """
    shown = [repr(item) for item in items]
    return ", ".join(shown[:most]) + (", ..." if len(shown) > most else "")
