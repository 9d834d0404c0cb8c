"""The methods that solve a table, by name. A new method is one entry here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from askless.policy import Policy
from askless.solve._greedy import grow_ec2_tree, grow_gbs_tree, grow_greedy_tree

__all__ = ["METHODS", "Method"]


@dataclass(frozen=True)
class Method:
    """A way to solve a table.

    Attributes
    ----------
    name : str
        How to ask for it.
    solve : callable
        Takes a Task and the method's options, returns a Policy.
    summary : str
        What it does, in a sentence.
    guarantee : str
        What is proved about its answers.
    options : dict of str to str
        Its options and what they mean.
    """

    name: str
    solve: Callable[..., Policy]
    summary: str
    guarantee: str
    options: dict[str, str] = field(default_factory=dict)


_METHODS = [
    Method(
        "greedy",
        grow_greedy_tree,
        "Buys the test that takes most off an impurity for its price, in its worst "
        "outcome or on average.",
        "With minimax splits, worst cost within ln F + 1 of the best, F the impurity of "
        "all cases, on tables without unknown outcomes.",
        {
            "impurity": "pairs, powers, hinged, product-hinge or polynomial",
            "split": "'minimax': by the worst outcome; 'expected': on average",
            "power": "of 'powers': 2, 3, ...",
            "alpha": "of the hinges: what each class may have before it counts",
            "terms": "of 'polynomial': pairs of a coefficient and exponents by class",
            "delta": "stop at a set of at most this impurity",
            "max_depth": "ask at most so many tests on any path",
            "weights": "'count': every case counts once; 'prior': by its weight",
            "free_reuse": "score thresholds on a number already bought as free",
        },
    ),
    Method(
        "gbs",
        grow_gbs_tree,
        "Generalised binary search: buys the test that rules out most weight for its "
        "price.",
        "Expected number of tests within O(log 1/p) of the best when every case is a "
        "class of its own, p the least weight.",
    ),
    Method(
        "ec2",
        grow_ec2_tree,
        "Buys the test that cuts most pairs of different class, by weight, for its "
        "price.",
        "Expected cost within O(log 1/p) of the best, p the least weight.",
    ),
]

METHODS: dict[str, Method] = {method.name: method for method in _METHODS}
