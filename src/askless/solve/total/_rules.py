"""Rules that choose one step ahead, with the best stopping on the tree that they grow.

Both rules score every test of a state at once. A tree is grown until a state is settled
or rare, and then cut back from the leaves: where deciding at once costs no more than
all that follows, it decides. When to stop matters more than which rule chooses.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from itertools import count
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidOptionError
from askless.policy import Tree
from askless.solve._task import Task
from askless.solve.total._arrays import TotalArrays, state_total
from askless.solve.total._tree import Place, expand_total, root_of, split_place

__all__ = [
    "grow_information_total",
    "grow_value_total",
    "refuse_without_error",
    "score_information",
    "score_value",
]

Floats = NDArray[np.float64]
Score = Callable[[TotalArrays, Place], Floats]
# A tree is grown by at most so many places, the likeliest first.
MOST_PLACES = 20_000
# Bits, or shares of the weight, that are no gain but rounding.
NO_GAIN = 1e-12


def refuse_without_error(task: Task, *, online: bool = False) -> NoReturn:
    """Refuse a task that does not count mistakes."""
    raise InvalidOptionError(
        "The value of a test is what it takes off the cost of mistakes, so the method "
        f"'value' is for objective='total'. Got objective={task.objective!r}. Use "
        "objective='total', or another method."
    )


def grow_information_total(task: Task, *, budget: float | None = None) -> Tree:
    """Grow by bits about the class for the price, and stop where stopping is best.

    Parameters
    ----------
    task : Task
        What to solve, with mistakes.
    budget : float, optional
        No path spends more.
    """
    return _grow(task, score_information, budget)


def grow_value_total(task: Task, *, budget: float | None = None) -> Tree:
    """Grow by what a test takes off the cost of mistakes, for the price.

    Parameters
    ----------
    task, budget
        See :func:`grow_information_total`.
    """
    return _grow(task, score_value, budget)


def score_information(arrays: TotalArrays, place: Place) -> Floats:
    """Return the bits of the class that each test tells, by weight."""
    by_class = _by_class(arrays, place)
    before = _times_log(place.weight.sum()) - _times_log(by_class.sum(axis=0)).sum()
    parts = _shown_by_class(arrays, place, by_class)
    after = _times_log(parts.sum(axis=1)) - _times_log(parts).sum(axis=1)
    told = before - np.add.reduceat(after, arrays.first[:-1])
    return np.asarray(np.maximum(told, 0.0))


def score_value(arrays: TotalArrays, place: Place) -> Floats:
    """Return what each test takes off the expected cost of mistakes, by weight."""
    by_class = _by_class(arrays, place)
    before = float((by_class.sum(axis=0) @ arrays.mistakes).min())
    parts = _shown_by_class(arrays, place, by_class)
    after = (parts @ arrays.mistakes).min(axis=1)
    gain = before - np.add.reduceat(after, arrays.first[:-1])
    return np.asarray(np.maximum(gain, 0.0))


def _by_class(arrays: TotalArrays, place: Place) -> Floats:
    """Return the weight of each case, in the column of its class."""
    columns = np.zeros((len(place.cases), len(arrays.mistakes)))
    columns[np.arange(len(place.cases)), arrays.class_id[place.cases]] = place.weight
    return columns


def _shown_by_class(arrays: TotalArrays, place: Place, by_class: Floats) -> Floats:
    """Return the weight of each class by what each test shows: a row for each code."""
    if len(place.cases) == arrays.n_cases:
        return np.asarray(arrays.chance @ by_class)
    return np.asarray(arrays.chance[:, place.cases] @ by_class)


def _times_log(values: NDArray[np.float64] | float) -> Floats:
    values = np.asarray(values, dtype=np.float64)
    logs = np.zeros_like(values)
    np.log2(values, out=logs, where=values > 0)
    return np.asarray(values * logs)


def _grow(task: Task, score: Score, budget: float | None) -> Tree:
    """Grow the likeliest places first, then stop where stopping is best."""
    delayed = np.flatnonzero(task.table.prices.delayed)
    if len(delayed):
        raise InvalidOptionError(
            "A rule chooses every test by what was seen before, and takes no delays. "
            f"Got {task.table.test_names[delayed[0]]!r}, whose result comes too late "
            "to choose by. Use method='exact'."
        )
    arrays = state_total(task)
    root = root_of(arrays)
    chosen: dict[int, tuple[int, list[int]]] = {}
    places: list[Place] = [root]
    ticket = count()
    waiting = [(-float(root.weight.sum()), next(ticket), 0)]
    while waiting and len(places) < MOST_PLACES:
        _, _, index = heapq.heappop(waiting)
        place = places[index]
        test = _choose(task, arrays, place, score, budget)
        if test < 0:
            continue
        parts = [part for _, part in split_place(task, arrays, place, test)]
        chosen[index] = (test, list(range(len(places), len(places) + len(parts))))
        for part in parts:
            heapq.heappush(
                waiting, (-float(part.weight.sum()), next(ticket), len(places))
            )
            places.append(part)
    tests = _stop_best(arrays, places, chosen)
    index_of = {place.path: i for i, place in enumerate(places)}

    def choose(place: Place) -> Sequence[int]:
        test = tests[index_of[place.path]]
        return () if test < 0 else (test,)

    return expand_total(task, choose)


def _choose(
    task: Task, arrays: TotalArrays, place: Place, score: Score, budget: float | None
) -> int:
    """Return the test of the best score for its price, -1 if none gains anything."""
    bill = task.table.prices.open_bill()
    for done in place.done:
        bill.charge(done)
    gains = score(arrays, place)
    best, best_rate = -1, 0.0
    for test in np.flatnonzero(gains > NO_GAIN * place.weight.sum()).tolist():
        if test in place.done or _is_later_copy(arrays, place, test):
            continue
        codes = range(len(arrays.codes_of(test)))
        most = max(bill.price(test, code) for code in codes)
        if budget is not None and place.spent + most > budget * (1 + 1e-12):
            continue
        shown = arrays.chance[list(arrays.codes_of(test))][:, place.cases]
        weights = shown @ place.weight
        price = sum(
            w * bill.price(test, code) for code, w in zip(codes, weights, strict=True)
        )
        rate = np.inf if price <= 0 else gains[test] / price
        if rate > best_rate:
            best, best_rate = test, rate
    return best


def _is_later_copy(arrays: TotalArrays, place: Place, test: int) -> bool:
    earlier = int(arrays.earlier[test])
    return earlier >= 0 and earlier not in place.done


def _stop_best(
    arrays: TotalArrays,
    places: list[Place],
    chosen: dict[int, tuple[int, list[int]]],
) -> list[int]:
    """Return the test of each place, -1 where deciding at once costs no more."""
    tests = [-1] * len(places)
    values = [0.0] * len(places)
    # A place is listed before all that follows it.
    for index in range(len(places) - 1, -1, -1):
        place = places[index]
        by_class = np.bincount(
            arrays.class_id[place.cases],
            weights=place.weight,
            minlength=len(arrays.mistakes),
        )
        values[index] = float((by_class @ arrays.mistakes).min())
        if index in chosen:
            test, parts = chosen[index]
            spent = sum(
                (places[p].spent - place.spent) * places[p].weight.sum() for p in parts
            )
            going_on = spent + sum(values[p] for p in parts)
            if going_on < values[index]:
                tests[index], values[index] = test, going_on
    return tests
