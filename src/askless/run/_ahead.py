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
    taken_as : str or None
        Where no case that is left shows this: the outcome that the policy takes it for.
    """

    label: str
    outcomes: tuple[Outcome, ...]
    share: float | None
    test: str | None
    decision: Outcome
    n_decisions: int
    taken_as: str | None = None


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
    if isinstance(policy, Tree):
        return _branches_of_tree(policy, test, state)
    after = [policy.advance(state, code) for code in range(test.n_levels)]
    return [_branch(policy, test, s, [code]) for code, s in enumerate(after)]


def _branches_of_tree(tree: Tree, test: Test, node: int) -> list[Branch]:
    """Return the branches of a node, and the outcomes that have none of their own.

    Shares are those of the children, so that they sum to one; what no case shows here
    goes on by the default branch and has no share of it.
    """
    children = tree.nodes.children(node)
    weights = {child: _leaf_weight(tree, child) for child in children}
    total = sum(weights.values())
    share = {c: w / total if total > 0 else None for c, w in weights.items()}
    if (cut := int(tree.cut[node])) >= 0:
        low, high = children
        above = list(range(cut + 1, test.n_levels)) or [test.missing_code]
        return [
            _branch(tree, test, low, list(range(cut + 1)), share=share[low]),
            _branch(tree, test, high, above, share=share[high]),
        ]
    listed = []
    for code in range(test.missing_code + 1):
        child = tree.advance(node, code)
        if (followed := tree.code_followed(node, code)) == code:
            listed.append(_branch(tree, test, child, [code], share=share[child]))
        elif code != test.missing_code:
            none = None if share[child] is None else 0.0
            label = test.label(followed)
            listed.append(_branch(tree, test, child, [code], share=none, as_=label))
    return listed


def _leaf_weight(tree: Tree, node: int) -> float:
    """Return the weight of the leaves of a subtree, as pictures count it."""
    below = slice(node, tree.subtree_end[node])
    return float(tree.node_weight[below][tree.test[below] < 0].sum())


def _branch(
    policy: Policy,
    test: Test,
    state: Any,
    codes: list[int],
    *,
    share: float | None = None,
    as_: str | None = None,
) -> Branch:
    asked = policy.next_test(state)
    levels = [code for code in codes if code < len(test.outcomes)]
    return Branch(
        label=_label(test, codes),
        outcomes=tuple(test.outcomes[code] for code in levels),
        share=share,
        test=None if asked is None else policy.tests[asked].name,
        decision=policy.answer(state),
        n_decisions=int(np.count_nonzero(policy.class_shares(state))),
        taken_as=as_,
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
