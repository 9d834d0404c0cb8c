"""Two marks of the learner as it comes: an error to reach, and what it may cost.

``BudgetBoostClassifier(budget=12)`` with its defaults, every feature at a price of 1;
both sets are among those that choices were made on. covertype has 36,603 rows to grow
on, 3,000 to choose on and 8,000 to test on, of seven classes; miniboone_tiny has half
of its 5,000 rows to grow on, a fifth to choose on and the rest to test on. Means over
seeds, with the standard error of a share of the test rows beside.
"""

from __future__ import annotations

from typing import Any

import adaptive_protocol as protocol
import numpy as np

from askless import BudgetBoostClassifier

BUDGET = 12.0
MARKS = {
    "covertype": (0.14, (36_603, 3_000, 8_000), 1),
    "miniboone_tiny": (0.077, (2_500, 1_000, 1_500), 3),
}


def run_set(
    name: str, asked: float, most: tuple[int, int, int], n_seeds: int
) -> dict[str, object]:
    """Return what the learner does on one set."""
    X, labels, _, _ = protocol._load_public(name)
    y = np.unique(labels, return_inverse=True)[1]
    errors, costs = [], []
    for seed in range(n_seeds):
        (X_grow, y_grow), (X_valid, y_valid), (X_test, y_test) = protocol.split(
            X, y, seed, most
        )
        boost = BudgetBoostClassifier(budget=BUDGET, random_state=seed)
        boost.fit(X_grow, y_grow, X_valid=X_valid, y_valid=y_valid)
        answers, paid = boost.policy_.predict_and_cost(X_test)
        errors.append(np.mean(answers != y_test))
        costs.append(paid.mean())
    error, cost = float(np.mean(errors)), float(np.mean(costs))
    stderr = (error * (1 - error) / (n_seeds * len(y_test))) ** 0.5
    is_met = error <= asked and cost <= BUDGET
    return {
        "set": name, "rows": f"{len(y_grow):,}", "seeds": n_seeds,
        "error, %": 100 * error, "± %": 100 * stderr, "cost": cost,
        "asked": f"{100 * asked:g} % at {BUDGET:g}", "met": "yes" if is_met else "no",
    }  # fmt: skip


def run(quick: bool) -> list[dict[str, object]]:
    """Return a row for each set; in a quick run, of the small one with one seed."""
    marks: dict[str, Any] = dict(MARKS)
    if quick:
        marks = {"miniboone_tiny": (*MARKS["miniboone_tiny"][:2], 1)}
    return [run_set(name, *mark) for name, mark in marks.items()]
