"""State a task of least total cost as arrays for the kernels.

Cases that no test can tell apart and that are of one class are one case here. What a
test may show is a matrix of chances, whatever the table knows: facts, unknown outcomes
or likelihoods.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from askless._core.total._problem import TotalProblem
from askless.exceptions import InvalidOptionError
from askless.problem import Table
from askless.solve._task import Task, part_of_task
from askless.solve.search._bounds import least_prices
from askless.solve.total._information import (
    find_capacity,
    find_enough,
    least_losses,
    least_stakes,
)

__all__ = ["TotalArrays", "make_problem", "state_total"]

Floats = NDArray[np.float64]
# Parts of a bit in a surprisal.
UNIT = 2.0**40
# The words of a state count its cases in two bytes, with four words for each surprisal.
MOST_CASES = 12_000
# Where lines above what a test tells are drawn, as shares of its capacity.
SLOPES = np.array([1.0, 0.5, 0.2])


@dataclass(frozen=True)
class TotalArrays:
    """A task of least total cost in the terms of ``_core/total/_problem.pxd``.

    Attributes
    ----------
    kept : ndarray of int64
        The first case of each kind, with a prior above 0.
    widths : ndarray
        The bits of a step of ``wrong``, by the number of classes left.
    enough, slack : ndarray
        Where a unit of price counts in full.
    """

    kept: NDArray[np.int64]
    first: NDArray[np.int64]
    chance: Floats
    surprisal: NDArray[np.int64]
    kind: NDArray[np.int32]
    doubt: Floats
    prior: Floats
    class_id: NDArray[np.int32]
    mistakes: Floats
    earlier: NDArray[np.int32]
    capacity: Floats
    mixture: Floats
    slope: Floats
    order: NDArray[np.int32]
    rate: Floats
    least_loss: Floats
    wrong: Floats
    widths: Floats
    enough: Floats
    slack: Floats

    @property
    def n_cases(self) -> int:
        """How many different cases there are."""
        return len(self.prior)

    def codes_of(self, test: int) -> range:
        """Return the rows of what a test may show, one for each code from 0."""
        return range(int(self.first[test]), int(self.first[test + 1]))


@part_of_task
def state_total(task: Task) -> TotalArrays:
    """Return the arrays of a task; prices count in full."""
    table = task.table
    assert task.mistakes is not None
    all_chances = [_trimmed(table, test) for test in range(table.n_tests)]
    kinds = np.stack([_number_kinds(chances) for chances in all_chances])
    kept, place = _merge_cases(kinds, task)
    if len(kept) > MOST_CASES:
        raise InvalidOptionError(
            f"The search for the least total cost takes at most {MOST_CASES:,} cases. "
            f"Got {len(kept):,} that differ. Use a rule such as 'information'."
        )
    prior = np.zeros(len(kept))
    np.add.at(prior, place[place >= 0], table.prior[place >= 0])
    chance = np.concatenate([chances[:, kept] for chances in all_chances])
    first = np.cumsum([0, *(len(chances) for chances in all_chances)])
    bits = np.zeros_like(chance)
    np.log2(chance, out=bits, where=chance > 0)
    doubt = np.add.reduceat(-chance * bits, first[:-1], axis=0)
    capacities = [find_capacity(chances[:, kept]) for chances in all_chances]
    capacity = np.array([bits for bits, _ in capacities])
    per_bit = least_prices(table) / np.maximum(capacity, 1e-300)
    rate = (per_bit[:, None] / SLOPES[None, :]).reshape(-1)
    wrong, widths = least_losses(len(task.classes), least_stakes(task.mistakes))
    enough, slack = find_enough(wrong, widths, rate)
    return TotalArrays(
        kept=kept,
        first=first.astype(np.int64),
        chance=np.ascontiguousarray(chance),
        surprisal=np.ascontiguousarray(
            np.where(chance > 0, np.rint(-bits * UNIT), -1), dtype=np.int64
        ),
        kind=np.ascontiguousarray(kinds[:, kept], dtype=np.int32),
        doubt=np.ascontiguousarray(doubt),
        prior=prior,
        class_id=np.ascontiguousarray(task.class_ids[kept], dtype=np.int32),
        mistakes=np.ascontiguousarray(task.mistakes, dtype=np.float64),
        earlier=_earlier_copies(table),
        capacity=capacity,
        mixture=np.concatenate([mixture for _, mixture in capacities]),
        slope=SLOPES,
        order=np.argsort(rate, kind="stable").astype(np.int32),
        rate=rate,
        least_loss=np.ascontiguousarray(task.mistakes.min(axis=1), dtype=np.float64),
        wrong=wrong,
        widths=widths,
        enough=enough,
        slack=slack,
    )


def make_problem(task: Task, *, cost_weight: float = 1.0) -> TotalProblem:
    """Return the kernel of a task, in which a unit of price counts so much."""
    arrays = state_total(task)
    if cost_weight != 1.0:
        rate = cost_weight * arrays.rate
        enough, slack = find_enough(arrays.wrong, arrays.widths, rate)
        arrays = replace(arrays, enough=enough, slack=slack)
    return TotalProblem(arrays, task.table.prices.engine, cost_weight)


def _trimmed(table: Table, test: int) -> Floats:
    """Return the chances of a test without the codes above all that may be seen."""
    chances = table.possible.outcome_chances(test)
    seen = np.flatnonzero(chances.any(axis=1))
    return np.asarray(chances[: int(seen[-1]) + 1])


def _number_kinds(chances: Floats) -> NDArray[np.int64]:
    """Return a number for each case, the same if a test shows the same for them."""
    _, kinds = np.unique(chances, axis=1, return_inverse=True)
    return np.asarray(kinds).reshape(-1)


def _merge_cases(
    kinds: NDArray[np.int64], task: Task
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first case of each kind and class, and the place of each case."""
    place = np.full(task.table.n_cases, -1, dtype=np.int64)
    alive = np.flatnonzero(task.table.prior > 0)
    signs = np.vstack([kinds[:, alive], task.class_ids[alive]])
    _, firsts, where = np.unique(signs, axis=1, return_index=True, return_inverse=True)
    # In the order of the table, so that ties are settled by it.
    order = np.argsort(firsts)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    place[alive] = rank[np.asarray(where).reshape(-1)]
    return alive[firsts[order]], place


def _earlier_copies(table: Table) -> NDArray[np.int32]:
    """Return for each test the copy of it that comes before, -1 if it is the first."""
    earlier = np.full(table.n_tests, -1, dtype=np.int32)
    last: dict[int, int] = {}
    for test, original in enumerate(getattr(table, "repeats", ())):
        if original >= 0:
            earlier[test] = last.get(original, original)
            last[original] = test
    return earlier
