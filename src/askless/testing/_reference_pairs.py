"""The least cost of two cases, on exact odds, as a plain recursion."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["plain_pair_cost"]

Outcomes = Sequence[tuple[float, float]]


def plain_pair_cost(
    weight: tuple[float, float],
    asked: Sequence[Outcomes],
    free: Sequence[Outcomes],
    price: tuple[Sequence[float], Sequence[float]],
    loss: tuple[Sequence[float], Sequence[float]],
) -> float:
    """Return the least cost of two cases, each test asked at most once.

    Parameters
    ----------
    weight : tuple of float
        Of the two cases.
    asked, free : sequence
        For each test, at a price or free, the chances of each outcome for both cases.
    price : tuple of sequence
        What each test at a price charges, by the true case.
    loss : tuple of sequence
        What each decision loses, by the true case.

    Examples
    --------
    >>> plain_pair_cost((1, 1), [[(1, 0), (0, 1)]], [], ([2], [3]), ([0, 9], [9, 0]))
    5
    >>> plain_pair_cost((1, 1), [], [[(1, 0), (0, 1)]], ([], []), ([0, 9], [9, 0]))
    0
    """
    if free:
        return sum(
            plain_pair_cost(after, asked, free[1:], price, loss)
            for after in _show(weight, free[0])
        )
    one, other = weight
    best = min(one * a + other * b for a, b in zip(*loss, strict=True))
    for t, outcomes in enumerate(asked):
        rest = [*asked[:t], *asked[t + 1 :]]
        prices = (
            [*price[0][:t], *price[0][t + 1 :]],
            [*price[1][:t], *price[1][t + 1 :]],
        )
        cost = one * price[0][t] + other * price[1][t]
        for after in _show(weight, outcomes):
            cost += plain_pair_cost(after, rest, (), prices, loss)
        best = min(best, cost)
    return best


def _show(weight: tuple[float, float], outcomes: Outcomes) -> list[tuple[float, float]]:
    """Return the weights once each outcome has been seen."""
    return [(weight[0] * a, weight[1] * b) for a, b in outcomes]
