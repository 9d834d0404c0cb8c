"""Processes killed at any moment, disks that fill up, power that fails.

A child interviews itself and writes every step that it was told was done to a pipe. It
is killed with SIGKILL at a random moment; afterwards the log must replay, and must hold
every step that the child had acknowledged. A policy that is being saved over another is
the old one or the new one, never half of each. For a power cut, every write and every
name that was not synced is dropped, and the same must hold.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import askless
from askless.exceptions import AsklessError, LogWriteError
from askless.policy import Policy
from askless.policy._file import dump
from askless.run import Interview, Journal, replay_log
from campaign.stores import check_kept, open_sessions, step_for_ever
from campaign.target import Budget, Tally

__all__ = ["try_crashes"]


def _policy() -> Policy:
    table = askless.datasets.load_questions()
    return askless.Sequence.from_table(table, stops_early=False)


def _answer(interview: Interview, rng: np.random.Generator) -> None:
    policy = interview.session.policy
    outcomes = policy.test_by_name[interview.session.test].outcomes
    draw = rng.random()
    if draw < 0.1 and interview.session.log:
        interview.undo()
    elif draw < 0.2:
        interview.skip()
    else:
        interview.answer(outcomes[rng.integers(len(outcomes))])


def _interview_for_ever(
    path: Path, policy: Policy, seed: int, told: Callable[[int], None]
) -> None:
    """Interview on and on in one log, and tell how many lines are acknowledged."""
    rng = np.random.default_rng(seed)
    interview = Interview.resume(policy, path)
    while True:
        if interview.is_over or rng.random() < 0.02:
            interview.close()
            interview = Interview.resume(policy, path)
            while interview.session.log:
                interview.undo()
        else:
            _answer(interview, rng)
        told(interview.journal.n_lines)


def _save_for_ever(path: Path, policies: list[Policy]) -> None:
    while True:
        for policy in policies:
            policy.save(path)


def _in_child(work: Callable[[], None]) -> int:
    """Start a child that does some work until it is killed, and return its id."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(3)
    return child


def _kill_after(child: int, seconds: float) -> None:
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "the child ended by itself: see its traceback"


def _kill_one_interview(folder: Path, policy: Policy, rng: np.random.Generator) -> int:
    """Kill a process that logs; return how many lines it had acknowledged."""
    path = folder / "case.jsonl"
    path.unlink(missing_ok=True)
    Interview(policy, Journal.create(path, policy)).close()
    read, write = os.pipe()
    seed = int(rng.integers(2**32))

    def tell(n_lines: int) -> None:
        os.write(write, n_lines.to_bytes(4, "little"))

    child = _in_child(lambda: _interview_for_ever(path, policy, seed, tell))
    os.close(write)
    _kill_after(child, float(rng.uniform(0.001, 0.06)))
    told = _read_all(read)
    whole = len(told) // 4 * 4
    n_told = int.from_bytes(told[whole - 4 : whole], "little") if whole else 1
    lines = path.read_bytes().count(b"\n")
    assert lines >= n_told, f"{n_told} lines were acknowledged, {lines} are there"
    replay_log(path, policy)
    interview = Interview.resume(policy, path)
    if not interview.is_over:
        interview.skip()
    interview.close()
    replay_log(path, policy)
    return n_told


def _kill_one_service(folder: Path, policy: Policy, rng: np.random.Generator) -> int:
    """Kill a process that keeps sessions; return the events it had acknowledged."""
    path = folder / "sessions.db"
    open_sessions(path, policy).store.close()
    read, write = os.pipe()
    seed = int(rng.integers(2**32))

    def tell(session: int, n_events: int) -> None:
        os.write(write, session.to_bytes(4, "little") + n_events.to_bytes(4, "little"))

    child = _in_child(lambda: step_for_ever(path, policy, seed, tell))
    os.close(write)
    _kill_after(child, float(rng.uniform(0.001, 0.1)))
    told = _read_all(read)
    pairs = np.frombuffer(told[: len(told) // 8 * 8], dtype="<u4").reshape(-1, 2)
    return check_kept(path, policy, dict(pairs.tolist()))


def _read_all(descriptor: int) -> bytes:
    told = b""
    while part := os.read(descriptor, 65536):
        told += part
    os.close(descriptor)
    return told


def _kill_one_save(
    folder: Path, policies: list[Policy], known: set[bytes], rng: np.random.Generator
) -> None:
    path = folder / "policy.json"
    policies[0].save(path)
    child = _in_child(lambda: _save_for_ever(path, policies))
    _kill_after(child, float(rng.uniform(0.001, 0.05)))
    assert path.read_bytes() in known, "a policy file is neither the old nor the new"
    askless.load(path)
    for draft in folder.glob(".askless-*"):
        draft.unlink()


def _fill_disk(folder: Path, policy: Policy, rng: np.random.Generator) -> None:
    """Run into a limit on the size of files at a random byte, then go on."""
    import resource

    path = folder / "full.jsonl"
    path.unlink(missing_ok=True)
    interview = Interview(policy, Journal.create(path, policy))
    room = path.stat().st_size + int(rng.integers(0, 600))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    n_told = 0
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, most))
        try:
            while not interview.is_over:
                _answer(interview, rng)
                n_told = interview.journal.n_lines
        except LogWriteError:
            pass
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    session = replay_log(path, policy)
    assert session.log == interview.session.log, "the log and the session differ"
    while not interview.is_over:
        _answer(interview, rng)
    interview.close()
    assert interview.journal.n_lines >= n_told
    assert replay_log(path, policy).spent == interview.session.spent


class _Disk:
    """What would be left of a log if the power failed: what was synced.

    Writes since the last sync may be there whole, in part or not at all.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.synced = path.read_bytes()

    def sync(self) -> None:
        self.synced = self.path.read_bytes()

    def after_power_cut(self, rng: np.random.Generator) -> bytes:
        now = self.path.read_bytes()
        if not now.startswith(self.synced):
            # A cut file: the cut may not have reached the disk.
            return now if rng.random() < 0.5 else self.synced
        rest = now[len(self.synced) :]
        return self.synced + rest[: int(rng.integers(len(rest) + 1))]


def _create_with_name_on_disk(path: Path, policy: Policy) -> Interview:
    """Begin a log, and look whether its name was synced when that was acknowledged."""
    synced: list[int] = []
    sync = os.fsync

    def watch_sync(descriptor: int) -> None:
        sync(descriptor)
        synced.append(os.fstat(descriptor).st_ino)

    os.fsync = watch_sync
    try:
        interview = Interview(policy, Journal.create(path, policy))
    finally:
        os.fsync = sync
    content, name = path.stat().st_ino, path.parent.stat().st_ino
    assert content in synced, "the first line of a log was not synced"
    assert synced[-1] == name, "the name of a log was not synced"
    return interview


def _cut_power(folder: Path, policy: Policy, rng: np.random.Generator) -> None:
    """Drop what was not synced after any write or sync, and look at what is left."""
    path = folder / "power.jsonl"
    path.unlink(missing_ok=True)
    interview = _create_with_name_on_disk(path, policy)
    disk, n_told = _Disk(path), interview.journal.n_lines
    left: list[tuple[bytes, int]] = []
    sync, write = os.fsync, os.write

    def watch_sync(descriptor: int) -> None:
        left.append((disk.after_power_cut(rng), n_told))
        sync(descriptor)
        disk.sync()

    def watch_write(descriptor: int, data: Any) -> int:
        done = write(descriptor, data)
        left.append((disk.after_power_cut(rng), n_told))
        return done

    os.fsync, os.write = watch_sync, watch_write  # type: ignore[assignment]
    try:
        for _ in range(8):
            if interview.is_over:
                break
            _answer(interview, rng)
            n_told = interview.journal.n_lines
            left.append((disk.after_power_cut(rng), n_told))
    finally:
        os.fsync, os.write = sync, write
    interview.close()
    for content, n_lines in left:
        path.write_bytes(content)
        again = Interview.resume(policy, path)
        assert again.journal.n_lines >= n_lines, "an acknowledged line was not synced"
        again.close()


def _cut_power_while_saving(
    folder: Path, policies: list[Policy], rng: np.random.Generator
) -> None:
    """Drop what was not synced at every step of a save, and look at what is left.

    The disk is the worst that is allowed: content stays only if it was synced, a new
    name at once or, if its folder was not synced, never.
    """
    path = folder / f"power-{rng.integers(2**32)}.json"
    old, new = (policies[i] for i in rng.permutation(2))
    if is_there := bool(rng.random() < 0.5):
        old.save(path)
    before = dump(old) if is_there else None
    synced: set[int] = set()
    early: list[bytes | None] = []
    late: list[bytes | None] = [before]
    sync, replace = os.fsync, os.replace

    def watch_sync(descriptor: int) -> None:
        sync(descriptor)
        synced.add(os.fstat(descriptor).st_ino)
        if os.fstat(descriptor).st_ino == folder.stat().st_ino and early:
            late.append(early[-1])

    def watch_replace(source: Any, target: Any) -> None:
        is_synced = os.stat(source).st_ino in synced
        early.append(Path(source).read_bytes() if is_synced else b"")
        replace(source, target)

    os.fsync, os.replace = watch_sync, watch_replace
    try:
        new.save(path)
    finally:
        os.fsync, os.replace = sync, replace
    for left in (*early, *late):
        assert left in (before, dump(new)), "half of a policy file would be left"
    assert late[-1] == dump(new), "a policy that was saved would not be left"
    path.unlink()


def try_crashes(budget: Budget, tally: Tally) -> None:
    """Kill, fill and cut until the time is over."""
    if sys.platform == "win32":
        tally.notes.append("kills and full disks need fork and limits: not tried here")
        return
    rng = np.random.default_rng(budget.seed)
    policy = _policy()
    policies = [policy, askless.solve(askless.datasets.load_car()).policy]
    known = {dump(each) for each in policies}
    acts: list[tuple[str, Callable[[Path], object]]] = [
        ("kills while logging", lambda f: _kill_one_interview(f, policy, rng)),
        ("kills of a service", lambda f: _kill_one_service(f, policy, rng)),
        ("kills while saving", lambda f: _kill_one_save(f, policies, known, rng)),
        ("full disks", lambda f: _fill_disk(f, policy, rng)),
        ("power cuts while logging", lambda f: _cut_power(f, policy, rng)),
        (
            "power cuts while saving",
            lambda f: _cut_power_while_saving(f, policies, rng),
        ),
    ]
    weights = np.array([0.35, 0.2, 0.15, 0.15, 0.1, 0.05])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        while not budget.is_over:
            what, act = acts[rng.choice(len(acts), p=weights)]
            told = None
            try:
                told = act(folder)
            except (AsklessError, AssertionError, OSError) as error:
                rest = b"\n".join(p.read_bytes() for p in folder.glob("*.jsonl"))
                tally.find(what, rest, ".txt", error)
            tally.counts[what] += 1
            if what.startswith("kills"):
                tally.counts["kills"] += 1
            if isinstance(told, int):
                tally.counts["acknowledged steps checked"] += told
