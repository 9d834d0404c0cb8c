"""Count the threads that ``n_jobs`` stands for.

One meaning for the whole package, and the one place that knows when threads must not be
started: for little work, and in a process that was forked from one which had some. It
must not know what the threads do.
"""

from __future__ import annotations

import os

from askless.exceptions import InvalidOptionError

__all__ = ["count_threads", "threads_for"]


class _Threads:
    """What this process knows of threads."""

    # Whether more than one was asked for, here or before a fork.
    were_started = False
    # Whether such threads were left behind by a fork. OpenMP waits for them for ever.
    are_lost = False


def _note_fork() -> None:
    _Threads.are_lost = _Threads.were_started


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def count_threads(n_jobs: int | None) -> int:
    """Return how many threads ``n_jobs`` stands for, at most one for each core.

    ``None`` is one thread, -1 one for each core, -2 one fewer, and so on. A process
    forked from one that had several has one.

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
    n_threads = (
        min(int(n_jobs), n_cores) if n_jobs > 0 else max(1, n_cores + 1 + n_jobs)
    )
    if n_threads == 1 or _Threads.are_lost:
        return 1
    _Threads.were_started = True
    return n_threads


def threads_for(n_jobs: int | None, work: float, least: float) -> int:
    """Return how many threads to start for an amount of work: one for little of it.

    Threads that have nothing to do wait by spinning, which costs a core some
    milliseconds each time.

    Parameters
    ----------
    n_jobs : int or None
        See :func:`count_threads`.
    work, least : float
        How much there is to do, and how much is worth a second thread.

    Examples
    --------
    >>> threads_for(-1, 10, least=1e6)
    1
    """
    if work < least and n_jobs != 0:
        return 1
    return count_threads(n_jobs)
