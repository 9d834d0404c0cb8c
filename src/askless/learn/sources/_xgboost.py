"""Read XGBoost models from the JSON that they are saved as.

Every setting that changes what a model's ``predict`` returns is honoured here, or
refused by its name; the page ``docs/how-to/sources.md`` lists them.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.ensemble._links import log_each
from askless.learn.sources._source import Source, Wanted, refuse, wanted_of
from askless.learn.sources._xgboost_trees import read_tree
from askless.policy import Output
from askless.problem import Outcome

__all__ = ["read_xgboost"]

# Objectives whose sums are what is predicted, those of logarithms, and of log-odds.
NUMBERS = ("reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror",
           "reg:quantileerror", "reg:squaredlogerror", "rank:ndcg", "rank:map",
           "rank:pairwise")  # fmt: skip
LOGARITHMS = ("count:poisson", "reg:gamma", "reg:tweedie")
LOGITS = ("binary:logistic", "reg:logistic")


def read_xgboost(model: Any) -> Source:
    """Read a fitted Booster, XGBClassifier, XGBRegressor or XGBRanker."""
    wanted = wanted_of(model)
    booster = model if wanted is None else model.get_booster()
    missing = np.float32(np.nan)
    if wanted is not None and model.missing is not None:
        missing = np.float32(model.missing)
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    _check_kind(learner)
    parts = learner["gradient_booster"]["model"]
    options = learner["learner_model_param"]
    categories = _read_categories(parts, learner.get("feature_types") or [])
    if categories and not np.isnan(missing):
        refuse(
            "An XGBoost model with categories must take NaN alone for missing",
            f"missing={float(missing):g}, which is the number of a category too",
            "Fit it without missing",
        )
    n_outputs = max(1, int(options["num_class"]))
    # Estimators stop at their best iteration, boosters do not.
    best = None if wanted is None else _best_iteration(model)
    n_trees = _count_trees(parts, n_outputs, best)
    trees = [
        read_tree(tree, int(output), missing, categories)
        for tree, output in zip(
            parts["trees"][:n_trees], parts["tree_info"][:n_trees], strict=True
        )
    ]
    base = np.ravel(np.array(json.loads(options["base_score"]), dtype=np.float32))
    objective = learner["objective"]["name"]
    classes = _find_classes(model, objective, n_outputs)
    output = _find_output(objective, base, n_outputs, wanted)
    return Source(
        learner.get("feature_names") or None,
        int(options["num_feature"]),
        () if output.is_number else classes,
        trees,
        output,
        categories,
    )


def _best_iteration(model: Any) -> int | None:
    try:
        best: int = model.best_iteration
    except AttributeError:
        return None
    return best


def _count_trees(parts: dict[str, Any], n_outputs: int, best: int | None) -> int:
    """Return how many trees are used; a slice of a booster would lose categories."""
    if best is None:
        return len(parts["trees"])
    if "iteration_indptr" in parts:
        return int(parts["iteration_indptr"][best + 1])
    at_a_time = int(parts["gbtree_model_param"]["num_parallel_tree"])
    return (best + 1) * at_a_time * n_outputs


def _check_kind(learner: dict[str, Any]) -> None:
    booster = learner["gradient_booster"]["name"]
    if booster != "gbtree":
        refuse(
            "An XGBoost model must be of plain trees",
            f"booster={booster!r}",
            "Fit it with booster='gbtree'",
        )
    n_targets = int(learner["learner_model_param"].get("num_target", "1"))
    if n_targets > 1:
        refuse(
            "An XGBoost model must have one target",
            f"{n_targets}, from several columns of y or several values of "
            "quantile_alpha",
            "Fit a model for each",
        )


def _read_categories(
    parts: dict[str, Any], types: list[str]
) -> dict[int, tuple[Outcome, ...]]:
    """Return the outcomes of the features that were categories of a frame."""
    if "c" not in types:
        return {}
    if "cats" not in parts:
        refuse(
            "An XGBoost model must know its categories by name",
            "categories in a model of a version before 3.1, which knows their numbers",
            "Fit it again with a later version, or code categories as numbers first",
        )
    categories: dict[int, tuple[Outcome, ...]] = {}
    for feature, listed in enumerate(parts["cats"]["enc"]):
        if listed.get("offsets"):
            categories[feature] = _read_names(feature, listed)
        elif listed["values"]:
            categories[feature] = tuple(
                int(x) if float(x).is_integer() else x for x in listed["values"]
            )
    return categories


def _read_names(feature: int, listed: dict[str, list[int]]) -> tuple[str, ...]:
    # XGBoost counts letters where it stores bytes, and cuts other names off.
    if not all(0 <= byte < 128 for byte in listed["values"]):
        refuse(
            "Names of categories must be of ASCII letters for XGBoost to keep them",
            f"others in column {feature}",
            "Rename them before it is fitted",
        )
    letters = bytes(listed["values"]).decode()
    return tuple(letters[a:b] for a, b in pairwise(listed["offsets"]))


def _find_classes(model: Any, objective: str, n_outputs: int) -> tuple[Outcome, ...]:
    """Return the classes, if the sums are of any."""
    n_classes = 2 if n_outputs == 1 else n_outputs
    if not hasattr(model, "n_classes_"):
        return tuple(range(n_classes))
    classes = tuple(np.asarray(model.classes_).tolist())
    is_softmax = objective.startswith("multi:")
    if len(classes) != n_classes or (is_softmax and n_classes == 2):
        refuse(
            f"An XGBoost model that decides between {n_classes} classes must have seen "
            "them all, and of two classes must have the objective 'binary:logistic'",
            f"classes_ = {list(classes)[:8]} and {objective!r}",
            "Fit it on rows of every class, without objective",
        )
    return classes


def _find_output(
    objective: str, base: NDArray[np.float32], n_outputs: int, wanted: Wanted
) -> Output:
    """Return how the sums of an objective become what is predicted."""
    base = np.broadcast_to(base, (n_outputs,))
    margin = tuple(float(x) for x in base)
    takes_numbers = wanted != "classes" and n_outputs == 1
    if objective in LOGITS and n_outputs == 1:
        with np.errstate(divide="ignore"):
            odds = np.float32(1.0) / base - np.float32(1.0)
        margin = (-float(log_each(odds.astype(np.float64), is_single=True)[0]),)
        if wanted == "numbers" or (wanted is None and objective == "reg:logistic"):
            return Output("sigmoid", margin, is_single=True)
        return Output("logit", margin, decides_by="probability", is_single=True)
    if objective == "multi:softprob" and wanted != "numbers":
        return Output("softmax", margin, decides_by="probability", is_single=True)
    if objective == "multi:softmax" and wanted != "numbers":
        # The estimator works probabilities out itself, from the sums.
        return Output("softmax", margin, is_single=True, functions="scipy")
    if objective in NUMBERS and takes_numbers:
        return Output("number", margin, is_single=True)
    if objective in LOGARITHMS and takes_numbers:
        logarithm = log_each(base.astype(np.float64), is_single=True)
        return Output("exp", (float(logarithm[0]),), is_single=True)
    refuse(
        f"An XGBoost model must have an objective for {wanted or 'classes or numbers'}",
        f"{objective!r}",
        "Fit it with 'binary:logistic', 'multi:softprob' or 'reg:squarederror'",
    )
