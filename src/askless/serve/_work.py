"""Where work is done: quick work at once, longer work aside and only for so long."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import anyio
import anyio.to_thread

from askless.serve._respond import Busy

__all__ = ["Paces", "Workers"]

Result = TypeVar("Result")


# A step that takes at most so long may hold up the others.
QUICK_SECONDS = 0.002
# So many steps in a row must have been quick.
N_STEPS = 20


class Paces:
    """How long the last steps of each policy took.

    Examples
    --------
    >>> paces = Paces()
    >>> for _ in range(20):
    ...     paces.note("sha256:0", 0.0001)
    >>> paces.is_quick("sha256:0"), paces.is_quick("sha256:1")
    (True, False)
    """

    def __init__(self) -> None:
        # How many quick steps there were since the last slow one.
        self._n_quick: dict[str, int] = {}

    def note(self, digest: str, seconds: float) -> None:
        """Note how long a step took."""
        n_before = self._n_quick.get(digest, 0)
        self._n_quick[digest] = n_before + 1 if seconds <= QUICK_SECONDS else 0

    def is_quick(self, digest: str) -> bool:
        """Return whether the last steps of a policy were all quick."""
        return self._n_quick.get(digest, 0) >= N_STEPS


class Workers:
    """Threads for what may take longer than others should wait.

    Parameters
    ----------
    n_workers : int
        How many there are at most.
    """

    def __init__(self, n_workers: int) -> None:
        self._n_workers = n_workers
        self._limiter: anyio.CapacityLimiter | None = None

    async def run(
        self,
        work: Callable[[], Result],
        *,
        seconds: float = math.inf,
        is_quick: bool = False,
    ) -> Result:
        """Do some work.

        Parameters
        ----------
        work : callable
            What to do; it is not stopped if it takes too long, only left alone.
        seconds : float, optional
            How long to wait for it, and for a free thread.
        is_quick : bool, default=False
            Do it here and now.

        Raises
        ------
        Busy
            If it takes longer.
        """
        if is_quick:
            return work()
        if self._limiter is None:
            # Belongs to the loop that runs the service.
            self._limiter = anyio.CapacityLimiter(self._n_workers)
        with anyio.move_on_after(seconds):
            return await anyio.to_thread.run_sync(
                work, abandon_on_cancel=True, limiter=self._limiter
            )
        raise Busy(f"This must take at most {seconds:g} seconds. It took longer.")
