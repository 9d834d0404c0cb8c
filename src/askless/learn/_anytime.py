"""Run compiled work that can be told to stop: by a clock, or by Ctrl-C.

The work runs in a thread of its own and looks at a flag; the caller's thread waits,
watches the clock and hears Ctrl-C. It must not know what the work is.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from askless.problem._jobs import starting_threads

__all__ = ["StopFlag", "run_until"]

Ending = Literal["done", "time", "interrupt"]

# How long a thread that was told to start may take to do so, in seconds.
_START = 1.0
# How often the waiting thread wakes to look at the clock and at signals, in seconds.
_TICK = 0.05


class StopFlag:
    """A flag that compiled code can see, and why it was raised."""

    def __init__(self) -> None:
        self.array: NDArray[np.int32] = np.zeros(1, dtype=np.int32)

    def __bool__(self) -> bool:
        return bool(self.array[0])

    def raise_it(self) -> None:
        """Ask the work to stop."""
        self.array[0] = 1


def run_until(
    work: Callable[[], Any], flag: StopFlag, time_limit: float | None
) -> Ending:
    """Run work until it is done, or its time is over, or Ctrl-C; then let it finish.

    The work must notice the flag soon. Its errors are raised here.

    Examples
    --------
    >>> run_until(lambda: None, StopFlag(), None)
    'done'
    """
    errors: list[BaseException] = []
    # Ctrl-C in the middle of Thread.join may take a thread for ended that is not.
    begun, done = threading.Event(), threading.Event()

    def run() -> None:
        begun.set()
        try:
            work()
        except BaseException as error:
            # Raised again by the caller.
            errors.append(error)
        finally:
            done.set()

    worker = threading.Thread(target=run, name="askless-learn", daemon=True)
    deadline = None if time_limit is None else time.monotonic() + time_limit
    ending: Ending = "done"
    try:
        with starting_threads():
            worker.start()
    except KeyboardInterrupt:
        # Thread.start waits for the thread; by then it mostly runs.
        ending = "interrupt"
        flag.raise_it()
        if not begun.wait(_START):
            raise
    while not done.is_set():
        try:
            left = _TICK if deadline is None else deadline - time.monotonic()
            done.wait(max(0.0, min(_TICK, left)))
            if deadline is not None and not flag and time.monotonic() >= deadline:
                ending = "time" if ending == "done" else ending
                flag.raise_it()
        except KeyboardInterrupt:
            ending = "interrupt"
            flag.raise_it()
    worker.join()
    if errors:
        raise errors[0]
    return ending
