"""Many at once: threads that share a policy, processes that share a log.

Every kind of policy is run by eight threads at a time; each case must come to what one
thread alone comes to, without an error. Of several processes that write one log, one
is served and the others are refused, and the log replays.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np

import askless
from askless.exceptions import LogInUseError
from askless.policy import Policy
from askless.run import Interview, Journal, replay_log
from campaign.target import Budget, Tally
from tests.policy.examples import EXAMPLES, make_example
from tests.strategies import random_rows

__all__ = ["fight_for_a_log", "raise_storm", "try_storms"]

N_THREADS = 8
N_CASES = 200


def _walk(policy: Policy, rows: dict[str, Any], case: int) -> tuple[Any, float, int]:
    session = policy.start()
    while session.test is not None:
        session.answer(rows[session.test][case], allow_unseen=True)
    return session.decision, session.spent, len(session.log)


def raise_storm(name: str, seed: int) -> int:
    """Run one policy, fresh from its maker, by several threads; return the cases."""
    rng = np.random.default_rng(seed)
    alone = make_example(name)
    rows = random_rows(rng, alone.tests, N_CASES)
    expected = [_walk(alone, rows, case) for case in range(N_CASES)]
    decided = alone.predict(rows).tolist()
    # A new object: what it remembers between cases is filled by all threads at once.
    shared = make_example(name)
    errors: list[BaseException] = []
    start = threading.Barrier(N_THREADS)

    def work(number: int) -> None:
        order = np.random.default_rng(seed + number).permutation(N_CASES)
        start.wait()
        try:
            for case in order.tolist():
                found = _walk(shared, rows, case)
                assert found == expected[case], f"case {case}: {found}"
            assert shared.predict(rows).tolist() == decided, "predict differs"
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(N_THREADS)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    if errors:
        raise errors[0]
    report = shared.run_many(
        lambda case, test: rows[test][case], range(N_CASES), max_workers=N_THREADS
    )
    bought = [(r.decision, r.spent) for r in report.results]
    assert bought == [(d, s) for d, s, _ in expected], "run_many differs"
    return N_CASES * (N_THREADS + 1)


def _write_log(path: str, seed: int, results: Any) -> None:
    """Try to go on with a log; tell what came of it."""
    policy = _log_policy()
    rng = np.random.default_rng(seed)
    served = refused = 0
    for _ in range(6):
        try:
            interview = Interview.resume(policy, path)
        except LogInUseError:
            refused += 1
            continue
        for _ in range(int(rng.integers(1, 4))):
            if not interview.is_over:
                interview.answer("yes" if rng.random() < 0.5 else "no")
                served += 1
        interview.journal.close()
    results.put((served, refused))


def _log_policy() -> Policy:
    table = askless.datasets.load_questions()
    return askless.Sequence.from_table(table, stops_early=False)


def fight_for_a_log(seed: int) -> tuple[int, int]:
    """Let three processes write one log; return answers served and writers refused."""
    context = multiprocessing.get_context("spawn")
    policy = _log_policy()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "case.jsonl"))
        Interview(policy, Journal.create(path, policy)).close()
        results = context.SimpleQueue()
        writers = [
            context.Process(target=_write_log, args=(path, seed + i, results))
            for i in range(3)
        ]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join(120)
            assert writer.exitcode == 0, f"a writer ended with {writer.exitcode}"
        told = [results.get() for _ in writers]
        served = sum(each[0] for each in told)
        logged = len(replay_log(path, policy).log)
        assert logged == served, f"{served} answers were served, {logged} are logged"
        return served, sum(each[1] for each in told)


def try_storms(budget: Budget, tally: Tally) -> None:
    """Raise storms until the time is over."""
    rng = np.random.default_rng(budget.seed)
    names = list(EXAMPLES)
    while not budget.is_over:
        for name in names:
            seed = int(rng.integers(2**31))
            try:
                tally.counts["cases run by eight threads"] += raise_storm(name, seed)
            except Exception as error:
                tally.find("storm", f"{name} {seed}".encode(), ".txt", error)
            tally.counts["thread storms"] += 1
            if budget.is_over:
                break
        seed = int(rng.integers(2**31))
        try:
            served, refused = fight_for_a_log(seed)
            tally.counts["answers of competing writers"] += served
            tally.counts["writers refused"] += refused
        except Exception as error:
            tally.find("writers", str(seed).encode(), ".txt", error)
        tally.counts["logs fought for"] += 1
