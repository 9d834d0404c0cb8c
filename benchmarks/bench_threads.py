"""Threads that share a policy: every kind, 8 threads x 100,000 cases, and no error.

The threads begin on a policy in which nothing has been worked out, take turns twenty
times as often as usual, and draw their cases from the same 5,000; each case must ask
and decide what it does alone.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from bench_serve import make_policies
from numpy.typing import NDArray

from askless.policy import Policy

sys.path.insert(0, str(Path(__file__).parent.parent))

Row = dict[str, object]
Course = tuple[tuple[int, ...], Any]
LARGE = ("adaptive", "rule")
# The same machine as another rule, with other scores.
LEFT_OUT = ("rule gbs", "rule ec2")
N_THREADS, N_CASES, N_DISTINCT = 8, 100_000, 5_000
SWITCH_SECONDS = 0.00025


def run(quick: bool) -> list[Row]:
    """Return a row for each kind of policy, and for the large ones that are served."""
    from tests.policy.test_threads import KINDS, make_policy

    n_cases = N_CASES // (200 if quick else 1)
    rows = [
        measure(kind, make_policy(kind, np.random.default_rng(0)), n_cases)
        for kind in KINDS
        if kind not in LEFT_OUT
    ]
    for name, policy in make_policies().items():
        if name in LARGE:
            rows.append(measure(f"{name}, large", policy, n_cases))
    return rows


def measure(kind: str, policy: Policy, n_cases: int) -> Row:
    """Let threads share a policy; count the cases that went elsewhere."""
    rng = np.random.default_rng(1)
    codes = np.column_stack(
        [rng.integers(0, max(test.n_levels, 1), N_DISTINCT) for test in policy.tests]
    )
    started = time.perf_counter()
    with _taking_turns(), ThreadPoolExecutor(N_THREADS) as pool:
        work = [pool.submit(_work, policy, codes, i, n_cases) for i in range(N_THREADS)]
        found = [done.result() for done in work]
    seconds = time.perf_counter() - started
    alone = [_follow(policy, case) for case in codes]
    n_steps, n_errors, n_wrong = 0, 0, 0
    for i, course in chain.from_iterable(found):
        n_steps += len(alone[i][0])
        n_errors += isinstance(course, Exception)
        n_wrong += course != alone[i]
    row: Row = {
        "policy": kind,
        "threads": N_THREADS,
        "cases each": n_cases,
        "steps": n_steps,
        "errors": n_errors,
        "other than alone": n_wrong,
        "seconds": seconds,
        "met": "yes" if n_wrong == 0 else "no",
    }
    print(row, flush=True)
    return row


@contextmanager
def _taking_turns() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


def _work(
    policy: Policy, codes: NDArray[Any], thread: int, n_cases: int
) -> list[tuple[int, Course | Exception]]:
    order = np.random.default_rng(thread).integers(0, len(codes), n_cases).tolist()
    return [(i, _try_case(policy, codes[i])) for i in order]


def _try_case(policy: Policy, case: NDArray[Any]) -> Course | Exception:
    try:
        return _follow(policy, case)
    except Exception as error:
        return error


def _follow(policy: Policy, case: NDArray[Any]) -> Course:
    """Return what a case is asked, and what is decided."""
    state, asked = policy.initial_state(), []
    while (test := policy.next_test(state)) is not None:
        asked.append(test)
        state = policy.advance(state, int(case[test]))
    return tuple(asked), policy.answer(state)
