"""Follow columns through fitted transformers of scikit-learn, each on its own.

Known are those that make each of their columns of one of the columns that they are
given. All others are refused by name. This module must not know any model.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from askless.learn.sources._source import refuse
from askless.problem import Outcome

__all__ = ["Step", "outputs_of"]

# One column in, one column out, and larger values never become smaller ones, not even
# by rounding: powers and quantiles are not among them.
ONE_TO_ONE = (
    "MaxAbsScaler",
    "MinMaxScaler",
    "OrdinalEncoder",
    "RobustScaler",
    "StandardScaler",
)
SUPPORTED = (
    *ONE_TO_ONE,
    "ColumnTransformer",
    "OneHotEncoder",
    "Pipeline",
    "SimpleImputer",
    "feature selectors",
)

# Where a column comes from, and the steps on the way.
Origin = tuple[int, tuple["Step", ...]]


class Step(NamedTuple):
    """One column on its way through one transformer.

    Attributes
    ----------
    transformer : transformer
        Fitted.
    column, output : int
        Which of its columns goes in, and which one comes out.
    template : tuple
        A value for each of its columns.
    categories : tuple or None
        The outcomes of the column, if it is a category.
    """

    transformer: Any
    column: int
    output: int
    template: tuple[Any, ...]
    categories: tuple[Outcome, ...] | None = None

    def apply(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return what the transformer makes of values of the column."""
        is_text = values.dtype.kind == "O" or any(
            isinstance(value, str) for value in self.template
        )
        rows = np.empty(
            (len(values), len(self.template)), dtype=object if is_text else np.float64
        )
        rows[:] = self.template
        rows[:, self.column] = values
        made = self.transformer.transform(rows)
        made = made.toarray() if hasattr(made, "toarray") else np.asarray(made)
        column: NDArray[Any] = made[:, self.output]
        return column


def outputs_of(transformer: Any, n_columns: int) -> list[Origin]:
    """Return where each column that a transformer makes comes from.

    Parameters
    ----------
    transformer : transformer, "passthrough" or None
        Fitted.
    n_columns : int
        How many columns it is given.
    """
    name = type(transformer).__name__
    if transformer is None or (
        isinstance(transformer, str) and transformer == "passthrough"
    ):
        return [(i, ()) for i in range(n_columns)]
    if name == "FunctionTransformer" and transformer.func is None:
        return [(i, ()) for i in range(n_columns)]
    if name == "Pipeline":
        return _through_pipeline(transformer, n_columns)
    if name == "ColumnTransformer":
        return _through_columns(transformer)
    if name == "OneHotEncoder":
        return _one_hot(transformer)
    if name == "SimpleImputer":
        return _imputed(transformer, n_columns)
    if name in ONE_TO_ONE:
        return _one_to_one(transformer, n_columns)
    if hasattr(transformer, "get_support"):
        return [(int(i), ()) for i in transformer.get_support(indices=True)]
    refuse(
        "Every column of a pipeline must come from one raw column, so that it can be "
        "bought by itself",
        f"{name}, which may mix columns, or change the order of values by rounding",
        f"Supported: {', '.join(SUPPORTED)}. Leave it out, or prepare the columns "
        "before, and give the prices of the prepared ones",
    )


def _through_pipeline(pipeline: Any, n_columns: int) -> list[Origin]:
    reached: list[Origin] = [(i, ()) for i in range(n_columns)]
    for _, transformer in pipeline.steps:
        reached = [
            (reached[column][0], (*reached[column][1], *steps))
            for column, steps in outputs_of(transformer, len(reached))
        ]
    return reached


def _through_columns(transformer: Any) -> list[Origin]:
    """Follow columns through a ColumnTransformer."""
    names = getattr(transformer, "feature_names_in_", None)
    n_columns = int(transformer.n_features_in_)
    found: dict[int, Origin] = {}
    for name, part, chosen in transformer.transformers_:
        place = transformer.output_indices_.get(name, slice(0, 0))
        if isinstance(part, str) and part == "drop":
            continue
        columns = _list_columns(chosen, names, n_columns)
        if not columns:
            continue
        for i, (column, steps) in enumerate(outputs_of(part, len(columns))):
            found[place.start + i] = (columns[column], steps)
    return [found[i] for i in sorted(found)]


def _list_columns(chosen: Any, names: Any, n_columns: int) -> list[int]:
    """Return the columns that a part of a ColumnTransformer is given, by number."""
    if isinstance(chosen, slice):
        if isinstance(chosen.start, str) or isinstance(chosen.stop, str):
            known = list(names)
            start = 0 if chosen.start is None else known.index(chosen.start)
            stop = n_columns if chosen.stop is None else known.index(chosen.stop) + 1
            return list(range(start, stop))
        return list(range(n_columns))[chosen]
    listed = [chosen] if isinstance(chosen, (str, int)) else list(chosen)
    if listed and isinstance(listed[0], (bool, np.bool_)):
        return np.flatnonzero(listed).tolist()
    known = [] if names is None else list(names)
    return [
        known.index(each) if isinstance(each, str) else int(each) % n_columns
        for each in listed
    ]


def _one_to_one(transformer: Any, n_columns: int) -> list[Origin]:
    known = getattr(transformer, "categories_", None)
    template = _template(known, n_columns)
    return [
        (
            i,
            (Step(transformer, i, i, template, None if known is None
                  else _outcomes(known[i])),),
        )
        for i in range(n_columns)
    ]  # fmt: skip


def _one_hot(encoder: Any) -> list[Origin]:
    known = encoder.categories_
    template = _template(known, len(known))
    rare = getattr(encoder, "infrequent_categories_", [None] * len(known))
    dropped = encoder.drop_idx_
    found: list[Origin] = []
    for i, categories in enumerate(known):
        n_made = len(categories)
        if rare[i] is not None:
            n_made -= len(rare[i]) - 1
        if dropped is not None and dropped[i] is not None:
            n_made -= 1
        outcomes = _outcomes(categories)
        for _ in range(n_made):
            step = Step(encoder, i, len(found), template, outcomes)
            found.append((i, (step,)))
    return found


def _imputed(imputer: Any, n_columns: int) -> list[Origin]:
    values = imputer.statistics_.tolist()
    if any(value is None or value != value for value in values):
        refuse(
            "A SimpleImputer must know a value for every column",
            "a column that was missing in every row",
            "Leave the column out",
        )
    template = tuple(values)
    found: list[Origin] = [
        (i, (Step(imputer, i, i, template),)) for i in range(n_columns)
    ]
    if imputer.indicator_ is not None:
        for column in imputer.indicator_.features_.tolist():
            found.append((column, (Step(imputer, column, len(found), template),)))
    return found


def _template(categories: Any, n_columns: int) -> tuple[Any, ...]:
    if categories is None:
        return (0.0,) * n_columns
    return tuple(known.tolist()[0] for known in categories)


def _outcomes(categories: Any) -> tuple[Outcome, ...]:
    """Return the categories of an encoder without what is missing."""
    return tuple(c for c in categories.tolist() if c is not None and c == c)
