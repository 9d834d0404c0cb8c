"""Learners of the literature on buying features one by one, on the same rows.

GDFS (Covert and others, 2023) and DIME (Gadgil and others, 2024), which train networks
to buy, and AACO (Valancius and others, 2024), which asks the nearest training rows,
beside ``BudgetBoostClassifier``. They were written anew after their public code
(``acquire_worker.py``), with the settings of its experiments with tables: two hidden
layers of 128 with dropout, predictors trained with random masks before, batches of 128,
steps that get smaller where the loss stays, and early stopping on the validation rows.
GDFS learns to buy 35 features at five temperatures, with the patience of its notebook
(2 epochs; its script waits for 5, which takes twice as long); DIME learns to buy 15, at
first 5 % of them at random, for at most 250 epochs, and stops where the best feature is
worth less than a threshold; AACO tries 1,000 random sets for each purchase on the 20
nearest rows.

What differs was chosen where it helps them, on one split, or to save time. Values are
given as normal ranks, not standardised: on MiniBooNE, DIME then erred 11.7, 9.5 and
9.0 % at costs of 3, 5 and 8 (80 epochs), standardised 13.1, 11.5 and 11.1. DIME may not
buy a feature again while it learns, which the public code allows: on spambase, that
code erred 13.8, 10.8 and 10.2 %, and with this changed 9.4, 7.8 and 7.2. Missing values
are 0, and marked once they were bought. AACO asks a network for any set of features
where the public code asks XGBoost or, on the cube, the true distribution, which is not
known here; all rows first buy the feature that is best alone.

The public code of DIME and GDFS was run on the first split of two sets, with the same
ranks; errors in percent at costs of 3, 5 and 8, the public code's first. DIME on
spambase, without buying again: 9.4, 7.8, 7.2 and 9.5, 7.6, 6.7; with it, tried before:
13.8, 10.8, 10.2 and 13.8, 13.2, 12.1; on the cube with noise of 0.1, with it: 12.7,
5.1, 3.1 and 12.4, 3.2, 2.9. GDFS on spambase: 15.1, 11.1, 8.9 and 13.3, 11.5, 9.2; on
the cube, with two and three seeds: 20.9 to 27.4, 6.9 to 8.9, 2.9 to 3.3 and 19.0 to
26.7, 6.6 to 8.9, 3.1 to 3.3. So much does the seed of a network alone change. AACO was
not compared so.

Every feature costs 1. All see the same rows to grow on and to choose on; ours gets the
rival's mean cost on the test rows as its budget, with ``budget_confidence=None``, and
its models and thresholds are chosen on the validation rows. AACO answers the first 400
test rows, and so does ours beside it.

Costs, errors in percent and areas under the ROC curve (of several classes, each against
the rest) are means over the seeds. "wins" counts the seeds in which ours errs less.
Columns "by log loss" are of ours with ``loss="log_loss"``, which chooses the best
probabilities instead of the best decisions, at the same budgets; they are empty where
it has not run. In the sets "cube", with noise of 0.1 and 0.3, each class shows in three
features of its own, so that no feature tells much alone: a greedy buyer starts blind.

Networks need torch, in an environment of its own, which ``make bench-torch`` makes.
``bench_acquire.py`` goes on where it was stopped; ``--report`` writes what there is;
``--ours`` measures ours anew beside the rivals' points that are kept.
Sets and seeds that have not run yet are not in the table.
Rows with figures "by log loss" have ours as it is. Those of DIME, and of AACO on sets
that are no cube, are of earlier runs, beside the learner as it was then:
``run.py networks`` has ours as it is at DIME's costs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import adaptive_protocol as protocol
import numpy as np
from set_lists import read_set
from sklearn.metrics import roc_auc_score

import askless
from askless import BudgetBoostClassifier
from askless.exceptions import DatasetNotFoundError
from askless.learn.boost._calibrate import calibrate
from askless.learn.boost._candidates import Goal

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "acquire.jsonl"
SETS = ("miniboone_tiny", "spambase", "physionet2012", "cube 0.1", "cube 0.3")
METHODS = ("dime", "gdfs", "aaco")
ROWS = (3_000, 800, 1_500)
SEEDS = (0, 1, 2, 3, 4)
# Test rows that AACO answers, which takes it long.
MOST_AACO = 400


def torch_python() -> Path:
    """Return the interpreter of the environment that has torch."""
    found = Path(
        os.environ.get("ASKLESS_TORCH", HERE.parent / ".venv-torch" / "bin" / "python")
    )
    if not found.exists():
        raise DatasetNotFoundError(
            "Networks need torch in an environment of its own. Got none at "
            f"{found.name!r}. Type: make bench-torch"
        )
    return found


def load(name: str, seed: int) -> list[Any]:
    """Return rows for growing, choosing and testing."""
    if name.startswith("cube"):
        cube = askless.datasets.make_cube(
            sum(ROWS), noise=float(name.split()[1]), random_state=seed
        )
        X = np.column_stack(list(cube.columns.values()))
        y = np.asarray(cube.y)
    else:
        X, y = read_set(name)
    return protocol.split(X, y, seed, ROWS)


def count_rows(method: str, parts: list[Any]) -> int:
    """Return how many of the test rows a rival answers."""
    n_rows = len(parts[2][1])
    return min(MOST_AACO, n_rows) if method == "aaco" else n_rows


def run_rival(parts: list[Any], method: str, seed: int) -> list[dict[str, Any]]:
    """Return the points of a rival, with the shares of classes of its test rows."""
    *known, (X, y) = parts
    n_rows = count_rows(method, parts)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npz"
        arrays = {"X_test": X[:n_rows], "y_test": y[:n_rows]}
        for part, (X, y) in zip(("train", "valid"), known, strict=True):
            arrays |= {f"X_{part}": X, f"y_{part}": y}
        np.savez(path, **arrays)
        worker = HERE / "acquire_worker.py"
        done = subprocess.run(
            [str(torch_python()), str(worker), str(path), method, str(seed)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode:
        sys.exit(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def measure(shares: Any, cost: float, y: Any) -> dict[str, float]:
    """Return the mean cost, the error and the area under the ROC curve."""
    shares = np.asarray(shares)
    answer = shares.argmax(axis=1)
    if shares.shape[1] == 2:
        area = roc_auc_score(y, shares[:, 1])
    else:
        shares = shares / shares.sum(axis=1, keepdims=True)
        area = roc_auc_score(y, shares, multi_class="ovr")
    error = float(np.mean(answer != y))
    return {"cost": float(cost), "error": error, "auroc": float(area)}


class Ours:
    """Our learner on one split, grown when it is first asked."""

    def __init__(self, parts: list[Any], seed: int, loss: str = "error") -> None:
        self.parts, self.seed, self.loss = parts, seed, loss
        self.boost: Any = None
        self.seconds = 0.0

    def at(self, budget: float, n_rows: int) -> dict[str, float]:
        """Return what ours does on the first test rows with a mean budget."""
        if self.boost is None:
            start = time.process_time()
            (X, y), (X_valid, y_valid), _ = self.parts
            self.boost = BudgetBoostClassifier(
                loss=self.loss, random_state=self.seed, n_jobs=1
            )
            self.boost.fit(X, y, X_valid=X_valid, y_valid=y_valid)
            self.seconds = time.process_time() - start
        goal = Goal(budget, None, np.inf, None)
        policy = self.boost._candidates.choose(goal)[0]
        policy = calibrate(policy, self.boost._calibrated_on, 1)
        X, y = (part[:n_rows] for part in self.parts[2])
        shares, cost = policy.predict_proba(X), policy.cost(X)
        return measure(shares, float(cost.mean()), y)


class BothOurs:
    """Our learner twice: chosen by decisions, and by probabilities."""

    def __init__(self, parts: list[Any], seed: int) -> None:
        self.by_error = Ours(parts, seed)
        self.by_log_loss = Ours(parts, seed, "log_loss")

    def at(self, budget: float, n_rows: int) -> dict[str, Any]:
        """Return the fields of a line that are ours, at a mean budget."""
        return {
            "ours": self.by_error.at(budget, n_rows),
            "ours by log loss": self.by_log_loss.at(budget, n_rows),
            "our seconds": self.by_error.seconds,
            "our seconds by log loss": self.by_log_loss.seconds,
        }


def run_split(name: str, seed: int, methods: Any, path: Path | None) -> list[Any]:
    """Run the rivals on one split; keep a line for each point."""
    parts = load(name, seed)
    ours = BothOurs(parts, seed)
    lines = []
    for method in methods:
        for found in run_rival(parts, method, seed):
            y = parts[2][1][: len(found["shares"])]
            rival = measure(found["shares"], found["cost"], y)
            lines.append({
                "set": name, "seed": seed, "method": method,
                "setting": found["setting"], "rival": rival,
                "seconds": found["seconds"], **ours.at(rival["cost"], len(y)),
            })  # fmt: skip
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            some = [line for line in lines if line["method"] == method]
            with path.open("a", encoding="utf-8") as file:
                file.write("".join(json.dumps(line) + "\n" for line in some))
        print(f"  {name}, seed {seed}, {method}", flush=True)
    return lines


def read_lines(path: Path) -> list[Any]:
    """Return what was kept."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def run_all(sets: Any, seeds: Any, methods: Any, path: Path) -> list[Any]:
    """Run what a file lacks; return all lines."""
    done = {(x["set"], x["seed"], x["method"]) for x in read_lines(path)}
    for seed in seeds:
        for name in sets:
            left = [m for m in methods if (name, seed, m) not in done]
            if left:
                run_split(name, seed, left, path)
    return read_lines(path)


def measure_ours_again(path: Path) -> None:
    """Measure ours anew beside the rivals' points that are kept, which stay as is."""
    lines = read_lines(path)
    for name, seed in sorted({(x["set"], x["seed"]) for x in lines}):
        parts = load(name, seed)
        ours = BothOurs(parts, seed)
        for line in (x for x in lines if (x["set"], x["seed"]) == (name, seed)):
            n_rows = count_rows(line["method"], parts)
            line |= ours.at(line["rival"]["cost"], n_rows)
        print(f"  {name}, seed {seed}, ours", flush=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


def make_rows(lines: list[Any]) -> list[dict[str, object]]:
    """Return a row for each set, rival and setting."""
    rows = []
    for name in SETS:
        for method in METHODS:
            some = [x for x in lines if (x["set"], x["method"]) == (name, method)]
            for setting in sorted(
                {x["setting"] for x in some}, reverse=method == "aaco"
            ):
                runs = [x for x in some if x["setting"] == setting]
                rows.append(_summarise(name, method, setting, runs))
    return rows


def _summarise(name: str, method: str, setting: float, runs: Any) -> dict[str, object]:
    def mean(side: str, key: str) -> float:
        return float(np.mean([run[side][key] for run in runs]))

    gap = np.array([run["ours"]["error"] - run["rival"]["error"] for run in runs])
    spread = ""
    if len(gap) > 1:
        spread = f" +- {100 * gap.std(ddof=1) / np.sqrt(len(gap)):.2f}"
    return {
        "set": name, "rival": method.upper(), "setting": setting, "seeds": len(runs),
        "its cost": mean("rival", "cost"), "our cost": mean("ours", "cost"),
        "its error, %": 100 * mean("rival", "error"),
        "our error, %": 100 * mean("ours", "error"),
        "ours less its, points": f"{100 * gap.mean():+.2f}{spread}",
        "its AUROC": mean("rival", "auroc"), "our AUROC": mean("ours", "auroc"),
        "wins": f"{int(np.sum(gap < 0))} of {len(gap)}",
        **_summarise_by_log_loss(runs),
    }  # fmt: skip


def _summarise_by_log_loss(runs: Any) -> dict[str, object]:
    """Return what ours does if probabilities choose; lines of before do not have it."""
    some = [run["ours by log loss"] for run in runs if "ours by log loss" in run]
    columns = {"AUROC": ("auroc", 1), "error, %": ("error", 100), "cost": ("cost", 1)}
    return {
        f"our {words}, by log loss": factor * float(np.mean([x[key] for x in some]))
        if len(some) == len(runs)
        else ""
        for words, (key, factor) in columns.items()
    }


def run(quick: bool) -> list[dict[str, object]]:
    """Run one seed of two sets; the rest is an option."""
    torch_python()
    sets, methods = ("spambase", "cube 0.1"), METHODS[:1] if quick else METHODS
    if not quick and RESULTS.exists():
        return make_rows(read_lines(RESULTS))
    lines = [line for name in sets for line in run_split(name, 0, methods, None)]
    return make_rows(lines)


def main() -> None:
    """Run what was asked for, and print the table."""
    from run import print_rows

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--ours", action="store_true")
    given = parser.parse_args()
    if given.ours:
        measure_ours_again(given.results)
    elif not given.report:
        run_all(given.sets, given.seeds, given.methods, given.results)
    rows = make_rows(read_lines(given.results))
    print_rows(rows)
    (HERE / "results").mkdir(exist_ok=True)
    (HERE / "results" / "acquire.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
