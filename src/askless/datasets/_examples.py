"""Examples to learn from: columns by name, their classes and what each test costs.

Plain data. It does not know where the columns came from, nor who will learn from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import (
    InvalidProblemError,
)
from askless.problem import Costs, Table
from askless.problem._column import is_missing
from askless.problem._frames import make_frame

__all__ = ["Examples"]


def _is_missing(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where a column has no value: NaN in numbers, None elsewhere."""
    if column.dtype.kind == "f":
        missing: NDArray[np.bool_] = np.isnan(column)
        return missing
    if column.dtype.kind == "O":
        return np.array([is_missing(value) for value in column], bool)
    return np.zeros(len(column), dtype=bool)


def _for_frame(column: NDArray[Any]) -> NDArray[Any] | list[Any]:
    """Return what pandas and polars both read as this column, missing values too."""
    missing = _is_missing(column)
    if column.dtype.kind in "biuf" and not missing.any():
        return column
    # Both take None for missing; NaN would be a value in polars.
    return [
        None if is_empty else value
        for value, is_empty in zip(column.tolist(), missing, strict=True)
    ]


@dataclass(frozen=True, eq=False, repr=False)
class Examples:
    """Cases with a class each, column by column, and the costs of the tests.

    Parameters
    ----------
    columns : dict of str to ndarray of shape (n_cases,)
        One column a test, in order. Numbers (NaN = missing), or objects (None =
        missing).
    y : ndarray of shape (n_cases,)
        The class of each case.
    costs : Costs
        What each test costs, by name.
    name : str
        The name of the data set.
    description : str
        What it is about, in a sentence or two.
    extra : dict of str to ndarray, default={}
        Columns that are no tests: ids, parts of a split, tests without a price.

    See Also
    --------
    make_clinic : Invented examples, with groups, delays and mistakes.
    load_public : Examples from public data sets.

    Examples
    --------
    >>> import numpy as np
    >>> from askless.problem import Costs
    >>> examples = Examples(
    ...     columns={"fever": np.array([1, 0, 1]), "xray": np.array([0.2, 0.9, 0.4])},
    ...     y=np.array(["cold", "flu", "cold"]),
    ...     costs=Costs({"fever": 1, "xray": 60}),
    ...     name="three patients",
    ...     description="Invented.",
    ... )
    >>> examples
    Examples('three patients': 3 cases, 2 tests, 2 classes)
    >>> examples.X[1].tolist()
    [0.0, 0.9]
    """

    columns: dict[str, NDArray[Any]]
    y: NDArray[Any]
    costs: Costs
    name: str
    description: str
    extra: dict[str, NDArray[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that every column has a value for every case."""
        for name, column in (*self.columns.items(), *self.extra.items()):
            if len(column) != len(self.y):
                raise InvalidProblemError(
                    "Every column must have one value a case. Got "
                    f"{len(column)} values in column {name!r} and {len(self.y)} "
                    "classes. Give all columns and y the same length."
                )

    def __repr__(self) -> str:
        return (
            f"Examples({self.name!r}: {self.n_cases} cases, {len(self.columns)} tests, "
            f"{len(self.classes)} classes)"
        )

    @property
    def n_cases(self) -> int:
        """How many cases there are."""
        return len(self.y)

    @property
    def test_names(self) -> tuple[str, ...]:
        """The names of the tests, in the order of the columns."""
        return tuple(self.columns)

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes that occur, sorted."""
        return tuple(sorted(set(self.y.tolist())))

    @property
    def X(self) -> NDArray[Any]:
        """All columns side by side: float64 if all are numbers, else objects."""
        columns = list(self.columns.values())
        numeric = all(column.dtype.kind in "biuf" for column in columns)
        if numeric:
            return np.column_stack([c.astype(np.float64) for c in columns])
        X = np.empty((self.n_cases, len(columns)), dtype=object)
        for j, column in enumerate(columns):
            # tolist() gives Python's own numbers and strings, not numpy's.
            X[:, j] = column.tolist()
        return X

    def to_frame(self, backend: str = "pandas", *, target: str | None = None) -> Any:
        """Return the columns as a dataframe.

        Parameters
        ----------
        backend : {"pandas", "polars"}, default="pandas"
            Which library's dataframe.
        target : str, default=None
            If given, the classes are added as a last column of this name.

        Returns
        -------
        pandas.DataFrame or polars.DataFrame
            One row a case, one column a test.

        Raises
        ------
        UnknownNameError
            If the backend is neither of the two.
        MissingExtraError
            If the library is not installed.

        Examples
        --------
        >>> from askless.datasets import make_clinic
        >>> frame = make_clinic(5, random_state=0).to_frame("polars", target="illness")
        >>> frame.shape
        (5, 15)
        """
        columns: dict[str, Any] = {
            name: _for_frame(column) for name, column in self.columns.items()
        }
        if target is not None:
            columns[target] = self.y.tolist()
        return make_frame(columns, backend)

    def to_table(self, *, prior: Sequence[float] | None = None) -> Table:
        """Return the cases as a known table; a missing value becomes unknown.

        Sensible when the columns are categories. Each row becomes a case.

        Parameters
        ----------
        prior : sequence of float of shape (n_cases,), default=None
            Weights of the cases; all the same if None.

        Returns
        -------
        Table
            The same outcomes, classes and costs.

        Examples
        --------
        >>> import numpy as np
        >>> from askless.problem import Costs
        >>> column = np.array(["red", None, "blue"], dtype=object)
        >>> examples = Examples(
        ...     {"colour": column}, np.array([0, 0, 1]), Costs({"colour": 2}), "c", ""
        ... )
        >>> examples.to_table().n_cases
        3
        """
        outcomes = np.empty((self.n_cases, len(self.columns)), dtype=object)
        for j, column in enumerate(self.columns.values()):
            outcomes[:, j] = column.tolist()
            outcomes[_is_missing(column), j] = None
        return Table(
            outcomes,
            self.y.tolist(),
            costs=self.costs,
            prior=prior,
            tests=list(self.columns),
        )
