"""Buy tests for one case: what to fetch now, and what came of it.

A :class:`Purchase` decides what is fetched and when to stop. It does not know how
anything is fetched: in a row, in threads or by coroutines is its caller's affair, which
asks for :meth:`Purchase.orders`, and hands in what came of each of them.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any, Final

from askless.exceptions import InvalidOptionError
from askless.policy._base import Policy
from askless.problem import Outcome
from askless.run._session import Session

__all__ = ["SKIP", "CaseResult", "FetchFailure", "Purchase", "Purse", "Terms"]


class _Skip:
    """The type of :data:`SKIP`."""

    def __repr__(self) -> str:
        return "SKIP"


SKIP: Final = _Skip()
"""What ``fetch`` returns for a test that cannot be run here; it is not paid for."""


@dataclass(frozen=True)
class Terms:
    """How tests are bought: how often and how long to try, and for how much.

    Attributes
    ----------
    budget : float or None
        The most that one case may spend.
    retries : int
        How often a fetch that failed is tried again.
    backoff : float
        Seconds before the first retry; twice as many before each further one.
    timeout : float or None
        Seconds that one fetch may take.
    on_failure : {"skip", "stop", "raise"}
        What a test that could not be fetched does to its case.
    errors : type or tuple of types
        The exceptions of ``fetch`` that mean that a test could not be fetched; taking
        too long always does. All others are raised.
    """

    budget: float | None = None
    retries: int = 0
    backoff: float = 0.0
    timeout: float | None = None
    on_failure: str = "skip"
    errors: type[Exception] | tuple[type[Exception], ...] = ()

    def __post_init__(self) -> None:
        """Check every term."""
        _check_number("budget", self.budget, least=0.0)
        _check_number("backoff", self.backoff, least=0.0)
        _check_number("timeout", self.timeout, least=0.0)
        if not isinstance(self.retries, int) or self.retries < 0:
            raise InvalidOptionError(
                "retries must be a whole number >= 0. Got "
                f"{self.retries!r}. Leave it out to try once."
            )
        if self.on_failure not in ("skip", "stop", "raise"):
            raise InvalidOptionError(
                "on_failure must be 'skip', 'stop' or 'raise'. Got "
                f"{self.on_failure!r}. Leave it out to skip what cannot be fetched."
            )

        if not all(_is_exception_type(one) for one in self.failures):
            raise InvalidOptionError(
                "errors must be a type of exception, or a tuple of them. Got "
                f"{self.errors!r}. Pass for example errors=ConnectionError."
            )

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """The exceptions that mean that a test could not be fetched."""
        named = self.errors if isinstance(self.errors, tuple) else (self.errors,)
        return (*named, TimeoutError)

    def wait(self, attempt: int) -> float:
        """Return how many seconds to wait after an attempt that failed."""
        return self.backoff * 2.0 ** (attempt - 1)


def _is_exception_type(one: object) -> bool:
    return isinstance(one, type) and issubclass(one, Exception)


def _check_number(name: str, value: float | None, *, least: float) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        ok = False
    else:
        ok = value >= least
    if not ok:
        raise InvalidOptionError(
            f"{name} must be a number >= {least:g}, or None. Got {value!r}. Leave it "
            "out for no limit."
        )


class Purse:
    """What all cases of a run may spend together; safe to share between threads."""

    def __init__(self, amount: float | None = None) -> None:
        _check_number("total_budget", amount, least=0.0)
        self._left = amount
        self._lock = threading.Lock()

    def take(self, amount: float) -> bool:
        """Set an amount aside, if there is as much."""
        if self._left is None:
            return True
        with self._lock:
            # Rounding must not refuse the last test of a budget that just fits.
            if amount > self._left * (1 + 1e-12):
                return False
            self._left -= amount
            return True

    def give_back(self, amount: float) -> None:
        """Put back what was set aside and not spent."""
        if self._left is not None:
            with self._lock:
                self._left += amount


@dataclass(frozen=True)
class FetchFailure:
    """A test that could not be fetched.

    Attributes
    ----------
    test : str
        The test.
    error : str
        The last error: its type and what it said.
    attempts : int
        How often it was tried.
    """

    test: str
    error: str
    attempts: int


@dataclass(frozen=True)
class CaseResult:
    """What came of one case.

    Attributes
    ----------
    case : object
        The case, as it was given.
    decision : object or None
        What was decided; None only if ``failure`` says why not.
    probabilities : dict
        Share of each class among what was still possible at the end.
    spent : float
        What the case paid.
    bought : tuple of str
        The tests that were paid for, in order.
    log : list of dict
        What a :class:`Session` logs; ``Session.replay`` takes it.
    failures : tuple of FetchFailure
        The tests that could not be fetched.
    n_calls : int
        How often ``fetch`` was called, retries included.
    stopped : {"decided", "budget", "failure", "interrupted"}
        Whether the policy came to its end, and if not, why.
    failure : str or None
        Why there is no decision.

    Examples
    --------
    >>> import askless
    >>> policy = askless.solve(askless.Table([[0], [1]], ["even", "odd"])).policy
    >>> result = policy.run(lambda case, test: case % 2, 7)
    >>> result.case, result.decision, result.spent, result.stopped
    (7, 'odd', 1.0, 'decided')
    """

    case: Any
    decision: Outcome | None
    probabilities: dict[Outcome, float]
    spent: float
    bought: tuple[str, ...]
    log: list[dict[str, Any]]
    failures: tuple[FetchFailure, ...] = ()
    n_calls: int = 0
    stopped: str = "decided"
    failure: str | None = None


@dataclass
class _Delivery:
    """What is known of a test that was ordered."""

    outcome: Any = None
    arrived: bool = True


@dataclass
class Purchase:
    """The tests of one case, from the first order to the decision.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([["dark", "dead"], ["dark", "live"], ["dim", "live"]],
    ...                       ["fuse", "bulb", "dimmer"], tests=["lamp", "socket"])
    >>> purchase = Purchase(askless.solve(table).policy, "the hall", Terms(), Purse())
    >>> purchase.orders()
    ['lamp']
    >>> purchase.deliver("lamp", "dim")
    >>> purchase.orders(), purchase.result().decision
    ([], 'dimmer')
    """

    policy: Policy
    case: Any
    terms: Terms
    purse: Purse
    n_calls: int = 0
    failures: list[FetchFailure] = field(default_factory=list)
    _session: Session = field(init=False)
    _known: dict[str, _Delivery] = field(default_factory=dict, init=False)
    _set_aside: float = field(default=0.0, init=False)
    _stopped: str = field(default="", init=False)
    _reason: str | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        """Open the session."""
        self._session = self.policy.start()

    def orders(self) -> list[str]:
        """Return the tests to fetch now; none when the case has come to its end.

        One test, or all that are ordered together with a delayed one.
        """
        session = self._session
        while not self._stopped:
            test = session.test
            if test is None:
                self._stopped = "decided"
            elif test in self._known:
                self._move(self._known[test])
            elif not self._afford():
                self._stopped = "budget"
            else:
                return [t for t in session.ordered if t not in self._known]
        return []

    def _afford(self) -> bool:
        """Set aside what the next order may cost; False if that is too much."""
        session, budget = self._session, self.terms.budget
        most = session.price_at_most
        if budget is not None and session.spent + most > budget * (1 + 1e-12):
            return False
        if not self.purse.take(most):
            return False
        self._set_aside = most
        return True

    def _move(self, delivery: _Delivery) -> None:
        """Go on with what is known of the next test."""
        before = self._session.spent
        if delivery.arrived:
            self._session.answer(delivery.outcome, allow_unseen=True)
        else:
            self._session.skip()
        self.purse.give_back(self._set_aside - (self._session.spent - before))
        self._set_aside = 0.0

    def check(self, test: str, outcome: Any) -> None:
        """Raise InvalidAnswerError if a test cannot show an outcome at all."""
        if outcome is not SKIP:
            self.policy.test_by_name[test].code_of(outcome)

    def deliver(self, test: str, outcome: Any) -> None:
        """Take in what a test has shown, or that it cannot be run."""
        self._known[test] = _Delivery(outcome, outcome is not SKIP)

    def fail(self, test: str, error: BaseException, attempts: int) -> None:
        """Take in that a test could not be fetched."""
        text = f"{type(error).__name__}: {error}".removesuffix(": ")
        failure = FetchFailure(test, text, attempts)
        self.failures.append(failure)
        self._known[test] = _Delivery(arrived=False)
        if self.terms.on_failure == "stop":
            times = f"{attempts} attempt{'s' if attempts > 1 else ''}"
            self.stop("failure", f"{test!r} failed after {times}: {text}")

    def stop(self, stopped: str, reason: str) -> None:
        """End the case without a decision."""
        self._stopped, self._reason = stopped, reason
        self.purse.give_back(self._set_aside)
        self._set_aside = 0.0

    def result(self) -> CaseResult:
        """Return what has come of the case so far."""
        session = self._session
        return CaseResult(
            case=self.case,
            decision=None if self._reason else session.decision_now,
            probabilities=session.probabilities,
            spent=session.spent,
            bought=tuple(session.bought),
            log=list(session.log),
            failures=tuple(self.failures),
            n_calls=self.n_calls,
            stopped=self._stopped,
            failure=self._reason,
        )
