"""What a service does at most, so that no request takes all of it.

Each limit is a number; what is done when one is reached is decided where it is.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """The limits of a service.

    Attributes
    ----------
    max_body : int
        Bytes that the body of a request may have.
    max_sessions : int
        Sessions that are kept.
    body_seconds : float
        How long the body of a request may be on its way.
    step_seconds : float
        How long a step may take.
    decide_seconds : float
        How long rows may take to be decided.
    solve_seconds : float
        How long a search in the studio may take.
    n_searches : int
        Searches in the studio at a time.
    n_workers : int
        Threads for steps that are not quick.
    """

    max_body: int = 8 * 1024 * 1024
    max_sessions: int = 10_000_000
    body_seconds: float = 20.0
    step_seconds: float = 10.0
    decide_seconds: float = 60.0
    solve_seconds: float = 60.0
    n_searches: int = 2
    n_workers: int = 8
