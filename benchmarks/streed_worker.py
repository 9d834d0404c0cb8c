"""Fit pystreed to jobs from a file, one line of JSON a job, and write a line for each.

A process of its own, because pystreed may end the process that it runs in. Used by
``bench_pystreed.py``; answers are flushed line by line, so that what was done is kept.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np
from cost_problems import Problem, held_out_cost, load_problem
from numpy.typing import NDArray
from pystreed import STreeDCostSensitiveClassifier
from pystreed.data import CostSpecifier, FeatureCostSpecifier

# How many thresholds a number gets.
N_CUTS = 10


class Bits:
    """Columns of zeros and ones for a set, and which test each of them asks."""

    def __init__(self, problem: Problem, train: NDArray[Any]) -> None:
        self.columns: list[NDArray[Any]] = []
        self.test_of: list[int] = []
        self.ranges: list[tuple[int, int]] = []
        for test, column in enumerate(problem.columns.values()):
            begin = len(self.columns)
            made = (
                one_hot(column)
                if column.dtype.kind in "UO"
                else thresholds(column, column[train])
            )
            self.columns += made
            self.test_of += [test] * len(made)
            self.ranges.append((begin, len(self.columns) - 1))

    @property
    def matrix(self) -> NDArray[np.int32]:
        return np.ascontiguousarray(np.array(self.columns, dtype=np.int32).T)


def one_hot(column: NDArray[Any]) -> list[NDArray[Any]]:
    """A column for each value; one will do for two values."""
    values = np.unique(column)
    return [column == value for value in (values[1:] if len(values) == 2 else values)]


def thresholds(column: NDArray[Any], seen: NDArray[Any]) -> list[NDArray[Any]]:
    """A column for each cut between quantiles of what was seen, one for "missing"."""
    known = np.unique(seen[~np.isnan(seen)])
    if len(known) > N_CUTS + 1:
        steps = np.arange(1, N_CUTS + 1) / (N_CUTS + 1)
        cuts = np.unique(np.quantile(seen[~np.isnan(seen)], steps))
    else:
        cuts = (known[1:] + known[:-1]) / 2
    with np.errstate(invalid="ignore"):
        made = [column <= cut for cut in cuts]
    if np.isnan(column).any():
        made.append(np.isnan(column))
    return made or [np.zeros(len(column), dtype=bool)]


def specify(problem: Problem, bits: Bits, mistakes: NDArray[Any]) -> CostSpecifier:
    """Say what tests and mistakes cost. Tests in no group have one of their own."""
    group_of = {t: g for g, ts in problem.costs.groups.items() for t in ts}
    features = []
    for i, name in enumerate(problem.columns):
        full = float(problem.costs.costs[name])
        discounted = float(problem.costs.discounted.get(name, full))
        group = group_of.get(name, f"alone {i}")
        features.append(FeatureCostSpecifier(full, discounted, group, *bits.ranges[i]))
    return CostSpecifier(mistakes.tolist(), features)


def walk(
    root: Any, bits: Bits, matrix: NDArray[Any], problem: Problem
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return what each row pays by our own engine, and what is decided."""
    from askless.problem import Test

    prices = problem.costs.price_list([Test(n, "number") for n in problem.columns])
    paid = np.zeros(len(matrix))
    decided = np.zeros(len(matrix), dtype=int)
    stack = [(root, np.arange(len(matrix)), prices.open_bill())]
    while stack:
        node, rows, bill = stack.pop()
        if node.is_leaf_node():
            paid[rows] = bill.spent
            decided[rows] = node.label
            continue
        bill.charge(bits.test_of[node.feature])
        holds = matrix[rows, node.feature] == 1
        stack.append((node.left_child, rows[~holds], bill.copy()))
        stack.append((node.right_child, rows[holds], bill.copy()))
    return paid, decided


def fit(problem: Problem, job: dict[str, Any]) -> dict[str, Any]:
    """Fit one job and return it with its cost on the rows held out."""
    train, test = problem.split(job["split"], job["kind"])
    bits = Bits(problem, train)
    matrix = bits.matrix
    classes, y = np.unique(problem.y[train], return_inverse=True)
    mistakes = problem.mistakes[job["level"]][np.ix_(classes, classes)]
    model = STreeDCostSensitiveClassifier(
        max_depth=job["depth"], time_limit=job["time_limit"]
    )
    start, used = time.perf_counter(), time.process_time()
    model.fit(matrix[train], y.astype(np.int32), specify(problem, bits, mistakes))
    seconds = time.perf_counter() - start
    used = time.process_time() - used
    paid, decided = walk(model.tree_, bits, matrix[test], problem)
    cost = held_out_cost(problem, job["level"], test, paid, classes[decided])
    is_optimal = bool(model.fit_result.is_optimal())
    return {
        **job, "cost": cost, "seconds": seconds, "used": used, "is_optimal": is_optimal
    }  # fmt: skip


def main() -> None:
    problems: dict[str, Problem] = {}
    for line in sys.stdin:
        job = json.loads(line)
        if job["set"] not in problems:
            problems = {job["set"]: load_problem(job["set"])}
        print(json.dumps(fit(problems[job["set"]], job)), flush=True)


if __name__ == "__main__":
    main()
