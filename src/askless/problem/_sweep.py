"""Run many independent tasks through joblib, and keep what each of them gave.

Whoever is asked to run them (processes, threads, Dask, Ray, Spark) is chosen by
``joblib.parallel_config``; the results and their order do not depend on it. It must not
know what the tasks do.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from askless._disk import write_whole
from askless.exceptions import DataFileError

__all__ = ["KeptResults", "make_key", "run_tasks"]

# What a back end that cannot hand results over one by one gets at a time, in tasks a
# worker: results are kept, and progress is shown, after each such part.
TASKS_A_WORKER = 4


class KeptResults:
    """A folder of results by key, each in a file that is whole or not there.

    Parameters
    ----------
    folder : str or Path
        Where they are; made if it is not there.

    Examples
    --------
    >>> import tempfile
    >>> kept = KeptResults(tempfile.mkdtemp())
    >>> kept.add("a1", {"error": 0.25})
    >>> kept.find("a1"), kept.find("b2")
    ({'error': 0.25}, None)
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataFileError(
                f"Results must be kept in a folder. Got {error}. Name another one."
            ) from error

    def find(self, key: str) -> Any:
        """Return the result of a key; None if there is none, or if it is damaged."""
        try:
            text = self._path(key).read_text(encoding="utf-8")
            return json.loads(text)["result"]
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def add(self, key: str, result: Any) -> None:
        """Write a result, which must be made of what JSON knows."""
        text = json.dumps({"key": key, "result": result})
        try:
            write_whole({self._path(key): text.encode()})
        except OSError as error:
            raise DataFileError(
                f"Results must be written whole. Got {error}. Free some space, or "
                "name another folder; what is there already will be used."
            ) from error

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.json"


def make_key(*parts: Any) -> str:
    """Return a key that is the same for the same parts and version of Askless.

    Examples
    --------
    >>> make_key("tree", 1) == make_key("tree", 1) != make_key("tree", 2)
    True
    """
    import joblib

    try:
        release = version("askless")
    except PackageNotFoundError:
        release = ""
    found: str = joblib.hash((release, parts), hash_name="sha1")
    return found


def run_tasks(
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    *,
    n_jobs: int | None = None,
    on_done: Callable[[int, Any], object] | None = None,
    kept: KeptResults | None = None,
    keys: Sequence[str] = (),
) -> list[Any]:
    """Return ``function(*task)`` for each task, in their order.

    Parameters
    ----------
    function : callable
        What to run. It and its results must pickle, unless nothing but this process
        runs them.
    tasks : sequence of tuple
        The arguments of each call.
    n_jobs : int, optional
        How many run at once; by default what ``joblib.parallel_config`` says, else one.
    on_done : callable, optional
        Told the position and the result of each task that is done, in any order. If it
        returns True, no more are begun, and those not done have the result None.
    kept : KeptResults, optional
        Where results are looked up before, and written to when they come.
    keys : sequence of str
        The key of each task, if results are kept.

    Examples
    --------
    >>> run_tasks(pow, [(2, 3), (3, 2)])
    [8, 9]
    """
    found: dict[int, Any] = {}
    for i, result in _run_all(function, tasks, n_jobs, kept, keys):
        found[i] = result
        if on_done is not None and on_done(i, result) is True:
            break
    return [found.get(i) for i in range(len(tasks))]


def _run_all(
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    n_jobs: int | None,
    kept: KeptResults | None,
    keys: Sequence[str],
) -> Iterator[tuple[int, Any]]:
    """Yield the number and the result of each task: first what is kept, then others."""
    left = []
    for i, task in enumerate(tasks):
        result = None if kept is None else kept.find(keys[i])
        if result is None:
            left.append((i, task))
        else:
            yield i, result
    for i, result in _stream(function, left, n_jobs):
        if kept is not None:
            kept.add(keys[i], result)
        yield i, result


def _stream(
    function: Callable[..., Any], numbered: list[tuple[int, Any]], n_jobs: int | None
) -> Iterator[tuple[int, Any]]:
    """Yield the number and the result of each task, as they come."""
    if not numbered:
        return
    from joblib import Parallel, delayed

    calls = [delayed(_call)(function, i, task) for i, task in numbered]
    probe = Parallel(n_jobs=n_jobs)
    if probe._backend.supports_return_generator:
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
        yield from parallel(calls)
        return
    size = TASKS_A_WORKER * max(1, abs(probe._effective_n_jobs()))
    for start in range(0, len(calls), size):
        yield from Parallel(n_jobs=n_jobs)(calls[start : start + size])


def _call(function: Callable[..., Any], i: int, task: Any) -> tuple[int, Any]:
    return i, function(*task)
