"""Write an ensemble as SQL: the full sum of trees, added in the order of the source.

A small tree is one flat CASE in the sum; a large one is walked in steps. Sums are added
in steps of a few trees each, because a chain is as deep as it is long.
"""

from __future__ import annotations

import numpy as np

from askless.exceptions import InvalidOptionError
from askless.export.code._conditions import BinaryTree, Runs, runs_of_letters
from askless.export.code._sql_answer import Answer, class_literal, greatest
from askless.export.code._sql_walk import Walk
from askless.export.ensemble._parts import Leaf, Parts, to_parts
from askless.policy import Ensemble

__all__ = ["binary_trees", "ensemble_answer"]

# Trees that one step adds.
MOST_ADDED = 50


def binary_trees(policy: Ensemble) -> list[BinaryTree]:
    """Return the trees of an ensemble as a walk takes them."""
    parts, used = to_parts(policy), policy.used_tests
    trees = []
    for nodes in parts.trees:
        test = np.array(
            [-1 if isinstance(node, Leaf) else used[node.test] for node in nodes],
            dtype=np.int32,
        )
        runs: list[list[Runs]] = []
        children: list[int] = []
        for at, node in enumerate(nodes):
            runs.append([])
            if not isinstance(node, Leaf):
                asked = parts.tests[node.test]
                letters = node.letters(asked.n_levels)
                runs[-1] = [runs_of_letters(asked, letters, side) for side in "LR"]
                children += [at + 1, node.right]
        starts = np.cumsum([0, *(2 * (test >= 0))])
        asked_tests = sorted(set(test[test >= 0].tolist()))
        trees.append(
            BinaryTree(
                policy.tests, test, starts, np.array(children), asked_tests, runs
            )
        )
    return trees


def ensemble_answer(policy: Ensemble, walk: Walk) -> Answer:
    """Return the steps that add up the trees and decide, and what to select."""
    parts = to_parts(policy)
    dialect = walk.dialect
    if policy.output.is_single and dialect.single_type is None:
        raise InvalidOptionError(
            "A model that adds in single precision must be written for an engine that "
            f"does: duckdb or postgresql. Got {dialect.name}, where sums would differ. "
            "Choose another dialect, or another format."
        )
    writer = _Writer(policy, parts, walk)
    writer.add_up()
    if policy.answers_number:
        selected = [("decision", writer.number())]
    else:
        shares = writer.shares()
        selected = [("decision", writer.decision(shares))]
        selected += [(f"probability_{k}", share) for k, share in enumerate(shares, 1)]
    return Answer(writer.steps, selected, writer.helpers)


class _Writer:
    """Collects steps, and names what they add."""

    def __init__(self, policy: Ensemble, parts: Parts, walk: Walk) -> None:
        self.policy, self.parts, self.walk = policy, parts, walk
        self.output, self.dialect = policy.output, walk.dialect
        self.steps: list[tuple[str, list[str]]] = []
        self.helpers: list[str] = []
        self.sums: list[str] = []

    def step(self, name: str, values: list[str]) -> list[str]:
        """Add a step, and return the names of its columns."""
        names = [f"{self.walk.prefix}{name}_{k}" for k in range(1, len(values) + 1)]
        written = [f"{v} AS {n}" for v, n in zip(values, names, strict=True)]
        self.steps.append((f"{self.walk.prefix}{name}", written))
        self.helpers += names
        return names

    def literal(self, value: float) -> str:
        """Return a number in the precision of the source."""
        return self.single(self.dialect.number(value))

    def single(self, value: str) -> str:
        """Round to single precision, if the source works in that."""
        if not self.output.is_single:
            return value
        return f"CAST({value} AS {self.dialect.single_type})"

    def add_up(self) -> None:
        """Add the trees, in the order of the source."""
        self.sums = [self.literal(value) for value in self.output.offset]
        trees = self.parts.trees
        for start in range(0, len(trees), MOST_ADDED):
            terms: dict[int, list[str]] = {}
            for tree in range(start, min(start + MOST_ADDED, len(trees))):
                first = self.parts.output[tree]
                for q in range(self.parts.width):
                    terms.setdefault(first + q, []).append(self._term(tree, q))
            names = self.step(
                f"sum_{start // MOST_ADDED + 1}",
                [" + ".join([self.sums[q], *added]) for q, added in terms.items()],
            )
            for q, name in zip(terms, names, strict=True):
                self.sums[q] = name
        if self.output.divisor != 1.0:
            divisor = self.literal(self.output.divisor)
            self.sums = self.step("score", [f"{s} / {divisor}" for s in self.sums])

    def _term(self, tree: int, q: int) -> str:
        """Return what the leaf of a tree adds to a sum."""

        def literal_of(node: int) -> str:
            leaf = self.parts.trees[tree][node]
            assert isinstance(leaf, Leaf)
            return self.dialect.number(leaf.values[q])

        return self.single(self.walk.value(tree, literal_of))

    def sigmoid(self, score: str) -> str:
        """Return the probability that a score stands for.

        Some engines refuse exponentials that are too large or too small.
        """
        one = self.literal(1.0)
        if self.output.is_single:
            power = f"-CAST({score} AS {self.dialect.double_type})"
            below = f"{self.single(f'EXP({power})')} + {one} + {self.literal(1e-16)}"
            highest = 88.7
        else:
            power = f"{self.dialect.number(-self.output.slope)} * {score}"
            below, highest = f"{one} + EXP({power})", 709.0
        return (
            f"CASE WHEN {power} > {self.dialect.number(highest)} THEN "
            f"{self.literal(0.0)} WHEN {power} < {self.dialect.number(-50.0)} THEN "
            f"{one} ELSE {one} / ({below}) END"
        )

    def number(self) -> str:
        """Return the number that the sum stands for."""
        (score,) = self.sums
        if self.output.link == "exp":
            return self.single(f"EXP({score})")
        return self.sigmoid(score) if self.output.link == "sigmoid" else score

    def shares(self) -> list[str]:
        """Return the probability of each class."""
        link, scores = self.output.link, self.sums
        if link == "share":
            return scores
        if link == "logit":
            (second,) = self.step("second", [self.sigmoid(scores[0])])
            one = self.dialect.number(1.0)
            (first,) = self.step("first", [self.single(f"{one} - {second}")])
            return [first, second]
        if link == "one-vs-rest":
            return self.step("share", [self.sigmoid(score) for score in scores])
        if link == "softmax":
            if self.output.slope != 1.0:
                slope = self.literal(self.output.slope)
                scores = self.step("steep", [f"{slope} * {score}" for score in scores])
            (top,) = self.step("largest", [greatest(scores, self.dialect)])
            scores = self.step("power", [self._power(f"{s} - {top}") for s in scores])
        (total,) = self.step("total", [self.single(" + ".join(scores))])
        even = self.literal(1.0 / self.output.n_outputs)
        zero = self.dialect.number(0.0)
        shares = [f"CASE WHEN {total} > {zero} THEN {s} / {total} ELSE {even} END"
                  for s in scores]  # fmt: skip
        return self.step("share", shares)

    def _power(self, score: str) -> str:
        number = self.dialect.number
        return (
            f"CASE WHEN {score} < {number(-700.0)} THEN {self.literal(0.0)} ELSE "
            f"{self.single(f'EXP({score})')} END"
        )

    def decision(self, shares: list[str]) -> str:
        """Return the class that sums stand for; on a tie, the first."""
        decides_by, classes = self.output.decides_by, self.policy.classes
        literals = [class_literal(self.dialect, self.policy, one) for one in classes]
        if self.output.link == "logit" and decides_by != "probability":
            sign = ">=" if decides_by == "at least 0" else ">"
            is_second = f"{self.sums[0]} {sign} {self.dialect.number(0.0)}"
            return f"CASE WHEN {is_second} THEN {literals[1]} ELSE {literals[0]} END"
        scores = shares if decides_by == "probability" else self.sums
        if not self.parts.trees:
            # Nothing to compare but literals, which some engines read as decimals.
            scores = self.step("constant", scores)
        (best,) = self.step("best", [greatest(scores, self.dialect)])
        if decides_by == "nearly":
            best = f"{best} - {self.dialect.number(1e-12)} * ABS({best})"
        cases = [
            f"    WHEN {score} >= {best} THEN {literal}"
            for score, literal in zip(scores, literals, strict=True)
        ]
        return "\n".join(["CASE", *cases, "  END"])
