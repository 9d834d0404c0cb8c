"""Look ahead from a state: what may still be spent, and what each outcome leads to.

It asks a policy for its states only. It must not change anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from askless._core.price._prices import Bill, price_nodes
from askless.policy._base import Policy
from askless.policy._tree import Tree
from askless.problem import Outcome, Test

__all__ = ["Branch", "dearest_price", "look_ahead", "worst_ahead"]

# Tests of more levels than this are not laid out one by one.
MOST_LEVELS = 400


@dataclass(frozen=True)
class Branch:
    """What follows if the next test shows one of some outcomes.

    Attributes
    ----------
    label : str
        The outcomes, for people.
    outcomes : tuple
        The outcomes of a category; empty for a range of numbers.
    share : float or None
        How much of what is still possible shows this; None if the policy cannot say.
    test : str or None
        The test that is asked then; None if the policy decides.
    decision : object
        What the policy decides then, or would decide if it had to.
    n_decisions : int
        How many decisions are possible then.
    """

    label: str
    outcomes: tuple[Outcome, ...]
    share: float | None
    test: str | None
    decision: Outcome
    n_decisions: int


def look_ahead(policy: Policy, state: Any) -> list[Branch]:
    """Return what each outcome of the next test leads to, equal ones together.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1], [2]], ["no", "yes", "yes"], tests=["bit"])
    >>> policy = askless.solve(table).policy
    >>> [(b.label, b.decision) for b in look_ahead(policy, policy.initial_state())]
    [('0', 'no'), ('1', 'yes'), ('2', 'yes')]
    """
    index = policy.next_test(state)
    if index is None or policy.tests[index].n_levels > MOST_LEVELS:
        return []
    test = policy.tests[index]
    groups: list[tuple[Any, list[int]]] = []
    for code in range(test.n_levels):
        after = policy.advance(state, code)
        # States of a tree are nodes: neighbours that lead to one node belong together.
        if groups and isinstance(policy, Tree) and groups[-1][0] == after:
            groups[-1][1].append(code)
        else:
            groups.append((after, [code]))
    shares: list[float | None] = [None] * len(groups)
    if isinstance(policy, Tree):
        weights = policy.node_weight[[after for after, _ in groups]]
        total = float(weights.sum())
        shares = (weights / total).tolist() if total > 0 else shares
    return [
        _branch(policy, test, after, codes, share)
        for (after, codes), share in zip(groups, shares, strict=True)
    ]


def _branch(
    policy: Policy, test: Test, state: Any, codes: list[int], share: float | None
) -> Branch:
    asked = policy.next_test(state)
    return Branch(
        label=_label(test, codes),
        outcomes=tuple(test.outcomes[c] for c in codes) if test.outcomes else (),
        share=share,
        test=None if asked is None else policy.tests[asked].name,
        decision=policy.answer(state),
        n_decisions=int(np.count_nonzero(policy.class_shares(state))),
    )


def _label(test: Test, codes: list[int]) -> str:
    if test.kind == "category" or len(codes) == 1:
        return " or ".join(test.label(code) for code in codes)
    if codes[0] == 0 and codes[-1] == test.n_levels - 1:
        return "any number"
    whole = Test(
        test.name,
        "number",
        cuts=tuple(
            test.cuts[i] for i in (codes[0] - 1, codes[-1]) if 0 <= i < len(test.cuts)
        ),
    )
    return whole.label(0 if codes[0] == 0 else 1)


def dearest_price(policy: Policy, test: int, bill: Bill) -> float:
    """Return the most that a test can charge now, whatever it shows."""
    codes = range(-1, policy.tests[test].n_levels)
    if test not in policy.prices.by_outcome:
        codes = range(-1, 0)
    return max(bill.price(test, code) for code in codes)


def worst_ahead(policy: Policy, state: Any, bill: Bill) -> float:
    """Return the most that a case may still spend from a state on.

    Exact for a tree. For other policies, what everything that may be asked would
    charge.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"], costs=[2, 5])
    >>> policy = askless.solve(table).policy
    >>> worst_ahead(policy, policy.initial_state(), policy.prices.open_bill())
    7.0
    """
    if isinstance(policy, Tree):
        walk = walk_worst if policy.prices.by_outcome else _price_worst
        return walk(policy, state, bill)
    bill, left = bill.copy(), 0.0
    for test in policy.tests_possible(state):
        left += dearest_price(policy, test, bill)
        bill.charge(test)
    return left


def _price_worst(tree: Tree, node: int, bill: Bill) -> float:
    """Price the subtree of a node for a case that has paid a bill."""
    below = slice(node, tree.subtree_end[node])
    spent = price_nodes(
        tree.prices.engine,
        tree.test[below],
        tree.parent[below] - np.int32(node),
        tree.parent_code[below],
        tree.subtree_end[below] - np.int32(node),
        bill,
    )
    return float(spent.max())


def walk_worst(tree: Tree, node: int, bill: Bill) -> float:
    """Walk every path below a node with a bill of its own.

    Slow, and right for any prices: where outcomes have prices, several that take one
    branch may differ.
    """
    worst = 0.0
    stack = [(node, bill, 0.0)]
    while stack:
        here, paid, left = stack.pop()
        test = int(tree.test[here])
        if test < 0:
            worst = max(worst, left)
        elif tree.prices.delayed[test] and not paid.has_paid(test):
            # All that may be asked below is paid for with it.
            worst = max(
                worst, left + paid.copy().charge_together(tree.tests_ahead(here))
            )
        else:
            after = paid.copy()
            price = after.charge(test)
            start, end = tree.branch_start[here], tree.branch_start[here + 1]
            for branch in range(start, end):
                by_outcome = tree.prices.by_outcome.get(test)
                if by_outcome is not None and not paid.has_paid(test):
                    price = _price_of_branch(tree, here, branch - start, by_outcome)
                stack.append((int(tree.branch_child[branch]), after, left + price))
    return worst


def _price_of_branch(tree: Tree, node: int, branch: int, by_outcome: Any) -> float:
    """Return the dearest outcome that takes a branch."""
    child = tree.branch_child[tree.branch_start[node] + branch]
    prices = [
        float(price)
        for code, price in enumerate(by_outcome)
        if tree.advance(node, code) == child
    ]
    if branch == tree.default_branch[node]:
        prices.append(float(tree.prices.full[tree.test[node]]))
    return max(prices, default=0.0)
