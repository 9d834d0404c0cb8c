"""Estimate likelihoods the plain way: count rows one by one, in fractions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction

__all__ = ["plain_likelihoods"]


def plain_likelihoods(
    values: Sequence[Hashable],
    classes: Sequence[Hashable],
    smoothing: Fraction | int = 1,
) -> dict[Hashable, dict[Hashable, Fraction]]:
    """Return class to outcome to how likely the class shows it.

    Parameters
    ----------
    values : sequence
        What a test has shown in each row; None if nothing was recorded.
    classes : sequence
        The class of each row.
    smoothing : Fraction or int, default=1
        How many rows to add to each class, that show what all rows show.

    Examples
    --------
    >>> found = plain_likelihoods(["y", "y", "n", "n", "n"], ["a", "a", "a", "b", "b"])
    >>> found["b"]["y"], found["a"]["y"]
    (Fraction(2, 15), Fraction(3, 5))
    """
    rows = [row for row in zip(values, classes, strict=True) if row[0] is not None]
    estimates: dict[Hashable, dict[Hashable, Fraction]] = {}
    for one in dict.fromkeys(classes):
        own = [value for value, known in rows if known == one]
        estimates[one] = {}
        for outcome in dict.fromkeys(value for value, _ in rows):
            share = Fraction(sum(value == outcome for value, _ in rows), len(rows))
            n_rows = len(own) + smoothing
            if n_rows:
                counted = own.count(outcome) + smoothing * share
                estimates[one][outcome] = Fraction(counted) / n_rows
    return estimates
