"""A policy as rows of plain values, for programs that walk it without Askless.

A row is a node: what it looks at, and the rows it leads to. A short loop walks them
whatever the depth; nested conditions would be too deep for most languages. This module
does not know the languages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from askless.export._labels import children_of, trees_of
from askless.policy import Forest, Policy, Tree
from askless.problem import Outcome, Test

__all__ = [
    "Compare",
    "Decide",
    "Level",
    "Program",
    "Row",
    "Select",
    "row_values",
    "rows_text",
    "to_program",
]


class Compare(NamedTuple):
    """Go to ``low`` if the number is at most ``cut``, else to ``high``."""

    test: str
    cut: float
    low: int
    high: int
    missing: int


class Level(NamedTuple):
    """Go where the level of the number leads: how many cuts are below it."""

    test: str
    cuts: tuple[float, ...]
    levels: tuple[int, ...]
    missing: int


class Select(NamedTuple):
    """Go where the outcome leads."""

    test: str
    outcomes: dict[Outcome, int]
    missing: int
    unseen: int


class Decide(NamedTuple):
    """Stop. A tree decides a class; a tree of a forest gives weights to classes."""

    decision: Outcome | None
    spent: float | None
    weights: dict[int, float]


Row = Compare | Level | Select | Decide


def row_values(row: Row) -> list[Any]:
    """Return a row as it is written in every language: what it does, then its values.

    Examples
    --------
    >>> row_values(Compare("volts", 11.5, 1, 2, 1))
    ['<=', 'volts', 11.5, 1, 2, 1]
    """
    match row:
        case Compare():
            return ["<=", *row]
        case Level():
            return ["level", *row]
        case Select():
            return ["is", *row]
        case Decide(decision=decision, spent=spent, weights=weights):
            return ["decide", weights] if weights else ["decide", decision, spent]


def rows_text(rows: Iterable[Row], write: Callable[[Row], str], mark: str) -> str:
    """Return a line for each row, with its number behind the sign of a comment."""
    return "".join(f"{write(row)},{mark} {i}\n" for i, row in enumerate(rows))


class Program(NamedTuple):
    """Everything that a program of a policy has to write down."""

    trees: list[list[Row]]
    classes: tuple[Outcome, ...]
    # For each test with outcomes: other ways to write them.
    spellings: dict[str, dict[Outcome, Outcome]]
    # What tests charge: full, once their group is open, and the group. None where
    # charging takes more than that.
    prices: dict[str, tuple[float, float, str | None]] | None
    mistakes: list[list[float]] | None
    is_forest: bool


def to_program(policy: Policy, what: str) -> Program:
    """Return the rows of a tree, or of each tree of a forest."""
    trees = trees_of(policy, what)
    is_forest = isinstance(policy, Forest)
    counts = isinstance(policy, Forest) and policy.voting == "counts"
    engine = policy.prices.engine
    # A delayed test is bought together with all that may follow it.
    is_simple = not (engine.has_outcome_prices or engine.has_delays)
    asked = sorted({test for tree in trees for test in tree.used_tests})
    return Program(
        trees=[list(_rows(tree, is_forest, counts)) for tree in trees],
        classes=policy.classes,
        spellings={
            policy.tests[test].name: _spellings(policy.tests[test])
            for test in asked
            if policy.tests[test].kind == "category"
        },
        prices=_prices(policy, asked) if is_simple and is_forest else None,
        mistakes=policy.mistakes.tolist()
        if policy.mistakes is not None and counts
        else None,
        is_forest=is_forest,
    )


def _rows(tree: Tree, is_forest: bool, counts: bool) -> Iterator[Row]:
    has_spent = not (is_forest or tree.prices.engine.has_outcome_prices)
    for node in range(tree.n_nodes):
        if tree.test[node] >= 0:
            yield _asking_row(tree, node)
            continue
        decision = int(tree.node_decision[node])
        weights = {}
        if counts:
            start, end = tree.weight_start[node], tree.weight_start[node + 1]
            listed = tree.weight_class[start:end].tolist()
            weights = dict(zip(listed, tree.weight[start:end].tolist(), strict=True))
        elif is_forest:
            weights = {decision: 1.0}
        yield Decide(
            None if is_forest else tree.answer(node),
            float(tree.spent[node]) if has_spent else None,
            weights,
        )


def _asking_row(tree: Tree, node: int) -> Row:
    test = tree.tests[tree.test[node]]
    children = children_of(tree, node)
    default = children[tree.default_branch[node]]
    if tree.cut[node] >= 0:
        low, high = children
        return Compare(test.name, float(tree.thresholds[node]), low, high, default)
    codes = tree.branch_code[tree.branch_start[node] : tree.branch_start[node + 1]]
    child_of = dict(zip(codes.tolist(), children, strict=True))
    missing = child_of.get(test.missing_code, default)
    if test.kind == "number":
        levels = tuple(child_of.get(level, default) for level in range(test.n_levels))
        return Level(test.name, test.cuts, levels, missing)
    outcomes = {
        test.outcomes[code]: child
        for code, child in child_of.items()
        if code < test.n_levels
    }
    # An outcome without a branch of its own goes the way of one never seen.
    return Select(test.name, outcomes, missing, default)


def _spellings(test: Test) -> dict[Outcome, Outcome]:
    """Return other ways to write the outcomes of a test."""
    return {
        spelling: test.outcomes[code]
        for spelling, code in test.lookup.items()
        if type(spelling) is not type(test.outcomes[code])
        or spelling != test.outcomes[code]
    }


def _prices(
    policy: Policy, asked: list[int]
) -> dict[str, tuple[float, float, str | None]]:
    prices = policy.prices
    return {
        policy.tests[test].name: (
            float(prices.full[test]),
            float(prices.discounted[test]),
            prices.group[test],
        )
        for test in asked
    }
