"""Decide many rows at once: the decision, what it cost, what was bought, and where.

It does not know where rows come from or go to.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from askless.policy._base import Policy, raw_columns
from askless.policy._tree import Tree
from askless.run._session import Session

__all__ = ["RowDecisions", "decide_rows"]


class RowDecisions(NamedTuple):
    """What came of many rows, in their order.

    Attributes
    ----------
    decision : ndarray of shape (n_rows,)
    cost : ndarray of shape (n_rows,)
    bought : list of tuple of str, or None
        The tests that each row paid for, in order; None if they were not asked for.
    leaf : ndarray of int32 of shape (n_rows,), or None
        The leaf of a tree that each row ended in; None for other policies, or if it was
        not asked for.
    """

    decision: NDArray[Any]
    cost: NDArray[np.float64]
    bought: list[tuple[str, ...]] | None
    leaf: NDArray[np.int32] | None


def decide_rows(
    policy: Policy,
    X: Any,
    *,
    with_bought: bool = True,
    with_leaf: bool = True,
    n_jobs: int | None = None,
) -> RowDecisions:
    """Decide rows, and say what each of them paid for.

    Parameters
    ----------
    policy : Policy
        What to ask and what to decide.
    X : frame, mapping of columns, or array-like of shape (n_rows, n_tests)
        Rows of raw values.
    with_bought : bool, default=True
        Whether to list the tests that were bought. A tree knows them by the leaf; other
        policies are asked row by row, which takes a hundred times as long.
    with_leaf : bool, default=True
        Whether to tell the leaf of a tree.
    n_jobs : int, optional
        Threads to use; the answer does not depend on it.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([["dark", "dead"], ["dark", "live"], ["dim", "live"]],
    ...                       ["fuse", "bulb", "dimmer"], tests=["lamp", "socket"],
    ...                       costs={"lamp": 1, "socket": 5})
    >>> policy = askless.solve(table).policy
    >>> found = decide_rows(policy, {"lamp": ["dim", "dark"], "socket": [None, "live"]})
    >>> found.decision.tolist(), found.cost.tolist(), found.bought
    (['dimmer', 'bulb'], [1.0, 6.0], [('lamp',), ('lamp', 'socket')])
    """
    if isinstance(policy, Tree):
        leaf, decision, cost = policy.apply_and_charge(X, n_jobs=n_jobs)
        bought = None
        if with_bought:
            met = np.unique(leaf).tolist()
            by_leaf = {one: _bought_before(policy, one) for one in met}
            bought = [by_leaf[one] for one in leaf.tolist()]
        return RowDecisions(decision, cost, bought, leaf if with_leaf else None)
    decision, cost = policy.predict_and_cost(X, n_jobs=n_jobs)
    bought = _ask_each(policy, X, len(cost)) if with_bought else None
    return RowDecisions(decision, cost, bought, None)


def _bought_before(tree: Tree, leaf: int) -> tuple[str, ...]:
    """Return the tests that were paid for on the way to a leaf, in order."""
    way, node = [], leaf
    while (node := int(tree.parent[node])) >= 0:
        way.append(node)
    bought: dict[int, None] = {}
    for node in reversed(way):
        test = int(tree.test[node])
        if tree.prices.delayed[test] and test not in bought:
            bought |= dict.fromkeys(tree.tests_ahead(node))
        bought[test] = None
    return tuple(tree.tests[test].name for test in bought)


def _ask_each(policy: Policy, X: Any, n_rows: int) -> list[tuple[str, ...]]:
    columns, _ = raw_columns(X, policy.coding, policy.used_tests)
    values = {name: column.tolist() for name, column in columns.items()}
    bought = []
    for row in range(n_rows):
        session = Session(policy)
        while (test := session.test) is not None:
            session.answer(values[test][row], allow_unseen=True)
        bought.append(session.bought)
    return bought
