"""Greedy trees: the best split by a criterion, again and again.

One compiled grower; the methods of this file only choose the criterion and what a case
counts for. They know tables; they must not know how a split is searched.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from askless._core.greedy._criteria import Criterion, Pairs, WeightRemoved
from askless._core.greedy._grow import grow_greedy
from askless._core.greedy._options import GrowthLimits, GrowthRows
from askless.exceptions import InvalidOptionError, NoPolicyError
from askless.policy import Nodes, Tree
from askless.solve._task import Task, take_cases
from askless.solve.greedy._impurities import make_criterion

__all__ = ["grow_by_criterion", "grow_ec2_tree", "grow_gbs_tree", "grow_greedy_tree"]

# A tree over unknown outcomes can grow without end in practice; this ends it.
MAX_NODES = 2_000_000
# The weight of a case that never comes, as a share of the least weight of others.
NEXT_TO_NOTHING = 1e-6


def grow_greedy_tree(
    task: Task,
    *,
    impurity: str = "pairs",
    split: str = "minimax",
    power: int = 2,
    alpha: float = 0.0,
    terms: Any = (),
    delta: float = 0.0,
    max_depth: int | None = None,
    weights: Literal["count", "prior"] = "count",
    free_reuse: bool = False,
    use_crossing: bool = True,
    use_bounds: bool = True,
) -> Tree:
    """GreedyTree: buy the test that takes most off an impurity for its price.

    Parameters
    ----------
    task : Task
        What to solve.
    impurity, split, power, alpha, terms
        What is measured; see :func:`askless.solve.greedy._impurities.make_criterion`.
    delta : float, default=0.0
        Stop at a set of cases of at most this impurity.
    max_depth : int, optional
        Ask at most so many tests on any path.
    weights : {"count", "prior"}, default="count"
        Whether every case counts once, as in the paper, or by its weight.
    free_reuse : bool, default=False
        Score a threshold on a number that was already bought as free. The paper scores
        it at its price again, which keeps a tree from living on its first test.
    use_crossing, use_bounds : bool, default=True
        Switches of the split search; they change time, never the answer.
    """
    if max_depth is not None and max_depth < 0:
        raise InvalidOptionError(
            f"max_depth must be >= 0, or None for no limit. Got {max_depth}. A tree of "
            "depth 0 decides at once."
        )
    if not delta >= 0:
        raise InvalidOptionError(
            f"delta must be >= 0. Got {delta}. With 0, growth stops at pure sets."
        )
    if weights not in ("count", "prior"):
        raise InvalidOptionError(
            f"weights must be 'count' or 'prior'. Got {weights!r}. Choose one of them."
        )
    criterion = make_criterion(
        task.classes,
        impurity=impurity,
        split=split,
        power=power,
        alpha=alpha,
        terms=terms,
    )
    return grow_by_criterion(
        task,
        criterion,
        by_prior=weights == "prior",
        delta=float(delta),
        max_depth=max_depth,
        free_reuse=free_reuse,
        use_crossing=use_crossing,
        use_bounds=use_bounds,
    )


def grow_gbs_tree(task: Task) -> Tree:
    """Generalised binary search: buy what rules out most weight for its price."""
    return grow_by_criterion(task, WeightRemoved(), by_prior=True)


def grow_ec2_tree(task: Task) -> Tree:
    """EC2: buy what cuts most pairs of different class, by weight, for its price.

    Edges join cases of different class and weigh the product of their weights, so what
    is cut is the fall of the weighted pairs, on average over the outcomes.
    """
    return grow_by_criterion(task, Pairs(is_expected=True), by_prior=True)


def grow_by_criterion(
    task: Task,
    criterion: Criterion,
    *,
    by_prior: bool = False,
    delta: float = 0.0,
    max_depth: int | None = None,
    free_reuse: bool = False,
    budget: float = math.inf,
    max_nodes: int = MAX_NODES,
    keeps_counts: bool = False,
    use_crossing: bool = True,
    use_bounds: bool = True,
) -> Tree:
    """Grow a tree on a table by any criterion; see :func:`grow_greedy_tree`.

    With a `budget`, a node leaves out the tests that would take a case beyond it, as if
    no test were delayed. With `keeps_counts` the nodes hold the class weights that the
    criterion saw, instead of the prior.
    """
    table = task.table
    limits = GrowthLimits(
        max_depth=None if max_depth is None else int(max_depth),
        max_impurity=delta,
        max_nodes=max_nodes,
        budget=budget,
    )
    try:
        arrays = grow_greedy(
            _code_cases(task, by_prior),
            criterion,
            table.prices.engine,
            limits=limits,
            free_reuse=free_reuse,
            keeps_counts=keeps_counts,
            use_crossing=use_crossing,
            use_bounds=use_bounds,
        )
    except OverflowError:
        raise NoPolicyError(
            f"A tree must have at most {max_nodes:,} nodes. Got more: every unknown "
            "outcome doubles what may be seen. Limit max_depth, or settle some unknown "
            "outcomes."
        ) from None
    return task.make_tree(Nodes.from_arrays(arrays))


def _code_cases(task: Task, by_prior: bool) -> GrowthRows:
    """Return the cases as rows to grow on, that weigh 1 each or by the prior."""
    table = task.table
    order = np.argsort(task.class_ids, kind="stable")
    prior = np.ascontiguousarray(table.prior[order])
    chances, starts = None, None
    if table.has_unknown:
        chances = np.concatenate(table.chances)
        starts = np.cumsum([0] + [len(c) for c in table.chances]).astype(np.int64)
    return GrowthRows(
        take_cases(table.codes, order),
        np.bincount(task.class_ids, minlength=len(task.classes)).astype(np.int64),
        np.array([test.n_levels for test in table.tests], dtype=np.int32),
        table.is_ordered.astype(np.uint8),
        weights=_weigh_all(prior) if by_prior else None,
        prior=prior,
        chances=chances,
        chance_start=starts,
    )


def _weigh_all(prior: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights to score by: those of the prior, and a little where it is zero.

    A case that never comes is told from the others as well, after all that come; else a
    rule by weight would leave it in any leaf.
    """
    positive = prior[prior > 0]
    weights: NDArray[np.float64] = np.maximum(prior, NEXT_TO_NOTHING * positive.min())
    return weights
