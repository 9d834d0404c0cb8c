"""The forest that buys nothing: one leaf that holds all examples."""

from __future__ import annotations

import numpy as np

from askless.learn._examples import CodedExamples, Examples
from askless.policy import Forest

__all__ = ["make_lone_leaf"]


def make_lone_leaf(coded: CodedExamples, examples: Examples, voting: str) -> Forest:
    """Return a forest of one leaf, which decides by all examples.

    Parameters
    ----------
    coded : CodedExamples
        The examples, coded.
    examples : Examples
        The same examples, for their classes and costs.
    voting : {"votes", "counts"}
        How the trees of a forest decide together.
    """
    totals = coded.class_totals
    present = np.flatnonzero(totals > 0).astype(np.int32)
    none = np.zeros(0, dtype=np.int32)
    leaf = np.array([-1], dtype=np.int32)
    return Forest(
        coded.tests,
        examples.classes,
        examples.costs.price_list(coded.tests),
        tree_start=np.array([0, 1], dtype=np.int32),
        test=leaf,
        cut=leaf.copy(),
        default_branch=leaf.copy(),
        branch_start=np.zeros(2, dtype=np.int32),
        branch_code=none,
        branch_child=none.copy(),
        weight_start=np.array([0, len(present)], dtype=np.int64),
        weight_class=present,
        weight=totals[present],
        rule=voting,  # type: ignore[arg-type]
        mistakes=examples.costs.mistake_matrix(examples.classes),
    )
