"""The sets, splits, boosters and rivals of ``bench_adaptive``."""

from __future__ import annotations

import csv
import functools
import warnings
from typing import Any

import numpy as np
from set_lists import CHOSEN_ON
from sklearn.model_selection import StratifiedKFold, train_test_split

import askless
from askless.datasets._public import data_folder
from askless.learn import (
    ASTCClassifier,
    BudgetForestClassifier,
    PlainForestClassifier,
)
from askless.learn.boost._booster_rows import choose_tests, to_matrix
from askless.learn.boost._calibrate import join_stops, trace_stops
from askless.learn.boost._compile import compile_source
from askless.learn.rivals._cegb import run_to_leaves
from askless.learn.sources import read_lightgbm_text
from askless.problem._frames import clean_columns

TRADEOFFS = (0.0, 0.001, 0.003, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3)
# Of ours alone: each tree grown on half of the rows, and its leaves shrunk.
BAGGED_TRADEOFFS = (0.001, 0.006, 0.025, 0.1, 0.3)
BAGGED = {
    "bagging_fraction": 0.5, "bagging_freq": 1, "learning_rate": 0.07, "lambda_l2": 3.0
}  # fmt: skip
# With fewer validation rows, ours is chosen on rows left out of growing as well.
FEW_ROWS = 500
N_FOLDS = 5
SETS = CHOSEN_ON
# Few rows, so that a point of error is a handful of them.
SMALL_SETS = ("heart_cleveland", "hepatitis", "pima")
# Rows for growing, choosing and testing, at most; in a quick run, fewer.
MOST_ROWS = (20_000, 4_000, 6_000)
QUICK_ROWS = (5_000, 1_500, 2_000)
PLAIN_TREES = (1, 2, 3, 5, 8, 12, 20, 40)
# Of the price of everything, what a node of ASTC may spend, and its depths.
ASTC_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
ASTC_DEPTHS = (0, 2)

Part = tuple[Any, Any]


def make_latent(rng: np.random.Generator, n: int) -> tuple[Any, Any, Any]:
    """Five causes, each seen through noise 1.5, 0.6 or 0.15 at cost 1, 5 or 40."""
    causes = rng.normal(size=(n, 5))
    noise, prices = (1.5, 0.6, 0.15), (1.0, 5.0, 40.0)
    seen = [causes + s * rng.normal(size=(n, 5)) for s in noise]
    X = np.hstack([*seen, rng.normal(size=(n, 5))])
    y = causes[:, 0] * causes[:, 1] + causes[:, 2:].sum(axis=1) > 0
    return X, y.astype(int), np.repeat([*prices, 1.0], 5)


def make_cascade(rng: np.random.Generator, n: int) -> tuple[Any, Any, Any]:
    """A cheap test settles most rows; which dear one settles the rest depends on it."""
    X = rng.normal(size=(n, 12))
    which = np.digitize(X[:, 1], [-0.5, 0.5])
    dear = np.choose(which, [X[:, 2], X[:, 3], X[:, 4]])
    y = np.where(np.abs(X[:, 0]) > 0.8, X[:, 0] > 0, dear > 0)
    flip = rng.random(n) < 0.03
    return X, (y ^ flip).astype(int), np.array([1.0, 1.0] + [20.0] * 3 + [5.0] * 7)


@functools.cache
def _load_public(name: str) -> tuple[Any, Any, Any, Any]:
    unpriced = 25.92 if name == "ann_thyroid" else 1.0
    data = askless.datasets.load_public(name, unpriced=unpriced)
    columns = clean_columns(data.columns)
    tests = choose_tests(columns, list(columns))
    X = to_matrix(columns, tests)
    # Groups are left aside here, as the rivals know nothing of them.
    return X, np.asarray(data.y), data.costs.price_list(tests).full, data.extra


def yahoo_prices() -> list[float]:
    """Return the prices of all features of the Yahoo list."""
    folder = data_folder()
    assert folder is not None
    with (folder / "yahoo_ltr.costs.csv").open() as file:
        return [float(row["cost"]) for row in csv.DictReader(file)]


def load(name: str, seed: int, most: tuple[int, int, int]) -> tuple[list[Part], Any]:
    """Return rows for growing, choosing and testing, about 50 to 20 to 30; prices."""
    if name in ("latent", "cascade"):
        make = make_latent if name == "latent" else make_cascade
        X, y, prices = make(np.random.default_rng([seed, 7]), 13_000)
        return split(X, y, seed, most), prices
    X, labels, prices, extra = _load_public(name)
    if name == "mq2008":
        rng = np.random.default_rng([seed, 2008])
        y = (labels.astype(float) > 0).astype(int)
        # Queries stay together: three of its five folds to grow on, and the seeds turn.
        folds = np.unique(extra["fold"], return_inverse=True)[1]
        turn = (folds + seed) % 5
        parts = [np.flatnonzero(turn < 3), np.flatnonzero(turn == 3),
                 np.flatnonzero(turn == 4)]  # fmt: skip
        parts = [rng.permutation(p)[:n] for p, n in zip(parts, most, strict=True)]
        prices = rng.choice(yahoo_prices(), X.shape[1])
        return [(X[part], y[part]) for part in parts], prices
    return split(X, np.unique(labels, return_inverse=True)[1], seed, most), prices


def split(X: Any, y: Any, seed: int, most: tuple[int, int, int]) -> list[Part]:
    """Return rows for growing, choosing and testing, classes alike in each."""
    n = len(y)
    n_valid, n_test = min(most[1], n // 5), min(most[2], 3 * n // 10)
    n_train = min(most[0], n - n_valid - n_test)
    rows, test = train_test_split(
        np.arange(n), test_size=n_test, random_state=seed, stratify=y
    )
    rows, valid = train_test_split(
        rows, test_size=n_valid, random_state=seed, stratify=y[rows]
    )
    train = np.random.default_rng(seed).permutation(rows)[:n_train]
    return [(X[part], y[part]) for part in (train, valid, test)]


def grow(
    tradeoff: float, train: Part, valid: Part, prices: Any, n_classes: int, bag: bool
) -> Any:
    """Return a CEGB model as a policy."""
    options = list_options(tradeoff, prices, n_classes)
    if bag:
        options |= BAGGED
    rounds = (300 if n_classes <= 3 else 60) * (4 if bag else 3) // 3
    text = boost(options, rounds, train, valid).model_to_string()
    return compile_source(read_lightgbm_text(text), prices, stops_early=True)


def list_options(tradeoff: float, prices: Any, n_classes: int) -> dict[str, Any]:
    """Return LightGBM's options for boosting with a trade-off of costs."""
    options = {
        "objective": "binary" if n_classes == 2 else "multiclass",
        "num_leaves": 8, "learning_rate": 0.1, "min_data_in_leaf": 5,
        "lambda_l2": 0.0 if n_classes == 2 else 1.0, "num_threads": 1,
        "deterministic": True, "force_col_wise": True, "seed": 0, "verbose": -1,
    }  # fmt: skip
    if n_classes > 2:
        options["num_class"] = n_classes
    if tradeoff:
        options["cegb_tradeoff"] = tradeoff / prices.mean()
        options["cegb_penalty_feature_lazy"] = prices.tolist()
    return options


def boost(options: dict[str, Any], rounds: int, train: Part, valid: Part) -> Any:
    """Return a booster; validation rows say when to stop adding trees."""
    import lightgbm

    data = lightgbm.Dataset(*train, params={"verbose": -1})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return lightgbm.train(
            options, data, rounds, valid_sets=[data.create_valid(*valid)],
            callbacks=[lightgbm.early_stopping(30, verbose=False)],
        )  # fmt: skip


def measure_booster(
    tradeoff: float, parts: Any, prices: Any, n_classes: int, bag: bool = False
) -> Any:
    """Return what one booster costs as it comes, and every step of running it.

    ``choose`` are the rows that ours is chosen by: the validation rows, and if they are
    few the growing rows too, each run by a booster grown alike without it.
    """
    rest = (prices, n_classes, bag)
    policy = grow(tradeoff, parts[0], parts[1], *rest)
    plain = run_to_leaves(policy)
    found = {"tradeoff": tradeoff}
    for name, (X, y) in zip(("valid", "test"), parts[1:], strict=True):
        stops, final = trace_stops(policy, X, 1)
        found[name] = {
            "cost": float(plain.cost(X).mean()),
            "error": float(np.mean(final != y)),
            "wrong": final != y,
            "stops": stops,
            "final": final,
            "true": y.astype(float),
        }
    chosen_by = [found["valid"]]
    if len(parts[1][1]) < FEW_ROWS:
        X, y = parts[0]
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
        for some, left in folds.split(X, y):
            alike = grow(tradeoff, (X[some], y[some]), parts[1], *rest)
            stops, final = trace_stops(alike, X[left], 1)
            true = y[left].astype(float)
            chosen_by.append({"stops": stops, "true": true, "wrong": final != true})
    found["choose"] = {
        "stops": join_stops([part["stops"] for part in chosen_by]),
        "true": np.concatenate([part["true"] for part in chosen_by]),
        "wrong": np.concatenate([part["wrong"] for part in chosen_by]),
    }
    return found


def measure(answers: Any, cost: Any, y: Any) -> dict[str, Any]:
    wrong = answers != y
    return {
        "cost": float(np.mean(cost)), "error": float(np.mean(wrong)), "wrong": wrong
    }  # fmt: skip


def measure_prior(parts: Any) -> dict[str, Any]:
    """Return what buying nothing does: the class that is most frequent in growing."""
    answer = np.argmax(np.bincount(parts[0][1]))
    return {
        name: measure(np.full(len(y), answer), 0.0, y)
        for name, (_, y) in zip(("valid", "test"), parts[1:], strict=True)
    }


def front(points: list[Any]) -> list[Any]:
    """Return the points that no other one beats on the validation rows."""
    best: list[Any] = []
    for point in sorted(
        points, key=lambda p: (p["valid"]["cost"], p["valid"]["error"])
    ):
        if not best or point["valid"]["error"] < best[-1]["valid"]["error"]:
            best.append(point)
    return best


def measure_rivals(parts: Any, prices: Any, seed: int) -> dict[str, list[Any]]:
    """Return the curve of each rival: its knobs, and both sets of rows at each."""
    (X, y), (X_valid, y_valid), (X_test, y_test) = parts
    rows = {"valid": (X_valid, y_valid), "test": (X_test, y_test)}

    def of_forest(forest: Any, as_single: bool = False) -> dict[str, Any]:
        found = {}
        for name, (X_any, y_any) in rows.items():
            X_any = X_any.astype(np.float32) if as_single else X_any
            found[name] = measure(*forest.predict_and_cost(X_any), y_any)
        return found

    budget = BudgetForestClassifier(
        prices, budget=float(prices.sum()) + 1.0, n_estimators=40, random_state=seed
    ).fit(X, y, X_valid=X_valid, y_valid=y_valid)
    # As many points as can be told apart; the front is made of their own measures.
    path = thin(budget.path(), 24)
    plain = PlainForestClassifier(
        prices, n_estimators=max(PLAIN_TREES), random_state=seed
    ).fit(X.astype(np.float32), y)
    astc = []
    for share in ASTC_SHARES:
        for depth in ASTC_DEPTHS:
            model = ASTCClassifier(
                prices, node_budget=share * prices.sum(), max_depth=depth
            ).fit(X, y)
            astc.append({
                name: measure(*model.predict_and_cost(X_any), y_any)
                for name, (X_any, y_any) in rows.items()
            })  # fmt: skip
    return {
        "BudgetRF": [of_forest(budget.policy_at(p)) for p in path],
        "forest": [
            of_forest(plain.policy_.first_trees(n), as_single=True) for n in PLAIN_TREES
        ],
        "ASTC": astc,
    }


def thin(points: list[Any], most: int) -> list[Any]:
    """Return the front of points by cost and error, at most so many of it."""
    best: list[Any] = []
    for point in sorted(points, key=lambda p: (p.cost, p.error)):
        if not best or point.error < best[-1].error:
            best.append(point)
    keep = np.unique(np.linspace(0, len(best) - 1, most).astype(int))
    return [best[i] for i in keep]
