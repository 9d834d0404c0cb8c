"""The learner as it is, at the mean costs of networks that learn to buy.

Rivals take hours to train, and the table of ``run.py acquire`` has what they did when
they last ran, beside the learner as it was then. Here ours runs again without them: on
the same splits and seeds, with the mean cost of DIME over its seeds as the budget, once
chosen by its decisions and once by its probabilities (``loss="log_loss"``). Errors are
in percent, with the standard error over the seeds of ours; what is DIME's is read from
that table. On the cubes, blends with naive Bayes were chosen on other cubes.
"""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
from bench_acquire import SEEDS, BothOurs, load
from page import DOCS, read_sections

SIDES = {"ours": "by error", "ours by log loss": "by log loss"}


def read_rivals(rival: str = "DIME") -> list[dict[str, str]]:
    """Return the rows of a rival in the table of the page."""
    page = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| (.*) \|$", read_sections(page)["acquire"], re.MULTILINE)
    headings, _, *rows = [line.split(" | ") for line in lines]
    found = [dict(zip(headings, row, strict=True)) for row in rows]
    return [row for row in found if row["rival"] == rival]


def run_set(rows: list[dict[str, str]], seeds: Any) -> list[dict[str, object]]:
    """Return a row for each mean cost of a rival on one set."""
    runs: list[list[Any]] = [[] for _ in rows]
    for seed in seeds:
        parts = load(rows[0]["set"], seed)
        ours = BothOurs(parts, seed)
        for row, found in zip(rows, runs, strict=True):
            found.append(ours.at(float(row["its cost"]), len(parts[2][1])))
    print(f"  {rows[0]['set']}", flush=True)
    return [_summarise(row, found) for row, found in zip(rows, runs, strict=True)]


def _summarise(row: dict[str, str], runs: list[Any]) -> dict[str, object]:
    found: dict[str, object] = {
        "set": row["set"], "setting": row["setting"], "seeds": len(runs),
        "DIME: cost": float(row["its cost"]), "error, %": float(row["its error, %"]),
        "AUROC": float(row["its AUROC"]),
    }  # fmt: skip
    for side, words in SIDES.items():
        errors = 100 * np.array([run[side]["error"] for run in runs])
        spread = errors.std(ddof=1) / np.sqrt(len(errors)) if len(errors) > 1 else 0.0
        found |= {
            f"{words}: cost": float(np.mean([run[side]["cost"] for run in runs])),
            f"{words}: error, %": f"{errors.mean():.2f} +- {spread:.2f}",
            f"{words}: AUROC": float(np.mean([run[side]["auroc"] for run in runs])),
        }
    return found


def run(quick: bool) -> list[dict[str, object]]:
    """Return a row for each set and mean cost; in a quick run of one set and seed."""
    rivals = read_rivals()
    names = list(dict.fromkeys(row["set"] for row in rivals))
    rows = []
    for name in names[1:2] if quick else names:
        some = [row for row in rivals if row["set"] == name]
        rows += run_set(some, SEEDS[:1] if quick else SEEDS)
    return rows


if __name__ == "__main__":
    print(json.dumps(run(quick=True), indent=1))
