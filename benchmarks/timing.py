"""Time two sides against each other, and measure peak memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any


def time_both(
    ours: Callable[[], Any], theirs: Callable[[], Any], repeats: int
) -> tuple[float, float]:
    """Return the least seconds of each side, run by turns to share the noise."""
    best = [float("inf"), float("inf")]
    for _ in range(repeats):
        for side, call in enumerate((ours, theirs)):
            start = time.perf_counter()
            call()
            best[side] = min(best[side], time.perf_counter() - start)
    return best[0], best[1]


def time_processor(
    ours: Callable[[], Any], theirs: Callable[[], Any], repeats: int
) -> tuple[float, float]:
    """Return the least processor seconds of each side, run by turns."""
    best = [float("inf"), float("inf")]
    for _ in range(repeats):
        for side, call in enumerate((ours, theirs)):
            start = time.process_time()
            call()
            best[side] = min(best[side], time.process_time() - start)
    return best[0], best[1]


class PeakMemory:
    """Watch the resident memory of this process; ``extra`` is its rise."""

    def __enter__(self) -> PeakMemory:
        import psutil

        self._process = psutil.Process()
        self.start = self.peak = self._process.memory_info().rss
        self._done = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def _watch(self) -> None:
        while not self._done.wait(0.001):
            self.peak = max(self.peak, self._process.memory_info().rss)

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._watcher.join()
        self.peak = max(self.peak, self._process.memory_info().rss)

    @property
    def extra(self) -> int:
        """Bytes above the start."""
        return self.peak - self.start


def row(what: str, ours: float, theirs: float, least: float) -> dict[str, object]:
    """Return a row of results; ``least`` is the ratio theirs/ours that is asked for."""
    ratio = theirs / ours
    return {
        "what": what,
        "askless": ours,
        "other": theirs,
        "ratio": ratio,
        "asked": f">= {least:g}",
        "met": "yes" if ratio >= least else "no",
    }
