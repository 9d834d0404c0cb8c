"""Say what a decision here would cost in mistakes, and how odd the answers so far are.

It asks a tree for the class weights of its nodes: prior times the chances of what was
seen on the way. It must not know how a question is shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from askless.policy._base import Policy
from askless.policy._tree import Tree
from askless.problem import Outcome

__all__ = [
    "Oddity",
    "explain_stop",
    "find_oddity",
    "find_stop",
    "price_decision",
    "stops_by_price",
]

# Answers are called unlikely if no more than this share of all cases is as odd.
RARE = 0.01
# Two chances this close, relatively, are equal.
TIE = 1e-9


@dataclass(frozen=True)
class Oddity:
    """How unlikely the answers so far are, whatever is true of the case.

    Attributes
    ----------
    best : object
        The class that makes the answers likeliest.
    chance : float
        How likely a case of this class gives these answers to these tests.
    usual : float
        The same for the usual case after as many tests: the median over all cases.
    share : float
        The share of all cases whose answers fit every class as badly as these.
    """

    best: Outcome
    chance: float
    usual: float
    share: float

    def __str__(self) -> str:
        often = f"{100 * self.chance:.3g} %, where {100 * self.usual:.3g} % is usual"
        odd = self.one_in or "very many"
        return (
            "These answers are unlikely whatever is true: a case of "
            f"{str(self.best)!r}, which fits them best, gives them in {often}. One in "
            f"{odd} cases is as odd. An answer may be wrong, or the table may lack "
            "the case."
        )

    @property
    def one_in(self) -> int:
        """One in so many cases is as odd; 0 if there are too many to say."""
        return max(round(1 / self.share), 1) if self.share > 0 else 0

    @property
    def is_rare(self) -> bool:
        """Whether hardly any case gives answers that fit so badly."""
        return self.share <= RARE


def price_decision(
    policy: Policy, shares: NDArray[np.float64], decision: int
) -> float | None:
    """Return what deciding now costs in mistakes, on average.

    None if mistakes have no price, and for policies that do not stop for the sake of
    that price: all but trees, and the rules of :class:`Posterior`.

    Parameters
    ----------
    policy : Policy
    shares : ndarray of shape (n_classes,)
        How likely each class is.
    decision : int
        The class that is decided.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["a", "b"],
    ...                       costs=askless.Costs([1], mistakes=8))
    >>> price_decision(askless.solve(table).policy, np.array([0.75, 0.25]), 0)
    2.0
    """
    if policy.mistakes is None or policy.kind not in ("tree", "posterior"):
        return None
    return float(shares @ policy.mistakes[:, decision])


def stops_by_price(policy: Policy) -> bool:
    """Return whether a policy stops where no test that is left is worth its price.

    A tree says so itself (``objective``), in its file too; files that were written
    before they could say it are taken as silent.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["a", "b"],
    ...                       costs=askless.Costs([1], mistakes=8))
    >>> [stops_by_price(askless.solve(table, objective=objective).policy)
    ...  for objective in ("expected", "total")]
    [False, True]
    """
    if isinstance(policy, Tree):
        return policy.objective == "total"
    return policy.kind == "posterior"


def find_stop(
    policy: Policy, bought: tuple[str, ...]
) -> Literal["none left", "price", "policy"]:
    """Return why nothing more is asked where several classes are possible.

    No test is left, none is worth its price, or the policy has no further test.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["a", "b"],
    ...                       costs=askless.Costs([1], mistakes=8))
    >>> policy = askless.solve(table, objective="total").policy
    >>> find_stop(policy, ()), find_stop(policy, ("t0",))
    ('price', 'none left')
    """
    if len(bought) >= len(policy.tests):
        return "none left"
    return "price" if stops_by_price(policy) else "policy"


def explain_stop(policy: Policy, bought: tuple[str, ...], mistake: float) -> str:
    """Return why a tree stops where several classes are possible, as half a sentence.

    Parameters
    ----------
    policy : Policy
    bought : tuple of str
        The tests that were paid for.
    mistake : float
        What deciding now costs in mistakes, on average.
    """
    why = {
        "none left": "no test is left",
        "price": "no test left is worth its price",
        "policy": "the policy has no further test here",
    }[find_stop(policy, bought)]
    return f"{why}: deciding now costs {mistake:.4g} in mistakes on average"


def find_oddity(tree: Tree, node: int) -> Oddity | None:
    """Compare a node with all that a case may come to after as many tests.

    A case of a class comes to a node as often as it gives the answers on the way, so
    the weight of the class there over its weight at the root is the chance of the
    answers. None at the root, and where no weight comes to the node.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table.from_likelihoods(
    ...     {"swab": {"ill": 0.99, "well": 0.01}}, repeatable={"swab": 3},
    ...     costs=askless.Costs({"swab": 1}, mistakes=1000))
    >>> tree = askless.solve(table, objective="total").policy
    >>> session = tree.start()
    >>> for outcome in ("yes", "no", "no"):
    ...     session.answer(outcome)
    >>> oddity = session.oddity
    >>> oddity.best, round(oddity.chance, 4), round(oddity.usual, 4)
    ('well', 0.0098, 0.9801)
    """
    at_root = tree.class_weights(0)
    here = tree.class_weights(node)
    if node == 0 or not here.any():
        return None
    depth = tree.nodes.depth
    is_leaf = tree.test < 0
    n_answers = depth[node]
    reached = (depth == n_answers) | (is_leaf & (depth < n_answers))
    weight = tree.nodes.total_weight[reached]
    chance = _best_chances(tree, at_root)[reached]
    now = np.divide(here, at_root, out=np.zeros_like(here), where=at_root > 0)
    best = int(now.argmax())
    order = np.argsort(chance, kind="stable")
    rising = np.cumsum(weight[order]) / weight.sum()
    usual = chance[order][min(int(np.searchsorted(rising, 0.5)), len(order) - 1)]
    as_odd = chance <= now[best] * (1 + TIE)
    return Oddity(
        best=tree.classes[best],
        chance=float(now[best]),
        usual=float(usual),
        share=float(weight[as_odd].sum() / weight.sum()),
    )


def _best_chances(tree: Tree, at_root: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each node how likely it is for the class that comes there most."""
    whole = at_root[tree.weight_class]
    chance = np.divide(tree.weight, whole, out=np.zeros_like(whole), where=whole > 0)
    best: NDArray[np.float64] = np.maximum.reduceat(chance, tree.weight_start[:-1])
    return best
