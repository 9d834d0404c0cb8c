"""Read what ``fit`` is given: rows, classes, weights and validation rows.

The one place where learners meet raw data. It must not know which learner asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    column_or_1d,
    validate_data,
)

from askless.exceptions import InvalidOptionError, InvalidTableError
from askless.learn._examples import KnownRows, Values, count_rows
from askless.problem._column import is_number
from askless.problem._frames import Columns, clean_columns, is_frame

__all__ = [
    "check_finite",
    "number_classes",
    "read_known_rows",
    "read_number_rows",
    "read_rows",
    "read_stored_rows",
    "read_valid_numbers",
    "read_validation_rows",
]


def read_rows(
    estimator: Any, X: Any, *, reset: bool, y: Any = None
) -> tuple[Values, list[str]]:
    """Return X as a matrix of floats, or as columns if it holds anything else.

    Parameters
    ----------
    estimator : estimator
        Gets the names and the number of the columns, or is asked for them.
    X : frame, mapping of columns, or array-like of shape (n_rows, n_tests)
        Raw values.
    reset : bool
        Whether these are rows to learn from.
    y : array-like of shape (n_rows,), optional
        Their classes, to be checked together with them.
    """
    if isinstance(X, Mapping):
        columns = clean_columns(X)
        _check_names(estimator, list(columns), reset=reset)
        return check_finite(columns), list(columns)
    checked = {} if y is None else {"y": y}
    if is_frame(X):
        validate_data(estimator, X, **checked, reset=reset, skip_check_array=True)
        columns = clean_columns(X)
        return check_finite(columns), list(columns)
    has_text = _holds_text(X)
    options: dict[str, Any] = {
        "dtype": [np.float64, np.float32],
        "ensure_all_finite": "allow-nan",
        "order": "C",
    }
    if has_text:
        options = {"dtype": None, "ensure_all_finite": False}
    matrix = validate_data(estimator, X, **checked, reset=reset, **options)
    matrix = matrix if y is None else matrix[0]
    names = [f"x{i}" for i in range(matrix.shape[1])]
    return clean_columns(matrix, names) if has_text else matrix, names


def read_known_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool
) -> tuple[KnownRows, list[str], NDArray[Any]]:
    """Return rows to learn from, without those of weight 0; names; and classes."""
    values, names = read_rows(estimator, X, reset=reset, y=y)
    y = column_or_1d(y, warn=True)
    _check_lengths(count_rows(values), len(y), "y")
    classes, class_ids = number_classes(y)
    # The narrowest type: sorting rows by class then takes one pass for each byte.
    class_ids = class_ids.astype(np.min_scalar_type(len(classes)), copy=False)
    if sample_weight is None:
        return KnownRows(values, class_ids), names, classes
    weights = _read_weights(values, y, sample_weight)
    rows = KnownRows(values, class_ids, weights)
    # Rows of weight 0 must not even choose a threshold.
    is_there = weights > 0
    return rows if is_there.all() else rows.take(is_there), names, classes


def read_number_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[KnownRows, list[str]]:
    """Return rows whose numbers are known, without those of weight 0; and names."""
    values, names = read_rows(estimator, X, reset=True, y=y)
    numbers = _read_numbers(y, count_rows(values), "y")
    if sample_weight is None:
        return KnownRows(values, numbers), names
    rows = KnownRows(values, numbers, _read_weights(values, numbers, sample_weight))
    assert rows.weights is not None
    is_there = rows.weights > 0
    return rows if is_there.all() else rows.take(is_there), names


def read_valid_numbers(
    estimator: Any, X: Any, y: Any, eval_set: Any = None
) -> KnownRows | None:
    """Return the validation rows of a learner of numbers, if any were given."""
    X, y = _find_validation(X, y, eval_set)
    if X is None:
        return None
    values = read_rows(estimator, X, reset=False)[0]
    return KnownRows(values, _read_numbers(y, count_rows(values), "y_valid"))


def _read_numbers(y: Any, n_rows: int, name: str) -> NDArray[np.float64]:
    given = column_or_1d(y, warn=True)
    _check_lengths(n_rows, len(given), name)
    try:
        numbers: NDArray[np.float64] = given.astype(np.float64)
    except (TypeError, ValueError):
        numbers = np.full(len(given), np.nan)
    if not np.isfinite(numbers).all():
        first = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise InvalidTableError(
            f"Every row must have a finite number. Got {given[first]!r} in row {first} "
            f"of {name}. Leave such rows out, or use a learner of classes."
        )
    return numbers


def read_stored_rows(
    estimator: Any, store: Any, *, reset: bool
) -> tuple[KnownRows, list[str], NDArray[Any]]:
    """Return no raw rows, and the names and classes of a store of codes."""
    _check_names(estimator, store.names, reset=reset)
    nothing = KnownRows(np.empty((0, len(store.names))), np.zeros(0, dtype=np.uint8))
    return nothing, store.names, store.class_array


def read_validation_rows(
    estimator: Any, X: Any, y: Any, classes: NDArray[Any], eval_set: Any = None
) -> KnownRows | None:
    """Return the validation rows that were given, in either way, if any.

    A class that is not among those to learn is always decided wrongly.
    """
    X, y = _find_validation(X, y, eval_set)
    if X is None:
        return None
    values = read_rows(estimator, X, reset=False)[0]
    y = column_or_1d(y, warn=True).tolist()
    _check_lengths(count_rows(values), len(y), "y_valid")
    place = {known: i for i, known in enumerate(classes.tolist())}
    return KnownRows(values, np.array([place.get(true, -1) for true in y]))


def _find_validation(X: Any, y: Any, eval_set: Any) -> tuple[Any, Any]:
    """Return validation rows and what is known of them, in whichever way they came."""
    if eval_set is not None:
        return _read_eval_set(eval_set, is_given=X is not None or y is not None)
    if (X is None) != (y is None):
        raise InvalidOptionError(
            "X_valid and y_valid must be given together. Got one of them. Give both, "
            "or neither."
        )
    return X, y


def _read_weights(values: Values, y: Any, sample_weight: Any) -> NDArray[np.float64]:
    weights: NDArray[np.float64] = _check_sample_weight(
        sample_weight,
        y if isinstance(values, dict) else values,
        dtype=np.float64,
        ensure_non_negative=True,
    )
    return weights


def _read_eval_set(eval_set: Any, *, is_given: bool) -> tuple[Any, Any]:
    """Return the rows and classes of what LightGBM and XGBoost call an eval_set."""
    pairs = [eval_set] if isinstance(eval_set, tuple) else eval_set
    is_one = isinstance(pairs, list) and len(pairs) == 1
    if is_given or not is_one or len(pairs[0]) != 2:
        raise InvalidOptionError(
            "eval_set must be one pair of rows and classes, [(X, y)], and stands for "
            f"X_valid and y_valid. Got {_count_sets(pairs)}"
            f"{' and X_valid or y_valid' if is_given else ''}. Give the rows to choose "
            "on once; measure other rows with evaluate."
        )
    rows, known = pairs[0]
    return rows, known


def _count_sets(pairs: Any) -> str:
    if isinstance(pairs, list) and all(isinstance(p, tuple) for p in pairs):
        return f"{len(pairs)} pairs" if len(pairs) != 1 else "a pair"
    return type(pairs).__name__


def number_classes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the classes, ascending, and for each row which of them it has.

    Raises ValueError if these are no classes. Whole numbers always are, and where they
    are few they are counted instead of sorted.

    Examples
    --------
    >>> number_classes(np.array([7, 3, 7, 7, 3]))
    (array([3, 7]), array([1, 0, 1, 1, 0], dtype=uint8))
    """
    if y.dtype.kind in "iu" and len(y):
        low, high = int(y.min()), int(y.max())
        if high - low < max(256, len(y) // 4) and high < 2**63:
            shifted = y.astype(np.int64) - low
            occurs = np.flatnonzero(np.bincount(shifted))
            if 2 * len(occurs) < len(y) and len(occurs) < 256:
                ids = np.zeros(high - low + 1, dtype=np.uint8)
                ids[occurs] = np.arange(len(occurs))
                classes = (occurs + low).astype(y.dtype)
                return classes, ids[shifted]
    check_classification_targets(y)
    return np.unique(y, return_inverse=True)


def _check_names(estimator: Any, names: list[str], *, reset: bool) -> None:
    """Keep the names of columns that come as a mapping, as of those of a frame."""
    if reset:
        estimator.feature_names_in_ = np.array(names, dtype=object)
        estimator.n_features_in_ = len(names)
    elif names != list(getattr(estimator, "feature_names_in_", names)):
        raise InvalidOptionError(
            "New rows must have the columns that were learned from, in their "
            f"order. Got {names[:8]}. Pass the same columns."
        )


def _check_lengths(n_rows: int, n_classes: int, name: str) -> None:
    if n_rows != n_classes or n_rows == 0:
        raise InvalidTableError(
            "Every row must have a class, and there must be rows. Got "
            f"{n_rows} rows and {n_classes} classes. Check {name}."
        )


def _holds_text(X: Any) -> bool:
    """Return whether an array holds anything but numbers."""
    array = X if isinstance(X, np.ndarray) else None
    if array is None and isinstance(X, (list, tuple)):
        array = np.asarray(X, dtype=object)
    if array is None or array.dtype.kind not in "OUS":
        return False
    if array.dtype.kind in "US":
        return True
    return any(isinstance(value, (str, bool)) for value in array.ravel().tolist())


def check_finite(columns: Columns) -> Columns:
    """Return columns, all numbers of which must be finite or missing."""
    for name, column in columns.items():
        if column.dtype.kind not in "fO" or not is_number(column):
            continue
        if np.isinf(column.astype(np.float64, copy=False)).any():
            raise InvalidOptionError(
                f"Numbers must be finite. Got infinity in column {name!r}. Write it as "
                "missing, or as a large number."
            )
    return columns
