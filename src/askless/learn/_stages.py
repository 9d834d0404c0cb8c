"""What a learner that takes its time tells: its stages, and why it was stopped.

This module must not know what is learned.
"""

from __future__ import annotations

import sys
import time
import warnings

from askless._progress import Progress, Reporter
from askless.exceptions import StoppedEarlyWarning

__all__ = ["StageLog", "count_frames", "warn_greedy_only", "warn_interrupted"]


class StageLog:
    """The stages so far, each told when it ends.

    Examples
    --------
    >>> log = StageLog(Reporter(lambda stage: print(stage.name, stage.best)))
    >>> log.add("greedy", 7.0, 5.0)
    greedy 5.0
    False
    >>> len(log.stages)
    1
    """

    def __init__(self, reporter: Reporter) -> None:
        self.reporter = reporter
        self.start = time.monotonic()
        self.stages: list[Progress] = []

    @property
    def seconds(self) -> float:
        """The time since the start."""
        return time.monotonic() - self.start

    def add(
        self, name: str, cost: float, best: float, done: float | None = None
    ) -> bool:
        """Note a stage: what it found, the best so far, and how much of all is done.

        Returns whether someone has asked to stop.
        """
        stage = Progress(self.seconds, best, None, name, cost, done)
        self.stages.append(stage)
        return self.reporter.pass_on(stage)

    def sign(self, name: str, done: float | None = None) -> bool:
        """Tell what is going on, in the middle of a stage."""
        best = self.stages[-1].best if self.stages else None
        sign = Progress(self.seconds, best, None, name, None, done)
        return self.reporter.pass_on(sign)


def count_frames() -> int:
    """Return the ``stacklevel`` of a warning that points to who called Askless.

    Examples
    --------
    >>> count_frames() >= 1
    True
    """
    frame, level = sys._getframe(1), 1
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("askless."):
        frame, level = frame.f_back, level + 1
    return level


def warn_greedy_only(time_limit: float, seconds: float) -> None:
    """Warn that there was no time for more than the greedy tree."""
    warnings.warn(
        "time_limit must leave time for more than the greedy tree. Got "
        f"{time_limit:g} s, and the greedy tree alone took {seconds:.2g} s. It is "
        "returned; allow more time for a better one.",
        StoppedEarlyWarning,
        stacklevel=count_frames(),
    )


def warn_interrupted(
    what: str = "Interrupted: the best tree so far is returned.",
) -> None:
    """Warn that the user has interrupted the learner."""
    warnings.warn(what, StoppedEarlyWarning, stacklevel=count_frames())
