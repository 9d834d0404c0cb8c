"""Write a policy of least total cost out as a tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from askless.policy import NodesBuilder, Tree
from askless.solve._task import Task
from askless.solve.total._arrays import TotalArrays, state_total

__all__ = ["Place", "expand_total", "mistake_cost", "root_of", "split_place"]


class Place(NamedTuple):
    """Where a policy stands: what the answers so far leave, and what they took.

    Attributes
    ----------
    cases : ndarray of int32
        The cases that are left, as the arrays of the task number them.
    surprisal : ndarray of int64
        How unlikely the answers made each of them.
    weight : ndarray of float64
        Prior times the chances of the answers.
    done : tuple of int
        The tests that were asked.
    spent : float
    path : tuple of (int, int)
        The tests that were asked and the codes that they have shown.
    ordered : tuple of int
        The tests that were bought together with a delayed one, and are still to come.
    is_final : bool
        Whether a delayed test was bought, so that nothing can be bought any more.
    """

    cases: NDArray[np.int32]
    surprisal: NDArray[np.int64]
    weight: NDArray[np.float64]
    done: tuple[int, ...]
    spent: float
    path: tuple[tuple[int, int], ...] = ()
    ordered: tuple[int, ...] = ()
    is_final: bool = False


def root_of(arrays: TotalArrays) -> Place:
    """Return where every policy begins."""
    n = arrays.n_cases
    cases = np.arange(n, dtype=np.int32)
    return Place(cases, np.zeros(n, dtype=np.int64), arrays.prior, (), 0.0)


def expand_total(
    task: Task,
    choose: Callable[[Place], Sequence[int]],
    *,
    objective: Literal["total"] | None = "total",
) -> Tree:
    """Return the tree of a policy, asking it at every place.

    Parameters
    ----------
    task : Task
    choose : callable
        Takes a :class:`Place`; returns the next test and what is bought together with
        it, or nothing to decide.
    objective : {"total"}, optional
        None for a policy that stops for other reasons than prices, such as a budget.
    """
    arrays = state_total(task)
    builder = NodesBuilder()
    stack = [root_of(arrays)]
    while stack:
        place = stack.pop()
        weights = _by_class(arrays, place)
        tests = place.ordered
        if not tests and len(weights) > 1 and not place.is_final:
            tests = tuple(choose(place))
        if not tests:
            builder.add_leaf(weights)
            continue
        test = tests[0]
        is_final = place.is_final or bool(task.table.prices.delayed[test])
        parts = [
            (code, part._replace(ordered=tests[1:], is_final=is_final))
            for code, part in split_place(task, arrays, place, test)
        ]
        heaviest = max(range(len(parts)), key=lambda j: parts[j][1].weight.sum())
        builder.add_test(test, [code for code, _ in parts], weights, default=heaviest)
        stack.extend(part for _, part in reversed(parts))
    return task.make_tree(builder.build(), objective=objective)


def split_place(
    task: Task, arrays: TotalArrays, place: Place, test: int
) -> list[tuple[int, Place]]:
    """Return the codes that a test may show, and what each of them leaves."""
    bill = task.table.prices.open_bill()
    for done in place.done:
        bill.charge(done)
    parts = []
    for code, row in enumerate(arrays.codes_of(test)):
        chance = arrays.chance[row, place.cases]
        seen = np.flatnonzero(chance > 0)
        if not len(seen):
            continue
        surprisal = place.surprisal[seen] + arrays.surprisal[row, place.cases[seen]]
        parts.append(
            (
                code,
                Place(
                    np.ascontiguousarray(place.cases[seen]),
                    np.ascontiguousarray(surprisal - surprisal.min()),
                    place.weight[seen] * chance[seen],
                    (*place.done, test),
                    place.spent + bill.price(test, code),
                    (*place.path, (test, code)),
                ),
            )
        )
    return parts


def _by_class(arrays: TotalArrays, place: Place) -> dict[int, float]:
    classes, where = np.unique(arrays.class_id[place.cases], return_inverse=True)
    summed = np.bincount(where, weights=place.weight)
    return dict(zip(classes.tolist(), summed.tolist(), strict=True))


def mistake_cost(tree: Tree, mistakes: NDArray[np.float64]) -> float:
    """Return what the wrong decisions of a tree cost, on average.

    Parameters
    ----------
    tree : Tree
    mistakes : ndarray of shape (n_classes, n_classes)
        ``mistakes[true][decision]``.
    """
    total = 0.0
    for leaf in np.flatnonzero(tree.test < 0):
        total += float((tree.class_weights(int(leaf)) @ mistakes).min())
    return total / float(tree.class_weights(0).sum())
