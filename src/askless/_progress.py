"""Tell how a long search or fit goes, in one vocabulary for all of them.

Whatever takes long makes a :class:`Reporter` of the ``verbose`` and ``callbacks`` that
it was given, and tells it what it has found. This module must not know what is worked
on, nor where progress is shown.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from askless.exceptions import InvalidOptionError

__all__ = ["Callback", "Progress", "Reporter"]

# How often `verbose` prints what is no more than a sign of life, in seconds.
_EVERY = 1.0


class Progress(NamedTuple):
    """Where a search or a fit stands.

    Attributes
    ----------
    seconds : float
        How long it has run.
    best : float or None
        The best so far: the cost of a policy, or of a row; smaller is better.
    bound : float or None
        No policy without error costs less; None if nothing is proved.
    name : str
        What was tried, such as ``"8 samples"``.
    cost : float or None
        What this step found; None for a sign of life in the middle of one.
    done : float or None
        How much of the work is done, from 0 to 1, if that is known.

    Examples
    --------
    >>> print(Progress(2.5, 7.25, name="two steps", done=0.5))
    2.5 s, two steps, best 7.25, 50 % done
    """

    seconds: float
    best: float | None = None
    bound: float | None = None
    name: str = ""
    cost: float | None = None
    done: float | None = None

    def __str__(self) -> str:
        return ", ".join([f"{self.seconds:.1f} s", *self.facts()])

    def facts(self) -> list[str]:
        """Return what is known beside the time, each in a few words."""
        found = [self.name] if self.name else []
        if self.best is not None:
            found.append(f"best {self.best:.4g}")
        if self.bound is not None:
            found.append(f"bound {self.bound:.4g}")
        if self.done is not None:
            found.append(f"{100 * self.done:.0f} % done")
        return found


Callback = Callable[[Progress], object]


class Reporter:
    """Tells callbacks how it goes, and hears whether one of them wants to stop.

    Parameters
    ----------
    callbacks : callable, iterable of callables, or None
        Each is called with a Progress. One that returns True asks to stop with the best
        so far; whatever one raises is raised to the user.
    verbose : bool
        Whether to print a line for each step, and each second in between.

    Examples
    --------
    >>> reporter = Reporter(lambda progress: progress.best < 3)
    >>> reporter.tell("first", best=5.0), reporter.tell("second", best=2.0)
    (False, True)
    >>> reporter.wants_stop
    True
    """

    def __init__(self, callbacks: Any = None, *, verbose: Any = False) -> None:
        self.callbacks = _list_callbacks(callbacks)
        if verbose:
            self.callbacks.append(_Printer())
        self.started = time.monotonic()
        self.wants_stop = False

    @property
    def seconds(self) -> float:
        """The time since the start."""
        return time.monotonic() - self.started

    def tell(
        self,
        name: str = "",
        *,
        best: float | None = None,
        bound: float | None = None,
        cost: float | None = None,
        done: float | None = None,
    ) -> bool:
        """Tell a step; return whether someone has asked to stop."""
        return self.pass_on(Progress(self.seconds, best, bound, name, cost, done))

    def pass_on(self, progress: Progress) -> bool:
        """Tell progress as it is; return whether someone has asked to stop."""
        for callback in self.callbacks:
            if callback(progress) is True:
                self.wants_stop = True
        return self.wants_stop


class _Printer:
    """Prints a line for each step, and signs of life once a second."""

    def __init__(self) -> None:
        self.last = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if progress.cost is not None or now - self.last >= _EVERY:
            self.last = now
            print(progress, flush=True)


def _list_callbacks(given: Any) -> list[Callback]:
    if given is None:
        return []
    if callable(given):
        return [given]
    found = list(given) if isinstance(given, Iterable) else [given]
    if not all(map(callable, found)):
        raise InvalidOptionError(
            "callbacks must be a function, or several of them, that take a Progress. "
            f"Got {given!r}. Leave it out, or write: callbacks=print"
        )
    return found
