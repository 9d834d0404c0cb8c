"""Numbers within a budget: boosted and single trees, beside LightGBM that buys all.

Five folds, the same for all. Prices of columns are drawn from 1 to 10. An error is the
mean squared error over the variance of the numbers: 1 is what the mean of all rows
errs. LightGBM has the same rows, the same share of them to stop growing on, and as many
rounds, with 8 and with 31 leaves a tree; the better one on its validation rows is
taken. The rival within a budget is LightGBM on the columns of most gain for their price
that the budget can pay for every row; nothing, if it can pay for none. A tree of
scikit-learn has as many leaves as its own validation rows say, and buys what is on a
row's path.
"""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import (
    load_diabetes,
    make_friedman1,
    make_friedman2,
    make_friedman3,
)
from sklearn.model_selection import KFold, train_test_split
from sklearn.tree import DecisionTreeRegressor

import askless
from askless.datasets import load_public

Row = dict[str, object]
Floats = NDArray[np.float64]

SHARES = (0.5, 0.25, 0.1)
ROUNDS = 300


def run(quick: bool) -> list[Row]:
    """Return a row for each set and each share of the price of everything."""
    rows: list[Row] = []
    for name, (X, y) in list_sets(quick).items():
        rows += measure_set(name, X, y, n_folds=2 if quick else 5)
    return rows


def list_sets(quick: bool) -> dict[str, tuple[Floats, Floats]]:
    """Return the sets: two public ones, and four that are made.

    Boosters were put together on all but friedman2 and friedman3.
    """
    boston = load_public("boston_housing_medv")
    columns = boston.to_frame("pandas")
    rng = np.random.default_rng(0)
    n = 1_000 if quick else 2_000
    blurred = make_friedman1(n, 10, noise=1.0, random_state=0)
    # Every column a second time, blurred: like many columns that tell nearly the same.
    twice = np.hstack([blurred[0], blurred[0] + rng.normal(0, 0.2, blurred[0].shape)])
    return {
        "boston_housing_medv": (
            columns.to_numpy(dtype=float),
            np.asarray(boston.y, dtype=float),
        ),
        "diabetes": load_diabetes(return_X_y=True),
        "friedman1": make_friedman1(n, 10, noise=1.0, random_state=1),
        "friedman2": make_friedman2(n, noise=100.0, random_state=1),
        "friedman3": make_friedman3(n, noise=0.1, random_state=1),
        "friedman1, blurred": (twice, blurred[1]),
    }


def measure_set(name: str, X: Floats, y: Floats, *, n_folds: int) -> list[Row]:
    """Return a row for each share of the price of everything."""
    prices = np.random.default_rng(7).integers(1, 11, X.shape[1]).astype(float)
    total = float(prices.sum())
    found: dict[str, list[tuple[float, float]]] = {}
    for train, test in KFold(n_folds, shuffle=True, random_state=0).split(X):
        rows = (X[train], y[train])
        scale = float(np.var(y[test]))

        def add(key: str, said: Any, cost: float, scale: float = scale) -> None:
            error = float(np.mean((np.asarray(said) - y[test]) ** 2)) / scale  # noqa: B023
            found.setdefault(key, []).append((cost, error))

        model, gain = fit_lightgbm(*rows, np.arange(X.shape[1]))
        add("full", model.predict(X[test]), total)
        boost = askless.BudgetBoostRegressor(prices.tolist(), total, random_state=0)
        boost.fit(*rows)
        for share in SHARES:
            policy = boost.at_budget(share * total)
            said, paid = policy.predict_and_cost(X[test])
            add(f"boost {share}", said, float(paid.mean()))
            columns = choose_columns(gain, prices, share * total)
            said = np.full(len(test), y[train].mean())
            if len(columns):
                few, _ = fit_lightgbm(*rows, columns)
                said = few.predict(X[test][:, columns])
            add(f"few {share}", said, float(prices[columns].sum()))
        tree = askless.CostTreeRegressor(prices.tolist()).fit(*rows)
        add("tree", tree.predict(X[test]), float(tree.cost(X[test]).mean()))
        plain = fit_plain_tree(*rows)
        add("plain tree", plain.predict(X[test]), path_cost(plain, X[test], prices))
    means = {key: np.mean(pairs, axis=0) for key, pairs in found.items()}
    return [_row(name, share, total, means) for share in SHARES]


def _row(name: str, share: float, total: float, means: dict[str, Any]) -> Row:
    boost, few = means[f"boost {share}"], means[f"few {share}"]
    return {
        "set": name,
        "budget": f"{100 * share:g} % of {total:g}",
        "LightGBM, all bought": float(means["full"][1]),
        "BudgetBoost": float(boost[1]),
        "its cost": float(boost[0]),
        "few columns": float(few[1]),
        "their cost": float(few[0]),
        "cost tree": f"{means['tree'][1]:.3g} at {means['tree'][0]:.3g}",
        "scikit-learn's tree": (
            f"{means['plain tree'][1]:.3g} at {means['plain tree'][0]:.3g}"
        ),
    }


def fit_lightgbm(X: Floats, y: Floats, columns: Any) -> tuple[Any, Floats]:
    """Return the better of two boosters on some columns, and their gains."""
    split = train_test_split(X[:, columns], y, test_size=0.2, random_state=0)
    grown, valid = (split[0], split[2]), (split[1], split[3])
    models = []
    for n_leaves in (8, 31):
        model = lightgbm.LGBMRegressor(
            n_estimators=ROUNDS, num_leaves=n_leaves, min_child_samples=5,
            n_jobs=1, random_state=0, verbose=-1, importance_type="gain",
        )  # fmt: skip
        stop = lightgbm.early_stopping(30, verbose=False)
        models.append(
            model.fit(*grown, eval_X=valid[0], eval_y=valid[1], callbacks=[stop])
        )
    best = min(models, key=lambda m: m.best_score_["valid_0"]["l2"])
    return best, np.asarray(best.feature_importances_, dtype=float)


def choose_columns(gain: Floats, prices: Floats, budget: float) -> NDArray[np.intp]:
    """Return the columns of most gain for their price that a budget can pay for."""
    chosen: list[int] = []
    for column in np.argsort(-gain / prices, kind="stable").tolist():
        if prices[[*chosen, column]].sum() <= budget:
            chosen.append(column)
    return np.array(sorted(chosen), dtype=np.intp)


def fit_plain_tree(X: Floats, y: Floats) -> DecisionTreeRegressor:
    """Return a tree with as many leaves as rows that it has not seen say."""
    grown, valid, y_grown, y_valid = train_test_split(
        X, y, test_size=0.2, random_state=0
    )
    trees = [
        DecisionTreeRegressor(max_leaf_nodes=n, random_state=0).fit(grown, y_grown)
        for n in (4, 8, 16, 32, 64, 128)
    ]
    best = max(trees, key=lambda tree: tree.score(valid, y_valid))
    return best.set_params(random_state=0).fit(X, y)


def path_cost(tree: DecisionTreeRegressor, X: Floats, prices: Floats) -> float:
    """Return the mean price of the columns on the paths of rows, each paid once."""
    paths = tree.decision_path(X)
    asked = np.zeros((paths.shape[1], X.shape[1]))
    inner = np.flatnonzero(tree.tree_.feature >= 0)
    asked[inner, tree.tree_.feature[inner]] = 1.0
    return float(((paths @ asked) > 0).astype(float).dot(prices).mean())
