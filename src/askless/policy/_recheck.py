"""Find which answers to look at again, where no case that a tree knows fits them all.

A tree does not keep its cases. It knows that every one of them is in a leaf, and shows
what the branches on the way to that leaf say. It must not know who gave the answers.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import NamedTuple

from askless.policy._nodes import Nodes
from askless.problem import Test

__all__ = ["recheck_in_tree"]


class _Reached(NamedTuple):
    """A node, and the answers that must be wrong for a case to be there."""

    n_against: int
    # Deeper first, so that a leaf that nothing speaks against is found at once.
    place: int
    node: int
    against: frozenset[int]


def recheck_in_tree(
    nodes: Nodes, tests: tuple[Test, ...], shown: Mapping[int, int]
) -> tuple[int, ...]:
    """Return the fewest tests whose answers keep a case out of every leaf of a tree.

    On a tie, those of the leaf that most other answers lead to, then of the heaviest
    leaf, then of the first.

    Parameters
    ----------
    nodes : Nodes
        The nodes of one tree.
    tests : tuple of Test
        Its tests.
    shown : mapping of int to int
        The code that each answered test has shown.

    Notes
    -----
    Nodes are taken by how many answers speak against them, so that only those are
    looked at that are no worse than the leaf found: O(n_nodes log n_nodes) at most, and
    as many steps as there are answers where a leaf fits them all.
    """
    found: list[tuple[int, float, int, frozenset[int]]] = []
    queue = [_Reached(0, 0, 0, frozenset())]
    least: int | None = None
    while queue:
        here = heapq.heappop(queue)
        if least is not None and here.n_against > least:
            break
        if nodes.test[here.node] < 0:
            if not here.against:
                return ()
            least = here.n_against
            n_for = len((shown.keys() & _tests_above(nodes, here.node)) - here.against)
            weight = float(nodes.total_weight[here.node])
            found.append((-n_for, -weight, here.node, here.against))
            continue
        for after in _children(nodes, tests, shown, here):
            heapq.heappush(queue, after)
    return tuple(sorted(min(found)[-1]))


def _tests_above(nodes: Nodes, node: int) -> set[int]:
    """Return the tests that are asked on the way to a node."""
    tests = set()
    while (node := int(nodes.parent[node])) >= 0:
        tests.add(int(nodes.test[node]))
    return tests


def _children(
    nodes: Nodes, tests: tuple[Test, ...], shown: Mapping[int, int], here: _Reached
) -> list[_Reached]:
    """Return the nodes below a node, with what speaks against each of them."""
    test = int(nodes.test[here.node])
    code = shown.get(test)
    allowed = None
    if code is not None and test not in here.against:
        allowed = _fitting_child(nodes, here.node, code, tests[test])
    listed = []
    for child in nodes.children(here.node):
        against = here.against
        if allowed is not None and child != allowed:
            against = against | {test}
        listed.append(_Reached(len(against), -child, child, against))
    return listed


def _fitting_child(nodes: Nodes, node: int, code: int, test: Test) -> int | None:
    """Return the child whose cases show a code, -1 for none; None if all may.

    A missing outcome says nothing where no case is known to show it.
    """
    if nodes.followed(node, code) == code:
        return nodes.follow(node, code, test.n_levels)
    return None if code == test.missing_code else -1
