"""What a method is asked to do: a table, and what there is to find out about a case."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askless.problem import Outcome, Table
from askless.problem._tests import CodeArray

__all__ = ["Task", "take_cases"]


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
