"""What solving a table gives: a policy, its exact costs, and a proved lower bound."""

from __future__ import annotations

from dataclasses import dataclass, field

from askless.policy import Policy
from askless.solve._task import FrontPoint, Point

__all__ = ["Solution"]


@dataclass(frozen=True)
class Solution:
    """A policy for a known table, and what is proved about it.

    Attributes
    ----------
    policy : Policy
        The policy that was found.
    method : str
        The method that found it.
    objective : {"expected", "worst", "both", "total", "tradeoff"}
        What was to be small.
    expected_cost, worst_cost : float
        Exact costs on the table: mean over the prior, and of the dearest case.
    error : float
        Share of the prior that is decided wrongly.
    mistake_cost : float
        What wrong decisions cost on average; 0 if mistakes have no price.
    lower_bound : float
        No policy that decides all cases rightly costs less, by the objective; with the
        objective "total", no policy at all does.
    bound_name : str
        The bound that gave it.
    status : {"optimal", "feasible"}
        "optimal" if the cost meets the lower bound, to a millionth.
    notes : tuple of str
        Remarks on the table.
    pareto : tuple of Point
        With objective "both": the trade-offs, each a worst cost, an expected cost and
        its policy, in ascending order of the worst cost.
    error_bound : float
        With a budget and the method "exact": no policy within it errs less.
    expected_front, worst_front : tuple of FrontPoint
        With objective "tradeoff": what a smaller error costs, in expected and in worst
        cost, by falling error; each point has its policy and what is proved of it.
    is_exact : bool
        Whether costs are computed; False if the policy is a rule whose states are too
        many to follow, so that they had to be sampled.
    margin : float
        Half the width of the 99 % interval of a sampled expected cost, else 0.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"])
    >>> solution = askless.solve(table)
    >>> solution.worst_cost, round(solution.expected_cost, 4), solution.status
    (2.0, 1.6667, 'optimal')
    """

    policy: Policy
    method: str
    objective: str
    expected_cost: float
    worst_cost: float
    error: float
    lower_bound: float
    bound_name: str
    status: str
    notes: tuple[str, ...] = field(default=())
    pareto: tuple[Point, ...] = field(default=())
    is_exact: bool = True
    margin: float = 0.0
    mistake_cost: float = 0.0
    error_bound: float = 0.0
    expected_front: tuple[FrontPoint, ...] = field(default=())
    worst_front: tuple[FrontPoint, ...] = field(default=())

    @property
    def total_cost(self) -> float:
        """Expected cost of tests and of mistakes together."""
        return self.expected_cost + self.mistake_cost

    @property
    def cost(self) -> float:
        """The cost that was to be small."""
        if self.objective == "total":
            return self.total_cost
        return self.worst_cost if self.objective == "worst" else self.expected_cost

    @property
    def gap(self) -> float:
        """How far the cost can be above the best possible one, as a share of it.

        0 means proved optimal.
        """
        if self.cost <= self.lower_bound:
            return 0.0
        return (self.cost - self.lower_bound) / self.cost
