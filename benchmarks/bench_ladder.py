"""A ladder of random tables: how far a proof gets, and in how many seconds.

Families as in our trial of the search: identification (every case a class) and few
classes, binary and many outcomes, skewed splits ("sk"), costs 1 to 10 ("$"), weights 1
to 20 ("w"). Beside ours stand the seconds that the trial took on a loaded machine;
where it was not proved, its gap is given instead.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

import askless

LIMIT = 60.0


class Rung(NamedTuple):
    """A family of random tables, and what the trial had for expected and worst cost."""

    n_cases: int
    n_tests: int
    n_outcomes: int
    n_classes: int
    marks: str
    expected: str
    worst: str


RUNGS = [
    Rung(64, 24, 2, 64, "", "0.4", "0.4"),
    Rung(256, 48, 2, 256, "", "0.4", "0.4"),
    Rung(512, 64, 2, 512, "", "0.4", "0.4"),
    Rung(128, 32, 4, 128, "", "1.3", "0.05"),
    Rung(128, 32, 2, 128, "sk", "0.2", "0.14"),
    Rung(256, 48, 2, 256, "sk", "1.2", "0.14"),
    Rung(48, 20, 2, 48, "sk $ w", "0.85", "9"),
    Rung(128, 40, 2, 128, "sk $ w", "25", "50"),
    Rung(64, 24, 2, 2, "", "1.8", "1-9"),
    Rung(128, 24, 2, 2, "", "14", "1-9"),
    Rung(200, 20, 2, 2, "", "54", "1-9"),
    Rung(256, 32, 2, 2, "", "gap 20 %", "6"),
    Rung(200, 20, 3, 2, "", "8", "8"),
    Rung(400, 20, 4, 3, "", "10", "8"),
    Rung(1000, 20, 5, 2, "", "17", "8"),
    Rung(128, 30, 2, 8, "$ w", "9.5", "9"),
]


def make_table(rung: Rung, seed: int = 1) -> askless.Table:
    """Return a random table of a family, without cases that nothing parts."""
    rng = np.random.default_rng(seed)
    columns = []
    for _ in range(rung.n_tests):
        share = rng.uniform(0.1, 0.5) if "sk" in rung.marks else None
        if share is None:
            columns.append(rng.integers(0, rung.n_outcomes, rung.n_cases))
        else:
            columns.append((rng.random(rung.n_cases) < share).astype(int))
    labels = np.arange(rung.n_cases) % rung.n_classes
    table = askless.Table(
        np.array(columns).T,
        labels,
        costs=rng.integers(1, 11, rung.n_tests).tolist() if "$" in rung.marks else None,
        prior=rng.integers(1, 21, rung.n_cases) if "w" in rung.marks else None,
    )
    return table.merged() if table.indistinct else table


def run(quick: bool) -> list[dict[str, object]]:
    """Return a row for each family and objective."""
    rows = []
    for rung in RUNGS[:3] if quick else RUNGS:
        table = make_table(rung)
        for objective, trial in (("expected", rung.expected), ("worst", rung.worst)):
            start = time.perf_counter()
            solution = askless.solve(
                table, objective=objective, method="exact", time_limit=LIMIT
            )
            rows.append(
                {
                    "table": f"{rung.n_cases}x{rung.n_tests}x{rung.n_outcomes}",
                    "classes": rung.n_classes,
                    "marks": rung.marks or "-",
                    "objective": objective,
                    "best": solution.cost,
                    "bound": solution.lower_bound,
                    "status": solution.status,
                    "seconds": time.perf_counter() - start,
                    "trial": trial,
                }
            )
            print(*rows[-1].values(), flush=True)
    return rows
