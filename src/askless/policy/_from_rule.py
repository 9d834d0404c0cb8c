"""Write a tree from a table and a function that chooses the next test.

The shortest way from an idea to a policy: the function sees the cases that are left and
names a test; everything else is the same for all of them. It must not know how a choice
is made.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidPolicyError, suggest_name
from askless.policy._nodes import Nodes
from askless.policy._nodes_builder import NodesBuilder
from askless.problem import Table
from askless.problem._frames import list_some

__all__ = ["Choose", "grow_by_rule"]

# The cases left and the tests asked, in; a test, a test with a threshold, or None, out.
Choose = Callable[[NDArray[np.int64], tuple[str, ...]], Any]


@dataclass(frozen=True)
class _Left:
    """What is left at a node."""

    cases: NDArray[np.int64]
    # Prior weight of each, times the chances of what was drawn for it.
    weights: NDArray[np.float64]
    asked: tuple[str, ...] = ()
    # Of a number that was compared: the levels that it may still have.
    within: dict[int, tuple[int, int]] = field(default_factory=dict)


def grow_by_rule(table: Table, choose: Choose) -> Nodes:
    """Return the nodes of the tree that a choice of tests leads to.

    Parameters
    ----------
    table : Table
        What each test shows for each case.
    choose : callable
        See :meth:`Tree.from_rule`.
    """
    builder = NodesBuilder()
    stack = [_Left(np.arange(table.n_cases), np.array(table.prior))]
    while stack:
        left = stack.pop()
        by_class = _weigh(table, left)
        chosen = None
        if len(by_class) > 1:
            chosen = choose(left.cases.copy(), left.asked)
        if chosen is None:
            builder.add_leaf(by_class)
            continue
        test, cut = _read_choice(table, chosen, left)
        codes, parts = _divide(table, left, test, cut)
        heaviest = int(np.argmax([part.weights.sum() for part in parts]))
        builder.add_test(test, codes, by_class, default=heaviest, cut=cut)
        stack.extend(reversed(parts))
    return builder.build()


def _weigh(table: Table, left: _Left) -> dict[int, float]:
    """Return the weight of each class that is left, classes ascending."""
    classes = table.class_ids[left.cases]
    return {
        int(one): float(left.weights[classes == one].sum())
        for one in np.unique(classes)
    }


def _read_choice(table: Table, chosen: Any, left: _Left) -> tuple[int, int]:
    """Return the test that was chosen, and the cut; -1 for a branch an outcome."""
    threshold = None
    if isinstance(chosen, tuple) and len(chosen) == 2:
        chosen, threshold = chosen
    if isinstance(chosen, (int, np.integer)) and 0 <= chosen < table.n_tests:
        test = int(chosen)
    elif chosen in table.test_names:
        test = table.test_names.index(chosen)
    else:
        hint = suggest_name(str(chosen), table.test_names)
        raise InvalidPolicyError(
            "choose must return a test of the table by its name or its number, a pair "
            f"of a test and a threshold, or None. Got {chosen!r}; the tests are "
            f"{list_some(table.test_names)}. {hint}Return None to stop."
        )
    name, cuts = table.test_names[test], table.tests[test].cuts
    if threshold is None:
        if name in left.asked:
            raise InvalidPolicyError(
                f"choose must return a test that was not asked before. Got {name!r} "
                "again, which shows what it showed. Return another one, or None."
            )
        return test, -1
    if table.tests[test].kind != "number" or not cuts:
        raise InvalidPolicyError(
            "A threshold must be of a test that compares numbers. Got one for "
            f"{name!r}. Read the table with thresholds=True, or return the test alone."
        )
    return test, min(bisect_left(cuts, float(threshold)), len(cuts) - 1)


def _divide(
    table: Table, left: _Left, test: int, cut: int
) -> tuple[list[int], list[_Left]]:
    """Return the codes of the branches, and what goes into each of them."""
    n_levels = table.tests[test].n_levels
    name = table.test_names[test]
    asked = left.asked if name in left.asked else (*left.asked, name)
    low, high = left.within.get(test, (0, max(n_levels - 1, 0)))
    if cut >= 0:
        sides = [(low, min(cut, high)), (max(cut + 1, low), high)]
        parts = [_take(table, left, test, side, asked) for side in sides]
        heavier = int(parts[1].weights.sum() > parts[0].weights.sum())
        # What is missing goes where most go.
        parts[heavier] = _with_missing(table, left, test, parts[heavier])
        if not all(len(part.cases) for part in parts):
            raise InvalidPolicyError(
                "A threshold must divide the cases that are left. Got one of "
                f"{name!r} that leaves them together, after {list_some(left.asked)}. "
                "Return another one, or None."
            )
        return [0, 1], parts
    every = [_take(table, left, test, (code, code), asked) for code in range(n_levels)]
    missing = _take(table, left, test, None, asked)
    listed = [*enumerate(every), (table.tests[test].missing_code, missing)]
    kept = [(code, part) for code, part in listed if len(part.cases)]
    return [code for code, _ in kept], [part for _, part in kept]


def _take(
    table: Table,
    left: _Left,
    test: int,
    levels: tuple[int, int] | None,
    asked: tuple[str, ...],
) -> _Left:
    """Return what shows one of some levels, or, for None, what is missing."""
    chances = table.possible.outcome_chances(test)[:, left.cases]
    if levels is None:
        factor, within = chances[-1], left.within
    else:
        first, last = levels
        factor, within = chances[first : last + 1].sum(axis=0), {**left.within}
        if test in within:
            # What was drawn stays: only the levels that it may still have count.
            low, high = within[test]
            possible = chances[low : high + 1].sum(axis=0)
            factor = np.divide(
                factor, possible, out=np.zeros_like(factor), where=possible > 0
            )
        within[test] = levels
    here = factor > 0
    return _Left(left.cases[here], (left.weights * factor)[here], asked, within)


def _with_missing(table: Table, left: _Left, test: int, part: _Left) -> _Left:
    """Return a part together with what is missing."""
    codes = table.codes[test, left.cases]
    here = codes == table.tests[test].missing_code
    cases = np.concatenate([part.cases, left.cases[here]])
    order = np.argsort(cases, kind="stable")
    weights = np.concatenate([part.weights, left.weights[here]])
    return _Left(cases[order], weights[order], part.asked, part.within)
