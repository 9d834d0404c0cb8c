"""Error against worst cost on nine public tables: Powers 2 to 5, hinged pairs, all.

The curves of the first paper, section 5, over again. Powers trade by stopping early
(one tree each, all deltas), hinged pairs by their threshold alpha (a tree each), and
"best" is the least error that ``solve(budget=...)`` finds among greedy trees. Below it
lies the proved curve of ``solve(objective="tradeoff")``, for all but dna; the benchmark
"fronts" says by how much. The paper's two trends are checked in numbers: (1) half of
the tests that an error-free tree takes leave an error of at most a tenth; (2) hinged
pairs err less than Powers at small budgets and more at large ones. Every point is kept
in ``results/tradeoff_curves.csv``, and drawn in a figure.
"""

from __future__ import annotations

import csv
import math
import warnings
from pathlib import Path

import numpy as np
from nine_tables import NINE_TABLES, load_nine_tables
from plots import draw_tradeoffs

from askless import Table, solve
from askless.datasets import make_synthetic_1024
from askless.exceptions import DegeneratePolicyWarning
from askless.solve._task import Limits, Task
from askless.solve.greedy._greedy import grow_greedy_tree
from askless.solve.total._front import trace_worst
from askless.solve.tradeoff._error_curve import error_cost_curve
from askless.solve.tradeoff._prune import wrong_weights

HERE = Path(__file__).parent
FIGURE = HERE.parent / "docs" / "images" / "tradeoff.png"
POWERS = (2, 3, 4, 5)
# The sets of which the paper says that few tests classify them with minimal error.
EASY = ("house_votes_84", "dna_statlog", "wdbc", "mammographic_masses")
# Cases of a table whose curve is proved: all but dna. And the seconds that it may take.
MOST_PROVED = 1000
SECONDS = 600.0
# Errors are shares of cases of equal weight, so this is none.
SAME = 1e-9

# A curve is a list of (worst cost, error) from no test on, one point a budget.
Curve = list[tuple[float, float]]


def make_task(table: Table) -> Task:
    """Return the task to find out the class, in the worst case."""
    return Task(table, table.classes, table.class_ids, None, "worst")


def powers_points(task: Task, power: int) -> Curve:
    """Return (worst cost, error) of every tree that stops early."""
    points = error_cost_curve(task, impurity="powers", power=power)
    return [(point.worst_cost, point.error) for point in points]


def hinged_points(task: Task, n_alphas: int) -> Curve:
    """Return (worst cost, error) of a tree for each of many thresholds."""
    n = task.table.n_cases
    points = []
    for alpha in [0.0, *np.geomspace(0.25, n / 2, n_alphas).tolist()]:
        tree = grow_greedy_tree(task, impurity="hinged", alpha=alpha)
        # The tree as it is: with all of its tests, useful or not.
        wrong = wrong_weights(tree)[tree.test < 0].sum()
        points.append((tree.worst_cost, float(wrong / tree.node_weight[0])))
    return points


def lower_envelope(points: Curve, budgets: list[float]) -> Curve:
    """Return the least error of a point within each budget."""
    return [
        (b, min((error for cost, error in points if cost <= b), default=math.inf))
        for b in budgets
    ]


def best_errors(table: Table, budgets: list[float]) -> Curve:
    """Return the least error that is found within each budget."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegeneratePolicyWarning)
        return [(b, solve(table, objective="worst", budget=b).error) for b in budgets]


def make_curves(table: Table, n_alphas: int) -> dict[str, Curve]:
    """Return the curves of a table by name, over the same budgets."""
    task = make_task(table)
    points = {f"Powers {power}": powers_points(task, power) for power in POWERS}
    points["hinged"] = hinged_points(task, n_alphas)
    most = max(cost for curve in points.values() for cost, _ in curve)
    budgets = [float(b) for b in range(int(most) + 1)]
    curves = {name: lower_envelope(curve, budgets) for name, curve in points.items()}
    root = curves["Powers 2"][0][1]
    for name, curve in curves.items():
        # Deciding at once is a tree of every rule.
        curves[name] = [(b, min(error, root)) for b, error in curve]
    curves["best"] = best_errors(table, budgets)
    if table.n_cases <= MOST_PROVED:
        curves["proved"] = proved_errors(table, budgets)
    return curves


def proved_errors(table: Table, budgets: list[float]) -> Curve:
    """Return the least error of any policy within each budget."""
    found = trace_worst(make_task(table), Limits(SECONDS, None, 2))
    if not all(point.is_proved for point in found):
        raise RuntimeError("a point of the front is not proved; give it more time")
    return lower_envelope([(p.worst_cost, p.error) for p in found], budgets)


def describe(name: str, table: Table, curves: dict[str, Curve]) -> dict[str, object]:
    """Return a row: errors by budget, and whether the paper's trends hold."""
    best = dict(curves["best"])
    powers = {b: min(dict(curves[f"Powers {p}"])[b] for p in POWERS) for b in best}
    hinged = dict(curves["hinged"])
    whole = min(b for b, error in powers.items() if error <= SAME)
    inner = [b for b in best if 1 <= b < whole]
    better = [b for b in inner if hinged[b] < powers[b] - SAME]
    worse = [b for b in inner if hinged[b] > powers[b] + SAME]
    half = whole // 2
    return {
        "table": name,
        "cases": table.n_cases,
        "tests for no error": int(whole),
        **{f"% at {b}": round(100 * best.get(b, 0.0), 2) for b in (0, 1, 2, 3, 4)},
        "trend 1": _verdict(best[half] <= 0.1)
        + f": {100 * best[half]:.1f} % at {half:g}"
        + " *" * (name in EASY),
        "hinged less": _join(better),
        "hinged more": _join(worse),
        "trend 2": _order(better, worse),
    }


def _order(better: list[float], worse: list[float]) -> str:
    """Say whether hinged pairs win at some budgets, and lose only at larger ones."""
    if not better:
        return "no"
    return "yes" if not worse or max(better) < min(worse) else "partly"


def _verdict(holds: bool) -> str:
    return "yes" if holds else "no"


def _join(budgets: list[float]) -> str:
    return " ".join(f"{b:g}" for b in budgets) or "-"


def run(quick: bool) -> list[dict[str, object]]:
    """Return a row for each table."""
    panels = {}
    rows = []
    synthetic = make_synthetic_1024()
    curve = dict(best_errors(synthetic, [float(b) for b in range(11)]))
    errors = [round(1024 * error) for error in curve.values()]
    print(f"synthetic 1024: wrong objects by budget 0, 1, ...: {errors}")
    for name, table in load_nine_tables(quick=quick):
        panels[name] = make_curves(table, 12 if quick else 60)
        rows.append(describe(name, table, panels[name]))
    for trend in ("trend 1", "trend 2"):
        holds = [str(row["table"]) for row in rows if str(row[trend])[:3] == "yes"]
        print(f"{trend} holds for {len(holds)} of {len(rows)}: {', '.join(holds)}")
    print("* named by the paper for trend 1; budgets are numbers of tests")
    if not quick:
        write_points(panels)
        titles = {n: f"{n}: {NINE_TABLES[n]:,} cases" for n in panels}
        draw_tradeoffs({titles[n]: curves for n, curves in panels.items()}, FIGURE)
    return rows


def write_points(panels: dict[str, dict[str, Curve]]) -> None:
    """Write every point of every curve."""
    path = HERE / "results" / "tradeoff_curves.csv"
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["table", "curve", "worst_cost", "error"])
        for name, curves in panels.items():
            for label, curve in curves.items():
                for cost, error in curve:
                    writer.writerow([name, label, f"{cost:g}", f"{error:.6f}"])
