"""The forest that buys nothing: one leaf that holds all examples."""

from __future__ import annotations

import numpy as np

from askless.learn._examples import CodedExamples, Examples
from askless.policy import Forest, NodesBuilder

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
    builder = NodesBuilder()
    builder.add_leaf({int(k): float(totals[k]) for k in np.flatnonzero(totals > 0)})
    return Forest(
        coded.tests,
        examples.classes,
        examples.costs.price_list(coded.tests),
        nodes=builder.build(),
        voting=voting,  # type: ignore[arg-type]
        mistakes=examples.costs.mistake_matrix(examples.classes),
    )
