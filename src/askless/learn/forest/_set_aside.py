"""Choose the rows that forests are measured on: given, set aside, or out-of-bag.

This module must not know how forests are grown, nor what is chosen on the rows.
"""

from __future__ import annotations

import numpy as np

from askless.exceptions import InvalidTableError
from askless.learn._examples import CodedExamples, Examples, KnownRows, code_rows
from askless.learn.forest._curve import CodedRows
from askless.learn.forest._grow import GrowthOptions, bag_of
from askless.problem import Test

__all__ = ["code_out_of_bag", "code_validation_rows", "split_examples"]


def split_examples(
    examples: Examples, fraction: float, seed: int
) -> tuple[Examples, KnownRows]:
    """Return the examples to grow on, and a fraction of the rows that is set aside.

    Parameters
    ----------
    examples : Examples
        All examples.
    fraction : float
        The share of each class that is set aside; at least one row in all.
    seed : int
        Draws the rows.
    """
    class_ids = examples.rows.class_ids
    rng = np.random.default_rng([seed, 1])
    is_aside = np.zeros(len(class_ids), dtype=bool)
    for class_id in np.unique(class_ids):
        rows = rng.permutation(np.flatnonzero(class_ids == class_id))
        is_aside[rows[: int(fraction * len(rows))]] = True
    if not is_aside.any():
        rows = np.flatnonzero(class_ids == np.bincount(class_ids).argmax())
        if len(rows) < 2:
            raise InvalidTableError(
                "There must be enough rows to set some aside for validation. Got "
                f"{len(class_ids)}. Use out_of_bag=True, or give validation rows."
            )
        is_aside[rng.choice(rows)] = True
    return examples.take(~is_aside), examples.rows.take(is_aside)


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
    n_rows = coded.codes.shape[1]
    bags = [bag_of(options, tree, n_rows) for tree in range(n_trees)]
    is_out = np.array([np.asarray(bag) == 0 for bag in bags])
    return CodedRows(coded.codes, coded.class_ids, coded.weights, is_out)
