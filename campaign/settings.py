"""Draw models of other libraries: which one, and its settings.

A recipe is data: a library, a model's name, its settings, how it gets its rows, and a
seed. This module must not know how a model is made of one, nor what must hold of it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["Recipe", "draw_recipe"]

Recipe = dict[str, Any]


def _choose(rng: np.random.Generator, **lists: list[Any]) -> dict[str, Any]:
    """Return a few settings, each drawn from its list; the rest keep their defaults."""
    chosen = {}
    for name, values in lists.items():
        if rng.random() < 0.4:
            chosen[name] = values[rng.integers(len(values))]
    return chosen


def _trees(rng: np.random.Generator) -> Recipe:
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


def _gradient(rng: np.random.Generator) -> Recipe:
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


def _histograms(rng: np.random.Generator) -> Recipe:
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
        monotonic_cst=[[1, 0, -1, 0, 0, 0]],
        interaction_cst=["pairwise", "no_interactions"],
        loss=["log_loss"]
        if is_classifier
        else ["squared_error", "absolute_error", "poisson", "gamma", "quantile"],
    )
    if settings.get("loss") == "quantile":
        settings["quantile"] = 0.7
    return {"library": "sklearn", "name": name, "settings": settings}


def _lightgbm(rng: np.random.Generator) -> Recipe:
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
        linear_tree=[False, False, True],
        extra_trees=[True],
        monotone_constraints=[[1, 0, -1, 0, 0, 0]],
        max_bin=[3, 15, 255],
        pred_early_stop=[True] if rng.random() < 0.2 else [False],
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
    )  # fmt: skip
    if settings.get("boosting_type") == "rf":
        settings.update(subsample=0.7, subsample_freq=1)
        settings.pop("data_sample_strategy", None)
    name = "LGBMClassifier" if is_classifier else "LGBMRegressor"
    return {"library": "lightgbm", "name": name, "settings": settings}


def _xgboost(rng: np.random.Generator) -> Recipe:
    is_classifier = rng.random() < 0.6
    settings = _choose(
        rng,
        booster=["gbtree", "gbtree", "gbtree", "dart", "gblinear"],
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
        monotone_constraints=["(1,0,-1,0,0,0)"],
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


def _families() -> list[Callable[[np.random.Generator], Recipe]]:
    families = [_trees, _gradient, _histograms]
    for name, draw in (("lightgbm", _lightgbm), ("xgboost", _xgboost)):
        if importlib.util.find_spec(name) is not None:
            # Most settings are theirs.
            families += [draw, draw, draw]
    return families


# How rows come: all numbers, categories by number, or categories by name in a frame.
FORMS = {
    "sklearn": ["numbers"],
    "histograms": ["numbers", "codes"],
    "lightgbm": ["numbers", "numbers", "codes", "frame"],
    "xgboost": ["numbers", "numbers", "codes", "frame"],
}


def draw_recipe(rng: np.random.Generator) -> Recipe:
    """Return a library, a model and its settings, drawn at random."""
    families = _families()
    recipe = families[rng.integers(len(families))](rng)
    family = "histograms" if "Hist" in recipe["name"] else recipe["library"]
    recipe["form"] = str(rng.choice(FORMS[family]))
    # The library's own model inside of its estimator, which may predict otherwise.
    is_boosting = recipe["library"] in ("lightgbm", "xgboost")
    recipe["bare"] = bool(is_boosting and rng.random() < 0.2)
    recipe["seed"] = int(rng.integers(2**40))
    return recipe
