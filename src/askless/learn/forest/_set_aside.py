"""Choose the rows that forests are measured on: given, set aside, or out-of-bag.

This module must not know how forests are grown, nor what is chosen on the rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidTableError
from askless.learn._examples import CodedExamples, KnownRows, code_rows
from askless.learn.forest._curve import CodedRows
from askless.learn.forest._grow import GrowthOptions, bag_of
from askless.problem import Test

__all__ = ["code_out_of_bag", "code_validation_rows", "set_aside", "take_aside"]

Mask = NDArray[np.bool_]


def set_aside(class_rows: NDArray[np.int64], fraction: float, seed: int) -> Mask:
    """Return which rows, sorted by class, are set aside for validation.

    Parameters
    ----------
    class_rows : ndarray of int64 of shape (n_classes,)
        How many rows each class has.
    fraction : float
        The share of each class that is set aside; at least one row in all.
    seed : int
        Draws the rows.
    """
    rng = np.random.default_rng([seed, 1])
    is_aside = np.zeros(int(class_rows.sum()), dtype=bool)
    ends = np.cumsum(class_rows).tolist()
    for end, n_rows in zip(ends, class_rows.tolist(), strict=True):
        if n_rows:
            drawn = rng.permutation(n_rows)[: int(fraction * n_rows)]
            is_aside[end - n_rows + drawn] = True
    if not is_aside.any():
        largest = int(class_rows.argmax())
        n_rows = int(class_rows[largest])
        if n_rows < 2:
            raise InvalidTableError(
                "There must be enough rows to set some aside for validation. Got "
                f"{len(is_aside)}. Use out_of_bag=True, or give validation rows."
            )
        is_aside[ends[largest] - n_rows + int(rng.integers(n_rows))] = True
    return is_aside


def take_aside(coded: CodedExamples) -> CodedRows:
    """Return the rows that coded examples do not learn from."""
    assert coded.is_kept is not None
    rows = np.flatnonzero(~coded.is_kept)
    weights = None if coded.weights is None else coded.weights[rows]
    return CodedRows(coded.codes, coded.class_ids[rows], weights, taken=rows)


def code_validation_rows(
    rows: KnownRows, tests: tuple[Test, ...], n_jobs: int
) -> CodedRows:
    """Return validation rows, coded as the forests are."""
    codes = code_rows(rows.values, tests, n_jobs)
    return CodedRows(codes, rows.class_ids, rows.weights)


def code_out_of_bag(
    coded: CodedExamples, options: GrowthOptions, n_trees: int
) -> CodedRows:
    """Return the examples themselves, each to be judged by trees that did not see it.

    Parameters
    ----------
    coded : CodedExamples
        What the trees are grown on.
    options : GrowthOptions
        How they are grown, on bootstrap samples.
    n_trees : int
        How many trees there are.
    """
    bags = [bag_of(options, tree, coded) for tree in range(n_trees)]
    is_out = np.array([np.asarray(bag) == 0 for bag in bags])
    return CodedRows(coded.codes, coded.class_ids, coded.weights, is_out)
