"""Read LightGBM models from the text that they are saved as.

Every setting that changes what a model's ``predict`` returns is honoured here, or
refused by its name; the page ``docs/how-to/sources.md`` lists them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from askless.learn.sources._lightgbm_categories import find_categories
from askless.learn.sources._lightgbm_trees import read_fields, read_trees
from askless.learn.sources._source import Source, Wanted, refuse, wanted_of
from askless.policy import Output
from askless.problem import Outcome

__all__ = ["read_lightgbm", "read_lightgbm_text"]

# Objectives whose sums are what is predicted, and those of logarithms.
NUMBERS = ("regression", "regression_l1", "huber", "fair", "quantile", "mape",
           "lambdarank", "rank_xendcg")  # fmt: skip
LOGARITHMS = ("poisson", "gamma", "tweedie")
# Those of log-odds; the former predicts classes, the latter any share.
LOGITS = ("binary", "cross_entropy")


def read_lightgbm(model: Any) -> Source:
    """Read a fitted Booster, LGBMClassifier, LGBMRegressor or LGBMRanker."""
    booster = getattr(model, "booster_", model)
    wanted = wanted_of(model)
    if wanted is not None and model.get_params().get("pred_early_stop"):
        refuse(
            "A LightGBM model must add up all its trees",
            "pred_early_stop=True, which leaves some out",
            "Fit it without; Askless stops early by bounds",
        )
    classes = None
    if wanted == "classes":
        classes = tuple(model.classes_.tolist())
    return read_lightgbm_text(
        booster.model_to_string(),
        classes=classes,
        wanted=wanted,
        slope=_live_slope(booster),
    )


def _live_slope(booster: Any) -> float | None:
    """Return the ``sigmoid`` of a booster that can still be trained.

    Its text has six digits of it, which is what all other boosters were read from.
    """
    if not hasattr(booster, "train_set"):
        return None
    given = getattr(booster, "params", {}).get("sigmoid")
    return None if given is None else _read_number(str(given))


def _read_number(text: str) -> float:
    """Return a number as LightGBM reads it from a setting, rounded more than once.

    Examples
    --------
    >>> _read_number("0.5"), _read_number("25e-1")
    (0.5, 2.5)
    """
    digits, _, exponent = text.lower().partition("e")
    whole, _, part = digits.lstrip("+-").partition(".")
    value = float(int(whole or "0"))
    if part:
        value += float(int(part)) / 10.0 ** len(part)
    scale = 1.0
    left = abs(int(exponent or "0"))
    for step, factor in ((50, 1e50), (8, 1e8), (1, 10.0)):
        while left >= step:
            scale *= factor
            left -= step
    value = value / scale if exponent.startswith("-") else value * scale
    return -value if text.startswith("-") else value


def read_lightgbm_text(
    text: str,
    *,
    classes: tuple[Outcome, ...] | None = None,
    categories: Mapping[int, tuple[Outcome, ...]] | None = None,
    wanted: Wanted = None,
    slope: float | None = None,
) -> Source:
    """Read a model from its text.

    Parameters
    ----------
    text : str
        What ``Booster.model_to_string`` returns.
    classes : tuple, optional
        The classes; 0, 1, ... by default.
    categories : mapping of int to tuple, optional
        For features that are categories, what each of their numbers stands for.
    wanted : {"classes", "numbers"}, optional
        What is predicted; by default, what the objective is for.
    slope : float, optional
        What log-odds are multiplied by, if the text does not have all its digits.
    """
    blocks = text.split("\nTree=")
    header = read_fields(blocks[0])
    n_features = int(header["max_feature_idx"]) + 1
    n_outputs = int(header["num_tree_per_iteration"])
    fields = [read_fields(block.split("\nend of trees")[0]) for block in blocks[1:]]
    if categories is None:
        used = {int(c) for f in fields for c in f.get("split_feature", "").split()}
        infos = header["feature_infos"].split(" ")
        categories = find_categories(blocks[-1], infos, used)
    trees = read_trees(fields, n_outputs, categories)
    divisor = 1.0
    if "average_output" in blocks[0].split("\n"):
        divisor = len(trees) / n_outputs
    objective = header.get("objective", "")
    output = _find_output(objective, n_outputs, divisor, wanted, slope)
    names = header["feature_names"].split(" ")
    is_named = names != [f"Column_{i}" for i in range(n_features)]
    return Source(
        names if is_named else None,
        n_features,
        _find_classes(output, classes),
        trees,
        output,
        dict(categories),
    )


def _find_classes(
    output: Output, classes: tuple[Outcome, ...] | None
) -> tuple[Outcome, ...]:
    if output.is_number:
        return ()
    n_classes = 2 if output.link == "logit" else output.n_outputs
    if classes is not None and len(classes) != n_classes:
        refuse(
            f"A LightGBM model that decides between {n_classes} classes must have "
            "seen them all",
            f"classes_ = {list(classes)[:8]}",
            "Fit it on rows of every class",
        )
    return tuple(range(n_classes)) if classes is None else classes


def _find_output(
    objective: str,
    n_outputs: int,
    divisor: float,
    wanted: Wanted,
    live_slope: float | None,
) -> Output:
    """Return how the sums of an objective become what is predicted."""
    name, *options = objective.split(" ") if objective else [""]
    values = dict(option.split(":") for option in options if ":" in option)
    slope = _read_number(values.get("sigmoid", "1"))
    slope = slope if live_slope is None else live_slope
    offset = (0.0,) * n_outputs
    takes_numbers = wanted != "classes" and n_outputs == 1
    if name in LOGITS and n_outputs == 1:
        slope = slope if name == "binary" else 1.0
        if wanted == "numbers" or (wanted is None and name != "binary"):
            return Output("sigmoid", offset, divisor, slope, functions="libm")
        return Output("logit", offset, divisor, slope, "probability", functions="libm")
    if name == "multiclass" and wanted != "numbers":
        return Output(
            "softmax", offset, divisor, decides_by="probability", functions="libm"
        )
    if name == "multiclassova" and wanted != "numbers":
        return Output(
            "one-vs-rest", offset, divisor, slope, "probability", functions="libm"
        )
    if takes_numbers and "sqrt" in options:
        refuse(
            "A LightGBM model must predict its sums or their exponentials",
            "reg_sqrt=True, which predicts their squares",
            "Fit it on the square roots instead",
        )
    # A model of one's own objective has none, and predicts its sums.
    if takes_numbers and (name in NUMBERS or not name):
        return Output("number", offset, divisor)
    if takes_numbers and name in LOGARITHMS:
        return Output("exp", offset, divisor, functions="libm")
    refuse(
        f"A LightGBM model must have an objective for {wanted or 'classes or numbers'}",
        f"{objective or 'one of your own'!r}",
        "Fit it with 'binary', 'multiclass' or 'regression'",
    )
