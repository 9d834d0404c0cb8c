"""The methods that solve a table, by name. A new method is one entry here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

from askless.policy import Policy
from askless.solve._auto import solve_automatically, solve_unknown_automatically
from askless.solve._task import Limits, MethodResult, Task
from askless.solve.greedy._dectree import grow_dectree_tree
from askless.solve.greedy._greedy import grow_ec2_tree, grow_gbs_tree, grow_greedy_tree
from askless.solve.search._search import search_exactly, search_restricted
from askless.solve.total._auto import solve_total_automatically
from askless.solve.total._online import solve_information_total, solve_value_total
from askless.solve.total._rules import refuse_without_error
from askless.solve.total._search import search_total, search_total_restricted
from askless.solve.unknown._rules import (
    grow_ec2,
    grow_elimination,
    grow_gbs,
    grow_information,
    grow_odtn_h,
    grow_odtn_r,
)
from askless.solve.unknown._search import search_unknown, search_unknown_restricted
from askless.solve.unknown._sequences import grow_low_adaptive, grow_non_adaptive
from askless.solve.unknown._sparse import grow_sparse

__all__ = ["METHODS", "Method"]


@dataclass(frozen=True)
class Method:
    """A way to solve a table.

    Attributes
    ----------
    name : str
        How to ask for it.
    solve : callable
        Takes a Task, Limits if it is anytime, and the method's options; returns a
        Policy, or a MethodResult with a bound.
    summary : str
        What it does, in a sentence.
    guarantee : str
        What is proved about its policies.
    options : dict of str to str
        Its options and what they mean.
    is_anytime : bool
        Whether it takes limits of time, and returns the best so far when stopped.
    has_stops : bool
        Whether it may stop at a neighbourhood or a clique.
    is_random : bool
        Whether it draws at random and takes a random_state.
    solve_unknown : callable or None
        The same for tasks with surprisals: unknown outcomes, or stops where cases look
        alike. None if `solve` takes these too.
    solve_total : callable or None
        The same for the least total cost of tests and mistakes; takes a budget too.
        None if the method knows only policies without error.
    has_thresholds : bool
        Whether `solve` compares numbers with thresholds, so that it gets tables with
        thresholds whatever is unknown.
    """

    name: str
    solve: Callable[..., Policy | MethodResult]
    summary: str
    guarantee: str
    options: dict[str, str] = field(default_factory=dict)
    is_anytime: bool = False
    has_stops: bool = False
    is_random: bool = False
    solve_unknown: Callable[..., Policy | MethodResult] | None = None
    solve_total: Callable[..., Policy | MethodResult] | None = None
    has_thresholds: bool = False

    def run(self, task: Task, limits: Limits, options: dict[str, Any]) -> MethodResult:
        """Solve a task; options that do not go with unknown outcomes are left out."""
        solve = self.solve
        if task.objective == "total":
            assert self.solve_total is not None
            solve = self.solve_total
        elif self.solve_unknown is not None and self._wants_unknown(task):
            solve = self.solve_unknown
            known = signature(solve).parameters
            options = {name: v for name, v in options.items() if name in known}
        if self.is_anytime:
            found = solve(task, limits, **options)
        else:
            found = solve(task, **options)
        return found if isinstance(found, MethodResult) else MethodResult(found)

    def _wants_unknown(self, task: Task) -> bool:
        if self.has_thresholds and task.table.is_ordered.any():
            return False
        return task.has_surprisals


_METHODS = [
    Method(
        "auto",
        solve_automatically,
        "Proves the optimum when it can within the time limit (ten seconds if none is "
        "given), else gives the best that it found.",
        "A lower bound with every policy.",
        is_anytime=True,
        has_stops=True,
        solve_unknown=solve_unknown_automatically,
        solve_total=solve_total_automatically,
        has_thresholds=True,
    ),
    Method(
        "exact",
        search_exactly,
        "Branch and bound over sets of cases, with a table of what is proved.",
        "The optimum if it ends; the best so far and a lower bound at any moment.",
        {
            "max_memory": "bytes that remembering states may take",
            "cover_depth": "how many tests of a certificate are searched exactly",
        },
        is_anytime=True,
        has_stops=True,
        solve_unknown=search_unknown,
        solve_total=search_total,
    ),
    Method(
        "search",
        search_restricted,
        "The same search, cut to the K best-scored tests of each state, K = 1, 2, 3, "
        "... as time allows (ten seconds if no limit is given).",
        "The optimum once K is the number of tests; before that none.",
        {
            "max_breadth": "the largest K",
            "max_memory": "bytes that remembering states may take",
            "cover_depth": "how many tests of a certificate are searched exactly",
        },
        is_anytime=True,
        has_stops=True,
        solve_unknown=search_unknown_restricted,
        solve_total=search_total_restricted,
    ),
    Method(
        "greedy",
        grow_greedy_tree,
        "Buys the test that takes most off an impurity for its price, in its worst "
        "outcome or on average.",
        "With minimax splits, worst cost within ln F + 1 of the best, F the impurity "
        "of all cases, on tables without unknown outcomes.",
        {
            "impurity": "pairs, powers, hinged, product-hinge or polynomial",
            "split": "'minimax': by the worst outcome; 'expected': on average",
            "power": "of 'powers': 2, 3, ...",
            "alpha": "of the hinges: what each class may have before it counts",
            "terms": "of 'polynomial': pairs of a coefficient and exponents by class",
            "delta": "stop at a set of at most this impurity",
            "max_depth": "ask at most so many tests on any path",
            "weights": "'count': every case counts once; 'prior': by its weight",
            "free_reuse": "score thresholds on a number already bought as free",
        },
    ),
    Method(
        "dectree",
        grow_dectree_tree,
        "Puts down a chain of tests within a budget, again for all that leaves it, and "
        "keeps the worst and the expected cost low at once.",
        "Worst and expected cost both within O(log n) of the best, on tables without "
        "groups, delays and unknown outcomes.",
        {
            "form": "'recommended'; 'literal': buy what the paper buys, useful or not",
            "keep_all": "False: judge a budget by the greedy as printed",
        },
    ),
    Method(
        "gbs",
        grow_gbs_tree,
        "Generalised binary search: buys the test that rules out most weight for its "
        "price.",
        "Expected number of tests within O(log 1/p) of the best when every case is a "
        "class of its own, p the least weight.",
        has_stops=True,
        solve_unknown=grow_gbs,
        has_thresholds=True,
    ),
    Method(
        "ec2",
        grow_ec2_tree,
        "Buys the test that cuts most pairs of different class, by weight, for its "
        "price.",
        "Expected cost within O(log 1/p) of the best, p the least weight.",
        has_stops=True,
        solve_unknown=grow_ec2,
        has_thresholds=True,
    ),
    Method(
        "odtn-r",
        grow_odtn_r,
        "For unknown outcomes: buys the test that splits the cases evenly and rules "
        "out most of them on average, for its price.",
        "Expected number of tests within O(r + log m) of the best, m the cases and r "
        "the most unknown outcomes of a test.",
        {
            "form": "'paper'; 'released': as its authors' program works the score out",
            "online": "return the rule itself, which chooses test by test, not a tree",
        },
        has_stops=True,
    ),
    Method(
        "odtn-h",
        grow_odtn_h,
        "The same, with every way to draw the unknown outcomes counted as a case of "
        "its own.",
        "Expected number of tests within O(h + log m) of the best, h the most unknown "
        "outcomes of a case.",
        {
            "form": "'paper'; 'released': as its authors' program works the score out",
            "online": "return the rule itself, which chooses test by test, not a tree",
        },
        has_stops=True,
    ),
    Method(
        "elimination",
        grow_elimination,
        "Buys the test that rules out the largest share of the opponents on average, "
        "for its price.",
        "None; on public tables it is cheaper than the rules above.",
        {"online": "return the rule itself, which chooses test by test, not a tree"},
        has_stops=True,
    ),
    Method(
        "information",
        grow_information,
        "Buys the test that tells most bits about the decision, for its price.",
        "None.",
        {"online": "return the rule itself, which chooses test by test, not a tree"},
        has_stops=True,
        solve_total=solve_information_total,
    ),
    Method(
        "value",
        refuse_without_error,
        "For the total cost: buys the test that takes most off the expected cost of "
        "mistakes, for its price, and stops where stopping is best.",
        "None.",
        {"online": "return a policy that chooses test by test, not a tree"},
        solve_total=solve_value_total,
    ),
    Method(
        "non-adaptive",
        grow_non_adaptive,
        "For unknown outcomes: tests in one order for all cases, chosen on draws of "
        "these outcomes, until the case at hand is settled.",
        "Expected number of tests within O(log m) of the best order.",
        {
            "samples": "how often the unknown outcomes of each case are drawn",
            "threshold": "the least score of a test; then pairs are told one by one",
        },
        is_random=True,
    ),
    Method(
        "low-adaptive",
        grow_low_adaptive,
        "The same order, without tests that can rule out no case any more.",
        "Never dearer than the order itself.",
        {
            "samples": "how often the unknown outcomes of each case are drawn",
            "threshold": "the least score of a test; then pairs are told one by one",
        },
        is_random=True,
    ),
    Method(
        "sparse",
        grow_sparse,
        "For tables in which almost every outcome is unknown: rules out as many cases "
        "as it can, and now and then checks those that most tests speak about.",
        "Expected number of tests within O(log m) of the best where a test knows the "
        "outcome of few cases.",
    ),
]

METHODS: dict[str, Method] = {method.name: method for method in _METHODS}
