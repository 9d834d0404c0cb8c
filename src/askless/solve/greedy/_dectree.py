"""DecTree: one tree whose worst and whose expected cost are both near the best.

The method builds a chain of tests within a budget, and does the same for every set of
cases that leaves the chain. The chain is found by compiled code; this file knows
tables, and what DecTree cannot do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from askless._core.chain._backbone import Backbone
from askless._core.chain._dectree import grow_dectree
from askless.exceptions import InvalidOptionError, suggest_name
from askless.policy import Nodes, Tree
from askless.solve._task import Task, take_cases

__all__ = [
    "ALPHA",
    "CHI",
    "RecordedTree",
    "grow_dectree_tree",
    "make_backbone",
    "record_dectree",
]

# The root of e^x = 2 - x.
CHI = 0.44285440100238854
# The share of the best possible coverage that the adapted greedy is sure to reach.
ALPHA = 1 - math.exp(-CHI)

FORMS = ("recommended", "literal")


@dataclass(frozen=True)
class RecordedTree:
    """A tree of DecTree, and the records of the calls that made it.

    Attributes
    ----------
    tree : Tree
    call_records : dict of str to ndarray of shape (n_calls,)
        Of each call that built a chain: the ``node`` it begins at, the ``parent`` call
        or -1, ``n_cases``, ``pairs``, the ``budget`` (0 where a free test was taken),
        and what the chain spent on tests chosen by weight, ``spent_on_weight``, and by
        pairs, ``spent_on_pairs``.
    n_gains : int
        How often it was worked out what a test would cover.
    """

    tree: Tree
    call_records: dict[str, NDArray[np.float64]]
    n_gains: int


def grow_dectree_tree(
    task: Task,
    *,
    form: Literal["recommended", "literal"] = "recommended",
    keep_all: bool = True,
    use_laziness: bool = True,
) -> Tree:
    """DecTree: a chain of tests within a budget, again for all that leaves it.

    Parameters
    ----------
    task : Task
        What to solve.
    form : {"recommended", "literal"}, default="recommended"
        As printed ("literal"), a chain spends its budget even where a test splits
        nothing, or nothing is left to find out. The recommended form leaves such tests
        out. At plain prices, with `keep_all` and weights above zero, the chains are the
        same otherwise, so that no case pays more.
    keep_all : bool, default=True
        Whether the greedy that a budget is judged by keeps all tests if they fit into
        the budget. As printed (False), it then drops the last one, or all others.
    use_laziness : bool, default=True
        Switch of the search; it changes time, never the answer.

    Raises
    ------
    InvalidOptionError
        If an outcome is unknown, a test is priced by outcome, or the form is none.

    Notes
    -----
    A call on a set S of cases of more than one class:

    1. Every test has a *main outcome*, the one with the most pairs of cases of
       different class; the test *covers* the other cases. Both are settled once, on S.
    2. The budget B is the least for which a greedy choice of tests of cost at most B
       covers a share alpha = 0.358 of the pairs, found by bisection: between 1 and the
       cost of all tests that split S if prices are whole numbers, otherwise from the
       cheapest of them up to a relative 1e-9.
    3. The chain: tests of cost B together that cover most weight for their price, then
       tests that cover most pairs for their price until they have cost more than B.
       So it costs at most 3B. Cases of a main outcome go on along the chain, others
       leave it.
    4. A call for every set that left, and for those that no test covered.

    A call leaves sets of at most 0.872 of its pairs, so there are O(log n) of them on
    any path, and B is at most the cost of any path that can settle S. That is why both
    costs are within O(log n) of the best ones: the worst within 3 + 22 ln P of it, P
    the pairs of all cases (theorems 4 and 5).

    Budgets go by the plain price. Where tests share a price in a group or come delayed,
    the finished tree is charged like any other, but the guarantee is lost. Numbers
    branch by level, with thresholds or without. Free tests come first as long as they
    split something, the one that leaves the fewest pairs in its main outcome before
    others; the paper wants prices above zero. Cases of different class that show the
    same end in one leaf; a budget is then measured by the pairs that can be covered.

    A call measures each test on its cases once. After that a gain is worked out only
    if its last value is the largest, since gains never rise while a chain grows: on
    random tables O(n_tests * n_cases * log n_cases) in all, about a second for 100,000
    cases and 50 tests.

    References
    ----------
    F. Cicalese, E. Laber, A. Saettler. Diagnosis determination: decision trees
    optimizing simultaneously worst and expected testing cost. ICML 2014. Theorems 3 to
    5, Lemmas 1 to 3.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table(
    ...     [[1, 1, 2], [1, 2, 1], [2, 2, 1], [1, 2, 2], [2, 2, 2]],
    ...     ["A", "A", "B", "C", "C"], prior=[0.1, 0.2, 0.4, 0.25, 0.05],
    ...     costs=[2, 1, 3], tests=["t1", "t2", "t3"])
    >>> solution = askless.solve(table, method="dectree")
    >>> solution.worst_cost, round(solution.expected_cost, 9)
    (6.0, 5.5)
    """
    return record_dectree(
        task, form=form, keep_all=keep_all, use_laziness=use_laziness
    ).tree


def record_dectree(
    task: Task,
    *,
    form: str = "recommended",
    keep_all: bool = True,
    use_laziness: bool = True,
) -> RecordedTree:
    """Grow a tree by DecTree and record its calls; see :func:`grow_dectree_tree`."""
    _check(task, form)
    backbone = make_backbone(
        task, form=form, keep_all=keep_all, use_laziness=use_laziness
    )
    arrays, call_records = grow_dectree(backbone)
    tree = task.make_tree(Nodes.from_arrays(arrays))
    return RecordedTree(tree, call_records, backbone.n_gains)


def make_backbone(
    task: Task,
    *,
    form: str = "recommended",
    keep_all: bool = True,
    use_laziness: bool = True,
) -> Backbone:
    """Return what finds chains among the cases of a table."""
    table = task.table
    order = np.argsort(task.class_ids, kind="stable")
    prior = table.prior[order]
    # Sums of ones are exact, so that equal chances tie.
    is_even = bool(np.all(prior == prior[0]))
    return Backbone(
        take_cases(table.codes, order),
        task.class_ids[order],
        np.ones(len(prior)) if is_even else prior.copy(),
        prior,
        np.ascontiguousarray(table.prices.full),
        alpha=ALPHA,
        is_guarded=form == "recommended",
        keep_all=keep_all,
        use_laziness=use_laziness,
    )


def _check(task: Task, form: str) -> None:
    table = task.table
    if form not in FORMS:
        raise InvalidOptionError(
            f"form must be 'recommended' or 'literal'. Got {form!r}. "
            f"{suggest_name(form, FORMS)}Choose one of them."
        )
    if table.has_unknown:
        test, case = np.argwhere(table.is_unknown)[0]
        raise InvalidOptionError(
            "The method 'dectree' wants every outcome known. Got an unknown outcome of "
            f"{table.tests[test].name!r} for {table.cases[case]!r} "
            f"({np.count_nonzero(table.is_unknown)} in total). Choose another method, "
            "such as 'greedy', or make empty cells an outcome by missing='outcome'."
        )
    if table.prices.by_outcome:
        name = table.tests[min(table.prices.by_outcome)].name
        raise InvalidOptionError(
            "The method 'dectree' wants one price for each test. Got prices by outcome "
            f"for {name!r}. Choose another method, such as 'greedy', or give the test "
            "one price."
        )
