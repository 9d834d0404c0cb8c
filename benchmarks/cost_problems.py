"""The problems on which learners of least total cost are compared, and their splits.

Fifteen sets with costs of tests and three matrices of mistakes each, all of categories;
and the five sets with expert costs, with raw numbers and a uniform cost of mistakes of
0.5, 2 and 10 times all tests. Delays are left out: the other side knows none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless import Costs
from askless.datasets import load_public
from askless.datasets._price_files import LEVELS

STREED_SETS = (
    "annealing", "breast", "car", "diabetes", "flare", "glass", "heart", "hepatitis",
    "iris", "krk", "mushroom", "nursery", "soybean", "tictactoe", "wine",
)  # fmt: skip
EXPERT_SETS = ("ann_thyroid", "bupa_turney", "heart_cleveland", "hepatitis", "pima")
TIMES_ALL_TESTS = {"low": 0.5, "middle": 2.0, "high": 10.0}
# Sets on which one fit of the other side takes long, or that have many rows.
LARGE = ("krk", "mushroom", "nursery", "soybean", "T:ann_thyroid")


@dataclass(frozen=True)
class Problem:
    """A set of examples, what its tests cost, and what mistakes cost at each level."""

    name: str
    columns: dict[str, NDArray[Any]]
    y: NDArray[Any]  # class numbers
    costs: Costs
    mistakes: dict[str, NDArray[np.float64]]

    @property
    def n_rows(self) -> int:
        return len(self.y)

    @property
    def is_categorical(self) -> bool:
        return not self.name.startswith("T:")

    def cost_of_all(self) -> float:
        from askless.problem import Test

        tests = [Test(name, "number") for name in self.columns]
        return self.costs.price_list(tests).cost_of_all()

    def standard_cost(self, level: str) -> float:
        """All tests, and the mistakes of always deciding for the largest class."""
        shares = np.bincount(self.y) / len(self.y)
        return self.cost_of_all() + (1 - shares.max()) * self.mistakes[level].max()

    def patterns(self) -> NDArray[np.int64]:
        """The number of each row's pattern of outcomes."""
        rows: NDArray[Any] = np.array(
            [
                np.unique(c.astype(str), return_inverse=True)[1]
                for c in self.columns.values()
            ]
        ).T
        return np.unique(rows, axis=0, return_inverse=True)[1].ravel()

    def split(self, number: int, kind: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return training and test rows: four fifths and one fifth.

        "plain" draws rows; "distinct" draws patterns, so that no test row has been seen
        in training.
        """
        rng = np.random.default_rng([number, kind == "distinct", 20])
        if kind == "plain":
            order = rng.permutation(self.n_rows)
            n_test = self.n_rows // 5
            return np.sort(order[n_test:]), np.sort(order[:n_test])
        patterns = self.patterns()
        order = rng.permutation(patterns.max() + 1)
        in_test = np.zeros(len(order), dtype=bool)
        in_test[order[: len(order) // 5]] = True
        is_test = in_test[patterns]
        return np.flatnonzero(~is_test), np.flatnonzero(is_test)

    def frame(self, rows: NDArray[Any]) -> Any:
        import pandas as pd

        return pd.DataFrame({k: c[rows] for k, c in self.columns.items()})


def load_problem(name: str) -> Problem:
    """Return a problem by its short name; sets with expert costs begin with "T:"."""
    if name.startswith("T:"):
        return _load_expert(name)
    sets = {level: load_public(f"streed_{name}", level=level) for level in LEVELS}
    examples = sets["low"]
    matrices = {level: np.array(found.costs.mistakes) for level, found in sets.items()}
    columns = {
        k: np.array([f"v{int(v)}" for v in c]) for k, c in examples.columns.items()
    }
    y = np.asarray(examples.y).astype(int)
    return Problem(name, columns, y, examples.costs.with_mistakes(None), matrices)


def _load_expert(name: str) -> Problem:
    examples = load_public(name.removeprefix("T:"))
    plain = examples.costs
    costs = Costs(plain.costs, groups=plain.groups, discounted=plain.discounted)
    columns = {k: np.asarray(c, dtype=float) for k, c in examples.columns.items()}
    classes, y = np.unique(np.asarray(examples.y), return_inverse=True)
    problem = Problem(name, columns, y, costs, {})
    every = problem.cost_of_all()
    wrong = 1.0 - np.eye(len(classes))
    mistakes = {
        level: times * every * wrong for level, times in TIMES_ALL_TESTS.items()
    }
    return Problem(name, columns, y, costs, mistakes)


def problem_names() -> list[str]:
    return [*STREED_SETS, *(f"T:{name}" for name in EXPERT_SETS)]


def held_out_cost(
    problem: Problem,
    level: str,
    test_rows: NDArray[Any],
    paid: NDArray[np.float64],
    decided: NDArray[Any],
) -> float:
    """Return 100 times the mean cost of rows, by the standard cost of the problem."""
    wrong = problem.mistakes[level][problem.y[test_rows], decided]
    return 100 * float(np.mean(paid + wrong)) / problem.standard_cost(level)
