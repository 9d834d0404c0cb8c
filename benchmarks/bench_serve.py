"""The service: steps a second, how long each takes, starts and loading.

One process of `askless serve` with its sessions in a file (WAL), asked over HTTP on
127.0.0.1 by clients in this one. Steps a second and core are by the processor time of
the server, so that neither the clients nor other programs count; times of single steps
are by the clock, and need a quiet machine: on a busy one, `chrt -f 5` before the
command gives the cores to the server and its clients, as was done here. Kills and swaps
are in `run.py kills`, threads that share a policy in `run.py threads`.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from serve_clients import Client, run_clients
from sklearn.ensemble import GradientBoostingClassifier

import askless
from askless.policy import Policy, Rule, Sequence
from askless.run import Interview, Journal

sys.path.insert(0, str(Path(__file__).parent.parent))

Row = dict[str, object]
N_OPEN = 10_000


def run(quick: bool) -> list[Row]:
    """Return a row for each promise, with what was measured and whether it is met."""
    policies = make_policies()
    folder = Path(tempfile.mkdtemp())
    for name, policy in policies.items():
        policy.save(folder / f"{name}.json")
    seconds = 2.0 if quick else 10.0
    rows = [*measure_pace(folder, seconds), *measure_company(folder, seconds)]
    rows += measure_open(folder, N_OPEN // (10 if quick else 1))
    rows += measure_starts(folder)
    rows += measure_loading(folder)
    return rows


def row(what: str, value: float, unit: str, mark: float, *, at_most: bool) -> Row:
    """Return a row that says what was measured, and what was promised."""
    met = value <= mark if at_most else value >= mark
    sign = "at most" if at_most else "at least"
    promised = f"{sign} {mark:g} {unit}"
    return {
        "what": what,
        "measured": f"{value:.4g} {unit}",
        "promised": promised,
        "met": "yes" if met else "no",
    }


# What is served.


def make_policies() -> dict[str, Policy]:
    """Return a policy of each kind that is asked, as large as one may come."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8_000, 20)).round(2)
    y = (X[:, :8].sum(axis=1) + 2 * rng.normal(size=8_000) > 0).astype(int)
    forest = askless.BudgetForestClassifier(random_state=0).fit(X, y)
    booster = GradientBoostingClassifier(n_estimators=100, max_depth=4, random_state=0)
    adaptive = askless.AdaptiveEnsemble(booster.fit(X, y)).fit()
    outcomes = rng.integers(0, 2, (100_000, 40))
    small = askless.Table(rng.integers(0, 3, (500, 12)), list(range(500)))
    return {
        "tree": askless.solve(askless.datasets.load_car()).policy,
        "forest": forest.policy_,
        "adaptive": adaptive.policy_,
        "rule": Rule.from_table(
            askless.Table(outcomes, list(range(len(outcomes)))), "odtn-r"
        ),
        "sequence": Sequence.from_table(small),
    }


def choose(test: dict[str, Any], random: Any) -> Any:
    """Return what a test shows, at random."""
    if test["kind"] == "category":
        return random.choice(test["outcomes"])
    return random.gauss(0, 1)


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[Any]:
    """Serve a folder, with sessions in a new file."""
    from tests.serve.service import Server

    path = Path(tempfile.mkdtemp(), "sessions.db")
    with Server(folder, "--db", path, *options) as server:
        yield server


def processor_seconds(server: Any) -> float:
    """Return the processor time that a server has taken."""
    times = psutil.Process(server.process.pid).cpu_times()
    return float(times.user + times.system)


# Steps.


def measure_pace(folder: Path, seconds: float) -> list[Row]:
    """Measure steps a second, and how long each takes, of each kind alone."""
    rows = []
    with serving(folder) as server:
        for name in ("tree", "forest"):
            clients = [Client(server.port, name, choose, i) for i in range(8)]
            before = processor_seconds(server)
            run_clients(clients, seconds)
            taken = processor_seconds(server) - before
            _check(clients)
            steps = [step for client in clients for step in client.seconds]
            # A start asks the first question and is kept as a step is.
            pace = (len(steps) + sum(len(c.begins) for c in clients)) / taken
            late = 1e3 * float(np.percentile(steps, 99))
            rows.append(
                row(f"{name}, 8 clients", pace, "steps/s/core", 2_000, at_most=False)
            )
            rows.append(row(f"{name}, 8 clients, p99", late, "ms", 25, at_most=True))
        for name in ("adaptive", "rule"):
            client = Client(server.port, name, choose)
            run_clients([client], seconds)
            _check([client])
            usual = 1e3 * float(np.median(client.seconds))
            rows.append(row(f"{name}, median step", usual, "ms", 1, at_most=True))
    return rows


def _check(clients: list[Client]) -> None:
    failures = [failure for client in clients for failure in client.failures]
    assert not failures, failures[0]


def measure_company(folder: Path, seconds: float) -> list[Row]:
    """Measure what steps of slow policies cost the others."""
    rows = []
    with serving(folder) as server:
        alone = Client(server.port, "tree", choose)
        run_clients([alone], seconds)
        for name in ("adaptive", "rule"):
            other = Client(server.port, "tree", choose)
            run_clients(
                [other, *[Client(server.port, name, choose, i) for i in range(4)]],
                seconds,
            )
            late = np.percentile(other.seconds, 99) - np.percentile(alone.seconds, 99)
            rows.append(
                row(
                    f"a tree's p99 beside 4 clients of {name}, later by",
                    1e3 * float(late),
                    "ms",
                    10,
                    at_most=True,
                )
            )
    return rows


def measure_open(folder: Path, n_open: int) -> list[Row]:
    """Open many sessions, then answer in each of them by turns."""

    async def ask(server: Any) -> list[float]:
        clients = [Client(server.port, "tree", choose, i) for i in range(8)]
        for client in clients:
            await client.connect()

        async def begin(client: Client, n: int) -> list[dict[str, Any]]:
            return [await client.begin() for _ in range(n)]

        share = n_open // len(clients)
        states = await asyncio.gather(*[begin(client, share) for client in clients])
        for _ in range(2):
            for client, own in zip(clients, states, strict=True):
                own[:] = [s if s["done"] else await client.step(s) for s in own]
        _check(clients)
        return [step for client in clients for step in client.seconds]

    with serving(folder) as server:
        steps = asyncio.run(ask(server))
        memory = psutil.Process(server.process.pid).memory_info().rss / 1e6
    usual = 1e3 * float(np.median(steps))
    what = f"{n_open:,} sessions open at once ({memory:.0f} MB), median step"
    return [row(what, usual, "ms", 25, at_most=True)]


# Starts.


def measure_starts(folder: Path) -> list[Row]:
    """Measure how long it takes to begin a log of a forest that was loaded."""
    policy = askless.load(folder / "forest.json")
    logs, times = Path(tempfile.mkdtemp()), []
    for number in range(50):
        started = time.process_time()
        interview = Interview(policy, Journal.create(logs / f"{number}.jsonl", policy))
        assert interview.session.test is not None
        times.append(time.process_time() - started)
        interview.close()
    usual = 1e3 * float(np.median(times))
    return [row("a journaled start of a forest", usual, "ms", 1, at_most=True)]


def measure_loading(folder: Path) -> list[Row]:
    """Measure how long a policy of 200,000 nodes takes to load."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 20)).round(2)
    y = rng.integers(0, 3, 20_000)
    grown = askless.BudgetForestClassifier(n_estimators=10, random_state=0).fit(X, y)
    per_tree = grown.policy_.n_nodes / 10
    n_trees = max(1, round(200_000 / per_tree))
    grown = askless.BudgetForestClassifier(n_estimators=n_trees, random_state=0)
    policy = grown.fit(X, y).policy_
    path = Path(tempfile.mkdtemp(), "large.json")
    policy.save(path)
    times = []
    for _ in range(3):
        started = time.process_time()
        askless.load(path)
        times.append(time.process_time() - started)
    per_node = min(times) / policy.n_nodes * 200_000
    n_mb = path.stat().st_size / 1e6
    what = f"load {policy.n_nodes:,} nodes ({n_mb:.0f} MB), of 200,000"
    return [row(what, per_node, "s", 1, at_most=True)]
