"""What every policy can do, whatever it looks like inside.

A policy is a machine: it has a first state, names the next test of a state or none, and
moves on when an outcome is seen. Sessions, exact evaluation and exports need no more
than that; walking many rows at once is left to each kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidPolicyError
from askless.policy._decide import decide_classes
from askless.problem import Coding, Outcome, PriceList, Test

if TYPE_CHECKING:
    from askless.policy._session import Session

__all__ = ["Policy"]


class Policy(ABC):
    """Answers so far in, next test or decision out.

    Parameters
    ----------
    tests : tuple of Test
        The tests that the policy may buy.
    classes : tuple
        What it may decide, in ascending order.
    prices : PriceList
        What the tests charge.
    mistakes : ndarray of shape (n_classes, n_classes), optional
        ``mistakes[true][decision]``.

    Examples
    --------
    >>> import askless
    >>> policy = askless.solve(askless.datasets.load_car()).policy
    >>> policy.start().test in policy.test_names
    True
    """

    kind: ClassVar[str]

    def __init__(
        self,
        tests: tuple[Test, ...],
        classes: tuple[Outcome, ...],
        prices: PriceList,
        mistakes: NDArray[np.float64] | None = None,
    ) -> None:
        self.coding = Coding(tuple(tests))
        self.classes = tuple(classes)
        self.prices = prices
        self.mistakes = mistakes
        _check_names(self.coding.names, self.classes)
        if prices.n_tests != len(tests):
            raise InvalidPolicyError(
                f"A policy must have a price for each test. Got {prices.n_tests} prices "
                f"for {len(tests)} tests. Settle the prices of these very tests."
            )
        shape = (len(classes), len(classes))
        if mistakes is not None and np.shape(mistakes) != shape:
            raise InvalidPolicyError(
                f"mistakes must have the shape {shape}. Got {np.shape(mistakes)}. Give "
                "a row and a column for each class."
            )

    @property
    def tests(self) -> tuple[Test, ...]:
        """The tests that the policy may buy."""
        return self.coding.tests

    @property
    def test_names(self) -> tuple[str, ...]:
        """Names of the tests, in order."""
        return self.coding.names

    # The machine.

    @abstractmethod
    def initial_state(self) -> Any:
        """Return the state in which nothing has been asked."""

    @abstractmethod
    def next_test(self, state: Any) -> int | None:
        """Return the test to buy in a state, or None if the policy decides there."""

    @abstractmethod
    def advance(self, state: Any, code: int) -> Any:
        """Return the state after the next test has shown an outcome, given its code."""

    @abstractmethod
    def class_weights(self, state: Any) -> NDArray[np.float64]:
        """Return the weight of each class among what is still possible."""

    @abstractmethod
    def tests_ahead(self, state: Any) -> list[int]:
        """Return every test that may still be asked, in preorder, repeats included.

        These are ordered together when the next test is delayed.
        """

    def decision(self, state: Any) -> int:
        """Return the class that the policy would answer in a state."""
        weights = self.class_weights(state)[None, :]
        return int(decide_classes(weights, self.mistakes)[0])

    # Many rows at once.

    @abstractmethod
    def predict(self, X: Any, *, n_jobs: int = 1) -> NDArray[Any]:
        """Return the decision for each row.

        Parameters
        ----------
        X : frame, mapping of columns, or array-like of shape (n_rows, n_tests)
            Raw values. A frame needs only the columns that the policy asks for.
        n_jobs : int, default=1
            Threads to use; the answer does not depend on it.
        """

    @abstractmethod
    def predict_proba(self, X: Any, *, n_jobs: int = 1) -> NDArray[np.float64]:
        """Return the share of each class where each row ends, by ``classes``."""

    @abstractmethod
    def cost(self, X: Any, *, n_jobs: int = 1) -> NDArray[np.float64]:
        """Return what each row pays for the tests that it is asked."""

    # One case at a time, and files.

    def start(self) -> Session:
        """Return a session: the next test, and a place to put its outcome."""
        from askless.policy._session import Session

        return Session(self)

    def save(self, path: str | Path) -> None:
        """Write the policy to a JSON file, whole or not at all.

        Examples
        --------
        >>> import askless, tempfile
        >>> policy = askless.solve(askless.datasets.load_car()).policy
        >>> policy.save(Path(tempfile.mkdtemp(), "car.json"))
        """
        from askless.policy._file import save

        save(self, path)

    def _columns(self, X: Any, used: list[int]) -> tuple[Mapping[str, Any], int]:
        """Return the raw columns of the tests that are used, and the number of rows."""
        return raw_columns(X, self.coding, used)


def raw_columns(
    X: Any, coding: Coding, used: list[int]
) -> tuple[Mapping[str, Any], int]:
    """Take new rows apart into the columns that are needed.

    A frame or a mapping is read by name and may lack columns that are never asked for;
    anything else is read by position and must have a column for each test.
    """
    from askless.problem._frames import as_columns, is_frame

    if isinstance(X, Mapping) or is_frame(X):
        names = [coding.names[i] for i in used]
        columns = as_columns(X, names)
        if names:
            return columns, len(columns[names[0]])
        every = as_columns(X)
        return {}, len(next(iter(every.values()))) if every else 0
    if np.ndim(X) != 2 or np.shape(X)[1] != len(coding.names):
        raise InvalidPolicyError(
            f"X must have two dimensions and {len(coding.names)} columns, one for each "
            f"test of the policy. Got the shape {np.shape(X)}. Pass a frame to choose "
            "columns by name."
        )
    rows = X if isinstance(X, np.ndarray) else None
    columns = as_columns(X if rows is None else rows[:, used], _names(coding, used, rows))
    return columns, len(X)


def _names(coding: Coding, used: list[int], rows: object) -> list[str]:
    return list(coding.names) if rows is None else [coding.names[i] for i in used]


def _check_names(names: tuple[str, ...], classes: tuple[Outcome, ...]) -> None:
    if len(set(names)) != len(names) or not all(names):
        raise InvalidPolicyError(
            "Tests must have different names, none of them empty. Got "
            f"{names[:8]}. Rename the tests."
        )
    if not classes or len(set(classes)) != len(classes):
        raise InvalidPolicyError(
            f"Classes must be different, and at least one. Got {classes[:8]}. List each "
            "class once."
        )
