"""Importers: a fitted model of some library in, trees that Askless can run out.

One file a library. A new one is a function that returns a :class:`Source`, and a line
in ``READERS``. Each is compared with its library's own predictions by the tests.
"""

from __future__ import annotations

from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from askless.exceptions import InvalidOptionError
from askless.learn.sources._askless import read_policy
from askless.learn.sources._lightgbm import read_lightgbm, read_lightgbm_text
from askless.learn.sources._pipeline import is_pipeline, read_pipeline
from askless.learn.sources._sklearn_hist import read_hist
from askless.learn.sources._sklearn_policy import forest_of_sklearn, tree_of_sklearn
from askless.learn.sources._sklearn_trees import read_boosting, read_forest
from askless.learn.sources._source import SetSplit, Source, SourceTree
from askless.learn.sources._xgboost import read_xgboost

__all__ = [
    "SetSplit",
    "Source",
    "SourceTree",
    "forest_of_sklearn",
    "read_lightgbm_text",
    "read_model",
    "read_policy",
    "tree_of_sklearn",
]

# By module and class, so that no library has to be imported to be recognised.
READERS = {
    ("sklearn", "DecisionTreeClassifier"): read_forest,
    ("sklearn", "DecisionTreeRegressor"): read_forest,
    ("sklearn", "ExtraTreesClassifier"): read_forest,
    ("sklearn", "ExtraTreesRegressor"): read_forest,
    ("sklearn", "GradientBoostingClassifier"): read_boosting,
    ("sklearn", "GradientBoostingRegressor"): read_boosting,
    ("sklearn", "HistGradientBoostingClassifier"): read_hist,
    ("sklearn", "HistGradientBoostingRegressor"): read_hist,
    ("sklearn", "RandomForestClassifier"): read_forest,
    ("sklearn", "RandomForestRegressor"): read_forest,
    ("lightgbm", "Booster"): read_lightgbm,
    ("lightgbm", "LGBMClassifier"): read_lightgbm,
    ("lightgbm", "LGBMRanker"): read_lightgbm,
    ("lightgbm", "LGBMRegressor"): read_lightgbm,
    ("xgboost", "Booster"): read_xgboost,
    ("xgboost", "XGBClassifier"): read_xgboost,
    ("xgboost", "XGBRanker"): read_xgboost,
    ("xgboost", "XGBRegressor"): read_xgboost,
}


def read_model(model: Any) -> Source:
    """Read a fitted model of any library that is supported.

    Raises
    ------
    InvalidOptionError
        If the model is of another type, or not fitted.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> source = read_model(DecisionTreeClassifier().fit([[0], [1]], ["a", "b"]))
    >>> source.classes, source.n_features
    (('a', 'b'), 1)
    """
    if is_pipeline(model):
        return read_pipeline(model, read_model)
    for kind in type(model).__mro__:
        reader = READERS.get((kind.__module__.split(".")[0], kind.__name__))
        if reader is None:
            continue
        if kind.__name__ != "Booster":
            try:
                check_is_fitted(model)
            except NotFittedError as error:
                raise InvalidOptionError(
                    f"The model must be fitted. Got a {type(model).__name__} that is "
                    "not. Call its fit first."
                ) from error
        return reader(model)
    raise InvalidOptionError(
        "The model must be a forest or booster of scikit-learn, LightGBM or XGBoost, a "
        "pipeline that ends in one, or a policy of Askless. Got"
        f" {type(model).__name__!r}. Supported: "
        f"{', '.join(sorted({name for _, name in READERS}))}."
    )
