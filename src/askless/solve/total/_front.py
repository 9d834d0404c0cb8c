"""The front of error against cost: what a smaller error costs at least.

Against the expected cost, a price on each mistake turns the front into problems of
least total cost. Each price that is solved gives a policy on the front, or near it, and
a line below which no policy lies. Against the worst cost, each budget is a problem of
its own: the least error within it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from askless.exceptions import InvalidOptionError, NoPolicyError
from askless.policy import Tree
from askless.solve._task import FrontPoint, Limits, Task
from askless.solve.search._search import search_exactly
from askless.solve.total._search import search_total

__all__ = [
    "Front",
    "cheapest_within_error",
    "least_error_within",
    "trace_expected",
    "trace_worst",
]

# What rounding may add to costs and errors, relatively.
ROUNDING = 1e-9
TIE_WEIGHT = 1e-7


@dataclass(frozen=True)
class Line:
    """No policy has ``cost + price * error`` below the value."""

    price: float
    value: float

    def cost_at(self, error: float) -> float:
        """Return the least cost of an error, by this line."""
        return self.value - self.price * error

    def is_met(self, error: float, cost: float) -> bool:
        """Return whether a policy lies on the line, but for rounding.

        What rounds is the sum of cost and mistakes, which may be much larger.
        """
        return cost + self.price * error <= self.value + 1e-8 * self.value + 1e-9


class Front:
    """Policies and lines of one task, found price by price.

    Parameters
    ----------
    task : Task
        What to solve; its own mistakes are not looked at.
    limits : Limits
        Time for all prices together.
    """

    def __init__(self, task: Task, limits: Limits) -> None:
        self.task = task
        self.limits = limits
        self.lines: list[Line] = [Line(0.0, 0.0)]
        self.trees: list[tuple[float, float, Tree]] = []

    def solve(self, price: float, seconds: float) -> tuple[float, float]:
        """Solve for one price of mistakes; return error and cost of its policy."""
        task = price_mistakes(self.task, price)
        found = search_total(task, self.share_of_time(seconds))
        assert isinstance(found.policy, Tree)
        self.lines.append(Line(price, found.lower_bound))
        return self.add(found.policy)

    def solve_without_error(self, price: float, seconds: float) -> tuple[float, float]:
        """Solve for policies without error, at a price no policy errs for.

        The search that knows no error is far quicker, where it may be used.
        """
        table = self.task.table
        if self.task.has_surprisals or table.has_likelihoods or table.indistinct:
            return self.solve(price, seconds)
        try:
            task = replace(self.task, mistakes=None, objective="expected")
            found = search_exactly(task, self.share_of_time(seconds))
        except InvalidOptionError:
            return self.solve(price, seconds)
        assert isinstance(found.policy, Tree)
        self.lines.append(Line(price, found.lower_bound))
        return self.add(found.policy)

    def share_of_time(self, seconds: float) -> Limits:
        """Return limits for one price, of at most so many seconds."""
        return Limits(min(seconds, self.limits.left()), None, self.limits.n_jobs)

    def add(self, tree: Tree) -> tuple[float, float]:
        """Keep a policy; return its error and its expected cost."""
        error, cost = error_of(tree), tree.expected_cost
        self.trees.append((error, cost, tree))
        return error, cost

    def bound(self, error: float) -> float:
        """Return what policies of at most an error cost at least."""
        return max(0.0, *(line.cost_at(error) for line in self.lines))

    def points(self) -> list[FrontPoint]:
        """Return the policies that no other one beats, by falling error."""
        kept: list[FrontPoint] = []
        least = np.inf
        for error, cost, tree in sorted(self.trees, key=lambda t: (t[0], t[1])):
            if cost >= least * (1 - ROUNDING) - ROUNDING:
                continue
            least = cost
            bound = min(self.bound(error), cost)
            is_proved = any(line.is_met(error, cost) for line in self.lines)
            kept.append(
                FrontPoint(error, cost, tree.worst_cost, tree, bound, is_proved)
            )
        return kept[::-1]


def price_mistakes(task: Task, price: float) -> Task:
    """Return the task of least total cost at one price for every mistake."""
    mistakes = price * (1.0 - np.eye(len(task.classes)))
    return replace(task, mistakes=mistakes, objective="total")


def error_of(tree: Tree) -> float:
    """Return the share of the weight that a tree decides wrongly, at best."""
    wrong = total = 0.0
    for leaf in np.flatnonzero(tree.test < 0):
        weights = tree.class_weights(int(leaf))
        wrong += float(weights.sum() - weights.max())
        total += float(weights.sum())
    return max(0.0, wrong / total)


def trace_expected(
    task: Task, limits: Limits, *, most_points: int = 60
) -> list[FrontPoint]:
    """Return the front of error against expected cost, by falling error.

    Parameters
    ----------
    task : Task
        What to solve.
    limits : Limits
        Time for the whole front.
    most_points : int, default=60
        Solve for at most so many prices of a mistake.
    """
    return _follow(task, limits, most_points).points()


def _follow(task: Task, limits: Limits, most_points: int) -> Front:
    """Solve for one price of a mistake after another, where the front is widest."""
    front = Front(task, limits)
    dear = _dearest_price(task)
    cheap = front.solve(0.0, limits.left())
    exact = front.solve_without_error(dear, limits.left() / 2)
    waiting = [(cheap, exact)]
    n_solved = 2
    while waiting and n_solved < most_points and limits.left() > 0:
        # The widest part of the front first.
        waiting.sort(key=lambda ends: ends[0][0] - ends[1][0])
        left, right = waiting.pop()
        if left[0] - right[0] <= ROUNDING or right[1] - left[1] <= ROUNDING:
            continue
        price = (right[1] - left[1]) / (left[0] - right[0])
        n_solved += 1
        found = front.solve(price, limits.left() / 2)
        on_line = left[1] + price * left[0]
        if found[1] + price * found[0] < on_line - 1e-7 * max(1.0, on_line):
            waiting += [(left, found), (found, right)]
    return front


def _dearest_price(task: Task) -> float:
    """Return a price of mistakes at which no test is too dear to avoid one.

    Where tests can err, one more test may always take a little off the error; the front
    ends where that costs more than a thousand times what all tests cost.
    """
    prior = task.table.prior[task.table.prior > 0]
    factor = 1000.0 if task.has_surprisals else 10.0
    return factor * max(1.0, task.table.prices.cost_of_all()) / float(prior.min())


def trace_worst(
    task: Task,
    limits: Limits,
    *,
    most_points: int = 200,
    most_error: float | None = None,
) -> list[FrontPoint]:
    """Return the front of error against worst cost, by falling error.

    Parameters
    ----------
    task, limits
        See :func:`trace_expected`.
    most_points : int, default=200
        Solve for at most so many budgets.
    most_error : float, optional
        Stop at the first budget that forces a larger error.
    """
    points: list[FrontPoint] = []
    budget: float | None = None
    for _ in range(most_points):
        own = Limits(max(0.05, limits.left() / 3), None, limits.n_jobs)
        point = least_error_within(task, own, budget)
        # A later policy that errs no more is cheaper, so it takes the place.
        while points and points[-1].error >= point.error - ROUNDING:
            points.pop()
        points.append(point)
        is_enough = most_error is not None and point.error > most_error
        if point.worst_cost <= 0 or limits.left() <= 0 or is_enough:
            break
        budget = point.worst_cost * (1 - ROUNDING)
    return points[::-1]


def least_error_within(task: Task, limits: Limits, budget: float | None) -> FrontPoint:
    """Return a policy of least error whose paths cost no more than a budget.

    Parameters
    ----------
    task, limits
        See :func:`trace_expected`.
    budget : float, optional
        None for no limit.
    """
    # Of policies that err the same the cheapest, by a weight that turns no error.
    cost_weight = TIE_WEIGHT / max(1.0, task.table.prices.cost_of_all())
    found = search_total(
        price_mistakes(task, 1.0), limits, budget=budget, cost_weight=cost_weight
    )
    tree = found.policy
    assert isinstance(tree, Tree)
    error = error_of(tree)
    bound = min(error, max(0.0, found.lower_bound - TIE_WEIGHT))
    is_proved = error <= bound + 2 * TIE_WEIGHT
    return FrontPoint(
        error, tree.expected_cost, tree.worst_cost, tree, bound, is_proved
    )


def cheapest_within_error(task: Task, limits: Limits, max_error: float) -> FrontPoint:
    """Return a cheap policy that errs no more than allowed, and a bound of its cost.

    Parameters
    ----------
    task, limits
        See :func:`trace_expected`; the objective of the task says which cost.
    max_error : float
        The largest share of the weight that may be decided wrongly.

    Raises
    ------
    NoPolicyError
        If no policy was found that errs so little.
    """
    allowed = max_error + ROUNDING
    if task.objective == "worst":
        points = trace_worst(task, limits, most_error=allowed)
        within = [point for point in points if point.error <= allowed]
        beyond = [point for point in points if point.error > allowed]
        if within:
            # Proved if what is cheaper is proved to err more.
            is_proved = not beyond or beyond[-1].lower_bound > allowed
            bound = within[0].worst_cost if is_proved else 0.0
            return replace(within[0], lower_bound=bound, is_proved=is_proved)
    else:
        front = _follow(task, limits, most_points=60)
        points = front.points()
        within = [point for point in points if point.error <= allowed]
        if within:
            best = min(within, key=lambda point: point.expected_cost)
            bound = min(best.expected_cost, front.bound(max_error))
            is_proved = best.expected_cost <= bound * (1 + 1e-6) + 1e-9
            return replace(best, lower_bound=bound, is_proved=is_proved)
    raise NoPolicyError(
        f"A policy must err on at most {max_error:g} of the weight. Got none; "
        f"the least error found is {points[-1].error:g}. Allow that much, or give more "
        "time."
    )
