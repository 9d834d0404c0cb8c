"""Hand a policy up to the layers that run it and draw it.

Users look for ``start``, ``run`` and ``plot`` on the policy they have in hand, and
notebooks for a method on the object that they show. Running and drawing lie above this
layer, so they are looked up by name when they are first asked for: nothing here depends
on them. This is the one place where something below reaches up.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

if TYPE_CHECKING:
    from askless.run import CaseResult, RunReport, Session

__all__ = ["BuyingTerms", "HandedUp", "find_above"]

# What those who buy for many cases limit beside the terms of a case.
LIMITS = ("max_workers", "total_budget", "on_result")


def find_above(layer: str, name: str) -> Any:
    """Return a public name of a layer above.

    Examples
    --------
    >>> callable(find_above("export", "show"))
    True
    """
    return getattr(import_module(f"askless.{layer}"), name)


class BuyingTerms(TypedDict, total=False):
    """The options of all methods that buy tests; see :meth:`HandedUp.run`.

    Their defaults are those of ``askless.run.Terms``, which checks them.
    """

    budget: float | None
    retries: int
    backoff: float
    timeout: float | None
    on_failure: str
    errors: type[Exception] | tuple[type[Exception], ...]


class HandedUp:
    """The methods of a policy whose work is done by the layers above."""

    # One case at a time, and many.

    def start(self) -> Session:
        """Return a session: the next test, and a place to put its outcome."""
        session: Session = find_above("run", "Session")(self)
        return session

    def run(
        self,
        fetch: Callable[[Any, str], Any],
        case: Any = None,
        **terms: Unpack[BuyingTerms],
    ) -> CaseResult:
        """Buy tests for one case until the policy decides.

        Parameters
        ----------
        fetch : callable, or mapping of str to outcome
            ``fetch(case, test)`` runs the test of this name and returns its outcome:
            None if it is missing, :data:`askless.SKIP` if it cannot be run here. It is
            called for a test that the policy needs, once, and for no other. Outcomes
            that are at hand may be given as they are, by test.
        case : object, default=None
            What ``fetch`` is told about the case.
        budget : float, optional
            The most that the case may spend. Where the next test may cost more than
            what is left, the policy decides with what it knows.
        retries : int, default=0
            How often to try again if ``fetch`` takes too long or raises one of
            ``errors``.
        backoff : float, default=0.0
            Seconds to wait before the first retry, then twice as many each time.
        timeout : float, optional
            Seconds that one call may take. A call that takes longer is left behind.
        on_failure : {"skip", "stop", "raise"}, default="skip"
            What to do about a test that cannot be fetched: go on without it, unpaid;
            end the case without a decision; or raise the error.
        errors : type of exception or tuple of them, default=()
            The exceptions of ``fetch`` that mean that a test cannot be fetched, such as
            ``ConnectionError``. All others are mistakes in a program and are raised; so
            is :class:`~askless.exceptions.InvalidAnswerError`, for what a test cannot
            show, unless it is named here.

        Returns
        -------
        CaseResult
            The decision, what was spent and bought, the log, and what failed.

        Notes
        -----
        A delayed test comes too late to choose by, so everything that may be asked
        after it is fetched and paid for together with it.

        Examples
        --------
        >>> import askless
        >>> table = askless.Table([["dark", "dead"], ["dark", "live"], ["dim", "live"]],
        ...                       ["fuse", "bulb", "dimmer"], tests=["lamp", "socket"],
        ...                       costs={"lamp": 1, "socket": 5})
        >>> hall = {"lamp": "dark", "socket": "live"}
        >>> policy = askless.solve(table).policy
        >>> result = policy.run(lambda case, test: hall[test])
        >>> result.decision, result.spent, result.bought
        ('bulb', 6.0, ('lamp', 'socket'))
        >>> policy.run(hall).decision
        'bulb'
        """
        result: CaseResult = self._buy("run_case", fetch, case, terms)
        return result

    def run_many(
        self,
        fetch: Callable[[Any, str], Any],
        cases: Iterable[Any],
        *,
        max_workers: int = 1,
        total_budget: float | None = None,
        on_result: Callable[[CaseResult], object] | None = None,
        **terms: Unpack[BuyingTerms],
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
        budget, retries, backoff, timeout, on_failure, errors
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
        limits = (max_workers, total_budget, on_result)
        report: RunReport = self._buy("run_cases", fetch, cases, terms, *limits)
        return report

    async def run_async(
        self,
        fetch: Callable[[Any, str], Awaitable[Any]],
        case: Any = None,
        **terms: Unpack[BuyingTerms],
    ) -> CaseResult:
        """Do what :meth:`run` does with a ``fetch`` that is to be awaited.

        Tests that are bought together are fetched at the same time.

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
        result: CaseResult = await self._buy("run_case_async", fetch, case, terms)
        return result

    async def run_many_async(
        self,
        fetch: Callable[[Any, str], Awaitable[Any]],
        cases: Iterable[Any],
        *,
        max_workers: int = 16,
        total_budget: float | None = None,
        on_result: Callable[[CaseResult], object] | None = None,
        **terms: Unpack[BuyingTerms],
    ) -> RunReport:
        """Do what :meth:`run_many` does with a ``fetch`` that is to be awaited."""
        limits = (max_workers, total_budget, on_result)
        many = self._buy("run_cases_async", fetch, cases, terms, *limits)
        report: RunReport = await many
        return report

    def _buy(
        self, name: str, fetch: Any, cases: Any, terms: BuyingTerms, *limits: Any
    ) -> Any:
        """Call a function of the layer above that runs policies."""
        checked = find_above("run", "Terms")(**terms)
        named = dict(zip(LIMITS, limits, strict=False))
        return find_above("run", name)(self, fetch, cases, checked, **named)

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
