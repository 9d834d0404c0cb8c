"""What every policy can do, whatever it looks like inside.

A policy is a machine: it has a first state, names the next test of a state or none, and
moves on when an outcome is seen. Sessions, exact evaluation and exports need no more
than that; walking many rows at once is left to each kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidOptionError, InvalidPolicyError
from askless.policy._decide import decide_classes
from askless.policy._parts import MOST, check_parts
from askless.policy._upwards import HandedUp
from askless.problem import Coding, Outcome, PriceList, Test
from askless.problem._coding import HasCoding
from askless.problem._costs import as_costs
from askless.problem._frames import Columns, clean_columns, is_frame
from askless.problem._jobs import count_threads

__all__ = ["MOST", "Policy", "count_threads", "number_decisions", "raw_columns"]


class Policy(HandedUp, HasCoding, ABC):
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
    # Whether it answers a number, and has no classes.
    answers_number: bool = False

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
        check_parts(
            self.coding.names, self.classes, prices, mistakes, self.answers_number
        )

    @cached_property
    def test_by_name(self) -> dict[str, Test]:
        """The tests by their names."""
        return {test.name: test for test in self.tests}

    @property
    def used_tests(self) -> list[int]:
        """The tests that can be asked at all, ascending."""
        return sorted(set(self.tests_possible(self.initial_state())))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the tests that can be asked at all: what rows must have.

        Examples
        --------
        >>> import askless
        >>> table = askless.Table({"lamp": [0, 1], "spare": [0, 0]}, ["a", "b"])
        >>> askless.solve(table).policy.columns
        ('lamp',)
        """
        return tuple(self.test_names[test] for test in self.used_tests)

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

        These are bought together when the next test is delayed.
        """

    def tests_possible(self, state: Any) -> list[int]:
        """Return every test that may still be asked, bought together or not."""
        return self.tests_ahead(state)

    def skip(self, state: Any, *, paid: bool = False) -> Any:
        """Return the state after the next test has shown nothing.

        Parameters
        ----------
        state : state
            Where the policy stands.
        paid : bool, default=False
            Whether the test was run all the same.
        """
        test = self.next_test(state)
        assert test is not None
        return self.advance(state, self.tests[test].unknown_code)

    def class_shares(self, state: Any) -> NDArray[np.float64]:
        """Return the share of each class among what is still possible.

        Where nothing that is left has a weight, all of it counts the same.
        """
        belief = self._belief(state)
        return np.asarray(belief / belief.sum())

    def shares_given(
        self, state: Any, shown: Mapping[int, int | None]
    ) -> NDArray[np.float64]:
        """Return the share of each class, where some tests were asked and say nothing.

        Parameters
        ----------
        state : state
            Where the policy stands.
        shown : mapping of int to int or None
            The code of each test that was asked; None for one that was skipped.
        """
        return self.class_shares(state)

    def recheck(self, shown: dict[int, int]) -> tuple[int, ...]:
        """Return the fewest tests whose answers contradict each other.

        None if some case fits all answers, or if the policy does not know its cases.

        Parameters
        ----------
        shown : dict of int to int
            The code that each answered test has shown.
        """
        return ()

    def code_followed(self, state: Any, code: int) -> int:
        """Return the code that a code is taken for, where nothing left shows it.

        Itself if something left shows it, or if the policy cannot say; the code of
        "unknown" if the policy goes on as if the next test was skipped.
        """
        return code

    def decision(self, state: Any) -> int:
        """Return the class that the policy would answer in a state."""
        return int(decide_classes(self._belief(state)[None, :], self.mistakes)[0])

    def answer(self, state: Any) -> Outcome:
        """Return what the policy would answer in a state: a class, or a number."""
        return self.classes[self.decision(state)]

    def _belief(self, state: Any) -> NDArray[np.float64]:
        """Return the class weights, or even ones where nothing left has a weight."""
        weights = self.class_weights(state)
        return weights if weights.any() else self._even_weights(state)

    def _even_weights(self, state: Any) -> NDArray[np.float64]:
        """Return class weights that let everything left in a state count the same."""
        return np.ones(len(self.classes))

    # Many rows at once.

    @abstractmethod
    def predict(self, X: Any, *, n_jobs: int | None = None) -> NDArray[Any]:
        """Return the decision for each row.

        Parameters
        ----------
        X : frame, mapping of columns, or array-like of shape (n_rows, n_tests)
            Raw values. A frame needs only the columns that the policy asks for.
        n_jobs : int, optional
            Threads to use, -1 for one on each core; the answer does not depend on it.
        """

    @abstractmethod
    def predict_proba(
        self, X: Any, *, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """Return the share of each class where each row ends, by ``classes``."""

    @abstractmethod
    def cost(self, X: Any, *, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return what each row pays for the tests that it is asked."""

    def predict_and_cost(
        self, X: Any, *, n_jobs: int | None = None
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the decision for each row and what it pays, from one run.

        Parameters
        ----------
        X, n_jobs
            See :meth:`predict`.

        Examples
        --------
        >>> import askless
        >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
        >>> askless.solve(table).policy.predict_and_cost([[1], [0]])
        (array(['odd', 'even'], dtype='<U4'), array([1., 1.]))
        """
        return self.predict(X, n_jobs=n_jobs), self.cost(X, n_jobs=n_jobs)

    def importances(
        self,
        X: Any = None,
        y: Any = None,
        *,
        by: str = "gain",
        mistakes: Any = None,
        sample_weight: Any = None,
    ) -> dict[str, float]:
        """Return how much each test matters, by name.

        Parameters
        ----------
        X : frame, mapping of columns, or array-like of shape (n_rows, n_tests)
            Rows of raw values; for "saving" only.
        y : array-like of shape (n_rows,)
            The true class of each row; for "saving" only.
        by : {"gain", "saving"}, default="gain"
            "gain": the share of the variance of what the trees say that splits on the
            test make; of class shares that is the share of the Gini impurity that they
            take away. Adds up to 1. "saving": what a row saves by the test on average,
            in the currency of the costs: what the decision before it would have cost in
            mistakes, less what the one after it costs, less what the test charged. Adds
            up to what deciding at once would cost, less the total cost.
        mistakes : number, matrix or mapping, optional
            What mistakes cost, for "saving"; the policy's own by default.
        sample_weight : array-like of shape (n_rows,), optional
            The weight of each row.

        Examples
        --------
        >>> import askless
        >>> table = askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "b"],
        ...                       tests=["cheap", "dear"], costs=[1, 3])
        >>> policy = askless.solve(table).policy
        >>> found = policy.importances()
        >>> {test: round(share, 3) for test, share in found.items()}
        {'cheap': 0.25, 'dear': 0.75}
        >>> policy.importances(table.rows(), ["a", "b", "b"], by="saving", mistakes=30)
        {'cheap': -1.0, 'dear': 8.0}
        """
        from askless.policy._importance import gain_by_test, saving_by_test

        if by == "saving":
            found = saving_by_test(self, X, y, mistakes, sample_weight)
        elif by == "gain":
            found = gain_by_test(self)
        else:
            raise InvalidOptionError(
                f"by must be 'gain' or 'saving'. Got {by!r}. Leave it out for 'gain'."
            )
        return dict(zip(self.test_names, found.tolist(), strict=True))

    # The same policy at other prices.

    def with_costs(self, costs: Any) -> Self:
        """Return the policy at other costs.

        A tree, a forest and a sequence ask the same as before, and only pay another
        price. A rule and an ensemble choose by price, so they may ask something else.

        Parameters
        ----------
        costs : Costs, mapping or sequence
            What each test of the policy costs; other tests may be named too. Costs of
            mistakes take the place of the policy's, if there are any; what a tree
            decides stays as it is.

        Examples
        --------
        >>> import askless
        >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
        >>> policy = askless.solve(table).policy
        >>> policy.with_costs({"last bit": 7}).expected_cost
        7.0
        """
        given = as_costs(costs, len(self.tests))
        known = dict.fromkeys(self.test_names)
        every = [*known, *(str(k) for k in given.costs if not isinstance(k, int))]
        own = given.subset(self.test_names, all_names=list(dict.fromkeys(every)))
        other = self._with_prices(own.price_list(self.tests))
        if given.mistakes is not None:
            other.mistakes = given.mistake_matrix(self.classes)
        return other

    def _with_prices(self, prices: PriceList) -> Self:
        """Return a copy with other prices, and without what was worked out of these."""
        other = copy(self)
        for name in list(other.__dict__):
            if isinstance(getattr(type(self), name, None), cached_property):
                del other.__dict__[name]
        other.prices = prices
        return other

    # Files.

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

    @cached_property
    def _class_array(self) -> NDArray[Any]:
        """The classes as an array that gives them back unchanged."""
        kinds = {type(label) for label in self.classes}
        array = np.array(self.classes) if len(kinds) == 1 else np.empty(0)
        if array.tolist() != list(self.classes):
            # Mixed classes would all become text, and text would lose a last "\0".
            array = np.fromiter(self.classes, dtype=object, count=len(self.classes))
        return array


def number_decisions(policy: Policy) -> Policy:
    """Return a policy that decides the position of a class instead of the class.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> number_decisions(askless.solve(table).policy).predict([[1], [0]])
    array([1, 0], dtype=int32)
    """
    other = copy(policy)
    other.__dict__["_class_array"] = np.arange(len(policy.classes), dtype=np.int32)
    return other


def raw_columns(X: Any, coding: Coding, used: list[int]) -> tuple[Columns, int]:
    """Take new rows apart into the columns that are needed, cleaned.

    A frame or a mapping is read by name and may lack columns that are never asked for;
    anything else is read by position and must have a column for each test.
    """
    names = [coding.names[i] for i in used]
    if isinstance(X, Mapping) or is_frame(X):
        categories = {t.name for t in coding.tests if t.kind == "category"}
        columns = clean_columns(X, names, as_text=categories)
        return columns, len(columns[names[0]]) if names else _count_rows(X)
    if isinstance(X, np.ndarray):
        _check_shape(X.shape, coding)
        return clean_columns(X[:, used], names), len(X)
    every = clean_columns(X)
    n_rows = len(next(iter(every.values()), ()))
    _check_shape((n_rows, len(every)), coding)
    given = dict(zip(coding.names, every.values(), strict=True))
    return Columns((name, given[name]) for name in names), n_rows


def _count_rows(X: Any) -> int:
    return len(next(iter(X.values()), ())) if isinstance(X, Mapping) else len(X)


def _check_shape(shape: tuple[int, ...], coding: Coding) -> None:
    if len(shape) != 2 or shape[1] != len(coding.names):
        raise InvalidPolicyError(
            f"X must have two dimensions and {len(coding.names)} columns, one for each "
            f"test of the policy. Got the shape {shape}. Pass a frame to choose "
            "columns by name."
        )
