"""Grow one LightGBM booster that minds prices, and code rows as it wants them.

This module must not know budgets, nor which of several boosters is taken.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import MissingExtraError
from askless.learn.sources import read_lightgbm_text
from askless.problem import Test
from askless.problem._coding import category_test
from askless.problem._column import is_number

__all__ = [
    "BoosterPlan",
    "apply_coding",
    "code_columns",
    "grow_booster",
    "import_lightgbm",
]

# Of bagged boosters: the share of rows that a tree sees, how much slower they learn,
# and how much more their leaves are shrunk.
BAGGING, SLOWER, BAGGED_L2 = 0.5, 0.7, 3.0


@dataclass(frozen=True)
class BoosterPlan:
    """How one booster is grown.

    Attributes
    ----------
    tradeoff : float
        How much it minds costs, in units of the mean cost.
    is_bagged : bool
        Whether each tree sees half of the rows; such a booster learns more slowly, for
        a third more rounds, and shrinks its leaves.
    n_rounds, n_leaves, learning_rate, l2, n_jobs
        As ``BudgetBoostClassifier`` has them.
    """

    tradeoff: float
    is_bagged: bool
    n_rounds: int
    n_leaves: int
    learning_rate: float
    l2: float | None
    n_jobs: int

    def options(self, prices: NDArray[np.float64], n_classes: int) -> dict[str, Any]:
        """Return the parameters of LightGBM for prices and a number of classes."""
        l2 = (1.0 if n_classes > 2 else 0.0) if self.l2 is None else self.l2
        if self.is_bagged and self.l2 is None:
            l2 = BAGGED_L2
        found = {
            "objective": "binary" if n_classes == 2 else "multiclass",
            "num_leaves": self.n_leaves,
            "learning_rate": self.learning_rate,
            "min_data_in_leaf": 5,
            "lambda_l2": l2,
            "num_threads": self.n_jobs,
            # The same trees for any number of threads.
            "deterministic": True,
            "force_col_wise": True,
            "seed": 0,
            "verbose": -1,
        }
        if n_classes > 2:
            found["num_class"] = n_classes
        if self.is_bagged:
            found |= {"bagging_fraction": BAGGING, "bagging_freq": 1}
            found["learning_rate"] = SLOWER * self.learning_rate
        if self.tradeoff and prices.any():
            found["cegb_tradeoff"] = self.tradeoff / float(prices.mean())
            found["cegb_penalty_feature_lazy"] = prices.tolist()
        return found


def grow_booster(
    plan: BoosterPlan,
    train: Any,
    valid: Any,
    tests: tuple[Test, ...],
    prices: NDArray[np.float64],
    classes: tuple[Any, ...],
) -> Any:
    """Return a booster as a source of trees.

    Parameters
    ----------
    plan : BoosterPlan
        How to grow it.
    train, valid : tuple of (matrix, class numbers, weights or None)
        Rows to grow on, and rows that say when to stop growing.
    tests : tuple of Test
        The columns of the matrices.
    prices : ndarray of shape (n_tests,)
        The full price of each test.
    classes : tuple
        What the class numbers stand for.
    """
    lightgbm = import_lightgbm()
    categories = [i for i, test in enumerate(tests) if test.kind == "category"]
    data = lightgbm.Dataset(
        train[0], train[1], weight=train[2], categorical_feature=categories,
        params={"verbose": -1},
    )  # fmt: skip
    held_out = data.create_valid(valid[0], valid[1], weight=valid[2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        booster = lightgbm.train(
            plan.options(prices, len(classes)),
            data,
            plan.n_rounds * 4 // 3 if plan.is_bagged else plan.n_rounds,
            valid_sets=[held_out],
            callbacks=[lightgbm.early_stopping(30, verbose=False)],
        )
    return read_lightgbm_text(
        booster.model_to_string(),
        classes=classes,
        categories={i: tests[i].outcomes for i in categories},
    )


def import_lightgbm() -> Any:
    """Return LightGBM, or say how to get it."""
    try:
        import lightgbm
    except ImportError as error:
        raise MissingExtraError(
            "BudgetBoostClassifier needs LightGBM. Got none installed. Type: pip "
            "install 'askless[boost]'"
        ) from error
    return lightgbm


def code_columns(
    values: NDArray[Any] | Mapping[str, Any], names: list[str]
) -> tuple[tuple[Test, ...], NDArray[np.float64]]:
    """Return tests, numbers without cuts, and a matrix for LightGBM."""
    if isinstance(values, np.ndarray):
        tests = tuple(Test(name, "number") for name in names)
    else:
        tests = tuple(
            Test(name, "number")
            if is_number(values[name])
            else category_test(name, values[name])
            for name in names
        )
    return tests, apply_coding(values, tests)


def apply_coding(values: Any, tests: tuple[Test, ...]) -> NDArray[np.float64]:
    """Return numbers as they are and categories as their codes, NaN if missing."""
    if isinstance(values, np.ndarray):
        return values.astype(np.float64, copy=False)
    columns = []
    for test in tests:
        if test.kind == "number":
            columns.append(np.asarray(values[test.name], dtype=np.float64))
            continue
        codes = test.encode_clean(values[test.name]).astype(np.float64)
        codes[codes >= test.missing_code] = np.nan
        columns.append(codes)
    return np.column_stack(columns)
