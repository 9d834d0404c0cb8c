"""Compare two policies on the same rows: where they differ, and what that costs.

It must not know how either of them was found.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.evaluate._drift import count_visits
from askless.evaluate._evaluate import evaluate, evaluate_rows
from askless.evaluate._evaluation import Evaluation
from askless.evaluate._same_terms import draw_rows, settle_prices
from askless.exceptions import InvalidOptionError, InvalidTableError
from askless.policy import Policy, Tree
from askless.problem import Outcome, Table

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two policies on the same rows.

    Attributes
    ----------
    first, second : Evaluation
        What each of them costs, and how often it is wrong if the classes are known.
    agreement : float
        Share of the weight of rows that both decide alike.
    changes : dict
        Share of the weight by (first decision, second decision), where they differ;
        the largest first.
    differs : ndarray of bool of shape (n_rows,)
        The rows that are decided differently.
    cheaper, dearer : float
        Share of the weight that pays less, and more, under the second policy.
    bought : dict
        For each test, the share of rows that buy it under the first and under the
        second policy; NaN where a policy is no tree.
    notes : tuple of str
        At which prices they were compared, if their own differ.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"])
    >>> policy = askless.solve(table).policy
    >>> askless.compare(policy, policy, table.rows()).agreement
    1.0
    """

    first: Evaluation
    second: Evaluation
    agreement: float
    changes: dict[tuple[Outcome, Outcome], float]
    differs: NDArray[np.bool_]
    cheaper: float
    dearer: float
    bought: dict[str, tuple[float, float]]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain data, for JSON."""
        return {
            "first": self.first.to_dict(),
            "second": self.second.to_dict(),
            "agreement": self.agreement,
            "changes": [
                {"first": a, "second": b, "share": share}
                for (a, b), share in self.changes.items()
            ],
            "cheaper": self.cheaper,
            "dearer": self.dearer,
            "bought": {
                name: [None if s != s else s for s in shares]
                for name, shares in self.bought.items()
            },
        }

    def _listed_changes(self) -> list[tuple[tuple[Outcome, Outcome], float]]:
        """Return the changes that are worth a line; numbers change in most rows."""
        is_number = not np.isnan(self.first.squared_error)
        return [] if is_number else list(self.changes.items())[:5]

    def __str__(self) -> str:
        a, b = self.first, self.second
        lines = [
            f"{a.n_cases:,} rows, {100 * self.agreement:.3g} % decided alike.",
            f"  expected cost  {a.expected_cost:.4g} -> {b.expected_cost:.4g}  "
            f"(cheaper for {100 * self.cheaper:.3g} %, dearer for "
            f"{100 * self.dearer:.3g} %)",
            f"  worst cost     {a.worst_cost:.4g} -> {b.worst_cost:.4g}",
        ]
        if not np.isnan(a.error):
            lines.append(
                f"  error          {100 * a.error:.3g} % -> {100 * b.error:.3g} %"
            )
        if not np.isnan(a.squared_error):
            lines.append(
                f"  error          {a.absolute_error:.4g} -> {b.absolute_error:.4g} on "
                f"average, {a.squared_error:.4g} -> {b.squared_error:.4g} squared"
            )
        for (old, new), share in self._listed_changes():
            lines.append(f"  {100 * share:.3g} %: {old!r} -> {new!r}")
        moved = sorted(self.bought.items(), key=lambda item: -_change(item[1]))
        for name, (old_share, new_share) in moved[:5]:
            if _change((old_share, new_share)) > 0:
                lines.append(
                    f"  {name!r} bought by {100 * old_share:.3g} % -> "
                    f"{100 * new_share:.3g} %"
                )
        return "\n".join(lines)


def _check_alike(first: Policy, second: Policy) -> None:
    if first.answers_number != second.answers_number:
        raise InvalidOptionError(
            "Both policies must decide classes, or both say numbers. Got one of each. "
            "Compare policies of the same target."
        )


def _change(shares: tuple[float, float]) -> float:
    difference = abs(shares[0] - shares[1])
    return 0.0 if difference != difference else difference


def compare(
    first: Policy,
    second: Policy,
    data: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    costs: Any = None,
) -> Comparison:
    """Compare two policies on the same rows, at the same prices.

    Parameters
    ----------
    first, second : Policy
        The policies; say, the one in use and the one to take its place.
    data : Table, frame, mapping of columns, or array-like of shape (n_rows, n_tests)
        Rows of raw values, with the columns that either policy asks for; or a table,
        with its classes and its prior. Unknown outcomes of a table are followed for
        what the policies cost and how often they err; where they differ is then
        counted on rows that are drawn.
    y : array-like of shape (n_rows,), optional
        The true class of each row; not for a table.
    sample_weight : array-like of shape (n_rows,), optional
        The weight of each row; not for a table.
    costs : Costs, mapping or sequence, optional
        What the tests cost. By default what the policies say, and if they disagree,
        what the second one says; ``notes`` of the result tells.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"], costs=[1, 3])
    >>> careful = askless.solve(table).policy
    >>> hasty = askless.solve(table, budget=1).policy
    >>> print(askless.compare(careful, hasty, table))
    3 rows, 66.7 % decided alike.
      expected cost  3 -> 1  (cheaper for 66.7 %, dearer for 0 %)
      worst cost     4 -> 1
      error          0 % -> 33.3 %
      33.3 %: 'b' -> 'a'
      't1' bought by 66.7 % -> 0 %
    """
    _check_alike(first, second)
    if costs is not None:
        notes: list[str] = []
        first, second = first.with_costs(costs), second.with_costs(costs)
    else:
        first, second, notes = settle_prices(first, second)
    if isinstance(data, Table):
        if y is not None or sample_weight is not None:
            raise InvalidTableError(
                "A table brings its own classes and weights. Got y or sample_weight as "
                "well. Leave them out."
            )
        exact = (evaluate(first, data), evaluate(second, data))
        data, y, sample_weight = draw_rows(data)
    else:
        exact = None
    a, by_first = evaluate_rows(first, data, y, sample_weight)
    b, by_second = evaluate_rows(second, data, y, sample_weight)
    given = np.ones(a.n_cases) if sample_weight is None else sample_weight
    weights = np.asarray(given, float) / np.sum(given)
    old, new = by_first.tolist(), by_second.tolist()
    # Text may spell a number, as in a file.
    differs = np.array([str(i) != str(j) for i, j in zip(old, new, strict=True)])
    changes: Counter[tuple[Outcome, Outcome]] = Counter()
    for row in np.flatnonzero(differs):
        changes[old[row], new[row]] += weights[row]
    more, less = b.case_cost > a.case_cost, b.case_cost < a.case_cost
    names = dict.fromkeys([*first.test_names, *second.test_names])
    bought_a, bought_b = (_share_bought(p, data, weights) for p in (first, second))
    return Comparison(
        first=a if exact is None else exact[0],
        second=b if exact is None else exact[1],
        agreement=float(weights[~differs].sum()),
        changes=dict(changes.most_common()),
        differs=differs,
        cheaper=float(weights[less].sum()),
        dearer=float(weights[more].sum()),
        bought={name: (bought_a(name), bought_b(name)) for name in names},
        notes=tuple(notes),
    )


def _share_bought(policy: Policy, X: Any, weights: NDArray[np.float64]) -> Any:
    """Return a function that says how many rows buy a test."""
    if not isinstance(policy, Tree):
        return lambda name: float("nan")
    visits = count_visits(policy, X, weights)
    shares = dict.fromkeys(policy.test_names, 0.0)
    parent = policy.parent
    for node in np.flatnonzero(policy.test >= 0):
        # A test that was asked higher up is not bought again.
        above = int(parent[node])
        while above >= 0 and policy.test[above] != policy.test[node]:
            above = int(parent[above])
        if above < 0:
            shares[policy.tests[policy.test[node]].name] += float(visits[node])
    return lambda name: shares.get(name, 0.0)
