"""Keep what every row may cost: a hard limit, whatever the tests show.

Tests that no row could pay for are not learned from, and a tree is cut where a path
could come to more. This module must not know how trees are grown.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from askless._core.price._prices import Bill
from askless.learn._examples import Examples, StoredExamples, Values
from askless.learn.boost._compile import compile_policy
from askless.policy import Forest, Policy, Tree
from askless.problem._frames import Columns
from askless.solve.tradeoff._prune import prune_tree

__all__ = ["hide_dear_tests", "limit_policy", "limit_tree"]


def hide_dear_tests(examples: Examples, max_cost: float) -> Examples:
    """Return examples in which tests that alone cost too much always show the same.

    A tree that never asks them has all of the limit for other tests.

    Parameters
    ----------
    examples : Examples
        Rows to learn from; validation rows stay as they are.
    max_cost : float
        What a row may cost.
    """
    named = examples.costs.subset(examples.names, all_names=examples.names)
    dear = [
        name
        for name, cost in named.costs.items()
        # Outcomes that have prices must stay; the tree is cut where they are too dear.
        if name not in named.by_outcome
        and min(cost, named.discounted.get(name, cost)) > max_cost
    ]
    if not dear or isinstance(examples, StoredExamples):
        return examples
    values = _hide(examples.rows.values, examples.names, set(dear))
    return replace(examples, rows=replace(examples.rows, values=values))


def _hide(values: Values, names: list[str], dear: set[Any]) -> Values:
    if isinstance(values, np.ndarray):
        is_kept = np.array([name not in dear for name in names])
        return np.where(is_kept, values, values.dtype.type(0))
    return Columns(
        (name, np.repeat(column[:1], len(column)) if name in dear else column)
        for name, column in values.items()
    )


def limit_policy(policy: Policy, max_cost: float) -> Policy:
    """Return a policy in which no case pays more, whatever its tests show.

    Parameters
    ----------
    policy : Tree or Forest
        A tree is cut. A forest becomes an ensemble, which buys what its open trees wait
        for most, and stops before it could pay more.
    max_cost : float
        What a case may pay.
    """
    if isinstance(policy, Forest):
        return compile_policy(policy, None, max_cost=max_cost)
    assert isinstance(policy, Tree)
    return limit_tree(policy, max_cost)


def limit_tree(tree: Tree, max_cost: float) -> Tree:
    """Return a tree in which no case pays more, whatever its tests show.

    A node becomes a leaf if some outcome of its test, a missing or a new one included,
    could bring what a case has paid above the limit. It decides as it would if nothing
    more could be asked.

    Parameters
    ----------
    tree : Tree
        What to cut.
    max_cost : float
        What a case may pay.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"], costs=[2, 3])
    >>> tree = askless.solve(table).policy
    >>> tree.worst_cost, limit_tree(tree, 4).worst_cost, limit_tree(tree, 1).worst_cost
    (5.0, 2.0, 0.0)
    """
    is_cut = np.zeros(tree.n_nodes, dtype=bool)
    stack = [(0, tree.prices.open_bill(), 0.0)]
    while stack:
        node, bill, most = stack.pop()
        test = int(tree.test[node])
        if test < 0:
            continue
        after = bill.copy()
        if tree.prices.delayed[test] and not bill.has_paid(test):
            # Everything below is bought together with it.
            charge = after.charge_together(tree.tests_ahead(node))
            charges = dict.fromkeys(tree.nodes.children(node), charge)
        else:
            charges = _worst_charges(tree, node, bill)
            after.charge(test)
        if most + max(charges.values()) > max_cost:
            is_cut[node] = True
            continue
        stack += [(child, after, most + charge) for child, charge in charges.items()]
    return prune_tree(tree, is_cut) if is_cut.any() else tree


def _worst_charges(tree: Tree, node: int, bill: Bill) -> dict[int, float]:
    """Return, for each child, the most that the test charges on the way there."""
    test = int(tree.test[node])
    n_levels = tree.tests[test].n_levels
    charges = dict.fromkeys(tree.nodes.children(node), bill.price(test))
    if test not in tree.prices.by_outcome:
        return charges
    charges = dict.fromkeys(charges, 0.0)
    for code in range(n_levels + 2):
        child = tree.nodes.follow(node, code, n_levels)
        charges[child] = max(charges[child], bill.price(test, code))
    return charges
