"""What a method is asked to do: a table, and what there is to find out about a case."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askless.problem import Outcome, Table
from askless.problem._indistinct import find_indistinct, is_searched
from askless.problem._tests import CodeArray

__all__ = ["Task", "find_blocks", "take_cases"]


@dataclass(frozen=True)
class Task:
    """A table with its decisions settled.

    Attributes
    ----------
    table : Table
    labels : tuple
        What can be decided: the classes, or the cases themselves.
    label_ids : ndarray of int32 of shape (n_cases,)
        What is true of each case.
    mistakes : ndarray or None
        ``mistakes[true][decision]``.
    objective : {"expected", "worst"}
    stop : {"class", "case", "neighbourhood", "clique"}
        When a policy may stop. The last two accept cases that no test is sure to tell
        apart: all near one case, or each near every other.
    """

    table: Table
    labels: tuple[Outcome, ...]
    label_ids: NDArray[np.int32]
    mistakes: NDArray[np.float64] | None
    objective: str
    stop: str = "class"


def take_cases(codes: CodeArray, order: NDArray[np.int64]) -> CodeArray:
    """Return the codes of some cases, in order, as a fresh contiguous array."""
    taken: CodeArray = codes[:, order].copy(order="C")
    return taken


def find_blocks(task: Task) -> NDArray[np.int32]:
    """Return a number for each case, the same if a policy may leave them together.

    Cases of one label are, and cases that no test is sure to tell apart; whatever hangs
    together by such pairs is one block. A policy stops inside a block: at a label, a
    clique or a neighbourhood.

    Examples
    --------
    >>> table = Table([[0, 0], [0, None], [1, 0]], ["a", "b", "c"])
    >>> find_blocks(Task(table, table.classes, table.class_ids, None, "expected"))
    array([0, 0, 1], dtype=int32)
    """
    table, labels = task.table, task.label_ids
    if not is_searched(table.codes, table.is_unknown):
        # Any two may hang together.
        return np.zeros(table.n_cases, dtype=np.int32)
    pairs = table.indistinct
    if task.stop == "case":
        pairs = find_indistinct(
            table.codes, table.is_unknown, labels, table._never_shown
        )
    if not pairs:
        return labels
    # Few tables come here, and the command line need not wait for scipy otherwise.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n_labels = int(labels.max()) + 1
    ends = labels[np.array(pairs)]
    joined = coo_array(
        (np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n_labels, n_labels)
    )
    component = connected_components(joined, directed=False)[1]
    return np.ascontiguousarray(component[labels], dtype=np.int32)
