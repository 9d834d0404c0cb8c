"""What each test tells of the class, given the answers so far, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Mapping

from askless.problem import Table

__all__ = ["plain_posterior_scores"]


def plain_posterior_scores(
    table: Table, answers: Mapping[int, int], criterion: str
) -> list[float]:
    """Return the bits about the class that each test tells, or the loss that it saves.

    Parameters
    ----------
    table : Table
        With mistakes.
    answers : mapping of int to int
        The code that each test has shown; some case must be able to show all of them.
    criterion : {"information", "value"}

    Examples
    --------
    >>> from askless import Costs
    >>> table = Table([[0], [1]], ["a", "b"], costs=Costs([1.0], mistakes=8))
    >>> plain_posterior_scores(table, {}, "information")
    [1.0]
    >>> plain_posterior_scores(table, {}, "value")
    [4.0]
    """
    weights = [float(weight) for weight in table.prior]
    for test, code in answers.items():
        chances = table.possible.outcome_chances(test)[code].tolist()
        weights = [w * p for w, p in zip(weights, chances, strict=True)]
    total = sum(weights)
    weights = [weight / total for weight in weights]
    measure = _open_bits if criterion == "information" else _loss
    before = measure(table, weights)
    scores = []
    for test in range(table.n_tests):
        after = 0.0
        for row in table.possible.outcome_chances(test).tolist():
            after += measure(table, [w * p for w, p in zip(weights, row, strict=True)])
        scores.append(before - after)
    return scores


def _by_class(table: Table, weights: list[float]) -> list[float]:
    summed = [0.0] * len(table.classes)
    for label, weight in zip(table.class_ids.tolist(), weights, strict=True):
        summed[label] += weight
    return summed


def _open_bits(table: Table, weights: list[float]) -> float:
    """Return the bits of the class that are open, by weight."""
    total = sum(weights)
    return sum(
        -part * math.log2(part / total) for part in _by_class(table, weights) if part
    )


def _loss(table: Table, weights: list[float]) -> float:
    """Return the least expected loss of deciding, by weight."""
    mistakes = table.costs.mistake_matrix(table.classes)
    assert mistakes is not None
    losses = [0.0] * len(table.classes)
    for label, part in enumerate(_by_class(table, weights)):
        for decision in range(len(losses)):
            losses[decision] += part * float(mistakes[label, decision])
    return min(losses)
