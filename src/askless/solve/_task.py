"""What a method of solving is asked, how long it may take, and what it gives back.

A :class:`Task` is a table with its decisions settled. It is never changed, so whatever
is worked out from it once holds for good: its :func:`parts <part_of_task>` are made
when they are first asked for, and then kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from askless._progress import Reporter
from askless.policy import Nodes, Policy, Tree
from askless.problem import Outcome, Table
from askless.problem._possible import find_indistinct
from askless.problem._tests import CodeArray

__all__ = [
    "FrontPoint",
    "Limits",
    "MethodResult",
    "Point",
    "Priced",
    "Task",
    "find_blocks",
    "part_of_task",
    "take_cases",
]

Part = TypeVar("Part")


@dataclass(frozen=True)
class Task:
    """A table with its decisions settled.

    Attributes
    ----------
    table : Table
    classes : tuple
        What can be decided: the classes, or the cases themselves.
    class_ids : ndarray of int32 of shape (n_cases,)
        What is true of each case.
    mistakes : ndarray or None
        ``mistakes[true][decision]``.
    objective : {"expected", "worst", "both", "total"}
    stop : {"class", "case", "neighbourhood", "clique"}
        When a policy may stop. The last two accept cases that no test is sure to tell
        apart: all near one case, or each near every other.
    """

    table: Table
    classes: tuple[Outcome, ...]
    class_ids: NDArray[np.int32]
    mistakes: NDArray[np.float64] | None
    objective: str
    stop: str = "class"
    _parts: dict[Callable[..., Any], Any] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def has_surprisals(self) -> bool:
        """Whether states have to say how unlikely the answers made each case.

        So they do if outcomes are unknown, or if a policy may stop where cases look
        alike.
        """
        return self.table.has_unknown or self.stop in ("neighbourhood", "clique")

    def make_tree(
        self, nodes: Nodes, objective: Literal["total"] | None = None
    ) -> Tree:
        """Return the policy of some nodes, which decides for the classes of the task.

        Examples
        --------
        >>> table = Table([[0], [1]], ["a", "b"])
        >>> task = Task(table, table.classes, table.class_ids, None, "expected")
        >>> from askless.policy import NodesBuilder
        >>> builder = NodesBuilder()
        >>> builder.add_leaf({0: 1.0, 1: 1.0})
        >>> task.make_tree(builder.build()).n_nodes
        1
        """
        return Tree(
            self.table.tests,
            self.classes,
            self.table.prices,
            nodes=nodes,
            mistakes=self.mistakes,
            objective=objective,
        )


def part_of_task(make: Callable[[Task], Part]) -> Callable[[Task], Part]:
    """Keep what a function makes of a task with the task, so that it is made once."""

    @wraps(make)
    def get(task: Task) -> Part:
        if make not in task._parts:
            task._parts[make] = make(task)
        part: Part = task._parts[make]
        return part

    return get


def take_cases(codes: CodeArray, order: NDArray[np.int64]) -> CodeArray:
    """Return the codes of some cases, in order, as a fresh contiguous array."""
    taken: CodeArray = codes[:, order].copy(order="C")
    return taken


@part_of_task
def find_blocks(task: Task) -> NDArray[np.int32]:
    """Return a number for each case, the same if a policy may leave them together.

    Cases of one class are, and cases that no test is sure to tell apart; whatever hangs
    together by such pairs is one block. A policy stops inside a block: at a class, a
    clique or a neighbourhood.

    Examples
    --------
    >>> table = Table([[0, 0], [0, None], [1, 0]], ["a", "b", "c"])
    >>> find_blocks(Task(table, table.classes, table.class_ids, None, "expected"))
    array([0, 0, 1], dtype=int32)
    """
    table, class_ids = task.table, task.class_ids
    if not table.possible.finds_all_pairs:
        # Any two may hang together.
        return np.zeros(table.n_cases, dtype=np.int32)
    pairs = table.indistinct
    if task.stop == "case":
        pairs = find_indistinct(table.possible, class_ids)
    if not pairs:
        return class_ids
    # Few tables come here, and the command line need not wait for scipy otherwise.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n_classes = int(class_ids.max()) + 1
    ends = class_ids[np.array(pairs)]
    joined = coo_array(
        (np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n_classes, n_classes)
    )
    component = connected_components(joined, directed=False)[1]
    return np.ascontiguousarray(component[class_ids], dtype=np.int32)


@dataclass(frozen=True)
class Limits:
    """How long a method may run, and whom it tells how it goes."""

    time_limit: float | None = None
    reporter: Reporter | None = None
    n_jobs: int = 2
    started: float = field(default_factory=time.monotonic)

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    def left(self, otherwise: float = 1e9) -> float:
        """Return the seconds that are left."""
        limit = otherwise if self.time_limit is None else self.time_limit
        return max(0.0, limit - self.elapsed)


class Point(NamedTuple):
    """A trade-off that no policy beats in both costs."""

    worst_cost: float
    expected_cost: float
    policy: Policy


@dataclass(frozen=True)
class FrontPoint:
    """A policy on a front of error against cost, and what is proved about it.

    Attributes
    ----------
    error : float
        Share of the weight that is decided wrongly.
    expected_cost, worst_cost : float
        Of the tests.
    policy : Policy
    lower_bound : float
        No policy with at most this error costs less (expected front); no policy within
        this worst cost errs less (worst front).
    is_proved : bool
        Whether the policy meets the bound.
    """

    error: float
    expected_cost: float
    worst_cost: float
    policy: Policy
    lower_bound: float
    is_proved: bool


class Priced(NamedTuple):
    """What a policy costs that is not a tree.

    Attributes
    ----------
    expected_cost, worst_cost, error : float
    is_exact : bool
        Whether the numbers are computed, not sampled.
    margin : float
        Half the width of the 99 % interval of a sampled expected cost, of the total
        cost if mistakes count.
    mistake_cost : float
        What wrong decisions cost on average.
    """

    expected_cost: float
    worst_cost: float
    error: float
    is_exact: bool = True
    margin: float = 0.0
    mistake_cost: float = 0.0


class MethodResult(NamedTuple):
    """What a method has found.

    Attributes
    ----------
    policy : Policy
    lower_bound : float
        Of the objective; 0 if the method proves nothing.
    bound_name : str
        What proved it.
    winner : str
        The method that found the policy, if it was chosen among several.
    pareto : tuple of Point
        The trade-offs of worst and expected cost, if they were asked for.
    priced : Priced or None
        What the policy costs, if it is not a tree.
    notes : tuple of str
        Remarks on the result.
    """

    policy: Policy
    lower_bound: float = 0.0
    bound_name: str = ""
    winner: str = ""
    pareto: tuple[Point, ...] = ()
    priced: Priced | None = None
    notes: tuple[str, ...] = ()
