"""The protocol of the paper on ACT: data sets x cost draws x mistakes x folds.

Every fit is one line of a file, so that a run that was stopped goes on where it was.
Learners that are blind to mistakes are fitted once for all costs of mistakes.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from concepts import CONCEPTS
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

import askless
from askless import Costs, Tree
from askless.datasets import load_public, make_costs
from askless.problem._sweep import run_tasks

# The paper's sets that are in the data folder, and its five concepts.
PUBLIC = (
    "ann_thyroid", "breast_cancer_ljubljana", "bupa_turney", "car_evaluation",
    "flare_uci", "glass", "heart_cleveland", "hepatitis", "house_votes_84", "iris",
    "krk", "monk1", "monk2", "monk3", "nursery", "pima", "tae", "tic_tac_toe",
    "titanic_2201", "wine",
)  # fmt: skip
SETS = (*PUBLIC, *CONCEPTS)
# Sets whose costs, groups and delays an expert has set.
EXPERT = ("ann_thyroid", "bupa_turney", "heart_cleveland", "hepatitis", "pima")
MISTAKES = (100, 500, 1000, 5000, 10_000)
RATIOS = (0.125, 0.25, 0.5, 1, 2, 4, 8)
LEARNERS = ("c45", "lsid3", "idx", "csid3", "eg2", "dtmc", "icet", "act")
BLIND = ("c45", "lsid3", "idx", "csid3", "eg2")  # to mistakes


@dataclass(frozen=True)
class Plan:
    """How much of the protocol to run."""

    sets: tuple[str, ...]
    n_draws: int
    mistakes: tuple[float, ...]
    n_folds: int
    learners: tuple[str, ...] = LEARNERS
    max_rows: int = 0  # larger sets are represented by so many rows, by class; 0: all
    trials: int = 1000  # of ICET
    samples: int = 5  # of ACT and LSID3
    gain_correlation: float = 1.0  # 0: costs are drawn uniformly
    expert: bool = False  # use the costs of the experts in place of draws
    only_folds: tuple[int, ...] = ()  # of the n_folds; all by default
    ratios: tuple[float, ...] = ()  # of mistakes on the first to the second half


@dataclass(frozen=True)
class Problem:
    """A data set with costs."""

    name: str
    X: pd.DataFrame
    y: NDArray[Any]
    costs: Costs


@cache
def load_rows(name: str, max_rows: int) -> tuple[pd.DataFrame, NDArray[Any], Costs]:
    """Return the columns, the classes and the costs that come with them."""
    if name in CONCEPTS:
        columns, y = CONCEPTS[name](np.random.default_rng(hash_name(name)))
        X, costs = pd.DataFrame(columns), Costs(dict.fromkeys(columns, 1.0))
    else:
        examples = load_public(name)
        X, y, costs = examples.to_frame(), np.asarray(examples.y), examples.costs
    for column in X:
        # Few whole numbers are names of kinds in these sets, as in the paper.
        values = pd.unique(X[column].dropna())
        if len(values) <= 5 and X[column].dtype.kind in "if":
            X[column] = X[column].map(lambda v: None if v != v else f"{v:g}")
    if max_rows and len(y) > max_rows:
        keep = np.random.default_rng(0).permutation(len(y))[:max_rows]
        keep.sort()
        X, y = X.iloc[keep].reset_index(drop=True), y[keep]
    return X, y, costs


def hash_name(name: str) -> int:
    """Return a number for a name that is the same in every run."""
    return int.from_bytes(name.encode()[-6:], "big")


def make_problem(name: str, draw: int, plan: Plan) -> Problem:
    """Return a set with drawn costs, or those of the experts."""
    correlation = None if plan.expert else plan.gain_correlation
    X, y, _ = load_rows(name, plan.max_rows)
    return Problem(name, X, y, settle_costs(name, plan.max_rows, draw, correlation))


@cache
def settle_costs(
    name: str, max_rows: int, draw: int, gain_correlation: float | None
) -> Costs:
    """Return the costs of a draw; those of the experts for a correlation of None."""
    X, y, costs = load_rows(name, max_rows)
    if gain_correlation is None:
        return costs
    seed = 1000 * draw + hash_name(name) % 1000
    return make_costs(X, y, gain_correlation=gain_correlation, random_state=seed)


def mistake_matrix(n: int, cost: float, ratio: float) -> NDArray[np.float64]:
    """Return mistakes[true][decision]: the first half of the classes costs more.

    A ratio of 1 is a uniform matrix; the geometric mean is always `cost`.
    """
    first = cost * np.sqrt(ratio)
    each = np.where(np.arange(n) < (n + 1) // 2, first, first / ratio)
    matrix = np.repeat(each[:, None], n, axis=1)
    np.fill_diagonal(matrix, 0)
    return matrix


def standard_cost(problem: Problem, mistakes: NDArray[np.float64]) -> float:
    """Return what all tests and the best guess cost, the unit of Turney."""
    tests = [askless.Test(c, "number") for c in problem.X.columns]
    everything = problem.costs.price_list(tests).cost_of_all()
    shares = np.unique(problem.y, return_counts=True)[1] / len(problem.y)
    return float(everything + (1 - shares.max()) * mistakes.max())


def make_learner(name: str, costs: Costs, mistakes: Any, plan: Plan, seed: int) -> Any:
    """Return an unfitted learner."""
    if name in ("act", "lsid3"):
        kind = askless.ACTClassifier if name == "act" else askless.LSID3Classifier
        return kind(costs, mistakes, samples=plan.samples, random_state=seed)
    if name == "icet":
        return askless.ICETClassifier(
            costs, mistakes, trials=plan.trials, random_state=seed
        )
    kind = {
        "c45": askless.C45Classifier,
        "idx": askless.IDXClassifier,
        "csid3": askless.CSID3Classifier,
        "eg2": askless.EG2Classifier,
        "dtmc": askless.DTMCClassifier,
    }[name]
    # The first four decide by majority, as in the papers.
    return kind(costs, mistakes if name == "dtmc" else None)


def folds_of(problem: Problem, n_folds: int) -> list[tuple[Any, Any]]:
    """Return the folds; they are the same for every learner, draw and mistake."""
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=7)
    with warnings.catch_warnings():
        # A class of few rows is not in every fold.
        warnings.simplefilter("ignore", UserWarning)
        return list(folds.split(problem.X, problem.y))


class Results:
    """Lines of a file, by key."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: dict[tuple[Any, ...], dict[str, Any]] = {}
        if path.is_file():
            for text in path.read_text(encoding="utf-8").splitlines():
                try:
                    line = json.loads(text)
                except json.JSONDecodeError:
                    continue  # the end of a run that was killed
                self.lines[self.key(line)] = line
        path.parent.mkdir(parents=True, exist_ok=True)

    @staticmethod
    def key(line: dict[str, Any]) -> tuple[Any, ...]:
        names = ("part", "set", "draw", "learner", "mistake", "ratio", "fold")
        return tuple(line[name] for name in names)

    def has(self, line: dict[str, Any]) -> bool:
        """Say whether a fit is there already, on as many rows of its set."""
        known = self.lines.get(self.key(line))
        return known is not None and known["rows"] == line["rows"]

    def add(self, lines: list[dict[str, Any]]) -> None:
        """Keep lines, in memory and in the file, all at once."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write("".join(json.dumps(line) + "\n" for line in lines))
        self.lines.update({self.key(line): line for line in lines})

    def frame(self, part: str) -> pd.DataFrame:
        """Return the lines of a part of the protocol."""
        return pd.DataFrame([x for x in self.lines.values() if x["part"] == part])


def results_folder() -> Path:
    """Return where results are kept: ASKLESS_BENCH, or the user's cache."""
    named = os.environ.get("ASKLESS_BENCH")
    return Path(named) if named else Path.home() / ".cache" / "askless" / "bench"


def run_plan(plan: Plan, part: str, results: Results, *, until: float = np.inf) -> bool:
    """Run what is not in the results yet; False if the time was over before the end."""
    for name in plan.sets:
        for draw in range(1 if plan.expert else plan.n_draws):
            problem = make_problem(name, draw, plan)
            tasks = [
                (plan, problem, missing_lines(plan, part, problem, draw, fold, results),
                 rows, until)
                for fold, rows in enumerate(folds_of(problem, plan.n_folds))
                if not plan.only_folds or fold in plan.only_folds
            ]  # fmt: skip
            # Folds are tasks of joblib: `parallel_config` says how many run at once.
            run_tasks(run_fold, tasks, on_done=lambda _, lines: results.add(lines))
            if time.time() > until:
                return False
    return True


def missing_lines(
    plan: Plan, part: str, problem: Problem, draw: int, fold: int, results: Results
) -> list[dict[str, Any]]:
    """Return what is to be fitted on one fold, without what was fitted before."""
    cases = [(m, r) for m in plan.mistakes for r in (plan.ratios or (1.0,))]
    lines = [
        {
            "part": part, "set": problem.name, "draw": draw, "learner": learner,
            "mistake": mistake, "ratio": ratio, "fold": fold, "rows": len(problem.y),
        }
        for learner in plan.learners for mistake, ratio in cases
    ]  # fmt: skip
    return [line for line in lines if not results.has(line)]


def run_fold(
    plan: Plan, problem: Problem, lines: list[dict[str, Any]], rows: Any, until: float
) -> list[dict[str, Any]]:
    """Fit learners on one fold, and fill in the lines; none if the time is over."""
    if time.time() > until:
        return []
    classes = np.unique(problem.y)
    shared: dict[str, tuple[Tree, float]] = {}
    for line in lines:
        learner = line["learner"]
        mistakes = mistake_matrix(len(classes), line["mistake"], line["ratio"])
        if learner not in shared or learner not in BLIND:
            shared[learner] = fit_tree(plan, learner, problem, mistakes, rows[0])
        tree, seconds = shared[learner]
        line |= score_tree(tree, problem, classes, mistakes, rows[1])
        line["seconds"] = round(seconds, 4)
    return lines


def fit_tree(
    plan: Plan, learner: str, problem: Problem, mistakes: Any, train: Any
) -> tuple[Tree, float]:
    """Return the tree of a learner, and what it took."""
    X, y = problem.X.iloc[train], problem.y[train]
    # A class may be absent from a fold of a small set.
    present = np.isin(np.unique(problem.y), np.unique(y))
    costs = problem.costs
    model = make_learner(learner, costs, mistakes[np.ix_(present, present)], plan, 0)
    start = time.perf_counter()
    model.fit(X, y)
    return model.policy_, time.perf_counter() - start


def score_tree(
    tree: Tree, problem: Problem, classes: Any, mistakes: Any, test: Any
) -> dict[str, Any]:
    """Return what held-out rows pay, as a share of the standard cost."""
    X, y = problem.X.iloc[test], problem.y[test]
    leaf = tree.apply(X)
    decided = np.array(tree.classes)[tree.node_decision[leaf]]
    wrong = mistakes[np.searchsorted(classes, y), np.searchsorted(classes, decided)]
    tests = tree.spent[leaf]
    unit = standard_cost(problem, mistakes) / 100
    return {
        "cost": round(float((tests + wrong).mean()) / unit, 6),
        "tests": round(float(tests.mean()) / unit, 6),
        "accuracy": round(float((decided == y).mean()), 6),
        "leaves": int(tree.n_leaves),
    }
