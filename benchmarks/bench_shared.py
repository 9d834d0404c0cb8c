"""Trees that all classes share beside a tree for each class, at the same mean cost.

``BudgetBoostClassifier`` grows boosters of more than three classes itself: a round adds
one tree with a value for each class in every leaf, and a row is charged once for what
it buys, the less the surer it is. Here these boosters stand beside LightGBM's with lazy
penalties, at the same trade-offs, on sets that choices are made on: 4,000 rows to grow
on, 1,000 to choose on, 2,000 to test, unit prices with seed 0 and drawn ones with seed
1. Ours has up to 150 rounds of 16 and 31 leaves and learns twice as fast; LightGBM 100
rounds, each of a tree for every class, of 8 and 31 leaves. Both sides run the same way,
and are bounded and stopped alike.

At ten mean costs, from that of LightGBM's cheapest booster to that of its dearest, the
booster and the moment to stop that err least on the rows to choose on are taken; errors
are of test rows, in percent, and their mean over the ten is shown. "cost" is the
geometric mean of what ours pays over what LightGBM's pay where both err alike on the
rows to choose on. Seconds are of growing all boosters, processor time of one thread.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from bench_frontier import load
from set_lists import SEVERAL

from askless.learn._examples import KnownRows
from askless.learn.boost._booster_rows import BoosterRows, choose_tests
from askless.learn.boost._boosters import BoosterPlan, grow_model
from askless.learn.boost._calibrate import fall, list_thresholds, trace_both
from askless.learn.boost._families import OWN_LEAVES
from askless.problem import Costs

ROWS = (4_000, 1_000, 2_000)
SMALL, WIDE = (0.001, 0.01, 0.03, 0.12, 0.5), (0.0, 0.002, 0.03)
N_ROUNDS, N_COSTS = 100, 10


def list_plans(is_shared: bool) -> list[BoosterPlan]:
    """Return the boosters of one side."""
    leaves = 8 * (OWN_LEAVES if is_shared else 1)
    pairs = [(t, leaves) for t in SMALL] + [(t, 31) for t in WIDE]
    return [
        BoosterPlan(t, False, N_ROUNDS, n, 0.1, None, 1, is_own=is_shared)
        for t, n in pairs
    ]


class Side:
    """The boosters of one side, run on the rows to choose on and the test rows."""

    def __init__(self, is_shared: bool, parts: Any, prices: Any) -> None:
        names = [f"x{i}" for i in range(len(prices))]
        classes = tuple(range(int(max(y.max() for _, y in parts)) + 1))
        rows = [
            BoosterRows.of(KnownRows(X, y, None), choose_tests(X, names))
            for X, y in parts
        ]
        costs = Costs(list(prices))
        start = time.process_time()
        policies = [
            grow_model(plan, rows[0], rows[1], classes, costs, names).policy
            for plan in list_plans(is_shared)
        ]
        self.seconds = time.process_time() - start
        cost, error, test_cost, test_error, dearest = [], [], [], [], []
        for policy in policies:
            chosen, tested = (trace_both(policy, X, 1) for X, _ in parts[1:])
            for way in (0, 1):
                thresholds = list_thresholds(chosen[way])
                valid = [chosen[way].at(t) for t in thresholds]
                test = [tested[way].at(t) for t in thresholds]
                cost += [c.mean() for c, _ in valid]
                error.append(
                    fall(np.array([(a != parts[1][1]).mean() for _, a in valid]))
                )
                test_cost += [c.mean() for c, _ in test]
                test_error += [(a != parts[2][1]).mean() for _, a in test]
            dearest.append(cost[-1])
        self.cost, self.error = np.array(cost), np.concatenate(error)
        self.test_cost, self.test_error = np.array(test_cost), np.array(test_error)
        self.ends = min(c for c in dearest if c > 0), max(dearest)

    def at_cost(self, most: float) -> int:
        """Return what errs least for a mean cost; of equal ones the cheapest."""
        within = np.flatnonzero(self.cost <= most)
        order = np.lexsort((self.cost[within], self.error[within]))
        return int(within[order[0]])

    def at_error(self, most: float) -> int | None:
        """Return the cheapest that errs no more."""
        within = np.flatnonzero(self.error <= most)
        return int(within[np.argmin(self.cost[within])]) if len(within) else None


def run_set(name: str, seed: int) -> dict[str, object]:
    """Return a row of one set and seed."""
    parts, prices = load(name, seed, ROWS)
    apart, shared = Side(False, parts, prices), Side(True, parts, prices)
    errors, ratios = [], []
    for most in np.geomspace(*apart.ends, N_COSTS):
        theirs, ours = apart.at_cost(most), shared.at_cost(most)
        errors.append((apart.test_error[theirs], shared.test_error[ours]))
        alike = shared.at_error(apart.error[theirs])
        if alike is not None and apart.test_cost[theirs] > 0:
            ratios.append(shared.test_cost[alike] / apart.test_cost[theirs])
    print(f"  {name}, seed {seed}", flush=True)
    theirs_mean, ours_mean = 100 * np.mean(errors, axis=0)
    return {
        "set": name, "seed": seed, "classes": int(parts[0][1].max()) + 1,
        "LightGBM: error, %": float(theirs_mean), "shared: error, %": float(ours_mean),
        "cost": float(np.exp(np.mean(np.log(ratios)))),
        "reached": f"{len(ratios)} of {N_COSTS}",
        "LightGBM: seconds": apart.seconds, "shared: seconds": shared.seconds,
    }  # fmt: skip


def run(quick: bool) -> list[dict[str, object]]:
    """Return a row for each set and seed, and their mean."""
    sets, seeds = (SEVERAL[:1], (0,)) if quick else (SEVERAL, (0, 1))
    rows = [run_set(name, seed) for name in sets for seed in seeds]
    mean: dict[str, object] = dict.fromkeys(rows[0], "") | {"set": "mean"}
    for key in ("LightGBM: error, %", "shared: error, %"):
        mean[key] = float(np.mean([float(str(row[key])) for row in rows]))
    ratios = [float(str(row["cost"])) for row in rows]
    mean["cost"] = float(np.exp(np.mean(np.log(ratios))))
    return [*rows, mean]
