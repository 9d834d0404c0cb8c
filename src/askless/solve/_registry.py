"""The methods that solve a table, by name. A new method is one line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from askless.policy import Policy
from askless.solve._greedy import grow_greedy_tree
from askless.solve._task import Task

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
    options: dict[str, str]


_METHODS = [
    Method(
        "greedy",
        grow_greedy_tree,
        "Buys the test that, in its worst outcome, parts the most pairs of cases of "
        "different class for its price.",
        "Worst cost within ln P + 1 of the best, P the number of such pairs, on tables "
        "without unknown outcomes.",
        {
            "max_depth": "ask at most so many tests on any path",
            "delta": "stop at a set with at most so many pairs of different class",
            "free_reuse": "score thresholds on a number already bought as free",
            "weights": "'count': every case counts once; 'prior': by its weight",
        },
    ),
]

METHODS: dict[str, Method] = {method.name: method for method in _METHODS}
