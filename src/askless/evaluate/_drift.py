"""Tell whether rows still look like what a policy was made from.

A policy knows the outcomes that it was made from, and a tree or forest how many rows
took each branch, so new rows can be held against both. It must not know where the rows
come from.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.policy import (
    Ensemble,
    Forest,
    Policy,
    Sequence,
    Tree,
    explain_degenerate,
)
from askless.policy._base import raw_columns
from askless.problem import Test

__all__ = ["count_visits", "diagnose", "used_tests"]

# A share that is off by less than this is of no interest, however certain it is.
LEAST_CHANGE = 0.05
# Standard errors beyond which a change is no accident, over thousands of branches.
LEAST_SCORE = 5.0
# Notes about branches; the largest changes say enough.
MOST_BRANCHES = 5


def diagnose(policy: Policy, X: Any = None, *, sample_weight: Any = None) -> list[str]:
    """Return what is wrong with a policy, or with using it on some rows.

    Parameters
    ----------
    policy : Policy
        The policy.
    X : frame, mapping of columns, or array-like, optional
        Rows that the policy is used on.
    sample_weight : array-like of shape (n_rows,), optional
        The weight of each row. Weighted rows are as sure as fewer equal ones.

    Returns
    -------
    list of str
        A note for a policy that never tests or always decides the same; and, given
        rows, for outcomes never seen before; of trees and forests also for outcomes
        that are missing where none was, for branches taken by many more or fewer rows
        than the policy was made for; and, of a tree, for another cost than expected.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table({"lamp": ["dark", "dim"]}, ["bulb", "dimmer"])
    >>> policy = askless.solve(table).policy
    >>> diagnose(policy)
    []
    >>> for note in diagnose(policy, {"lamp": ["dark", "dim"] * 45 + ["green"] * 10}):
    ...     print(note)
    10 % of the rows show 'green' for 'lamp', which the policy has never seen.
    """
    found = explain_degenerate(policy)
    notes = [] if found is None else [found]
    if X is None:
        return notes
    trees = _trees_of(policy)
    notes += _find_strangers(policy, trees, X)
    weights = None
    if sample_weight is not None:
        weights = np.asarray(sample_weight, dtype=np.float64)
        weights = weights * (weights.sum() / (weights @ weights))
    changes = _find_changes(trees, X, weights)
    if changes and isinstance(policy, Tree):
        changes += _find_cost(policy, X, weights)
    return notes + changes


def _trees_of(policy: Policy) -> list[Tree]:
    if isinstance(policy, Tree):
        return [policy]
    if isinstance(policy, Forest):
        return [policy.tree(index) for index in range(policy.n_trees)]
    return []


def used_tests(policy: Policy) -> list[int]:
    """Return the tests that a policy may ask for, by position."""
    if isinstance(policy, Sequence):
        return [int(test) for test in policy.order]
    if isinstance(policy, Tree | Forest | Ensemble):
        return policy.used_tests
    return list(range(len(policy.tests)))


def count_visits(
    tree: Tree, X: Any, weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return the weight of the rows that come to each node."""
    visits = np.bincount(tree.apply(X), weights, minlength=tree.n_nodes).astype(float)
    parent = tree.parent
    # In preorder a child comes after its parent.
    for node in range(tree.n_nodes - 1, 0, -1):
        visits[parent[node]] += visits[node]
    return visits


def _find_strangers(policy: Policy, trees: list[Tree], X: Any) -> list[str]:
    """Return a note for each test that shows what the policy does not know."""
    used = used_tests(policy)
    columns, n_rows = raw_columns(X, policy.coding, used)
    notes: list[str] = []
    for index in used if n_rows else []:
        test = policy.tests[index]
        codes = test.encode_clean(columns[test.name])
        unseen = codes == test.unknown_code
        if unseen.any():
            value = _most_frequent(columns[test.name], unseen)
            notes.append(
                f"{_percent(unseen.mean())} of the rows show {value!r} for "
                f"{test.name!r}, which the policy has never seen."
            )
        missing = codes == test.missing_code
        if trees and missing.any():
            if any(_knows_missing(tree, index, test) for tree in trees):
                continue
            notes.append(
                f"{_percent(missing.mean())} of the rows miss {test.name!r}; the "
                "policy sends them where most of its cases went."
            )
    return notes


def _knows_missing(tree: Tree, index: int, test: Test) -> bool:
    """Return whether some node has a branch for "missing", or one for numbers."""
    nodes = np.flatnonzero(tree.test == index)
    if test.kind == "number":
        return bool(np.any(tree.cut[nodes] >= 0))
    starts, ends = tree.branch_start[nodes], tree.branch_start[nodes + 1]
    return any(
        test.missing_code in tree.branch_code[start:end]
        for start, end in zip(starts, ends, strict=True)
    )


def _most_frequent(column: Any, where: NDArray[np.bool_]) -> Any:
    values = np.asarray(column, dtype=object)[where].tolist()
    return max(dict.fromkeys(values), key=values.count)


def _find_changes(
    trees: list[Tree], X: Any, weights: NDArray[np.float64] | None
) -> list[str]:
    """Return notes on branches that rows take more or less often than was expected."""
    is_drawn = len(trees) > 1
    changes = [
        change
        for tree in trees
        for change in _list_changes(tree, count_visits(tree, X, weights), is_drawn)
    ]
    changes.sort(key=lambda change: change[0], reverse=True)
    # Trees of a forest begin alike: what one has said, the others need not repeat.
    notes = dict.fromkeys(note for _, note in changes)
    return list(notes)[:MOST_BRANCHES]


def _list_changes(
    tree: Tree, visits: NDArray[np.float64], is_drawn: bool
) -> list[tuple[float, str]]:
    """Return the branches that have changed by more than chance, each with a score.

    Of the branches of one node the one that has changed most; of two, the fuller one.
    """
    node = np.arange(1, tree.n_nodes)
    above = tree.parent[1:]
    is_met = (visits[above] > 0) & (tree.node_weight[above] > 0)
    node, above = node[is_met], above[is_met]
    n = visits[above]
    expected = tree.node_weight[node] / tree.node_weight[above]
    seen = visits[node] / n
    # What it was made from is a sample, too, if weights are of rows and not chances; in
    # a forest a sample of a sample, which is as sure as half of it.
    n_made = tree.node_weight[above] * (0.5 if is_drawn else 1.0)
    if tree.node_weight[0] <= 1:
        n_made = np.full(len(above), np.inf)
    share = np.where(
        np.isinf(n_made), expected, seen + (expected - seen) / (1 + n / n_made)
    )
    # Half a row more, so that what was never expected has a score as well.
    spread = np.sqrt((share * (1 - share) + 0.5 / n) * (1 / n + 1 / n_made))
    score = np.abs(seen - expected) / spread
    is_off = (np.abs(seen - expected) >= LEAST_CHANGE) & (score >= LEAST_SCORE)
    changes: dict[int, tuple[float, float, int, float]] = {}
    for i in np.flatnonzero(is_off):
        change = (
            round(float(score[i]), 6), float(seen[i]), int(node[i]), float(expected[i])
        )  # fmt: skip
        changes[int(above[i])] = max(changes.get(int(above[i]), change), change)
    return [
        (
            score,
            f"{_path(tree, int(tree.parent[node]))}{_percent(seen)} of the rows show "
            f"{_branch_label(tree, node)}; the policy was made for "
            f"{_percent(expected)}.",
        )
        for score, seen, node, expected in sorted(changes.values(), reverse=True)
    ]


def _find_cost(tree: Tree, X: Any, weights: NDArray[np.float64] | None) -> list[str]:
    paid = float(np.average(tree.cost(X), weights=weights))
    if math.isclose(paid, tree.expected_cost, rel_tol=0.01):
        return []
    return [
        f"A row costs {paid:.4g} on average; the policy was made to cost "
        f"{tree.expected_cost:.4g}."
    ]


def _path(tree: Tree, node: int) -> str:
    steps = []
    while node > 0:
        steps.append(_branch_label(tree, node))
        node = int(tree.parent[node])
    return f"After {', '.join(reversed(steps))}: " if steps else ""


def _branch_label(tree: Tree, node: int) -> str:
    above = int(tree.parent[node])
    test, cut = tree.tests[tree.test[above]], int(tree.cut[above])
    code = int(tree.parent_code[node])
    if cut < 0:
        return f"{test.name} = {test.label(code)}"
    if cut == len(test.cuts):
        return f"{test.name} {'there' if code == 0 else 'missing'}"
    compared = Test(test.name, "number", cuts=(test.cuts[cut],))
    return compared.label(code).replace("x", test.name, 1)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
