"""What must hold to get from one node of a tree to another, test by test.

However deep a leaf is, what it takes to get there is one set of codes for each test on
the way. A set is kept as runs: half-open ranges of codes, ascending. Codes past the
levels stand for "missing" and "never seen", so nothing is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from askless.policy import Tree
from askless.problem import Test

__all__ = [
    "BinaryTree",
    "Condition",
    "Meaning",
    "Runs",
    "branch_runs",
    "leaf_conditions",
    "meaning_of",
    "parts_of",
    "runs_of_letters",
]

Runs = tuple[tuple[int, int], ...]
# The codes of each test that lead to a node; a test that is absent may show anything.
Condition = dict[int, Runs]


class BinaryTree(NamedTuple):
    """A tree that parts codes in two, in any way: the trees of an ensemble."""

    tests: tuple[Test, ...]
    test: NDArray[np.int32]
    branch_start: NDArray[np.int64]
    branch_child: NDArray[np.int64]
    used_tests: list[int]
    # The codes that each of the two branches takes; nothing for a leaf.
    runs: list[list[Runs]]


def runs_of_letters(test: Test, letters: str, letter: str) -> Runs:
    """Return the codes that have a letter; "never seen" is left out of a number's.

    Examples
    --------
    >>> runs_of_letters(Test("lamp", "category", ("dark", "dim")), "LRRL", "L")
    ((0, 1), (3, 4))
    """
    codes = [i for i in range(_count_codes(test)) if letters[i] == letter]
    return _joined([(code, code + 1) for code in codes])


def branch_runs(tree: Tree | BinaryTree, node: int) -> list[Runs]:
    """Return the codes that each branch of a node takes.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> branch_runs(askless.solve(table).policy, 0)
    [((0, 1), (2, 4)), ((1, 2),)]
    """
    if isinstance(tree, BinaryTree):
        return tree.runs[node]
    start, end = tree.branch_start[node], tree.branch_start[node + 1]
    test = tree.tests[tree.test[node]]
    n_levels, n_codes = test.n_levels, _count_codes(test)
    default = int(tree.default_branch[node])
    if tree.cut[node] >= 0:
        middle = min(int(tree.cut[node]) + 1, n_levels)
        runs = [[(0, middle)], [(middle, n_levels)]]
        runs[default].append((n_levels, n_codes))
        return [_joined(listed) for listed in runs]
    codes = tree.branch_code[start:end].tolist()
    runs = [[(code, code + 1)] for code in codes]
    edges = [-1, *codes, n_codes]
    runs[default] += [(a + 1, b) for a, b in pairwise(edges) if a + 1 < b]
    return [_joined(listed) for listed in runs]


def _count_codes(test: Test) -> int:
    """Return how many codes a raw value can have: a number is never "never seen"."""
    return test.n_levels + (2 if test.kind == "category" else 1)


def _joined(runs: list[tuple[int, int]]) -> Runs:
    """Return runs in order, neighbours as one and empty ones left out."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(runs):
        if start == end:
            continue
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return tuple(joined)


def _in_both(a: Runs, b: Runs) -> Runs:
    """Return the codes that are in both of two sets."""
    both, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        start, end = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if start < end:
            both.append((start, end))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return tuple(both)


def leaf_conditions(
    tree: Tree | BinaryTree, root: int = 0, exits: frozenset[int] = frozenset()
) -> Iterator[tuple[int, Condition]]:
    """Yield each leaf below a node, and what it takes to get there from that node.

    Parameters
    ----------
    tree : Tree
        The tree.
    root : int, default=0
        Where to begin.
    exits : frozenset of int
        Nodes that count as leaves: nothing below them is looked at.

    Notes
    -----
    A leaf that nothing can get to, because a test would have to show two things at
    once, is left out.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"])
    >>> dict(leaf_conditions(askless.solve(table).policy))[4]
    {0: ((1, 2),)}
    """
    stack: list[tuple[int, Condition]] = [(root, {})]
    while stack:
        node, condition = stack.pop()
        test = int(tree.test[node])
        if test < 0 or node in exits:
            yield node, condition
            continue
        start = tree.branch_start[node]
        anything: Runs = ((0, _count_codes(tree.tests[test])),)
        known = condition.get(test, anything)
        below = []
        for branch, runs in enumerate(branch_runs(tree, node)):
            both = _in_both(known, runs)
            if both:
                child = int(tree.branch_child[start + branch])
                below.append((child, {**condition, test: both}))
        stack.extend(reversed(below))


def parts_of(
    tree: Tree | BinaryTree, n_exits: int
) -> list[list[tuple[int, frozenset[int]]]]:
    """Cut a large tree into parts of a few exits each, stage by stage.

    Every case passes at most one part of each stage: a part of the next stage begins at
    an exit of this one.

    Returns
    -------
    list of list of (int, frozenset of int)
        For each stage: the root of each part, and its exits.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"])
    >>> [len(stage) for stage in parts_of(askless.solve(table).policy, 64)]
    [1]
    """
    stages: list[list[tuple[int, frozenset[int]]]] = []
    roots = [0] if tree.test[0] >= 0 else []
    while roots:
        stage = [(root, frozenset(_exits_of(tree, root, n_exits))) for root in roots]
        stages.append(stage)
        roots = [e for _, exits in stage for e in sorted(exits) if tree.test[e] >= 0]
    return stages


def _exits_of(tree: Tree | BinaryTree, root: int, n_exits: int) -> list[int]:
    """Return up to about ``n_exits`` nodes that cut a subtree across."""
    exits: list[int] = []
    waiting, position = [root], 0
    while position < len(waiting):
        node = waiting[position]
        position += 1
        n_open = len(exits) + len(waiting) - position
        start, end = tree.branch_start[node], tree.branch_start[node + 1]
        is_full = node != root and n_open + (end - start) > n_exits
        if tree.test[node] < 0 or is_full:
            exits.append(node)
        else:
            waiting.extend(tree.branch_child[start:end].tolist())
    return exits


class Meaning(NamedTuple):
    """What a set of codes means in terms of raw values.

    Either ``ranges`` (of a number) or ``inside`` (of a category) says which values are
    in the set; None where every value is.
    """

    # Above the first and at most the second; None where there is no end.
    ranges: tuple[tuple[float | None, float | None], ...] | None
    # Codes of outcomes that are in the set, and of those that are not.
    inside: tuple[int, ...] | None
    outside: tuple[int, ...]
    takes_unseen: bool
    takes_missing: bool

    @property
    def takes_all_values(self) -> bool:
        """Whether every value is in the set."""
        return self.ranges is None and self.inside is None

    @property
    def takes_no_value(self) -> bool:
        """Whether only a missing value can be in the set."""
        return self.ranges == () or (self.inside == () and not self.takes_unseen)


def meaning_of(test: Test, runs: Runs) -> Meaning:
    """Return what a set of codes of a test means.

    Examples
    --------
    >>> fever = Test("temperature", "number", cuts=(37.0, 38.5))
    >>> meaning_of(fever, ((1, 4),)).ranges
    ((37.0, None),)
    """
    n_levels = test.n_levels
    takes_missing = _contains(runs, n_levels)
    takes_unseen = _contains(runs, n_levels + 1)
    levels = [(a, min(b, n_levels)) for a, b in runs if a < n_levels]
    if levels == [(0, n_levels)] and (takes_unseen or test.kind == "number"):
        return Meaning(None, None, (), takes_unseen, takes_missing)
    if test.kind == "number":
        cuts = test.cuts
        ranges = tuple(
            (cuts[a - 1] if a else None, cuts[b - 1] if b < n_levels else None)
            for a, b in levels
        )
        return Meaning(ranges, None, (), takes_unseen, takes_missing)
    inside = tuple(code for a, b in levels for code in range(a, b))
    outside = tuple(sorted(set(range(n_levels)) - set(inside)))
    if takes_unseen and not outside:
        return Meaning(None, None, (), takes_unseen, takes_missing)
    return Meaning(None, inside, outside, takes_unseen, takes_missing)


def _contains(runs: Runs, code: int) -> bool:
    return any(a <= code < b for a, b in runs)
