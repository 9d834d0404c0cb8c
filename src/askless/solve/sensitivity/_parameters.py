"""The numbers of a table that may move: prices, mistakes, priors, probabilities.

A parameter can write itself into a task at another value. It must not know any policy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from askless.problem import Table
from askless.problem.likelihood._cells import set_cells
from askless.solve._task import Task

__all__ = ["Parameter", "list_parameters", "list_probabilities"]

# How near to 0 and 1 priors and probabilities are moved, as a share of the way.
NEAR = 1e-3


@dataclass(frozen=True)
class Parameter:
    """A number of a table.

    Attributes
    ----------
    kind : {"price", "mistakes", "prior", "probability"}
    name : str
        What it is, for people.
    value : float
        What it is now.
    low, high : float
        How far it is moved at most.
    at : callable
        Takes a value; returns the task with it.
    test : int
        Of a price or a probability.
    case : int
        Of a probability; of a prior, the class.
    code : int
        Of a probability.
    """

    kind: str
    name: str
    value: float
    low: float
    high: float
    at: Callable[[float], Task]
    test: int = -1
    case: int = -1
    code: int = -1

    def swung(self, swing: float) -> tuple[float, float]:
        """Return the value moved down and up by a share of itself.

        A prior or a probability is moved by that share of what is nearer, 0 or 1.
        """
        is_share = self.kind in ("prior", "probability")
        step = swing * (min(self.value, 1 - self.value) if is_share else self.value)
        return max(self.value - step, 0.0), self.value + step


def list_parameters(task: Task, span: float) -> list[Parameter]:
    """Return the prices, what mistakes cost, and the priors of the classes.

    Parameters
    ----------
    task : Task
    span : float
        How many times larger prices may get.
    """
    table = task.table
    found = []
    for test in range(table.n_tests):
        if table.repeats[test] >= 0:
            # A repeat has the price of the test that it repeats.
            continue
        price = float(table.prices.full[test])
        high = span * price if price > 0 else table.prices.cost_of_all()
        name = f"price of {table.test_names[test]}"
        at = _moving(task, _with_price, test)
        found.append(Parameter("price", name, price, 0.0, high, at, test=test))
    if task.objective == "total":
        at = _moving(task, _with_mistakes)
        largest = float(task.mistakes.max()) if task.mistakes is not None else 0.0
        found.append(
            Parameter("mistakes", "mistakes", largest, 0.0, span * largest, at)
        )
    shares = np.bincount(task.class_ids, table.prior, len(task.classes))
    shares = shares / shares.sum()
    for index, label in enumerate(task.classes):
        share = float(shares[index])
        if 0 < share < 1:
            at = _moving(task, _with_prior, index)
            ends = NEAR * share, 1 - NEAR * (1 - share)
            name = f"prior of {label}"
            found.append(Parameter("prior", name, share, *ends, at, case=index))
    return found


def list_probabilities(task: Task) -> list[Parameter]:
    """Return every probability of the table that is neither 0 nor 1.

    Of a test with two outcomes the second one is listed, as one says the other.
    """
    table = task.table
    found = []
    for test in range(table.n_tests):
        own = table.likelihoods[test]
        if own is None or table.repeats[test] >= 0:
            continue
        codes = range(1, 2) if len(own) == 2 else range(len(own))
        for code in codes:
            for case in np.flatnonzero((own[code] > 0) & (own[code] < 1)).tolist():
                chance = float(own[code, case])
                label = table.tests[test].label(code)
                name = f"{table.test_names[test]} = {label} if {table.cases[case]}"
                at = _moving(task, _with_chance, test, case, code)
                ends = NEAR * chance, 1 - NEAR * (1 - chance)
                place = {"test": test, "case": case, "code": code}
                found.append(Parameter("probability", name, chance, *ends, at, **place))
    return found


def _moving(
    task: Task, write: Callable[..., Task], *where: int
) -> Callable[[float], Task]:
    return lambda value: write(task, *where, value)


def _copies(table: Table, test: int) -> list[int]:
    """Return a test and its repeats."""
    return [test, *(i for i, of in enumerate(table.repeats) if of == test)]


def _with_price(task: Task, test: int, value: float) -> Task:
    """Move the price of a test and of its repeats, discounted and by outcome alike."""
    table = task.table
    prices = table.prices
    now = float(prices.full[test])
    full, discounted = prices.full.copy(), prices.discounted.copy()
    by_outcome = dict(prices.by_outcome)
    for one in _copies(table, test):
        full[one] = value
        if now > 0:
            # Rounding must not lift it above the full price.
            discounted[one] = min(prices.discounted[one] * (value / now), value)
            if one in by_outcome:
                by_outcome[one] = by_outcome[one] * (value / now)
        else:
            discounted[one] = value
    moved = replace(prices, full=full, discounted=discounted, by_outcome=by_outcome)
    return replace(task, table=table._changed(prices=moved))


def _with_mistakes(task: Task, value: float) -> Task:
    assert task.mistakes is not None
    mistakes = task.mistakes * (value / float(task.mistakes.max()))
    costs = task.table.costs.with_mistakes(mistakes)
    return replace(task, table=task.table._changed(costs=costs), mistakes=mistakes)


def _with_prior(task: Task, index: int, value: float) -> Task:
    """Give a class another share; the others keep what they have to each other."""
    prior = task.table.prior / task.table.prior.sum()
    is_in = task.class_ids == index
    share = prior[is_in].sum()
    moved = np.where(is_in, prior * (value / share), prior * (1 - value) / (1 - share))
    return replace(task, table=task.table._changed(prior=moved))


def _with_chance(task: Task, test: int, case: int, code: int, value: float) -> Task:
    """Give an outcome of a case another chance; the other outcomes share the rest."""
    table = task.table
    own = table.likelihoods[test]
    assert own is not None
    shares = own[:, case] * ((1 - value) / (1 - own[code, case]))
    shares[code] = value
    cells = {(one, case): shares for one in _copies(table, test)}
    codes, likelihoods = set_cells(table.codes, table.likelihoods, table.chances, cells)
    return replace(task, table=table._changed(codes=codes, likelihoods=likelihoods))
