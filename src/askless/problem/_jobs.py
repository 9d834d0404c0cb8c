"""Count the threads that ``n_jobs`` stands for.

One meaning for the whole package. It must not know what the threads do.
"""

from __future__ import annotations

import os

from askless.exceptions import InvalidOptionError

__all__ = ["count_threads"]


def count_threads(n_jobs: int | None) -> int:
    """Return how many threads ``n_jobs`` stands for, at most one for each core.

    ``None`` is one thread, -1 one for each core, -2 one fewer, and so on.

    Raises
    ------
    InvalidOptionError
        If ``n_jobs`` is 0.

    Examples
    --------
    >>> count_threads(None), count_threads(1), count_threads(-1) >= 1
    (1, 1, True)
    """
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise InvalidOptionError(
            "n_jobs must be a number of threads, or -1 for one on each core. Got 0. "
            "Leave it out to use one thread."
        )
    n_cores = os.cpu_count() or 1
    return min(int(n_jobs), n_cores) if n_jobs > 0 else max(1, n_cores + 1 + n_jobs)
