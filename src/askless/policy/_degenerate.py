"""Say when a policy never tests or always decides the same, and why.

It looks at a policy alone: what it was made from is not known here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.policy._base import Policy
from askless.policy._tree import Tree
from askless.policy.forest._forest import Forest

__all__ = ["explain_degenerate"]


def explain_degenerate(policy: Policy) -> str | None:
    """Return why a policy has nothing to say, or None if it has.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["same", "same"])
    >>> print(explain_degenerate(askless.policy.Sequence.from_table(table)))
    A policy should know two classes or more. Got one, 'same', so it decides that at
    once. Check the column of classes.
    """
    if policy.answers_number:
        return _explain_number(policy)
    if len(policy.classes) == 1:
        return (
            "A policy should know two classes or more. Got one, "
            f"{policy.classes[0]!r}, so it decides that at once. Check the column of "
            "classes."
        )
    if isinstance(policy, Forest) and (policy.test[policy.tree_start[:-1]] >= 0).any():
        # Some tree tests. A state would make what only walking rows needs.
        return None
    start = policy.initial_state()
    decision = policy.classes[policy.decision(start)]
    if policy.next_test(start) is None:
        return (
            f"A policy should test before it decides. Got one that decides "
            f"{decision!r} at once. {_why_no_test(policy, start)}"
        )
    if isinstance(policy, Tree):
        leaves = np.flatnonzero(policy.test < 0)
        if len(set(policy.node_decision[leaves].tolist())) == 1:
            return (
                "A policy should decide by what its tests show. Got one that pays "
                f"{policy.expected_cost:.4g} on average and decides {decision!r} "
                f"whatever they show. {_why_the_same(policy, leaves)}"
            )
    return None


def _explain_number(policy: Policy) -> str | None:
    start = policy.initial_state()
    if policy.next_test(start) is not None:
        return None
    return (
        f"A policy should test before it decides. Got one that says "
        f"{policy.answer(start):g} at once. No test that was tried is worth its price. "
        "Raise the budget or the costs of mistakes, loosen what stops the growing, or "
        "add tests that tell more."
    )


def _why_no_test(policy: Policy, start: Any) -> str:
    shares = policy.class_shares(start)
    decided = policy.decision(start)
    wrong = 1.0 - float(shares[decided])
    if wrong < 1e-12:
        return "Everything that it was made from is of this class. Check the classes."
    if not policy.tests:
        return "There is no test to buy. Add a column."
    cheapest = int(np.argmin(policy.prices.full))
    name, price = policy.tests[cheapest].name, float(policy.prices.full[cheapest])
    if policy.mistakes is not None:
        risk = float(shares @ policy.mistakes[:, decided])
        if risk <= price:
            return (
                f"Being wrong costs {risk:.4g} on average, and the cheapest test, "
                f"{name!r}, costs {price:.4g}: no test can pay for itself. Raise the "
                "costs of mistakes, or lower those of tests, if that is not what you "
                "mean."
            )
    return (
        f"That is wrong in {100 * wrong:.3g} %, and no test that was tried is worth "
        "its price. Raise the budget or the costs of mistakes, loosen what stops the "
        "growing, or add tests that tell more."
    )


def _why_the_same(tree: Tree, leaves: NDArray[Any]) -> str:
    decided = int(tree.node_decision[leaves[0]])
    best = max(_largest_other_share(tree, int(leaf), decided) for leaf in leaves)
    reason = "mistakes that are dear or cheap" if tree.mistakes is not None else "ties"
    return (
        f"Nowhere is another class more than {100 * best:.3g} % of what is left, and "
        f"the costs of {reason} do the rest. Check the costs of mistakes and the "
        "weights of classes."
    )


def _largest_other_share(tree: Tree, leaf: int, decided: int) -> float:
    shares = tree.class_shares(leaf)
    return float(np.delete(shares, decided).max())
