"""Other libraries' models, over the grid of their settings: the same answers.

A setting is drawn, a small model is fitted with it, and Askless either refuses it with
an error that names it or answers every row as the library does, to the last bit:
ordinary rows, rows at the model's own thresholds and one step beside them in both
precisions, missing and huge values, categories by number and by name. Where every tree
has ended, probabilities are compared too.
"""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
from sklearn import ensemble
from threadpoolctl import threadpool_limits

import askless
from askless.exceptions import AsklessError
from campaign.settings import Recipe, draw_recipe
from campaign.target import Budget, Tally

__all__ = ["compare_source", "try_sources"]

N_TESTS = 6
N_ROWS = 400
# Which column holds categories, where some do, and how many.
CATEGORY, N_CATEGORIES = 1, 7
# Numbers that stand for no category, or for one by their whole part.
ODD_CODES = (N_CATEGORIES + 2, 1.5, 300, -1, -0.5)
# Rows for each model, and for its probabilities, which need every tree.
MANY, SOME = 20_000, 2_000


# From a recipe to a model.


def _make_model(recipe: Recipe) -> Any:
    settings = dict(recipe["settings"])
    seed, has_codes = recipe["seed"] % 2**31, recipe.get("form") == "codes"
    if recipe["library"] == "sklearn":
        size = {"max_iter": 12} if "Hist" in recipe["name"] else {"n_estimators": 12}
        if has_codes:
            settings["categorical_features"] = [CATEGORY]
        model = getattr(ensemble, recipe["name"])
        return model(random_state=seed, **size, **settings)
    settings.update(n_estimators=12, n_jobs=1, random_state=seed)
    if recipe["library"] == "lightgbm":
        import lightgbm

        return getattr(lightgbm, recipe["name"])(verbose=-1, **settings)
    import xgboost

    if recipe.get("form") in ("codes", "frame"):
        settings["enable_categorical"] = True
    if has_codes:
        settings["feature_types"] = _types()
    return getattr(xgboost, recipe["name"])(verbosity=0, **settings)


def _types() -> list[str]:
    return ["c" if i == CATEGORY else "q" for i in range(N_TESTS)]


def _make_data(rng: np.random.Generator, recipe: Recipe) -> tuple[Any, Any]:
    """Return rows as numbers, and their classes or numbers."""
    settings = recipe["settings"]
    X = rng.normal(size=(N_ROWS, N_TESTS)).round(1)
    X[:, CATEGORY] = rng.integers(-3, 4, N_ROWS)
    score = X[:, 0] + X[:, CATEGORY] * X[:, 2] + rng.normal(size=N_ROWS)
    if recipe.get("form", "numbers") != "numbers":
        X[:, CATEGORY] = (X[:, CATEGORY] * 3) % N_CATEGORIES
    no_missing = recipe["name"].startswith("Gradient")
    if rng.random() < 0.5 and not no_missing and not settings.get("linear_tree"):
        X[rng.random(X.shape) < 0.15] = np.nan
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


def _as_given(recipe: Recipe, X: Any) -> Any:
    """Return rows in the form that the recipe names."""
    if recipe.get("form") != "frame":
        return X
    import pandas as pd

    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(N_TESTS)])
    names = [f"c{i}" for i in range(N_CATEGORIES)]
    codes = np.where(np.isnan(X[:, CATEGORY]), -1, X[:, CATEGORY]).astype(int)
    frame[f"x{CATEGORY}"] = pd.Categorical.from_codes(codes, names)
    return frame


def _fit(recipe: Recipe, X: Any, y: Any) -> Any:
    model = _make_model(recipe)
    options: dict[str, Any] = {}
    if recipe["library"] == "lightgbm" and recipe.get("form") == "codes":
        options["categorical_feature"] = [CATEGORY]
    half = len(X)
    if recipe["settings"].get("early_stopping_rounds"):
        half = len(X) // 2
        rest = (_as_given(recipe, X[half:]), y[half:])
        options.update(eval_set=[rest], verbose=False)
    return model.fit(_as_given(recipe, X[:half]), y[:half], **options)


def _bare(recipe: Recipe, model: Any) -> Any:
    """Return what Askless is given: the estimator, or the library's own model in it."""
    if not recipe.get("bare"):
        return model
    return model.booster_ if recipe["library"] == "lightgbm" else model.get_booster()


def _predict(recipe: Recipe, given: Any, rows: Any) -> Any:
    """Return what the library says; a bare model of classes says probabilities."""
    if not recipe.get("bare"):
        return given.predict(rows)
    if recipe["library"] == "xgboost":
        import xgboost

        types = _types() if recipe.get("form") == "codes" else None
        rows = xgboost.DMatrix(
            rows, enable_categorical=recipe.get("form") != "numbers",
            feature_types=types, nthread=1,
        )  # fmt: skip
    said = given.predict(rows)
    is_said = ("multi:softmax", "cross_entropy")
    if "Regressor" in recipe["name"] or recipe["settings"].get("objective") in is_said:
        return said
    return said.argmax(axis=1) if said.ndim == 2 else (said > 0.5).astype(int)


# Rows and comparisons.


def _hard_rows(
    rng: np.random.Generator, recipe: Recipe, policy: Any, X: Any, n_rows: int
) -> np.ndarray[Any, Any]:
    """Return rows at the policy's thresholds, beside them, and of odd values."""
    rows = X[rng.integers(len(X), size=n_rows)].copy()
    may_miss = bool(np.isnan(X).any())
    has_category = recipe.get("form", "numbers") != "numbers"
    for column, test in enumerate(policy.tests):
        if has_category and column == CATEGORY:
            odd = [] if recipe["form"] == "frame" else ODD_CODES
            rows[:, column] = rng.choice([*range(N_CATEGORIES), *odd], n_rows)
            continue
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


def _assert_same(expected: Any, found: Any, what: str) -> None:
    expected, found = np.asarray(expected), np.asarray(found)
    assert expected.shape == found.shape, f"{what}: {expected.shape}, {found.shape}"
    same = expected == found
    differs = np.flatnonzero(~(same if same.ndim == 1 else same.all(axis=1)))
    assert not len(differs), (
        f"{what}, row {differs[0]} of {len(expected)}: the model says "
        f"{expected[differs[0]]!r}, Askless {found[differs[0]]!r}; "
        f"{len(differs)} rows differ"
    )


def _compare(
    rng: np.random.Generator, recipe: Recipe, given: Any, X: Any, n_rows: int
) -> int:
    """Compare the answers for hard rows; return how many."""
    costs = rng.integers(0, 6, N_TESTS).astype(float)
    # As they are chosen, rows are settled by leaves, or jointly.
    bounds = str(rng.choice(["auto", "deep", "path"]))
    adaptive = askless.AdaptiveEnsemble(given, costs, bounds=bounds).fit()
    rows = _hard_rows(rng, recipe, adaptive.policy_, X, n_rows)
    rows = _as_given(recipe, rows)
    answers = adaptive.predict(rows)
    _assert_same(_predict(recipe, given, rows), answers, "predict")
    few = rows[:SOME]
    bought = adaptive.policy_.predict_and_cost(few)[0]
    _assert_same(answers[:SOME], bought, "predict_and_cost")
    if not hasattr(given, "predict_proba"):
        return n_rows
    whole = askless.AdaptiveEnsemble(given, costs, bounds=bounds, stop="complete")
    shares = whole.fit().predict_proba(few)
    _assert_same(given.predict_proba(few), shares, "predict_proba")
    return n_rows


def _is_named(recipe: Recipe, message: str) -> bool:
    """Return whether a message names a setting, by its name or its value."""
    settings = recipe["settings"]
    texts = [value for value in settings.values() if isinstance(value, str)]
    words = [*settings, *texts]
    if recipe.get("form", "numbers") != "numbers":
        words.append("categories")
    return any(word in message for word in words)


def compare_source(recipe: Recipe, n_rows: int) -> tuple[str, int]:
    """Return how a setting was received, and how many rows were compared.

    Raises AssertionError if an answer differs from the library's, or if a setting is
    refused by an error that does not name it.
    """
    rng = np.random.default_rng(recipe["seed"])
    X, y = _make_data(rng, recipe)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        try:
            given = _bare(recipe, _fit(recipe, X, y))
            _predict(recipe, given, _as_given(recipe, X[:3]))
        except Exception:
            # The library itself does not take these settings together.
            return "not a model", 0
        try:
            return "equal", _compare(rng, recipe, given, X, n_rows)
        except AsklessError as error:
            refusal = str(error)
        assert _is_named(recipe, refusal), f"refused without a name: {refusal}"
        return "refused", 0


def try_sources(budget: Budget, tally: Tally) -> None:
    """Draw settings and compare rows until the time is over."""
    rng = np.random.default_rng(budget.seed)
    while not budget.is_over:
        recipe = draw_recipe(rng)
        try:
            received, n_rows = compare_source(recipe, MANY)
        except Exception as error:
            content = json.dumps(recipe, indent=1).encode()
            tally.find("source", content, ".json", error)
            received, n_rows = "differs", 0
        tally.counts[f"models: {received}"] += 1
        tally.counts["rows compared"] += n_rows
        if received in ("equal", "refused"):
            settings = sorted(recipe["settings"].items(), key=str)
            kind = f"{recipe['name']} {recipe['form']} {recipe['bare']} {settings}"
            tally.note_kind(f"different settings: {received}", kind)
