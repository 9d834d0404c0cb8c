"""The service under load, killed and given new policies: nothing that was said is lost.

Clients answer cases while the server is killed with SIGKILL and started again on the
same file of sessions, or while the files of its policies are replaced. Every step that
was acknowledged must replay to the same payments, and no request may fail in a swap.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from bench_serve import Row, choose, row, serving
from serve_clients import Client, run_clients

import askless
from askless.policy import Policy
from askless.run import Interview

sys.path.insert(0, str(Path(__file__).parent.parent))

N_KILLS = 100


def run(quick: bool) -> list[Row]:
    """Return a row for each promise, with what was measured and whether it is met."""
    swaps = measure_swaps(2.0 if quick else 20.0)
    return swaps + measure_kills(3 if quick else N_KILLS)


def measure_swaps(seconds: float) -> list[Row]:
    """Swap policies in while clients ask; no request may fail."""
    served = Path(tempfile.mkdtemp())
    cars = askless.solve(askless.datasets.load_car()).policy
    small = askless.solve(
        askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"], costs=[1, 3])
    ).policy
    cars.save(served / "tree.json")
    is_over, n_swaps = threading.Event(), 0

    def swap() -> None:
        nonlocal n_swaps
        while not is_over.wait(0.5):
            (small if n_swaps % 2 else cars).save(served / "tree.json")
            n_swaps += 1

    with serving(served) as server:
        swapper = threading.Thread(target=swap)
        swapper.start()
        clients = [Client(server.port, "tree", choose, i) for i in range(4)]
        run_clients(clients, max(seconds, 4.0))
        is_over.set()
        swapper.join()
    failed = sum(len(client.failures) for client in clients)
    what = (
        f"failed requests of {sum(c.n_cases for c in clients):,} cases, {n_swaps} swaps"
    )
    return [row(what, failed, "", 0, at_most=True)]


def measure_kills(n_kills: int) -> list[Row]:
    """Kill the server while clients ask; every acknowledged step must replay."""
    from tests.serve.service import Server
    from tests.serve.test_server import Clicker

    served = Path(tempfile.mkdtemp())
    policy = askless.solve(askless.datasets.load_car()).policy
    policy.save(served / "car.json")
    server = Server(served, "--db", served / "sessions.db")
    acknowledged: dict[str, list[tuple[Any, float]]] = {}
    for round_ in range(n_kills):
        clickers = [Clicker(server, 4 * round_ + i) for i in range(4)]
        for clicker in clickers:
            clicker.start()
        time.sleep(0.3)
        server.kill()
        for clicker in clickers:
            clicker.stop.set()
            clicker.join()
            acknowledged |= clicker.acknowledged
        server.start()
    lost = sum(
        _count_lost(server, policy, session, steps)
        for session, steps in acknowledged.items()
    )
    server.kill()
    n_steps = sum(map(len, acknowledged.values()))
    what = (
        f"steps lost of {n_steps:,} in {len(acknowledged):,} sessions, {n_kills} kills"
    )
    return [row(what, lost, "", 0, at_most=True)]


def _count_lost(
    server: Any, policy: Policy, session: str, steps: list[tuple[Any, float]]
) -> int:
    events = server.get(f"/v1/sessions/{session}/log")["events"]
    replayed, n_same = Interview(policy), 0
    for event, step in zip(events, steps, strict=False):
        replayed.answer(event["outcome"])
        n_same += step == (event["outcome"], replayed.session.spent)
    return len(steps) - n_same
