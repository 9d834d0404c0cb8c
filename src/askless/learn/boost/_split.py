"""Set rows aside for validation, from memory or from a store.

This module must not know how boosters are grown.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from askless.learn._examples import Examples, StoredExamples
from askless.learn.boost._booster_rows import BoosterRows, choose_tests
from askless.learn.boost._coded_rows import CodedRows
from askless.problem import Test

__all__ = ["split_rows", "tests_of"]


def tests_of(examples: Examples) -> tuple[Test, ...]:
    """Return a test for each column; numbers have no cuts yet, but those of a store."""
    if isinstance(examples, StoredExamples):
        return examples.code().tests
    return choose_tests(examples.rows.values, examples.names)


def split_rows(
    examples: Examples, fraction: float, random_state: Any
) -> tuple[BoosterRows, BoosterRows]:
    """Return the rows to grow on and the validation rows, given or drawn.

    Parameters
    ----------
    examples : Examples
        All examples, perhaps with validation rows.
    fraction : float
        The share of the rows that is set aside if no validation rows are given.
    random_state : int or None
        Draws them.
    """
    if isinstance(examples, StoredExamples):
        return _split_stored(examples, fraction, random_state)
    tests = tests_of(examples)
    every = BoosterRows.of(examples.rows, tests)
    if examples.valid is not None:
        return every, BoosterRows.of(examples.valid, tests)
    train, valid = _draw(examples.rows.class_ids, fraction, random_state)
    return (
        every if train is None else every.take(train),
        every if valid is None else every.take(valid),
    )


def _split_stored(
    examples: StoredExamples, fraction: float, random_state: Any
) -> tuple[BoosterRows, BoosterRows]:
    """Do the same with rows of a store, of which no other copy is made."""
    coded = examples.code()

    def read(rows: NDArray[np.int64] | None) -> BoosterRows:
        if rows is None:
            # Rows of a class stand together there, but the first rows must be of all:
            # columns are ranked, and probabilities fitted, on them.
            rows = np.random.default_rng(0).permutation(coded.n_rows)
        return CodedRows.read(coded, rows)

    if examples.valid is not None:
        return read(None), CodedRows.of(examples.valid, coded.tests)
    train, valid = _draw(coded.class_ids, fraction, random_state)
    return read(train), read(valid)


def _draw(
    class_ids: NDArray[Any], fraction: float, random_state: Any
) -> tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]:
    """Return which rows to grow on and which to set aside; None for all of them."""
    counts = np.bincount(class_ids)
    try:
        train, valid = train_test_split(
            np.arange(len(class_ids)),
            test_size=fraction,
            random_state=random_state,
            stratify=class_ids if counts.min() > 1 else None,
        )
    except ValueError:
        # Too few rows to divide: choose on the rows themselves.
        return None, None
    if len(np.unique(class_ids[train])) < len(counts):
        # Every class must be among the rows that trees are grown on.
        return None, valid
    return train, valid
