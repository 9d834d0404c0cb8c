"""What a group of tests is worth, and what having delayed results at once would be.

Both by learning again without them, on rows held out by turns. This module must not
know how any learner works.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from askless.exceptions import InvalidOptionError
from askless.learn._scoring import neg_total_cost
from askless.problem import Costs, as_costs
from askless.problem._frames import column_names, is_frame

__all__ = ["Worth", "group_worth"]


class Worth(NamedTuple):
    """What something is worth, per row.

    Attributes
    ----------
    name : str
        A group, a test in no group, or "no delays".
    tests : tuple of str
        The tests concerned.
    cost : float
        Mean total cost of held-out rows as things are.
    cost_otherwise : float
        The same without the tests; for "no delays", with their results at once.
    worth : float
        What the tests save; for "no delays", what would be saved.
    """

    name: str
    tests: tuple[str, ...]
    cost: float
    cost_otherwise: float
    worth: float


def group_worth(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    tests: bool = False,
    cv: Any = 5,
    scoring: Any = None,
) -> list[Worth]:
    """Say what each group of tests is worth, and what its delays cost.

    Parameters
    ----------
    estimator : estimator of Askless
        It is cloned, and fitted with and without each group.
    X : frame or array-like of shape (n_rows, n_tests)
        Raw values.
    y : array-like of shape (n_rows,)
        The class of each row.
    tests : bool, default=False
        Whether to say it of each test in no group as well.
    cv : int or cross-validation generator, default=5
        How rows are held out.
    scoring : callable, default=None
        A scorer; minus the mean total cost by default.

    Returns
    -------
    list of Worth
        Dearest first, delays last. A worth below zero says that learning without the
        tests did better on these rows.

    Examples
    --------
    >>> import askless
    >>> clinic = askless.datasets.make_clinic(300, random_state=0)
    >>> tree = askless.CostTreeClassifier(clinic.costs, mistakes=200, n_estimators=20)
    >>> worths = group_worth(tree, clinic.to_frame(), clinic.y, cv=2)
    >>> sorted(worth.name for worth in worths)[0] in clinic.costs.groups
    True
    """
    names = column_names(X) if is_frame(X) else _names(X)
    costs = as_costs(estimator.costs, len(names))
    judge = neg_total_cost if scoring is None else scoring

    def mean_cost(kept: list[str], priced: Costs) -> float:
        part = X if kept == names else _take(X, names, kept)
        if not is_frame(X):
            priced = priced.renamed({name: i for i, name in enumerate(kept)})
        model = clone(estimator).set_params(costs=priced)
        return -float(np.mean(cross_val_score(model, part, y, scoring=judge, cv=cv)))

    whole = costs.subset(names, all_names=names)
    now = mean_cost(names, whole)
    parts = {name: tuple(str(t) for t in ts) for name, ts in whole.groups.items()}
    if tests:
        grouped = {test for group in parts.values() for test in group}
        parts |= {test: (test,) for test in names if test not in grouped}
    found = []
    for name, members in parts.items():
        kept = [test for test in names if test not in members]
        if not kept:
            raise InvalidOptionError(
                "Some test must be left to learn from. Got a group of all tests, "
                f"{name!r}. Ask for the worth of smaller groups."
            )
        other = mean_cost(kept, whole.subset(kept, all_names=names))
        found.append(Worth(name, members, now, other, other - now))
    found.sort(key=lambda worth: -worth.worth)
    if whole.delayed:
        at_once = Costs(
            whole.costs,
            groups=whole.groups,
            discounted=whole.discounted,
            mistakes=whole.mistakes,
        )
        other = mean_cost(names, at_once)
        late = tuple(str(test) for test in whole.delayed)
        found.append(Worth("no delays", late, now, other, now - other))
    return found


def _names(X: Any) -> list[str]:
    return [f"x{i}" for i in range(np.asarray(X, dtype=object).shape[1])]


def _take(X: Any, names: list[str], kept: list[str]) -> Any:
    if is_frame(X):
        return X[kept]
    return np.asarray(X)[:, [names.index(name) for name in kept]]
