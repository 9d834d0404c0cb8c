"""Probabilities of rows that stop early: chosen by error or by log loss, calibrated.

``BudgetBoostClassifier`` chooses what errs least, or with ``loss="log_loss"`` what has
the best probabilities; both are fitted at the same rows, and asked for the same
budgets: a quarter, a half and all of what the most accurate choice costs. Columns that
end in "by log loss" are of the second.

Each fits one factor of the log-odds to where validation rows stop. Beside the first
stand the same policy without that factor, and the shares of classes among the rows to
grow on, which cost nothing. Sets of the list that is only reported, one split each at a
price of 1 for each feature (``set_lists.py``); ``--chosen`` runs five seeds of six sets
that choices are made on, at budgets of 3, 5 and 8, which are kept on the validation
rows alone. All scores are of the test rows; the area under the ROC curve is, of several
classes, each against the rest; the Brier score is summed over classes. "met" says that
the factor did not raise the log loss by more than one percent.
"""

from __future__ import annotations

import sys
from typing import Any

import adaptive_protocol as protocol
import numpy as np
from set_lists import read_set
from sklearn.metrics import roc_auc_score

from askless import BudgetBoostClassifier

SETS = ("physionet2012", "german", "contraceptive", "page_blocks", "satimage", "vowel")
ROWS = (3_000, 1_000, 2_000)
SHARES = (0.25, 0.5, 1.0)
# Of the sets that choices are made on.
CHOSEN = (
    "miniboone_tiny", "spambase", "magic", "adult", "nhanes1_mortality10y",
    "ann_thyroid",
)  # fmt: skip
CHOSEN_ROWS, CHOSEN_BUDGETS, SEEDS = (3_000, 800, 1_500), (3.0, 5.0, 8.0), range(5)
LOSSES = {"error": "", "log_loss": ", by log loss"}
MEASURES = ("cost", "error, %", "AUROC", "log loss", "Brier")
# No probability is taken for less than this.
LEAST = 1e-6


def score(shares: Any, y: Any) -> dict[str, float]:
    """Return how good shares of classes are."""
    rows = np.arange(len(y))
    shares = shares / shares.sum(axis=1, keepdims=True)
    truth = np.zeros_like(shares)
    truth[rows, y] = 1.0
    lost = -np.log(np.maximum(shares[rows, y], LEAST))
    if len(np.unique(y)) < shares.shape[1]:
        area = float("nan")
    elif shares.shape[1] == 2:
        area = roc_auc_score(y, shares[:, 1])
    else:
        area = roc_auc_score(y, shares, multi_class="ovr")
    return {
        "error, %": 100 * float(np.mean(shares.argmax(axis=1) != y)),
        "AUROC": float(area),
        "log loss": float(lost.mean()),
        "Brier": float(((shares - truth) ** 2).sum(axis=1).mean()),
    }


def measure(policy: Any, X: Any, y: Any) -> dict[str, float]:
    """Return what a policy costs on rows, and how good its probabilities are."""
    return {
        "cost": float(policy.cost(X).mean()),
        **score(policy.predict_proba(X), y),
    }


def fit_both(parts: Any, **options: Any) -> dict[str, Any]:
    """Return a learner for each of what is made least."""
    (X, y), (X_valid, y_valid), _ = parts
    return {
        loss: BudgetBoostClassifier(loss=loss, n_jobs=1, **options).fit(
            X, y, X_valid=X_valid, y_valid=y_valid
        )
        for loss in LOSSES
    }


def run_set(name: str, rounds: int | None = None) -> list[dict[str, object]]:
    """Return a row for each budget."""
    X, y = read_set(name)
    parts = protocol.split(X, y, 0, ROWS)
    (_, y_grow), _, (X_test, y_test) = parts
    n_classes = int(y.max()) + 1
    rounds = rounds or (300 if n_classes <= 3 else 100)
    boosts = fit_both(parts, n_estimators=rounds, random_state=0)
    prior = np.bincount(y_grow, minlength=n_classes) / len(y_grow)
    at_once = score(np.tile(prior, (len(y_test), 1)), y_test)
    rows = []
    for share in SHARES:
        budget = share * boosts["error"].point_.cost
        policies = {loss: boost.at_budget(budget) for loss, boost in boosts.items()}
        found = {loss: measure(p, X_test, y_test) for loss, p in policies.items()}
        bare = policies["error"].with_slope(1.0)
        plain = score(bare.predict_proba(X_test), y_test)["log loss"]
        met = found["error"]["log loss"] <= 1.01 * plain
        rows.append({
            "set": name, "budget": budget,
            **{
                f"{key}{words}": found[loss][key]
                for key in MEASURES for loss, words in LOSSES.items()
            },
            "factor": policies["error"].output.slope, "log loss, no factor": plain,
            "log loss, prior": at_once["log loss"], "met": "yes" if met else "no",
        })  # fmt: skip
    return rows


def run_chosen(name: str) -> list[dict[str, object]]:
    """Return a row for each budget: means over seeds, and how far the second is off."""
    X, y = read_set(name)
    found: dict[float, list[Any]] = {budget: [] for budget in CHOSEN_BUDGETS}
    for seed in SEEDS:
        parts = protocol.split(X, y, seed, CHOSEN_ROWS)
        boosts = fit_both(parts, random_state=seed, budget_confidence=None)
        for budget, runs in found.items():
            both = (boost.at_budget(budget) for boost in boosts.values())
            runs.append([list(measure(p, *parts[2]).values()) for p in both])
    rows = []
    for budget, runs in found.items():
        numbers = np.array(runs)
        means, gaps = numbers.mean(axis=0), numbers[:, 1] - numbers[:, 0]
        spread = gaps.std(axis=0, ddof=1) / np.sqrt(len(gaps))
        row: dict[str, object] = {"set": name, "budget": budget, "seeds": len(gaps)}
        for i, key in enumerate(MEASURES):
            row |= {key: means[0, i], f"{key}, by log loss": means[1, i]}
            row[f"{key}, second less first"] = (
                f"{gaps[:, i].mean():+.4f} +- {spread[i]:.4f}"
            )
        rows.append(row)
    return rows


def run(quick: bool) -> list[dict[str, object]]:
    """Return a row for each set and budget; in a quick run, of one set."""
    rounds = 40 if quick else None
    return [r for name in (SETS[1:2] if quick else SETS) for r in run_set(name, rounds)]


if __name__ == "__main__":
    from run import print_rows

    if "--chosen" in sys.argv:
        print_rows([row for name in CHOSEN for row in run_chosen(name)])
    else:
        print_rows(run("--quick" in sys.argv))
