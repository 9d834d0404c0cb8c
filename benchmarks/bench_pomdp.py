"""Tests that can err as a POMDP: beside solvers of POMDPs, with and without a bound.

The table child, and hepar2 where mistakes are cheap (they need ``ASKLESS_DATA``),
prices and mistakes as in the benchmark "total". Which case is true is hidden; a test
may be asked once. SARSOP cannot be installed by name; beside ``solve`` stand

* *point-based*: heuristic search value iteration (Smith and Simmons 2005), the method
  that SARSOP refines, in numpy (``pomdp_rivals.py``), for 30 seconds: what its policy
  costs at most, and its lower bound;
* *POUCT* of pomdp-py, which plans by simulation before each step: 5,000 simulations at
  each of the 100 likeliest places, its ways written out. A simulation that leaves its
  tree decides by the posterior; of four rates of exploration the best one is chosen for
  it, afterwards. It gives no bound.

Seconds are of the processor. "met" says that no rival is cheaper.
"""

from __future__ import annotations

import time
from importlib.util import find_spec

import numpy as np
from pomdp_rivals import CasePomdp, PointBased, pouct_cost

import askless
from askless.datasets import load_likelihoods

TABLES = {"child": (20, 50, 200, 1000), "hepar2": (20, 50)}
SECONDS = 30.0
N_SIMULATIONS = 5000
# Shares of the dearest mistake.
EXPLORED = (1.0, 0.3, 0.1, 0.03)
MOST_PLACES = 100


def run(quick: bool) -> list[dict[str, object]]:
    """Return a row for each table and price of mistakes."""
    rows = []
    for name, prices in TABLES.items():
        for mistakes in prices[:1] if quick else prices:
            rows.append(_row(name, mistakes, quick))
            print(rows[-1], flush=True)
    return rows


def _row(name: str, mistakes: float, quick: bool) -> dict[str, object]:
    table = load_likelihoods(name, mistakes=mistakes)
    used = time.process_time()
    solution = askless.solve(table, objective="total", time_limit=SECONDS, n_jobs=1)
    seconds = [time.process_time() - used]
    pomdp = CasePomdp(table)
    used = time.process_time()
    cost, bound = PointBased(pomdp).solve(3.0 if quick else SECONDS)
    seconds.append(time.process_time() - used)
    simulated = np.inf
    if name == "child" and find_spec("pomdp_py") is not None:
        used = time.process_time()
        most = 5 if quick else MOST_PLACES
        simulated = min(pouct_cost(pomdp, N_SIMULATIONS, most, e) for e in EXPLORED)
        seconds.append(time.process_time() - used)
    least = min(cost, simulated)
    return {
        "table": name,
        "mistakes": mistakes,
        "cost": solution.total_cost,
        "gap %": 100 * solution.gap,
        "seconds": seconds[0],
        "point-based": cost,
        "its gap %": 100 * (1 - bound / cost),
        "its seconds": seconds[1],
        "POUCT": simulated if simulated < np.inf else "",
        "POUCT seconds": seconds[2] if len(seconds) > 2 else "",
        "below %": 100 * (1 - solution.total_cost / least),
        "met": "yes" if solution.total_cost <= least * (1 + 1e-9) else "no",
    }
