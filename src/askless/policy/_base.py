"""What every policy can do, whatever it looks like inside.

A policy is a machine: it has a first state, names the next test of a state or none, and
moves on when an outcome is seen. Sessions, exact evaluation and exports need no more
than that; walking many rows at once is left to each kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidPolicyError
from askless.policy._decide import decide_classes
from askless.policy._upwards import find_above
from askless.problem import Coding, Outcome, PriceList, Test
from askless.problem._frames import Columns, clean_columns, is_frame

if TYPE_CHECKING:
    from askless.run import CaseResult, RunReport, Session

__all__ = ["Policy", "raw_columns"]

# Costs and weights add up to at most this, so that no sum of them is infinite.
MOST = 1e300


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
        _check_names(self.coding.names, self.classes, self.answers_number)
        if prices.n_tests != len(tests):
            raise InvalidPolicyError(
                f"A policy must have a price for each test. Got {prices.n_tests} "
                f"prices for {len(tests)} tests. Settle the prices of these very tests."
            )
        shape = (len(classes), len(classes))
        if mistakes is not None and np.shape(mistakes) != shape:
            raise InvalidPolicyError(
                f"mistakes must have the shape {shape}. Got {np.shape(mistakes)}. Give "
                "a row and a column for each class."
            )
        _check_prices(prices)
        if mistakes is not None:
            _check_mistakes(mistakes)

    @property
    def tests(self) -> tuple[Test, ...]:
        """The tests that the policy may buy."""
        return self.coding.tests

    @property
    def test_names(self) -> tuple[str, ...]:
        """Names of the tests, in order."""
        return self.coding.names

    @cached_property
    def test_by_name(self) -> dict[str, Test]:
        """The tests by their names."""
        return {test.name: test for test in self.tests}

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

    def tests_possible(self, state: Any) -> list[int]:
        """Return every test that may still be asked, ordered together or not."""
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
    def predict(self, X: Any, *, n_jobs: int = 1) -> NDArray[Any]:
        """Return the decision for each row.

        Parameters
        ----------
        X : frame, mapping of columns, or array-like of shape (n_rows, n_tests)
            Raw values. A frame needs only the columns that the policy asks for.
        n_jobs : int, default=1
            Threads to use, -1 for one on each core; the answer does not depend on it.
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
        session: Session = find_above("run", "Session")(self)
        return session

    def run(
        self,
        fetch: Callable[[Any, str], Any],
        case: Any = None,
        *,
        budget: float | None = None,
        retries: int = 0,
        backoff: float = 0.0,
        timeout: float | None = None,
        on_failure: str = "skip",
    ) -> CaseResult:
        """Buy tests for one case until the policy decides.

        Parameters
        ----------
        fetch : callable
            ``fetch(case, test)`` runs the test of this name and returns its outcome:
            None if it is missing, :data:`askless.SKIP` if it cannot be run here. It is
            called for a test that the policy needs, once, and for no other.
        case : object, default=None
            What ``fetch`` is told about the case.
        budget : float, optional
            The most that the case may spend. Where the next test may cost more than
            what is left, the policy decides with what it knows.
        retries : int, default=0
            How often to try again if ``fetch`` raises, takes too long, or returns what
            the test cannot show.
        backoff : float, default=0.0
            Seconds to wait before the first retry, then twice as many each time.
        timeout : float, optional
            Seconds that one call may take. A call that takes longer is left behind.
        on_failure : {"skip", "stop", "raise"}, default="skip"
            What to do about a test that cannot be fetched: go on without it, unpaid;
            end the case without a decision; or raise the error.

        Returns
        -------
        CaseResult
            The decision, what was spent and bought, the log, and what failed.

        Notes
        -----
        A delayed test comes too late to choose by, so everything that may be asked
        after it is ordered, fetched and paid for together with it.

        Examples
        --------
        >>> import askless
        >>> table = askless.Table([["dark", "dead"], ["dark", "live"], ["dim", "live"]],
        ...                       ["fuse", "bulb", "dimmer"], tests=["lamp", "socket"],
        ...                       costs={"lamp": 1, "socket": 5})
        >>> hall = {"lamp": "dark", "socket": "live"}
        >>> result = askless.solve(table).policy.run(lambda case, test: hall[test])
        >>> result.decision, result.spent, result.bought
        ('bulb', 6.0, ('lamp', 'socket'))
        """
        terms = find_above("run", "Terms")(
            budget, retries, backoff, timeout, on_failure
        )
        result: CaseResult = find_above("run", "run_case")(self, fetch, case, terms)
        return result

    def run_many(
        self,
        fetch: Callable[[Any, str], Any],
        cases: Iterable[Any],
        *,
        max_workers: int = 1,
        total_budget: float | None = None,
        on_result: Callable[[CaseResult], object] | None = None,
        budget: float | None = None,
        retries: int = 0,
        backoff: float = 0.0,
        timeout: float | None = None,
        on_failure: str = "skip",
    ) -> RunReport:
        """Buy tests for many cases, several at a time.

        Parameters
        ----------
        fetch : callable
            See :meth:`run`. With more than one worker it is called from several
            threads, for different cases.
        cases : iterable
            What ``fetch`` is told about each case. An iterator is read as it is needed.
        max_workers : int, default=1
            How many cases may be under way at a time.
        total_budget : float, optional
            The most that all cases may spend together. A case that can no longer pay
            decides with what it knows.
        on_result : callable, optional
            Called with each :class:`CaseResult` as it comes in, to save it or to show
            how far it is.
        budget, retries, backoff, timeout, on_failure
            See :meth:`run`; ``budget`` is that of each case.

        Returns
        -------
        RunReport
            The result of each case in order, and what was bought and saved. After
            Ctrl-C, what was bought until then.

        Examples
        --------
        >>> import askless
        >>> table = askless.datasets.load_questions()
        >>> policy = askless.solve(table).policy
        >>> answers = table.rows()
        >>> report = policy.run_many(lambda case, test: answers[test][case], range(4),
        ...                          max_workers=2)
        >>> report.decisions == list(table.case_classes[:4])
        True
        """
        terms = find_above("run", "Terms")(
            budget, retries, backoff, timeout, on_failure
        )
        report: RunReport = find_above("run", "run_cases")(
            self,
            fetch,
            cases,
            terms,
            max_workers=max_workers,
            total_budget=total_budget,
            on_result=on_result,
        )
        return report

    async def run_async(
        self,
        fetch: Callable[[Any, str], Awaitable[Any]],
        case: Any = None,
        *,
        budget: float | None = None,
        retries: int = 0,
        backoff: float = 0.0,
        timeout: float | None = None,
        on_failure: str = "skip",
    ) -> CaseResult:
        """Do what :meth:`run` does with a ``fetch`` that is to be awaited.

        Tests that are ordered together are fetched at the same time.

        Examples
        --------
        >>> import askless, asyncio
        >>> table = askless.Table([["dark"], ["dim"]], ["bulb", "dimmer"],
        ...                       tests=["lamp"])
        >>> async def fetch(case, test):
        ...     return "dim"
        >>> asyncio.run(askless.solve(table).policy.run_async(fetch)).decision
        'dimmer'
        """
        terms = find_above("run", "Terms")(
            budget, retries, backoff, timeout, on_failure
        )
        run_case_async = find_above("run", "run_case_async")
        result: CaseResult = await run_case_async(self, fetch, case, terms)
        return result

    async def run_many_async(
        self,
        fetch: Callable[[Any, str], Awaitable[Any]],
        cases: Iterable[Any],
        *,
        max_workers: int = 16,
        total_budget: float | None = None,
        on_result: Callable[[CaseResult], object] | None = None,
        budget: float | None = None,
        retries: int = 0,
        backoff: float = 0.0,
        timeout: float | None = None,
        on_failure: str = "skip",
    ) -> RunReport:
        """Do what :meth:`run_many` does with a ``fetch`` that is to be awaited."""
        terms = find_above("run", "Terms")(
            budget, retries, backoff, timeout, on_failure
        )
        report: RunReport = await find_above("run", "run_cases_async")(
            self,
            fetch,
            cases,
            terms,
            max_workers=max_workers,
            total_budget=total_budget,
            on_result=on_result,
        )
        return report

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

    # Pictures.

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the policy with matplotlib; a tree, or one tree of a forest.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure of the right size by default.
        **options
            ``max_depth``: draw only so many levels of tests. ``budget``: what a case
            may spend. ``tree``: which tree of a forest, from 0. ``font_size``.

        Returns
        -------
        matplotlib Axes
            Where it was drawn.

        Examples
        --------
        >>> import askless
        >>> policy = askless.solve(askless.datasets.load_car()).policy
        >>> axes = policy.plot(max_depth=2)  # doctest: +SKIP
        """
        return find_above("export", "plot_policy")(self, ax, **options)

    def _repr_html_(self) -> str:
        shown: str = find_above("export", "to_notebook")(self)
        return shown

    @cached_property
    def _class_array(self) -> NDArray[Any]:
        """The classes as an array that gives them back unchanged."""
        kinds = {type(label) for label in self.classes}
        array = np.array(self.classes) if len(kinds) == 1 else np.empty(0)
        if array.tolist() != list(self.classes):
            # Mixed classes would all become text, and text would lose a last "\0".
            array = np.fromiter(self.classes, dtype=object, count=len(self.classes))
        return array


def raw_columns(X: Any, coding: Coding, used: list[int]) -> tuple[Columns, int]:
    """Take new rows apart into the columns that are needed, cleaned.

    A frame or a mapping is read by name and may lack columns that are never asked for;
    anything else is read by position and must have a column for each test.
    """
    names = [coding.names[i] for i in used]
    if isinstance(X, Mapping) or is_frame(X):
        columns = clean_columns(X, names)
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


def _check_prices(prices: PriceList) -> None:
    by_outcome = [p for listed in prices.by_outcome.values() for p in listed.tolist()]
    every = [*prices.full.tolist(), *prices.discounted.tolist(), *by_outcome]
    # A sum of Python's floats that is too large is infinite, without a warning.
    if not all(price >= 0 for price in every) or not sum(every) <= MOST:
        raise InvalidPolicyError(
            f"Prices must be >= 0, and all together at most {MOST:g}. Got others. "
            "Measure costs in a larger unit."
        )
    if np.any(prices.discounted > prices.full):
        test = int(np.flatnonzero(prices.discounted > prices.full)[0])
        raise InvalidPolicyError(
            "A discounted cost must not be above the cost. Got "
            f"{prices.discounted[test]:g} for test {test}, which costs "
            f"{prices.full[test]:g}. Swap the two."
        )


def _check_mistakes(mistakes: NDArray[np.float64]) -> None:
    is_price = (mistakes >= 0) & (mistakes <= MOST)
    if not is_price.all() or np.diag(mistakes).any():
        raise InvalidPolicyError(
            f"mistakes must be from 0 to {MOST:g}, with a diagonal of zeros. Got "
            "others. A right decision costs nothing."
        )


def _check_names(
    names: tuple[str, ...], classes: tuple[Outcome, ...], answers_number: bool
) -> None:
    if len(set(names)) != len(names) or not all(names):
        raise InvalidPolicyError(
            "Tests must have different names, none of them empty. Got "
            f"{names[:8]}. Rename the tests."
        )
    if bool(classes) == answers_number or len(set(classes)) != len(classes):
        raise InvalidPolicyError(
            f"Classes must be different, and at least one. Got {classes[:8]}. List "
            "each class once."
        )
