"""Proved fronts of error against cost, and how far the greedy portfolio is above them.

The nine public tables but dna (``nine_tables.py``; they need ``ASKLESS_DATA``), every
test at a cost of 1. ``solve(objective="tradeoff")`` finds both fronts with their proofs
on two threads; "seconds" is what they take together, by the clock. The portfolio is
what ``solve`` does for a budget or an error without a search: the best pruning of many
greedy trees.

* *worst*: the least error for each number of tests on the longest path, in percent.
  "above" is how many times the proved error the portfolio's is, over the numbers of
  tests at which the proved one is not 0; "more tests" is how many tests more the
  portfolio takes for no error.
* *expected*: the corners of the front of error against mean cost. "above" is what the
  portfolio costs at the error of each corner, over the proved cost.

"met" says that every point is proved.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np
from nine_tables import NINE_TABLES, load_nine_tables
from plots import draw_fronts

import askless
from askless import Table
from askless.exceptions import DegeneratePolicyWarning, IndistinctCasesWarning
from askless.solve._task import FrontPoint

FIGURE = Path(__file__).parent.parent / "docs" / "images" / "fronts.png"
LEFT_OUT = ("dna_statlog",)
SECONDS = 600.0
# Errors are shares of cases of equal weight, so this is none.
SAME = 1e-9
MOST_TESTS = 50

Curve = list[tuple[float, float]]


def run(quick: bool) -> list[dict[str, object]]:
    """Return two rows for each table."""
    rows: list[dict[str, object]] = []
    panels: dict[str, dict[str, Curve]] = {}
    for name, table in load_nine_tables(quick=True):
        if name in LEFT_OUT or (quick and table.n_cases > 400):
            continue
        start, used = time.perf_counter(), time.process_time()
        fronts = askless.solve(
            table, objective="tradeoff", time_limit=SECONDS, n_jobs=2
        )
        seconds = time.perf_counter() - start
        used = time.process_time() - used
        about = {
            "table": name,
            "cases": table.n_cases,
            "tests": table.n_tests,
            "seconds": seconds,
            "processor s": used,
        }
        expected = list(fronts.expected_front)
        worst = worst_curve(list(fronts.worst_front))
        by_budget = portfolio_errors(table, len(worst))
        by_error = portfolio_costs(table, expected)
        rows.append({**about, **describe_worst(fronts.worst_front, worst, by_budget)})
        rows.append({**about, **describe_expected(expected, by_error)})
        panels[f"{name}: {NINE_TABLES[name]:,} cases"] = {
            "proved": [(p.expected_cost, p.error) for p in expected],
            "portfolio": list(zip(by_error, [p.error for p in expected], strict=True)),
        }
        for row in rows[-2:]:
            print(row, flush=True)
    if not quick:
        draw_fronts(panels, FIGURE)
    return rows


def worst_curve(points: list[FrontPoint]) -> list[float]:
    """Return the least error within 0, 1, 2, ... tests, up to no further gain."""
    most = round(max(point.worst_cost for point in points))
    return [
        min(p.error for p in points if p.worst_cost <= budget + SAME)
        for budget in range(most + 1)
    ]


def portfolio_errors(table: Table, n_proved: int) -> list[float]:
    """Return the portfolio's error within 0, 1, 2, ... tests, until it has none."""
    errors: list[float] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegeneratePolicyWarning)
        while len(errors) < MOST_TESTS:
            budget = float(len(errors))
            found = askless.solve(table, objective="worst", budget=budget)
            errors.append(found.error)
            if len(errors) >= n_proved and found.error <= SAME:
                break
    return errors


def portfolio_costs(table: Table, points: list[FrontPoint]) -> list[float]:
    """Return what the portfolio costs on average at the error of each point."""
    costs = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegeneratePolicyWarning)
        warnings.simplefilter("ignore", IndistinctCasesWarning)
        for point in points:
            # An error of 0 takes the portfolio as well, not the search without error.
            allowed = min(1.0, max(point.error, 0.1 * SAME) * (1 + SAME))
            costs.append(askless.solve(table, max_error=allowed).expected_cost)
    return costs


def describe_worst(
    points: tuple[FrontPoint, ...], proved: list[float], found: list[float]
) -> dict[str, object]:
    """Return what a row says of the front against the worst cost."""
    ratios = [
        greedy / least
        for least, greedy in zip(proved, found, strict=False)
        if least > SAME
    ]
    shown = [
        f"{budget}: {100 * least:.3g} / {100 * greedy:.3g}"
        for budget, (least, greedy) in enumerate(zip(proved, found, strict=False))
    ]
    return _row("worst", points, ratios, len(found) - len(proved), ", ".join(shown))


def describe_expected(
    points: list[FrontPoint], costs: list[float]
) -> dict[str, object]:
    """Return what a row says of the front against the expected cost."""
    ratios = [
        cost / point.expected_cost
        for point, cost in zip(points, costs, strict=True)
        if point.expected_cost > SAME
    ]
    return _row("expected", tuple(points), ratios, "", "")


def _row(
    front: str,
    points: tuple[FrontPoint, ...],
    ratios: list[float],
    more: object,
    shown: str,
) -> dict[str, object]:
    n_proved = sum(point.is_proved for point in points)
    return {
        "front": front,
        "points": len(points),
        "proved": n_proved,
        "above, mean": float(np.mean(ratios)),
        "above, most": max(ratios),
        "more tests": more,
        "error %, proved / portfolio": shown,
        "met": "yes" if n_proved == len(points) else "no",
    }
