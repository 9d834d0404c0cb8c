"""A plain twin of the ensemble machine: bounds from every leaf that can be reached.

Each tree is walked again from its root after every answer, with Python's numbers. It
calls nothing compiled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from askless.policy import Ensemble
from askless.policy.ensemble._parts import IS_SET, MISSING_LEFT

__all__ = ["PlainState", "plain_ensemble_answer", "plain_ensemble_state"]

# What classes other than the first two count when a test is chosen.
OTHER_CLASSES = 0.3
# Leads that are no more than rounding.
TINY = 1e-9


@dataclass(frozen=True)
class PlainState:
    """Where a case stands.

    Attributes
    ----------
    low, high, mean : list of float
        Bounds of each sum, and what is expected of it.
    is_settled : bool
        Of joint bounds: whether no completion can change who leads. Of bounds by
        leaves: whether a class is ahead of all others in every completion.
    variance : float
        Variance of the lead: of the sum, or of the sums of the first two classes.
    deviation : float
        The deviations of all splits that are open there, added up.
    wanted : dict of int to float
        How much waits for each test that is open.
    n_waiting : int
        Trees that have not ended.
    """

    low: list[float]
    high: list[float]
    mean: list[float]
    variance: float
    deviation: float
    wanted: dict[int, float]
    n_waiting: int
    is_settled: bool | None = None


@dataclass(frozen=True)
class _Part:
    """What a subtree amounts to, given what is known."""

    weight: float
    mean: list[float]
    low: list[float]
    high: list[float]
    variance: float
    splits: list[tuple[int, float]]  # tests that are open, and weight * deviation


def _child(policy: Ensemble, node: int, code: int) -> int:
    trees = policy.trees
    test, flags = policy.tests[trees.test[node]], int(trees.flags[node])
    if flags & IS_SET:
        word = int(trees.words[trees.cut[node] + code // 64])
        goes_left = bool(word >> (code % 64) & 1)
    elif code < test.n_levels:
        goes_left = code <= trees.cut[node]
    else:
        goes_left = bool(flags & MISSING_LEFT)
    return node + 1 if goes_left else int(trees.right[node])


def _resolve(policy: Ensemble, node: int, known: Mapping[int, int]) -> int:
    while (test := int(policy.trees.test[node])) in known:
        node = _child(policy, node, known[test])
    return node


def _measure(policy: Ensemble, node: int, known: Mapping[int, int]) -> _Part:
    trees = policy.trees
    node = _resolve(policy, node, known)
    test = int(trees.test[node])
    if test < 0:
        value = [float(v) for v in trees.value[node]]
        return _Part(float(trees.weight[node]), value, value, value, 0.0, [])
    a = _measure(policy, node + 1, known)
    b = _measure(policy, int(trees.right[node]), known)
    weight = a.weight + b.weight
    gaps = [p - q for p, q in zip(a.mean, b.mean, strict=True)]
    between = a.weight * b.weight / weight**2 * sum(g * g for g in gaps)
    within = (a.weight * a.variance + b.weight * b.variance) / weight
    here = (test, sqrt(a.weight * b.weight) * sum(abs(g) for g in gaps))
    return _Part(
        weight,
        [(a.weight * p + b.weight * q) / weight
         for p, q in zip(a.mean, b.mean, strict=True)],
        [min(p, q) for p, q in zip(a.low, b.low, strict=True)],
        [max(p, q) for p, q in zip(a.high, b.high, strict=True)],
        within + between,
        [here, *a.splits, *b.splits],
    )  # fmt: skip


def _measure_tree(
    policy: Ensemble, root: int, known: Mapping[int, int]
) -> tuple[_Part, dict[int, float], bool]:
    """Return what a tree amounts to, what it wants, and whether it waits."""
    top = _resolve(policy, root, known)
    is_waiting = bool(policy.trees.test[top] >= 0)
    if policy.bounds in ("deep", "joint"):
        part = _measure(policy, top, known)
        wanted: dict[int, float] = {}
        for test, deviation in part.splits:
            wanted[test] = wanted.get(test, 0.0) + deviation / part.weight
        return part, wanted, is_waiting
    # A path state looks at whole subtrees, and wants only what it waits for.
    part = _measure(policy, top, {})
    test = int(policy.trees.test[top])
    amount = sqrt(part.variance)
    if policy.bounds == "leaves":
        amount = part.high[0] - part.low[0]
    return part, {test: amount} if is_waiting else {}, is_waiting


def plain_ensemble_state(policy: Ensemble, answers: Any) -> PlainState:
    """Return where a case stands after some answers.

    See :meth:`Ensemble.state_after` and :meth:`Ensemble.bounds_at`.

    Parameters
    ----------
    policy : Ensemble
        Its ``bounds`` say how far the twin looks.
    answers : tuple of (int, int)
        Tests and codes; a code of -1 stands for a test that cannot be bought.
    """
    known = {test: code for test, code in answers if code >= 0}
    skipped = {test for test, code in answers if code < 0}
    trees, offset = policy.trees, list(policy.output.offset)
    low, high, mean = list(offset), list(offset), list(offset)
    n_outputs = len(offset)
    is_vector = trees.value.shape[1] > 1
    variance, deviation = [0.0] * n_outputs, [0.0] * n_outputs
    wants: list[dict[int, float]] = [{} for _ in range(n_outputs)]
    n_waiting = 0
    for tree, root in enumerate(trees.tree_start[:-1].tolist()):
        part, wanted, is_waiting = _measure_tree(policy, root, known)
        n_waiting += is_waiting
        first = int(trees.output[tree])
        for q, (a, b, c) in enumerate(zip(part.low, part.high, part.mean, strict=True)):
            low[first + q] += a
            high[first + q] += b
            mean[first + q] += c
        variance[first] += part.variance
        deviation[first] += sum(wanted.values())
        for test, amount in wanted.items():
            if test not in skipped:
                wants[first][test] = wants[first].get(test, 0.0) + amount
    order = sorted(range(n_outputs), key=lambda q: (-mean[q], q))
    leaders = set(order[:2])
    total: dict[int, float] = {}
    for q, wanted in enumerate(wants):
        share = 1.0 if is_vector or n_outputs == 1 or q in leaders else OTHER_CLASSES
        for test, amount in wanted.items():
            total[test] = total.get(test, 0.0) + share * amount
    if policy.eagerness is not None:
        total = {
            test: amount * policy.eagerness[test] for test, amount in total.items()
        }
    counted = {0} if is_vector else leaders
    spread = sum(variance[q] for q in counted)
    away = sum(deviation[q] for q in counted)
    if policy.bounds not in ("joint", "leaves"):
        return PlainState(low, high, mean, spread, away, total, n_waiting)
    lows, highs = _outcome_bounds(policy, known)
    if policy.bounds == "leaves":
        winner = _winner(lows, highs)
        is_settled = winner is not None
        if winner is not None and n_waiting:
            mean = _lift(lows, highs, mean, winner)
    else:
        is_settled = _is_settled(lows, highs, mean, order[0])
    return PlainState(
        [sum(map(min, by_test)) for by_test in lows],
        [sum(map(max, by_test)) for by_test in highs],
        mean,
        spread,
        away,
        total,
        n_waiting,
        is_settled,
    )


Sums = list[list[list[float]]]  # by output, by group of trees, by outcome


def _outcome_bounds(policy: Ensemble, known: Mapping[int, int]) -> tuple[Sums, Sums]:
    """Bound trees with the same test at the top together, for each of its outcomes.

    The first group is what has ended, which has one outcome.
    """
    trees, offset = policy.trees, policy.output.offset
    n_codes = [1] + [test.n_levels + 2 for test in policy.tests]
    lows: Sums = [[[0.0] * n for n in n_codes] for _ in offset]
    highs: Sums = [[[0.0] * n for n in n_codes] for _ in offset]
    for q, start in enumerate(offset):
        lows[q][0][0] = highs[q][0][0] = start
    for tree, root in enumerate(trees.tree_start[:-1].tolist()):
        test = int(trees.test[_resolve(policy, root, known)])
        for code in range(n_codes[test + 1]):
            if_shown = known if test < 0 else {**known, test: code}
            part = _measure(policy, root, if_shown)
            for q, (a, b) in enumerate(zip(part.low, part.high, strict=True)):
                lows[int(trees.output[tree]) + q][test + 1][code] += a
                highs[int(trees.output[tree]) + q][test + 1][code] += b
    return lows, highs


def _is_settled(lows: Sums, highs: Sums, mean: list[float], first: int) -> bool:
    if len(mean) == 1:
        if mean[0] > 0:
            return sum(map(min, lows[0])) > 0
        return sum(map(max, highs[0])) < 0
    return all(
        sum(
            min(a - b for a, b in zip(ours, theirs, strict=True))
            for ours, theirs in zip(lows[first], highs[q], strict=True)
        )
        > 0
        for q in range(len(mean))
        if q != first
    )


def _least_lead(lows: Sums, highs: Sums, first: int, q: int) -> float:
    """Return how far a class is ahead of another one at least; of one sum, of 0."""
    if len(lows) == 1:
        return sum(map(min, lows[0])) if first else -sum(map(max, highs[0]))
    return sum(
        min(a - b for a, b in zip(ours, theirs, strict=True))
        for ours, theirs in zip(lows[first], highs[q], strict=True)
    )


def _winner(lows: Sums, highs: Sums) -> int | None:
    """Return the class that is ahead of all others, whatever the rest shows."""
    n_classes = max(2, len(lows))
    for first in range(n_classes):
        leads = [
            _least_lead(lows, highs, first, q) for q in range(n_classes) if q != first
        ]
        if min(leads) > TINY:
            return first
    return None


def _lift(lows: Sums, highs: Sums, mean: list[float], winner: int) -> list[float]:
    """Return expected sums in which the winner leads, by the least if not by more."""
    mean = list(mean)
    if len(mean) == 1:
        sign = 1 if winner else -1
        if sign * mean[0] <= TINY:
            mean[0] = sign * _least_lead(lows, highs, winner, 1 - winner)
        return mean
    for q, other in enumerate(mean):
        if q != winner and mean[winner] - other <= TINY:
            mean[winner] = other + _least_lead(lows, highs, winner, q)
    return mean


def plain_ensemble_answer(policy: Ensemble, codes: Any) -> int | float:
    """Return what the full model says of a row of codes: every tree to its leaf."""
    known = {test: int(code) for test, code in enumerate(codes)}
    sums = np.array(policy.output.offset, dtype=np.float64)
    for tree, root in enumerate(policy.trees.tree_start[:-1].tolist()):
        leaf = policy.trees.value[_resolve(policy, root, known)]
        first = int(policy.trees.output[tree])
        sums[first : first + len(leaf)] += leaf
    raw = sums[None, :]
    if policy.answers_number:
        return float(policy.output.numbers(raw)[0])
    return int(policy.output.decide(raw)[0])
