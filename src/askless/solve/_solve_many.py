"""Solve many tables, several at once, and keep what was found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from askless._progress import Callback, Reporter
from askless.policy import Policy
from askless.policy._file import dump, parse
from askless.problem import Table
from askless.problem._sweep import KeptResults, make_key, run_tasks
from askless.solve._solution import Solution
from askless.solve._solve import make_task, solve
from askless.solve._task import FrontPoint, Point

__all__ = ["solve_many"]

# The fields of a solution that hold policies of their own.
FRONTS = ("expected_front", "worst_front")


def solve_many(
    tables: Iterable[Table],
    *,
    n_jobs: int | None = None,
    kept: str | Path | None = None,
    verbose: bool = False,
    callbacks: Callback | Iterable[Callback] | None = None,
    **options: Any,
) -> list[Solution]:
    """Solve many tables, as :func:`solve` does each of them.

    Parameters
    ----------
    tables : iterable of Table
        What to solve.
    n_jobs : int, optional
        How many are solved at once, each by one thread; one by default. They go through
        joblib, so that ``joblib.parallel_config`` chooses processes, threads, or the
        workers of Dask, Ray or Spark.
    kept : str or Path, optional
        A folder in which each solution is kept, and looked for before its table is
        solved: a run that was stopped goes on where it was.
    verbose : bool, default=False
        Print how it goes.
    callbacks : callable or several, optional
        Each is called with a :class:`~askless.solve.Progress` for every table that is
        solved.
    **options
        Options of :func:`solve`, the same for all tables.

    Returns
    -------
    list of Solution
        In the order of the tables.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"])
    >>> cheap, dear = (table.with_costs([1, price]) for price in (1, 5))
    >>> [solution.worst_cost for solution in askless.solve_many([cheap, dear])]
    [2.0, 6.0]
    """
    listed = list(tables)
    keys = [make_key(table, options) for table in listed] if kept is not None else []
    reporter, n_solved = Reporter(callbacks, verbose=verbose), 0

    def tell(i: int, plain: dict[str, Any]) -> None:
        nonlocal n_solved
        n_solved += 1
        name = f"table {i + 1} of {len(listed)}"
        reporter.tell(name, done=n_solved / len(listed), cost=plain["expected_cost"])

    found = run_tasks(
        _solve_plain,
        [(table, options) for table in listed],
        n_jobs=n_jobs,
        on_done=tell,
        kept=None if kept is None else KeptResults(kept),
        keys=keys,
    )
    pairs = zip(found, listed, strict=True)
    return [_read(plain, table, options) for plain, table in pairs]


def _solve_plain(table: Table, options: dict[str, Any]) -> dict[str, Any]:
    """Solve a table; return the solution as what JSON knows."""
    solution = solve(table, n_jobs=1, **options)
    plain: dict[str, Any] = {
        field.name: getattr(solution, field.name)
        for field in fields(solution)
        if field.name != "_task"
    }
    plain["policy"] = _write(solution.policy)
    plain["pareto"] = [[*p[:2], _write(p.policy)] for p in solution.pareto]
    for name in FRONTS:
        plain[name] = [asdict(replace(p, policy=_write(p.policy))) for p in plain[name]]
    return plain


def _read(plain: dict[str, Any], table: Table, options: dict[str, Any]) -> Solution:
    fields_of = dict(plain)
    fields_of["policy"] = parse(plain["policy"].encode())
    fields_of["notes"] = tuple(plain["notes"])
    fields_of["pareto"] = tuple(
        Point(worst, expected, parse(text.encode()))
        for worst, expected, text in plain["pareto"]
    )
    for name in FRONTS:
        fields_of[name] = tuple(
            FrontPoint(**{**point, "policy": parse(point["policy"].encode())})
            for point in plain[name]
        )
    objective, stop = options.get("objective", "expected"), options.get("stop", "class")
    return Solution(**fields_of, _task=make_task(table, objective, stop))


def _write(policy: Policy) -> Any:
    return dump(policy).decode()
