"""What a method is told and what it gives back: limits in, a policy and a bound out."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from askless.policy import Policy

__all__ = ["Answer", "Limits", "Point", "Priced", "Progress"]


class Progress(NamedTuple):
    """Where an anytime method stands.

    Attributes
    ----------
    seconds : float
        How long it has run.
    best : float or None
        Cost of the best policy so far.
    bound : float
        No policy without error costs less.
    """

    seconds: float
    best: float | None
    bound: float


@dataclass(frozen=True)
class Limits:
    """How long a method may run, and whom it tells how it goes."""

    time_limit: float | None = None
    progress: Callable[[Progress], object] | None = None
    n_jobs: int = 2
    started: float = field(default_factory=time.monotonic)

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    def left(self, otherwise: float = 1e9) -> float:
        """Return the seconds that are left."""
        limit = otherwise if self.time_limit is None else self.time_limit
        return max(0.0, limit - self.elapsed)


class Point(NamedTuple):
    """A trade-off that no policy beats in both costs."""

    worst_cost: float
    expected_cost: float
    policy: Policy


class Priced(NamedTuple):
    """What a policy costs that is not a tree.

    Attributes
    ----------
    expected_cost, worst_cost, error : float
    is_exact : bool
        Whether the numbers are computed, not sampled.
    margin : float
        Half the width of the 99 % interval of a sampled expected cost.
    """

    expected_cost: float
    worst_cost: float
    error: float
    is_exact: bool = True
    margin: float = 0.0


class Answer(NamedTuple):
    """What a method has found.

    Attributes
    ----------
    policy : Policy
    lower_bound : float
        Of the objective; 0 if the method proves nothing.
    bound_name : str
        What proved it.
    winner : str
        The method that found the policy, if it was chosen among several.
    pareto : tuple of Point
        The trade-offs of worst and expected cost, if they were asked for.
    priced : Priced or None
        What the policy costs, if it is not a tree.
    notes : tuple of str
        Remarks on the answer.
    """

    policy: Policy
    lower_bound: float = 0.0
    bound_name: str = ""
    winner: str = ""
    pareto: tuple[Point, ...] = ()
    priced: Priced | None = None
    notes: tuple[str, ...] = ()
