"""Count the threads that ``n_jobs`` stands for.

One meaning for the whole package, and the one place that knows when threads must not be
started: for little work, with little memory, and in a process that was forked from one
which had some. It must not know what the threads do.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from askless.exceptions import InvalidOptionError

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

__all__ = ["count_threads", "starting_threads", "threads_for"]

# Address space that must be left for each thread where it is limited: its stack, its
# heap, and what it works on. OpenMP ends the process if a thread does not start.
ROOM = 256 * 1024 * 1024
# The same for one thread that must be started. One that runs out of memory before it
# runs leaves whoever started it waiting for ever, or ends the process.
LEAST_ROOM = 32 * 1024 * 1024


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
    n_threads = min(n_threads, max(1, _find_room() // ROOM))
    _Threads.were_started = _Threads.were_started or n_threads > 1
    return n_threads


def _find_room() -> int:
    """Return how many bytes of address space are left; very many if not limited."""
    if resource is None:
        return sys.maxsize
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return sys.maxsize
    try:
        with open("/proc/self/statm", "rb") as file:
            used = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        # Not Linux: what is used cannot be asked for.
        return LEAST_ROOM
    return max(0, limit - used)


@contextmanager
def starting_threads() -> Iterator[None]:
    """Raise MemoryError where there is no room for a thread, or it does not start.

    Examples
    --------
    >>> with starting_threads():
    ...     raise RuntimeError("can't start new thread")
    Traceback (most recent call last):
    MemoryError: A thread must have room. Got too little memory for it.
    """
    refusal = MemoryError("A thread must have room. Got too little memory for it.")
    if _find_room() < LEAST_ROOM:
        raise refusal
    try:
        yield
    except RuntimeError as error:
        if "can't start new thread" not in str(error):
            raise
        raise refusal from error


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
