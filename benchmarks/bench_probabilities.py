"""Probabilities of rows that stop early: Brier score and log loss, calibrated or not.

``BudgetBoostClassifier`` fits one factor of the log-odds to where validation rows stop.
Beside it stand the same policy without that factor, and the shares of classes among the
rows to grow on, which cost nothing. Budgets are a quarter, a half and all of what the
most accurate choice costs. Sets of the list that is only reported, one split each at a
price of 1 for each feature (``set_lists.py``); scores are of the test rows, the Brier
score summed over classes. "met" says that the factor did not raise the log loss by more
than one percent.
"""

from __future__ import annotations

from typing import Any

import adaptive_protocol as protocol
import numpy as np
from set_lists import read_set

from askless import BudgetBoostClassifier

SETS = ("physionet2012", "german", "contraceptive", "page_blocks", "satimage", "vowel")
ROWS = (3_000, 1_000, 2_000)
SHARES = (0.25, 0.5, 1.0)
# No probability is taken for less than this.
LEAST = 1e-6


def score(shares: Any, y: Any) -> tuple[float, float]:
    """Return the Brier score and the log loss of shares of classes."""
    rows = np.arange(len(y))
    shares = shares / shares.sum(axis=1, keepdims=True)
    truth = np.zeros_like(shares)
    truth[rows, y] = 1.0
    lost = -np.log(np.maximum(shares[rows, y], LEAST))
    return float(((shares - truth) ** 2).sum(axis=1).mean()), float(lost.mean())


def run_set(name: str, rounds: int | None = None) -> list[dict[str, object]]:
    """Return a row for each budget."""
    X, y = read_set(name)
    (X_grow, y_grow), valid, (X_test, y_test) = protocol.split(X, y, 0, ROWS)
    n_classes = int(y.max()) + 1
    rounds = rounds or (300 if n_classes <= 3 else 100)
    boost = BudgetBoostClassifier(n_estimators=rounds, random_state=0, n_jobs=1)
    boost.fit(X_grow, y_grow, X_valid=valid[0], y_valid=valid[1])
    prior = np.bincount(y_grow, minlength=n_classes) / len(y_grow)
    at_once = score(np.tile(prior, (len(y_test), 1)), y_test)
    rows = []
    for share in SHARES:
        budget = share * boost.point_.cost
        policy = boost.at_budget(budget)
        fitted = score(policy.predict_proba(X_test), y_test)
        plain = score(policy.with_slope(1.0).predict_proba(X_test), y_test)
        met = fitted[1] <= 1.01 * plain[1]
        rows.append({
            "set": name, "budget": budget, "cost": float(policy.cost(X_test).mean()),
            "factor": policy.output.slope,
            "Brier": fitted[0], "Brier, no factor": plain[0],
            "Brier, prior": at_once[0],
            "log loss": fitted[1], "log loss, no factor": plain[1],
            "log loss, prior": at_once[1], "met": "yes" if met else "no",
        })  # fmt: skip
    return rows


def run(quick: bool) -> list[dict[str, object]]:
    """Return a row for each set and budget; in a quick run, of one set."""
    rounds = 40 if quick else None
    return [r for name in (SETS[1:2] if quick else SETS) for r in run_set(name, rounds)]
