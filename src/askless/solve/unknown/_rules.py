"""Rules for tables with unknown outcomes: score every test of the state, take the best.

A state is the cases that the answers leave possible, each lighter by the chances of the
unknown outcomes that it would have had to show. The scoring is compiled; here rules get
their names, and a rule is written out as a tree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.unknown._pricing import price_states
from askless._core.unknown._tree import write_tree
from askless._core.unknown._walk import RuleWalk
from askless.exceptions import InvalidOptionError, NoPolicyError
from askless.policy import Nodes, Policy, Rule, Tree
from askless.policy._rule import RULES
from askless.policy._sample import sample_policy
from askless.solve._task import MethodResult, Priced, Task
from askless.solve.unknown._table import (
    find_neighbourhoods,
    group_classes,
    make_kernel,
)

__all__ = [
    "RULES",
    "check_task",
    "follow_walk",
    "grow_ec2",
    "grow_elimination",
    "grow_gbs",
    "grow_information",
    "grow_odtn_h",
    "grow_odtn_r",
    "grow_rule",
    "grow_tree",
    "make_rule",
    "make_walk",
    "price_sampled",
    "write_out",
]

FORMS = ("paper", "released")
# A rule is written out as a tree of at most so many nodes.
MAX_NODES = 200_000
# A rule is priced by at most so many states, of tables of at most so many cases.
MAX_STATES = 500_000
MOST_PRICED = 12_000
MOST_PRICED_CELLS = 1_000_000


def grow_odtn_r(
    task: Task, *, form: str = "paper", online: bool = False
) -> MethodResult:
    """ODTN_r: buy what splits the cases evenly and rules out most of them, on average.

    Parameters
    ----------
    task : Task
        What to solve.
    form : {"paper", "released"}, default="paper"
        The score as the paper prints it, or as the program that its authors released
        works it out.
    online : bool, default=False
        Return the rule itself, which chooses test by test, instead of its tree.
    """
    return grow_rule(task, "odtn-r", form, online=online)


def grow_odtn_h(
    task: Task, *, form: str = "paper", online: bool = False
) -> MethodResult:
    """ODTN_h: the same, each way to draw unknown outcomes counted as its own case.

    Parameters
    ----------
    task, form, online
        See :func:`grow_odtn_r`.
    """
    return grow_rule(task, "odtn-h", form, online=online)


def grow_elimination(task: Task, *, online: bool = False) -> MethodResult:
    """Buy what rules out the largest share of the opponents, on average."""
    return grow_rule(task, "elimination", online=online)


def grow_information(task: Task, *, online: bool = False) -> MethodResult:
    """Buy what tells most bits about the decision."""
    return grow_rule(task, "information", online=online)


def grow_gbs(task: Task) -> MethodResult:
    """Generalised binary search, without tests that can rule out no case."""
    return grow_rule(task, "gbs")


def grow_ec2(task: Task) -> MethodResult:
    """EC2, without tests that can rule out no case."""
    return grow_rule(task, "ec2")


def grow_rule(
    task: Task, name: str, form: str = "paper", *, online: bool = False
) -> MethodResult:
    """Return the policy of a rule by name: its tree, or itself if that is too large."""
    if form not in FORMS:
        raise InvalidOptionError(
            f"form must be 'paper' or 'released'. Got {form!r}. Choose one of them."
        )
    walk = make_walk(task, RULES[name, form])
    return follow_walk(task, walk, lambda: make_rule(task, name, form), online=online)


def grow_tree(task: Task, name: str, form: str = "paper") -> Tree:
    """Return the tree of a rule.

    Raises
    ------
    NoPolicyError
        If it is too large.
    """
    return write_out(task, make_walk(task, RULES[name, form]))


def follow_walk(
    task: Task, walk: RuleWalk, make: Callable[[], Policy], *, online: bool = False
) -> MethodResult:
    """Return the tree of a walk; if that is too large or not wanted, what `make` makes.

    The cost is then worked out state by state, and sampled if there are too many.
    """
    # Every decision needs a leaf.
    fits = 2 * len(np.unique(task.class_ids)) - 1 <= MAX_NODES
    if not online and fits:
        try:
            return MethodResult(write_out(task, walk))
        except NoPolicyError:
            if task.stop == "neighbourhood":
                raise
    policy = make()
    return MethodResult(policy, priced=price_walk(task, walk, policy))


def make_rule(
    task: Task, name: str, form: str = "paper", order: NDArray[np.int32] | None = None
) -> Rule:
    """Return a rule as a policy that chooses test by test."""
    table = task.table
    return Rule(
        table.tests,
        task.classes,
        table.prices,
        rule=name,
        form=form,
        case_codes=table.codes,
        case_class=task.class_ids,
        case_weights=table.prior,
        chances=table.chances,
        order=order,
        mistakes=task.mistakes,
    )


def price_walk(task: Task, walk: RuleWalk, policy: Policy) -> Priced:
    """Return what a policy costs, sampled if its states are too many."""
    table = task.table
    has_plain_prices = not table.prices.delayed.any()
    is_small = table.n_cases <= MOST_PRICED and (
        table.n_cases * table.n_tests <= MOST_PRICED_CELLS
    )
    if has_plain_prices and is_small and task.mistakes is None:
        cases = group_classes(task.class_ids)
        try:
            expected, worst = price_states(walk, cases, MAX_STATES, 2**30)
            wrong, _ = price_states(walk, cases, MAX_STATES, 2**30, counts_wrong=True)
        except OverflowError:
            pass
        else:
            return Priced(expected, worst, max(wrong, 0.0))
    return price_sampled(task, policy)


def price_sampled(task: Task, policy: Policy) -> Priced:
    """Return what a policy costs on drawn cases."""
    sample = sample_policy(policy, task.table, task.class_ids)
    return Priced(
        sample.expected_cost, sample.worst_cost, sample.error, False, sample.margin
    )


def make_walk(
    task: Task, rule: int, *, order: NDArray[np.int32] | None = None, skips: bool = True
) -> RuleWalk:
    """Return the walk of a rule, or of tests in a fixed order."""
    check_task(task)
    options: dict[str, Any] = {}
    if task.stop == "neighbourhood":
        options["near"] = find_neighbourhoods(task)
    if rule in (RULES["odtn-h", "paper"], RULES["odtn-h", "released"]):
        options["copy_bits"] = task.table.possible.draw_bits
        # Copies go down with the draws that were seen, not with their chances.
        options["keys_all_done"] = True
    return RuleWalk(
        make_kernel(task), task.table.prices.engine, rule, order=order, skips=skips,
        **options,
    )  # fmt: skip


def write_out(task: Task, walk: RuleWalk) -> Tree:
    """Return the tree that a walk stands for."""
    try:
        arrays = write_tree(walk, group_classes(task.class_ids), MAX_NODES)
    except OverflowError:
        raise NoPolicyError(
            f"A tree must have at most {MAX_NODES:,} nodes. Got more: every unknown "
            "outcome doubles what may be seen. Settle some unknown outcomes."
        ) from None
    return task.make_tree(Nodes.from_arrays(arrays))


def check_task(task: Task) -> None:
    """Refuse what the rules cannot carry."""
    table = task.table
    if table.is_ordered.any():
        name = table.test_names[int(np.flatnonzero(table.is_ordered)[0])]
        raise InvalidOptionError(
            "This method gives every outcome a branch and knows no thresholds. Got "
            f"{name!r} to be compared with thresholds. Use a greedy method, or cut "
            "numbers into levels."
        )
