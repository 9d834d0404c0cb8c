"""Known tables: greedy, search and proof on the nine public tables, both objectives.

Each row: cost of the greedy tree with each impurity, EC2, GBS and (if it is there)
DecTree, of the search cut to the two best tests, then what the exact search has after
ten seconds: best, lower bound, gap and seconds; then the trade-offs of worst and
expected cost. Uniform prior; unit costs, or random whole costs from 1 to 10.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from nine_tables import load_nine_tables

import askless
from askless.solve import METHODS

SECONDS = 10.0


def with_costs(table: askless.Table, kind: str) -> askless.Table:
    """Return the table with unit or random whole costs."""
    if kind == "unit":
        return table
    rng = np.random.default_rng(1)
    prices = dict(
        zip(table.test_names, rng.integers(1, 11, table.n_tests).tolist(), strict=True)
    )
    return askless.Table(
        {test.name: labels(table, i) for i, test in enumerate(table.tests)},
        table.case_classes,
        costs=prices,
        missing="outcome",
    )


def labels(table: askless.Table, test: int) -> list[str]:
    """Return what a test shows for each case, as text."""
    return [table.tests[test].label(int(code)) for code in table.codes[test]]


def cost_of(table: askless.Table, objective: str, **options: Any) -> float:
    """Return the cost of a method by the objective."""
    solution = askless.solve(table, objective=objective, **options)
    return solution.worst_cost if objective == "worst" else solution.expected_cost


def measure(
    name: str, table: askless.Table, kind: str, objective: str
) -> dict[str, object]:
    """Return one row of results."""
    row: dict[str, object] = {
        "table": name, "cases": table.n_cases, "tests": table.n_tests,
        "costs": kind, "objective": objective,
    }  # fmt: skip
    row["pairs"] = cost_of(table, objective, method="greedy")
    for power in (3, 5):
        row[f"powers {power}"] = cost_of(
            table, objective, method="greedy", impurity="powers", power=power
        )
    for method in ("ec2", "gbs", "dectree"):
        if method in METHODS:
            row[method] = cost_of(table, objective, method=method)
    row["K=2"] = cost_of(
        table, objective, method="search", max_breadth=2, time_limit=SECONDS
    )
    start = time.perf_counter()
    solution = askless.solve(
        table, objective=objective, method="exact", time_limit=SECONDS
    )
    row["best"] = (
        solution.worst_cost if objective == "worst" else solution.expected_cost
    )
    row["bound"] = solution.lower_bound
    row["gap %"] = 100 * solution.gap
    row["status"] = solution.status
    row["seconds"] = time.perf_counter() - start
    return row


def run(quick: bool) -> list[dict[str, object]]:
    """Return a row for each table, cost and objective; print the trade-offs."""
    rows = []
    for name, table in load_nine_tables(quick=quick):
        for kind in ("unit", "random"):
            priced = with_costs(table, kind)
            for objective in ("worst", "expected"):
                rows.append(measure(name, priced, kind, objective))
                print(name, kind, objective, rows[-1]["status"], flush=True)
        start = time.perf_counter()
        both = askless.solve(table, objective="both", time_limit=3 * SECONDS)
        points = ", ".join(
            f"{p.worst_cost:g}: {p.expected_cost:.5f}" for p in both.pareto
        )
        print(
            f"{name} trade-offs: {points or 'not proved'} "
            f"({time.perf_counter() - start:.1f} s)",
            flush=True,
        )
    return rows
