"""The service's file of sessions, damaged or written by a process that is killed.

A damaged file is refused by an error of Askless, or its sessions are replayed. Every
event that a killed process was told was kept is there afterwards, and its sessions come
to the same payments.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import askless
from askless.exceptions import AsklessError
from askless.policy import Policy
from askless.policy._file import dump, policy_digest
from askless.serve.kept._library import Library
from askless.serve.kept._sessions import Sessions, StaleStep
from askless.serve.kept._store import Store

__all__ = [
    "STORE_SEEDS",
    "check_kept",
    "open_sessions",
    "receive_store",
    "step_for_ever",
]

IDS = ("first", "second", "third")


def _policy() -> Policy:
    table = askless.datasets.load_questions()
    return askless.Sequence.from_table(table, stops_early=False)


def open_sessions(path: Path, policy: Policy) -> Sessions:
    """Return the sessions of a file, as the service opens them."""
    store = Store(path)
    try:
        library = Library([("questions", policy)], archive=store)
        return Sessions(library, store)
    except BaseException:
        store.close()
        raise


def _step(sessions: Sessions, session: str, rng: np.random.Generator) -> int:
    """Answer, skip or undo, and return how many events are acknowledged."""
    draw = rng.random()
    live = sessions.find(session)
    test = live.interview.session.test
    if test is None or (draw < 0.1 and live.interview.session.log):
        return sessions.change(session, lambda interview: interview.undo()).step
    if draw < 0.2:
        return sessions.change(session, lambda interview: interview.skip()).step
    outcomes = live.offer.policy.test_by_name[test].outcomes
    answer = outcomes[rng.integers(len(outcomes))]
    return sessions.change(session, lambda interview: interview.answer(answer)).step


def _make_seed(n_steps: int) -> bytes:
    rng = np.random.default_rng(n_steps)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "sessions.db")
        sessions = open_sessions(path, POLICY)
        offer = sessions.library.find("questions")
        sessions.store.keep_policy(offer.digest, dump(POLICY))
        for session in IDS:
            sessions.store.begin(session, "questions", offer.digest, "")
            for _ in range(n_steps):
                _step(sessions, session, rng)
        sessions.store.close()
        return path.read_bytes()


def receive_store(path: Path) -> str:
    """Open a file of sessions, go through all of them, and answer once more."""
    rng = np.random.default_rng(0)
    try:
        sessions = open_sessions(path, POLICY)
    except AsklessError:
        return "refused"
    received = "read"
    try:
        for session in IDS:
            try:
                n_events = sessions.find(session).step
                sessions.store.log(session)
                sessions.store.policy(policy_digest(POLICY))
                step = _step(sessions, session, rng)
                assert step > n_events, "a step was not counted"
                sessions.forget(session)
                assert sessions.find(session).step == step, "a step was not kept"
            except (AsklessError, StaleStep):
                received = "partly read"
    finally:
        sessions.store.close()
    return received


# Kills.


def step_for_ever(
    path: Path, policy: Policy, seed: int, told: Callable[[int, int], None]
) -> None:
    """Begin sessions and move them on; tell which and how many events are kept."""
    rng = np.random.default_rng(seed)
    sessions = open_sessions(path, policy)
    offer = sessions.library.find("questions")
    number = 0
    while True:
        sessions.store.begin(f"s{number}", "questions", offer.digest, "")
        for _ in range(int(rng.integers(1, 30))):
            told(number, _step(sessions, f"s{number}", rng))
        number += 1


def check_kept(path: Path, policy: Policy, told: dict[int, int]) -> int:
    """Replay all sessions of a file; return how many events were acknowledged."""
    sessions = open_sessions(path, policy)
    try:
        for number, n_events in told.items():
            live = sessions.find(f"s{number}")
            assert live.step >= n_events, f"{n_events} acknowledged, {live.step} kept"
            paid = sum(entry.get("paid", 0.0) for entry in live.interview.session.log)
            assert paid == live.interview.session.spent
    finally:
        sessions.store.close()
        for rest in ("", "-wal", "-shm"):
            with_rest = path.with_name(path.name + rest)
            if with_rest.exists():
                os.unlink(with_rest)
    return sum(told.values())


POLICY = _policy()
STORE_SEEDS = [_make_seed(n) for n in (0, 3, 40)]
