"""Tell whether rows still look like what a policy was made from.

A tree carries the weights that it was made from, so new rows can be held against them,
branch by branch. It must not know where the rows come from.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.policy import Policy, Tree, explain_degenerate
from askless.policy._base import raw_columns
from askless.problem import Test

__all__ = ["count_visits", "diagnose"]

# A share that is off by less than this is of no interest, however certain it is.
LEAST_CHANGE = 0.05
# Standard errors beyond which a change is no accident, over thousands of branches.
LEAST_SCORE = 5.0
# Notes about branches; the largest changes say enough.
MOST_BRANCHES = 5


def diagnose(policy: Policy, X: Any = None) -> list[str]:
    """Return what is wrong with a policy, or with using it on some rows.

    Parameters
    ----------
    policy : Policy
        The policy.
    X : frame, mapping of columns, or array-like, optional
        Rows that the policy is used on.

    Returns
    -------
    list of str
        A note for a policy that never tests or always decides the same; and, given
        rows, for outcomes never seen before, outcomes that are missing where none was,
        branches taken by many more or fewer rows than the policy was made for, and
        another cost than expected.

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
    if X is not None and isinstance(policy, Tree) and policy.used_tests:
        notes += _find_strangers(policy, X)
        notes += _find_changes(policy, X)
    return notes


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


def _find_strangers(tree: Tree, X: Any) -> list[str]:
    """Return a note for each test that shows what the policy does not know."""
    columns, _ = raw_columns(X, tree.coding, tree.used_tests)
    notes = []
    for index in tree.used_tests:
        test = tree.tests[index]
        codes = test.encode(columns[test.name])
        unseen = codes == test.unknown_code
        if unseen.any():
            value = _most_frequent(columns[test.name], unseen)
            notes.append(
                f"{_percent(unseen.mean())} of the rows show {value!r} for "
                f"{test.name!r}, which the policy has never seen."
            )
        missing = codes == test.missing_code
        if missing.any() and not _knows_missing(tree, index, test):
            notes.append(
                f"{_percent(missing.mean())} of the rows miss {test.name!r}; the "
                "policy sends them where most of its cases went."
            )
    return notes


def _knows_missing(tree: Tree, index: int, test: Test) -> bool:
    """Return whether some node has a branch for "missing" or parts numbers from it."""
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


def _find_changes(tree: Tree, X: Any) -> list[str]:
    """Return notes on branches that rows take more or less often than was expected."""
    visits = count_visits(tree, X)
    # Of the branches of one node the one that has changed most; of two, the fuller one.
    changes: dict[int, tuple[float, float, int, float]] = {}
    for node in range(1, tree.n_nodes):
        above = int(tree.parent[node])
        n, total = visits[above], tree.node_weight[above]
        if n == 0 or total == 0:
            continue
        expected = float(tree.node_weight[node] / total)
        seen = float(visits[node] / n)
        # Half a row more, so that what was never expected has a score as well.
        spread = math.sqrt((expected * (1 - expected) + 0.5 / n) / n)
        score = abs(seen - expected) / spread
        if abs(seen - expected) >= LEAST_CHANGE and score >= LEAST_SCORE:
            change = (round(score, 6), seen, node, expected)
            changes[above] = max(changes.get(above, change), change)
    largest = sorted(changes.values(), reverse=True)[:MOST_BRANCHES]
    notes = [
        f"{_path(tree, int(tree.parent[node]))}{_percent(seen)} of the rows show "
        f"{_branch_label(tree, node)}; the policy was made for {_percent(expected)}."
        for _, seen, node, expected in largest
    ]
    paid = float(tree.cost(X).mean())
    if notes and not math.isclose(paid, tree.expected_cost, rel_tol=0.01):
        notes.append(
            f"A row costs {paid:.4g} on average; the policy was made to cost "
            f"{tree.expected_cost:.4g}."
        )
    return notes


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
