"""The problems on which learners of least total cost are compared, and their splits.

Fifteen sets with costs of tests and three matrices of mistakes each, all of categories;
and the five sets with expert costs, with raw numbers and a uniform cost of mistakes of
0.5, 2 and 10 times all tests. Delays are left out: the other side knows none. Any set
of ``set_lists.py`` is a problem as well, twice: "P:" and its name with a price of 1 for
every test, and "P:", its name and ":drawn" with prices drawn from 1 to 100.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from set_lists import categories_of, draw_prices, read_set

from askless import Costs
from askless.datasets import load_public
from askless.datasets._price_files import LEVELS

STREED_SETS = (
    "annealing", "breast", "car", "diabetes", "flare", "glass", "heart", "hepatitis",
    "iris", "krk", "mushroom", "nursery", "soybean", "tictactoe", "wine",
)  # fmt: skip
EXPERT_SETS = ("ann_thyroid", "bupa_turney", "heart_cleveland", "hepatitis", "pima")
TIMES_ALL_TESTS = {"low": 0.5, "middle": 2.0, "high": 10.0}
# Rows of a set of the lists that learners grow on, at most.
MOST_GROWING = 5_000
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
    most_growing: int | None = None  # rows to learn from

    @property
    def n_rows(self) -> int:
        return len(self.y)

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
            train = order[n_test:][: self.most_growing]
            return np.sort(train), np.sort(order[:n_test])
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
    if name.startswith("P:"):
        return _load_priced(name)
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
    y = np.unique(np.asarray(examples.y), return_inverse=True)[1]
    return _price_mistakes(Problem(name, columns, y, costs, {}))


def _load_priced(name: str) -> Problem:
    """Return a set of the lists, numbers as numbers and categories as words."""
    _, of, *drawn = name.split(":")
    X, y = read_set(of)
    words = categories_of(of)
    prices = draw_prices(X.shape[1], 1 if drawn else 0)
    columns, costs = {}, {}
    for i, column in enumerate(X.T):
        as_words = np.array([f"v{v:g}" for v in column]) if words[i] else column
        columns[f"t{i}"], costs[f"t{i}"] = as_words, float(prices[i])
    return _price_mistakes(
        Problem(name, columns, y, Costs(costs), {}, most_growing=MOST_GROWING)
    )


def _price_mistakes(problem: Problem) -> Problem:
    """Return a problem whose mistakes all cost the same, at three levels."""
    wrong = problem.cost_of_all() * (1.0 - np.eye(int(problem.y.max()) + 1))
    mistakes = {level: times * wrong for level, times in TIMES_ALL_TESTS.items()}
    return replace(problem, mistakes=mistakes)


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
