"""Other libraries' models, over the grid of their settings: the same answers.

A setting is drawn, a small model is fitted with it, and Askless either refuses it with
an error of its own or answers every row as the library does, to the last bit: ordinary
rows, rows at the model's own thresholds and one step beside them in both precisions,
missing and huge values.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import ensemble
from threadpoolctl import threadpool_limits

import askless
from askless.exceptions import AsklessError
from campaign.target import Budget, Tally

__all__ = ["compare_source", "try_sources"]

N_TESTS = 6
N_ROWS = 400


def _choose(rng: np.random.Generator, **lists: list[Any]) -> dict[str, Any]:
    """Return a few settings, each drawn from its list; the rest keep their defaults."""
    chosen = {}
    for name, values in lists.items():
        if rng.random() < 0.4:
            chosen[name] = values[rng.integers(len(values))]
    return chosen


def _trees(rng: np.random.Generator) -> dict[str, Any]:
    name = str(
        rng.choice(
            [
                "RandomForestClassifier",
                "ExtraTreesClassifier",
                "RandomForestRegressor",
                "ExtraTreesRegressor",
            ]
        )
    )
    settings = _choose(
        rng,
        max_depth=[1, 3, 6, None],
        max_leaf_nodes=[2, 7, 15],
        min_samples_leaf=[1, 5, 0.05],
        max_features=[1, 0.5, "sqrt"],
        bootstrap=[True, False],
        max_samples=[0.5] if rng.random() < 0.5 else [None],
        ccp_alpha=[0.0, 0.01],
        criterion=["gini", "entropy", "log_loss"]
        if "Classifier" in name
        else ["squared_error", "absolute_error", "friedman_mse", "poisson"],
    )
    if "Classifier" in name and rng.random() < 0.3:
        settings["class_weight"] = str(rng.choice(["balanced", "balanced_subsample"]))
    if settings.get("bootstrap") is False or "Extra" in name:
        settings.pop("max_samples", None)
    return {"library": "sklearn", "name": name, "settings": settings}


def _gradient(rng: np.random.Generator) -> dict[str, Any]:
    name = str(rng.choice(["GradientBoostingClassifier", "GradientBoostingRegressor"]))
    is_classifier = "Classifier" in name
    settings = _choose(
        rng,
        learning_rate=[0.03, 0.5, 1.0],
        subsample=[0.5, 1.0],
        max_depth=[1, 2, 4],
        max_leaf_nodes=[3, 9],
        init=["zero", None],
        loss=["log_loss"] if is_classifier else ["squared_error", "huber", "quantile"],
        n_iter_no_change=[2, None],
    )
    return {"library": "sklearn", "name": name, "settings": settings}


def _histograms(rng: np.random.Generator) -> dict[str, Any]:
    name = str(
        rng.choice(["HistGradientBoostingClassifier", "HistGradientBoostingRegressor"])
    )
    is_classifier = "Classifier" in name
    settings = _choose(
        rng,
        learning_rate=[0.03, 0.5],
        max_leaf_nodes=[4, 31, None],
        max_depth=[2, 5],
        max_bins=[3, 16, 255],
        l2_regularization=[0.0, 3.0],
        early_stopping=[True, False],
        monotonic_cst=[[1, -1, 0, 0, 0, 0]],
        interaction_cst=["pairwise", "no_interactions"],
        loss=["log_loss"]
        if is_classifier
        else ["squared_error", "absolute_error", "poisson", "gamma", "quantile"],
    )
    if settings.get("loss") == "quantile":
        settings["quantile"] = 0.7
    return {"library": "sklearn", "name": name, "settings": settings}


def _lightgbm(rng: np.random.Generator) -> dict[str, Any]:
    is_classifier = rng.random() < 0.6
    settings = _choose(
        rng,
        boosting_type=["gbdt", "dart", "rf"],
        learning_rate=[0.03, 0.5],
        num_leaves=[2, 7, 31],
        max_depth=[2, 5],
        subsample=[0.6],
        colsample_bytree=[0.5],
        reg_alpha=[0.5],
        reg_lambda=[2.0],
        min_child_samples=[1, 20],
        use_missing=[True, False],
        zero_as_missing=[True, False],
        boost_from_average=[True, False],
        linear_tree=[True, False],
        extra_trees=[True],
        monotone_constraints=[[1, -1, 0, 0, 0, 0]],
        max_bin=[3, 15, 255],
        pred_early_stop=[True],
        sigmoid=[0.5, 2.0],
        is_unbalance=[True] if is_classifier else [False],
        path_smooth=[1.0],
        enable_bundle=[False],
        data_sample_strategy=["goss"],
        objective=["binary", "multiclass", "multiclassova", "cross_entropy"]
        if is_classifier
        else [
            "regression", "regression_l1", "huber", "fair", "poisson", "quantile",
            "mape", "gamma", "tweedie", "cross_entropy", "cross_entropy_lambda",
        ],
        start_iteration_predict=[2],
    )  # fmt: skip
    if settings.get("boosting_type") == "rf":
        settings.update(subsample=0.7, subsample_freq=1)
        settings.pop("data_sample_strategy", None)
    name = "LGBMClassifier" if is_classifier else "LGBMRegressor"
    return {"library": "lightgbm", "name": name, "settings": settings}


def _xgboost(rng: np.random.Generator) -> dict[str, Any]:
    is_classifier = rng.random() < 0.6
    settings = _choose(
        rng,
        booster=["gbtree", "dart", "gblinear"],
        learning_rate=[0.03, 0.5],
        max_depth=[1, 3, 6],
        max_leaves=[4, 9],
        grow_policy=["lossguide"],
        tree_method=["exact", "approx", "hist"],
        subsample=[0.6],
        colsample_bytree=[0.5],
        gamma=[0.5],
        reg_lambda=[0.0, 3.0],
        num_parallel_tree=[3],
        base_score=[0.3, 0.7],
        missing=[np.nan, -1.0, 0.0],
        monotone_constraints=["(1,-1,0,0,0,0)"],
        max_bin=[3, 16],
        scale_pos_weight=[3.0] if is_classifier else [1.0],
        max_delta_step=[0.5],
        multi_strategy=["one_output_per_tree", "multi_output_tree"],
        early_stopping_rounds=[2],
        objective=["binary:logistic", "multi:softprob", "multi:softmax",
                   "binary:hinge", "binary:logitraw"]
        if is_classifier
        else [
            "reg:squarederror", "reg:squaredlogerror", "reg:logistic",
            "reg:pseudohubererror", "reg:absoluteerror", "reg:quantileerror",
            "count:poisson", "reg:gamma", "reg:tweedie",
        ],
    )  # fmt: skip
    if settings.get("objective") == "reg:quantileerror":
        settings["quantile_alpha"] = 0.3
    name = "XGBClassifier" if is_classifier else "XGBRegressor"
    return {"library": "xgboost", "name": name, "settings": settings}


def _families() -> list[Callable[[np.random.Generator], dict[str, Any]]]:
    families = [_trees, _gradient, _histograms]
    for name, draw in (("lightgbm", _lightgbm), ("xgboost", _xgboost)):
        try:
            __import__(name)
        except ImportError:
            continue
        # Most settings are theirs.
        families += [draw, draw, draw]
    return families


def _make_model(recipe: dict[str, Any]) -> Any:
    settings = dict(recipe["settings"])
    settings.pop("start_iteration_predict", None)
    if recipe["library"] == "sklearn":
        size = {"max_iter": 12} if "Hist" in recipe["name"] else {"n_estimators": 12}
        model = getattr(ensemble, recipe["name"])
        return model(random_state=recipe["seed"] % 2**31, **size, **settings)
    settings.update(n_estimators=12, n_jobs=1, random_state=recipe["seed"] % 2**31)
    if recipe["library"] == "lightgbm":
        import lightgbm

        return getattr(lightgbm, recipe["name"])(verbose=-1, **settings)
    import xgboost

    return getattr(xgboost, recipe["name"])(verbosity=0, **settings)


def _make_data(rng: np.random.Generator, recipe: dict[str, Any]) -> tuple[Any, Any]:
    settings = recipe["settings"]
    X = rng.normal(size=(N_ROWS, N_TESTS)).round(1)
    X[:, 1] = rng.integers(-3, 4, N_ROWS)
    no_missing = recipe["name"].startswith("Gradient")
    if rng.random() < 0.5 and not no_missing and not settings.get("linear_tree"):
        X[rng.random(X.shape) < 0.15] = np.nan
    score = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1] * X[:, 2])
    score = score + rng.normal(size=N_ROWS)
    objective = str(settings.get("objective", ""))
    if "Regressor" in recipe["name"]:
        if "logistic" in objective or "cross_entropy" in objective:
            return X, 1 / (1 + np.exp(-score))
        return X, np.abs(score) + 0.1
    is_binary = "binary" in objective or objective == "cross_entropy"
    # A drawn number of classes where the objective leaves it open.
    n_classes = 2 if is_binary else int(recipe["seed"] % 3) + 2
    if "multi" in objective:
        n_classes = max(3, n_classes)
    cuts = np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1])
    return X, np.digitize(score, cuts)


def _fit(recipe: dict[str, Any], X: Any, y: Any) -> Any:
    model = _make_model(recipe)
    if recipe["settings"].get("early_stopping_rounds"):
        half = len(X) // 2
        return model.fit(X[:half], y[:half], eval_set=[(X[half:], y[half:])],
                         verbose=False)  # fmt: skip
    return model.fit(X, y)


def _hard_rows(
    rng: np.random.Generator, policy: Any, X: Any, n_rows: int
) -> np.ndarray[Any, Any]:
    """Return rows at the policy's thresholds, beside them, and of odd values."""
    rows = X[rng.integers(len(X), size=n_rows)].copy()
    may_miss = bool(np.isnan(X).any())
    for column, test in enumerate(policy.tests):
        odd = [*test.cuts, 0.0, -0.0, -1.0, 1e-40, 1e30, -1e30]
        values = rng.choice(odd, n_rows)
        side = rng.choice([-np.inf, np.inf], n_rows)
        single = np.nextafter(values.astype(np.float32), side.astype(np.float32))
        where = rng.integers(4, size=n_rows)
        values = np.where(where == 1, np.nextafter(values, side), values)
        values = np.where(where == 2, single.astype(np.float64), values)
        keep = (where == 3) | (rng.random(n_rows) < 0.3)
        rows[:, column] = np.where(keep, rows[:, column], values)
    if may_miss:
        rows[rng.random(rows.shape) < 0.1] = np.nan
    return rows


def draw_recipe(rng: np.random.Generator) -> dict[str, Any]:
    """Return a library, a model and its settings, drawn at random."""
    families = _families()
    recipe = families[rng.integers(len(families))](rng)
    recipe["seed"] = int(rng.integers(2**40))
    return recipe


def compare_source(recipe: dict[str, Any], n_rows: int) -> tuple[str, int]:
    """Return how a setting was received, and how many rows were compared.

    Raises AssertionError if an answer differs from the library's.
    """
    rng = np.random.default_rng(recipe["seed"])
    X, y = _make_data(rng, recipe)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        try:
            model = _fit(recipe, X, y)
            model.predict(X[:3])
        except Exception:
            # The library itself does not take these settings together.
            return "not a model", 0
        costs = rng.integers(0, 6, N_TESTS).astype(float)
        bounds = str(rng.choice(["deep", "path"]))
        try:
            adaptive = askless.AdaptiveEnsemble(model, costs, bounds=bounds).fit()
            policy = adaptive.policy_
        except AsklessError:
            return "refused", 0
        rows = _hard_rows(rng, policy, X, n_rows)
        expected = model.predict(rows)
        found = adaptive.predict(rows)
        differs = np.flatnonzero(np.asarray(expected) != np.asarray(found))
        assert not len(differs), (
            f"row {differs[0]} of {len(rows)}: the model says "
            f"{expected[differs[0]]!r}, Askless {found[differs[0]]!r}; "
            f"{len(differs)} rows differ"
        )
    return "equal", len(rows)


def try_sources(budget: Budget, tally: Tally) -> None:
    """Draw settings and compare rows until the time is over."""
    rng = np.random.default_rng(budget.seed)
    seen: set[str] = set()
    while not budget.is_over:
        recipe = draw_recipe(rng)
        try:
            received, n_rows = compare_source(recipe, 20_000)
        except Exception as error:
            content = json.dumps(recipe, indent=1).encode()
            tally.find("source", content, ".json", error)
            received, n_rows = "differs", 0
        tally.counts[f"models: {received}"] += 1
        tally.counts["rows compared"] += n_rows
        if received in ("equal", "refused"):
            seen.add(f"{recipe['name']} {sorted(recipe['settings'].items(), key=str)}")
        tally.counts["different settings"] = len(seen)
