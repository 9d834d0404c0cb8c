"""Little memory and little time: an error of Python's or an answer in time, no crash.

Work is done in a child whose address space is limited to a little more than it has.
It must end by itself, with what was asked for or with MemoryError. And a time limit
that was given to an anytime method is held within a fifth of itself, and half a second
for what lies around it.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np

import askless
from askless.exceptions import AsklessError
from campaign.target import Budget, Tally

__all__ = ["make_works", "try_limits", "with_little_memory"]

MEGABYTE = 1 << 20
# Besides a fifth of the limit: reading, coding, writing the policy down.
AROUND = 0.5
# Whoever has the processor for a smaller share of the time than this is kept waiting by
# others, and not judged.
BUSY = 0.7
# What a time limit is given to.
SOLVED = ("solve", "solve worst", "solve unknown")
LEARNERS = {
    "LSID3": askless.LSID3Classifier,
    "ACT": askless.ACTClassifier,
    "ICET": askless.ICETClassifier,
    "cost tree": askless.CostTreeClassifier,
}
FINE, NO_MEMORY, REFUSED, WRONG = 0, 10, 11, 12


def _table(rng: np.random.Generator, n_cases: int, n_tests: int) -> askless.Table:
    outcomes = rng.integers(0, 3, size=(n_cases, n_tests))
    return askless.Table(outcomes, rng.integers(0, 9, n_cases).tolist())


def _rows(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    X = rng.normal(size=(n, 12))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] > rng.normal(size=n)).astype(int)


def make_works(rng: np.random.Generator) -> dict[str, Callable[[], object]]:
    """Return what is done with little memory; inputs are made before the limit."""
    table, (X, y) = _table(rng, 400, 60), _rows(rng, 150_000)
    tree = askless.GreedyTreeClassifier(max_depth=8).fit(X, y)
    forest = askless.BudgetForestClassifier(n_estimators=5, random_state=0)
    forest.fit(X[:2000], y[:2000])
    return {
        "solve": lambda: askless.solve(table, time_limit=2),
        "solve greedily": lambda: askless.solve(table, method="greedy"),
        "learn a tree": lambda: askless.GreedyTreeClassifier().fit(X, y),
        "learn a forest": lambda: askless.BudgetForestClassifier(
            n_estimators=5, random_state=0
        ).fit(X, y),
        "learn a cost tree": lambda: askless.CostTreeClassifier(
            mistakes=20, time_limit=2, random_state=0
        ).fit(X[:3000], y[:3000]),
        "learn a cost tree in threads": lambda: askless.CostTreeClassifier(
            mistakes=20, time_limit=2, random_state=0, n_jobs=2
        ).fit(X[:3000], y[:3000]),
        "learn a forest in threads": lambda: askless.BudgetForestClassifier(
            n_estimators=5, random_state=0, n_jobs=2
        ).fit(X, y),
        "solve in threads": lambda: askless.solve(table, time_limit=2, n_jobs=2),
        "predict in threads": lambda: tree.policy_.predict(X, n_jobs=2),
        "predict by a tree": lambda: tree.predict(X),
        "predict by a forest": lambda: forest.predict(X),
        "load": lambda: askless.policy._file.parse(
            askless.policy._file.dump(forest.policy_)
        ),
    }


def _used() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def with_little_memory(work: Callable[[], object], room: int) -> int:
    """Return how a child ended that may use so many more bytes: see the codes above."""
    import resource

    child = os.fork()
    if child == 0:
        code = WRONG
        try:
            warnings.simplefilter("ignore")
            signal.alarm(120)
            limit = _used() + room
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            try:
                work()
                code = FINE
            except MemoryError:
                code = NO_MEMORY
            except AsklessError:
                code = REFUSED
            except BaseException:
                traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert not os.WIFSIGNALED(status), f"killed by signal {os.WTERMSIG(status)}"
    code = os.WEXITSTATUS(status)
    assert code in (FINE, NO_MEMORY, REFUSED), f"ended with {code}"
    return code


def _limited(name: str, limit: float, rng: np.random.Generator) -> Callable[[], object]:
    """Return some work that was given a time limit."""
    if name in LEARNERS:
        X, y = _rows(rng, 3000)
        options = {"time_limit": limit, "random_state": 0}
        if name != "LSID3":
            options["mistakes"] = 30
        if name == "ICET":
            options["trials"] = 10**6
        return partial(LEARNERS[name](**options).fit, X, y)
    table = _table(rng, 300, 40)
    if name == "solve unknown":
        cells = rng.integers(0, 2, size=(64, 40)).astype(object)
        cells[rng.random(cells.shape) < 0.3] = None
        table = askless.Table(cells, list(range(64)))
    objective = "worst" if name == "solve worst" else "expected"
    return partial(askless.solve, table, objective=objective, time_limit=limit)


def _hold_time(rng: np.random.Generator) -> tuple[str, float, float, float]:
    """Return what was limited, the limit, how long it took, and its processor time."""
    limit = float(rng.choice([0.3, 1.0, 2.5]))
    name = str(rng.choice([*SOLVED, *LEARNERS]))
    work = _limited(name, limit, rng)
    start, before = time.monotonic(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        work()
    return name, limit, time.monotonic() - start, time.process_time() - before


def try_limits(budget: Budget, tally: Tally) -> None:
    """Try little memory and little time by turns until the time is over."""
    rng = np.random.default_rng(budget.seed)
    works = make_works(rng) if sys.platform == "linux" else {}
    if not works:
        tally.notes.append("limits on memory are tried on Linux only")
    while not budget.is_over:
        for name, work in works.items():
            room = int(rng.choice([0, 0.25, 1, 4, 16, 64, 256]) * MEGABYTE)
            try:
                code = with_little_memory(work, room)
                ends = {FINE: "done", NO_MEMORY: "MemoryError", REFUSED: "refused"}
                tally.counts[f"little memory: {ends[code]}"] += 1
            except AssertionError as error:
                tally.find("memory", f"{name} {room}".encode(), ".txt", error)
            if budget.is_over:
                return
        seed = int(rng.integers(2**31))
        name, limit, took, _ = _hold_time(np.random.default_rng(seed))
        tally.counts["time limits"] += 1
        if took > 1.2 * limit + AROUND:
            late = AssertionError(f"{name}: {took:.2f} s with a limit of {limit} s")
            # Once may be the machine's fault.
            *_, took, worked = _hold_time(np.random.default_rng(seed))
            if took <= 1.2 * limit + AROUND:
                tally.counts["time limits held at the second try"] += 1
            elif worked < BUSY * took:
                tally.counts["time limits not judged: others had the processor"] += 1
            else:
                tally.find("time", f"{name} {seed}".encode(), ".txt", late)
