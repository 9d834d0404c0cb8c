"""Damaged files by the million: policies, tables, costs, logs and files of sessions.

A damaged file is refused by an error of Askless, or read and then sound. Anything else
is a finding: another exception, a crash, a hang, a file that was taken for the whole
one it no longer is.
"""

from __future__ import annotations

import json
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

import askless
from askless.exceptions import AsklessError
from askless.policy import Policy
from askless.policy._file import _decode, dump, parse
from askless.policy.codec import summarise, to_policy
from askless.run import Interview, Journal, repair_log, replay_log
from campaign.damage import damage_bytes, damage_parts
from campaign.stores import STORE_SEEDS, receive_store
from campaign.target import Budget, Tally
from tests.policy.examples import EXAMPLES, make_example
from tests.strategies import random_rows

__all__ = ["FORMATS", "Format", "receive", "try_files"]

# Seconds that one file may take.
PATIENCE = 30
# In memory where there is such a folder: a million files need not meet the disk.
SCRATCH = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else None


@dataclass(frozen=True)
class Format:
    """A kind of file: whole ones, how one is received, and how its parts are damaged.

    Attributes
    ----------
    seeds : list of bytes
        Whole files.
    receive : callable
        ``receive(raw)`` returns how a file was received, or raises what must not be.
    suffix : str
    mend : callable or None
        Makes sums of a changed JSON content true again; None if parts are not damaged.
    """

    seeds: list[bytes]
    receive: Callable[[bytes], str]
    suffix: str
    mend: Callable[[dict[str, object]], None] | None = None


# Policies.


def _mend_summary(content: dict[str, object]) -> None:
    try:
        policy = to_policy(_decode(json.dumps(content).encode()))
        content["summary"] = msgspec.to_builtins(summarise(policy))
    except (AsklessError, ValueError, TypeError):
        return


def use_policy(policy: Policy) -> None:
    """Do with a policy what anyone would; raise if it breaks a promise."""
    rows = random_rows(np.random.default_rng(0), policy.tests, 3) or {"none": [1] * 3}
    costs = policy.cost(rows)
    assert np.all((costs >= 0) & np.isfinite(costs)), "costs must be finite"
    if policy.answers_number:
        assert np.isfinite(policy.predict(rows)).all(), "numbers must be finite"
    else:
        shares = policy.predict_proba(rows)
        assert np.allclose(shares.sum(axis=1), 1.0), "shares must sum to one"
        assert set(policy.predict(rows).tolist()) <= set(policy.classes)
    session = policy.start()
    while session.test is not None:
        session.answer(rows[session.test][0], allow_unseen=True)
    assert session.spent == costs[0], "a session must spend what cost says"
    assert dump(parse(dump(policy))) == dump(policy), "a file must round-trip"


def _receive_policy(raw: bytes) -> str:
    whole = False
    try:
        policy = parse(raw)
    except AsklessError:
        pass
    else:
        known = dump(policy) in POLICY_SEEDS
        assert known, "another policy was loaded as if it were whole"
        whole = True
    try:
        policy = parse(raw, edited=True)
    except AsklessError:
        assert not whole, "a whole file was refused as an edited one"
        return "refused"
    use_policy(policy)
    return "whole" if whole else "read as edited"


# Tables and costs.


def _in_file(raw: bytes, suffix: str, read: Callable[[Path], object]) -> object:
    descriptor, name = tempfile.mkstemp(suffix=suffix, dir=SCRATCH)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(raw)
        return read(Path(name))
    finally:
        os.unlink(name)


def _receive_table(raw: bytes) -> str:
    try:
        table = _in_file(
            raw, ".csv", lambda path: askless.read_table(path, target="repair")
        )
    except AsklessError:
        return "refused"
    assert isinstance(table, askless.Table)
    assert table.n_cases > 0
    assert len(table.case_classes) == table.n_cases
    assert np.isfinite(table.prior).all()
    if table.n_cases * table.n_tests < 200:
        tree = _solve_quietly(table, method="greedy")
        if tree is not None:
            use_policy(tree)
    return "read"


def _solve_quietly(table: askless.Table, **options: Any) -> Policy | None:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return askless.solve(table, **options).policy
        except AsklessError:
            return None


def _receive_likelihoods(raw: bytes) -> str:
    """Read a file as each kind of likelihoods; at most one kind has such columns."""
    received = "refused"
    for kind in LIKELIHOODS:
        read = partial(askless.read_table, likelihoods=kind)
        try:
            table = _in_file(raw, ".csv", read)
        except AsklessError:
            continue
        received = "read"
        assert isinstance(table, askless.Table)
        assert np.isfinite(table.prior).all()
        for test in range(table.n_tests):
            chances = table.possible.outcome_chances(test)
            assert np.all((chances >= 0) & (chances <= 1)), "chances must be shares"
        if table.n_cases * table.n_tests < 40:
            policy = _solve_quietly(table, method="information", online=True)
            if policy is not None:
                use_policy(policy)
    return received


def _receive_costs(suffix: str) -> Callable[[bytes], str]:
    def receive_costs(raw: bytes) -> str:
        try:
            costs = _in_file(raw, suffix, askless.read_costs)
        except AsklessError:
            return "refused"
        assert isinstance(costs, askless.Costs)
        return "read"

    return receive_costs


# Logs.


def _receive_log(raw: bytes) -> str:
    return str(_in_file(raw, ".jsonl", _receive_log_file))


def _receive_log_file(path: Path) -> str:
    try:
        session = replay_log(path, LOG_POLICY)
        received = "read"
    except AsklessError:
        try:
            repair = repair_log(path, LOG_POLICY)
        except AsklessError:
            return "refused"
        if repair.backup is not None:
            repair.backup.unlink()
        session = replay_log(path, LOG_POLICY)
        received = "repaired"
    assert session.spent >= 0
    interview = Interview.resume(LOG_POLICY, path)
    n_lines = len(interview.session.log)
    if not interview.is_over:
        interview.skip()
    interview.close()
    again = replay_log(path, LOG_POLICY)
    assert len(again.log) >= n_lines, "an acknowledged answer was lost"
    return received


def _receive_sessions(raw: bytes) -> str:
    # SQLite puts files of its own beside this one.
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        path = Path(folder, "sessions.db")
        path.write_bytes(raw)
        return receive_store(path)


def _log_policy() -> Policy:
    table = askless.Table(
        {
            "lamp": ["dark", "dark", "dim", "bright"],
            "socket": ["dead", "live", "live", "live"],
            "volts": [0.0, 4.5, 9.0, 2.0],
        },
        ["fuse", "bulb", "dimmer", "nothing"],
        thresholds=True,
        costs={"lamp": 1, "socket": 5, "volts": 2},
    )
    return askless.Sequence.from_table(table, stops_early=False)


def _log_seeds() -> list[bytes]:
    seeds = []
    for steps in ("aaa", "asu", "aubaa", ""):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "log.jsonl")
            interview = Interview(LOG_POLICY, Journal.create(path, LOG_POLICY))
            for step in steps:
                if interview.is_over:
                    break
                if step == "b":
                    interview.undo()
                elif step == "a":
                    test = LOG_POLICY.test_by_name[interview.session.test]
                    interview.answer(test.outcomes[0] if test.outcomes else 4.5)
                elif step == "s":
                    interview.skip()
                else:
                    interview.unsure()
            interview.close()
            seeds.append(path.read_bytes())
    return seeds


def _table_seeds() -> list[bytes]:
    car = askless.datasets.load_car()
    columns = {k: v for k, v in list(car.rows().items())[:6]}
    names = ["case", "prior", *columns, "repair"]
    lines = [",".join(names)]
    for i in range(min(12, car.n_cases)):
        cells = [f"c{i}", f"{i + 1}", *(str(columns[k][i]) for k in columns)]
        lines.append(",".join([*cells, f"r{i % 5}"]))
    small = b"a,b,repair\n1,x,p\n2,y,q\n,z,p\n3.5,x,q\n"
    quoted = 'size,"odd, name",repair\n1e3,"say ""hi""",p\n-2,,q\n0x1,é,p\n'.encode()
    return [("\n".join(lines) + "\n").encode(), small, quoted]


COST_SEEDS = [
    b"test,cost\niron,7\nsugar,5\n",
    b"test,cost,discounted_cost,group,delayed\niron,7,5,blood,no\nsugar,5,3,blood,yes\n",
]
TOML_SEEDS = [
    b"mistakes = 10\n[costs]\niron = 7\n",
    (
        b'delayed = ["sugar"]\n[costs]\niron = 7\nsugar = 5\n[groups]\n'
        b'blood = ["iron", "sugar"]\n[discounted]\niron = 5\n'
    ),
    b"[costs]\nsmear = 2\n[by_outcome.smear]\nyes = 3.5\n",
]

LIKELIHOODS = {
    "long": (
        b"case,test,outcome,probability\nflu,fever,yes,0.8\nflu,fever,no,0.2\n"
        b"cold,fever,yes,0.1\ncold,fever,no,0.9\nflu,doses,1,0.5\nflu,doses,2,0.5\n"
        b"cold,doses,2,1\n"
    ),
    "wide": (
        b"case,fever,cough,x-ray [clear/dark/bright],prior,class\n"
        b"flu,0.8,often,0.2/0.3/0.5,1,viral\ncold,10 %,0.6/0.4,clear,4,viral\n"
        b"strep,yes,rarely,0/0.5/0.5,2,bacterial\n"
    ),
    "accuracy": (
        b"test,condition,sensitivity,specificity,prior\nswab,flu,0.9,95 %,0.1\n"
        b"swab,cold,0.2,0.95,0.3\nx-ray,pneumonia,0.8,0.7,0.05\n"
    ),
}

POLICY_SEEDS = [dump(make_example(name)) for name in EXAMPLES]
LOG_POLICY = _log_policy()

FORMATS = {
    "policy": Format(POLICY_SEEDS, _receive_policy, ".json", _mend_summary),
    "table": Format(_table_seeds(), _receive_table, ".csv"),
    "costs": Format(COST_SEEDS, _receive_costs(".csv"), ".costs.csv"),
    "costs in TOML": Format(TOML_SEEDS, _receive_costs(".toml"), ".costs.toml"),
    "log": Format(_log_seeds(), _receive_log, ".jsonl"),
    "likelihoods": Format(list(LIKELIHOODS.values()), _receive_likelihoods, ".csv"),
    "sessions": Format(STORE_SEEDS, _receive_sessions, ".db"),
}


def receive(name: str, raw: bytes) -> str:
    """Hand a file to its reader; raise if a promise is broken."""
    return FORMATS[name].receive(raw)


@contextmanager
def _watched() -> Iterator[None]:
    """Raise TimeoutError in what takes longer than any file of this size may."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _raise_timeout(number: int, frame: object) -> None:
    raise TimeoutError(f"a file took more than {PATIENCE} s")


def try_files(budget: Budget, tally: Tally) -> None:
    """Damage files of every format until the time is over."""
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, _raise_timeout)
    rng = np.random.default_rng(budget.seed)
    names = list(FORMATS)
    # Most are refused at the first look and cost little; parts go deeper.
    shares = np.array([0.25, 0.15, 0.1, 0.1, 0.2, 0.1, 0.1])
    while not budget.is_over:
        for index in rng.choice(len(names), size=500, p=shares).tolist():
            name = names[index]
            _try_one(rng, name, FORMATS[name], tally)


def _try_one(rng: np.random.Generator, name: str, form: Format, tally: Tally) -> None:
    raw = form.seeds[rng.integers(len(form.seeds))]
    if form.mend is not None and rng.random() < 0.1:
        damaged = damage_parts(rng, raw, form.mend)
    else:
        damaged = raw
        for _ in range(int(rng.integers(1, 4))):
            if damaged:
                damaged = damage_bytes(rng, damaged, form.seeds)
    try:
        with _watched():
            received = form.receive(damaged)
    except Exception as error:
        tally.find(name, damaged, form.suffix, error)
        received = "broke a promise"
    tally.counts["mutants"] += 1
    tally.counts[f"{name}: {received}"] += 1
