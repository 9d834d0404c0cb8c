"""What solving a table gives: a policy, its exact costs, and a proved lower bound."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from askless.exceptions import InvalidOptionError
from askless.policy import Policy
from askless.solve._task import FrontPoint, Point, Task

if TYPE_CHECKING:
    from askless.solve.sensitivity import Sensitivity

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
        Half the width of the 99 % interval of a sampled expected cost, with objective
        "total" of the sampled total cost, else 0.

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
    # What was solved, to solve it again at other prices.
    _task: Task | None = field(default=None, repr=False, compare=False)

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

    def sensitivity(
        self,
        *,
        swing: float = 0.2,
        span: float = 10.0,
        time_limit: float = 30.0,
        most_probabilities: int = 10,
        **how: Any,
    ) -> Sensitivity:
        """Say which prices, priors and probabilities the solution hangs on.

        Parameters
        ----------
        swing : float, default=0.2
            How far each number is moved, down and up, to see its effect on the cost of
            the policy as it is.
        span : float, default=10.0
            How many times larger prices may get in the search for another first test.
        time_limit : float, default=30.0
            Seconds for this search; it solves the table again and again, for the number
            of largest effect first.
        most_probabilities : int, default=10
            How many probabilities are looked at, those of largest effect, beside those
            whose move within the swing changes a decision.
        **how
            What :func:`solve` was given: a method, a budget, ...

        Returns
        -------
        Sensitivity
            A row for each number, the largest effect first.

        Raises
        ------
        InvalidOptionError
            If the policy is no tree, or another cost was to be small than the expected
            or the total one.

        Examples
        --------
        >>> import askless
        >>> table = askless.Table.from_likelihoods(
        ...     {"swab": {"ill": 0.9, "well": 0.1}}, prior={"ill": 1, "well": 3},
        ...     costs=askless.Costs({"swab": 2}, mistakes=20))
        >>> found = askless.solve(table, objective="total").sensitivity()
        >>> rows = {row.name: row for row in found.rows}
        >>> below, above = rows["price of swab"].first_test
        >>> round(above.value, 6), above.to
        (3.0, 'decide at once')
        """
        from askless.solve.sensitivity._analyse import analyse

        if self._task is None:
            raise InvalidOptionError(
                "A solution must come from solve to be solved again. Got one that was "
                "made otherwise. Use the solution that solve returns."
            )
        return analyse(
            self.policy,
            self._task,
            is_proved=self.status == "optimal",
            swing=swing,
            span=span,
            time_limit=time_limit,
            most_probabilities=most_probabilities,
            how=how,
        )
