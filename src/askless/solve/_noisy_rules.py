"""Rules for tables with unknown outcomes: score every test of the state, take the best.

A state is the cases that the answers leave possible, each lighter by the chances of the
unknown outcomes that it would have had to show. The scoring is compiled; here rules get
their names, and a rule is written out as a tree.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core._noisy_tree import RuleWalk
from askless.exceptions import InvalidOptionError, NoPolicyError
from askless.policy import Tree
from askless.solve._noisy_table import (
    count_copies,
    group_labels,
    make_kernel,
    pack_bits,
    pair_prices,
)
from askless.solve._task import Task

__all__ = [
    "RULES",
    "grow_elimination",
    "grow_information",
    "grow_noisy_ec2",
    "grow_noisy_gbs",
    "grow_odtn_h",
    "grow_odtn_r",
    "grow_rule",
]

# By name and form; the numbers are those of the kernel.
RULES = {
    ("odtn-r", "paper"): 0,
    ("odtn-r", "released"): 1,
    ("odtn-h", "paper"): 2,
    ("odtn-h", "released"): 3,
    ("elimination", "paper"): 4,
    ("information", "paper"): 5,
    ("gbs", "paper"): 6,
    ("ec2", "paper"): 7,
}
FORMS = ("paper", "released")
# A rule is written out as a tree of at most so many nodes.
MAX_NODES = 200_000
# The neighbourhood of every case takes a bit for every other one.
MOST_NEAR = 20_000


def grow_odtn_r(task: Task, *, form: str = "paper") -> Tree:
    """ODTN_r: buy what parts the cases evenly and rules out most of them, on average.

    Parameters
    ----------
    task : Task
        What to solve.
    form : {"paper", "released"}, default="paper"
        The score as the paper prints it, or as the program that its authors released
        works it out.
    """
    return grow_rule(task, "odtn-r", form)


def grow_odtn_h(task: Task, *, form: str = "paper") -> Tree:
    """ODTN_h: the same, every fall of the unknown coins counted as a case of its own.

    Parameters
    ----------
    task, form
        See :func:`grow_odtn_r`.
    """
    return grow_rule(task, "odtn-h", form)


def grow_elimination(task: Task) -> Tree:
    """Buy what rules out the largest share of the opponents, on average."""
    return grow_rule(task, "elimination")


def grow_information(task: Task) -> Tree:
    """Buy what tells most bits about the decision."""
    return grow_rule(task, "information")


def grow_noisy_gbs(task: Task) -> Tree:
    """Generalised binary search, without tests that can rule out no case."""
    return grow_rule(task, "gbs")


def grow_noisy_ec2(task: Task) -> Tree:
    """EC2, without tests that can rule out no case."""
    return grow_rule(task, "ec2")


def grow_rule(task: Task, name: str, form: str = "paper") -> Tree:
    """Return the tree of a rule by name."""
    if form not in FORMS:
        raise InvalidOptionError(
            f"form must be 'paper' or 'released'. Got {form!r}. Choose one of them."
        )
    return write_out(task, make_walk(task, RULES[name, form]))


def make_walk(
    task: Task, rule: int, *, order: NDArray[np.int32] | None = None, skips: bool = True
) -> RuleWalk:
    """Return the walk of a rule, or of tests in a fixed order."""
    check_task(task)
    options: dict[str, Any] = {}
    if task.stop == "neighbourhood":
        options["near"] = find_neighbourhoods(task)
    if rule in (RULES["odtn-h", "paper"], RULES["odtn-h", "released"]):
        options["copy_bits"] = count_copies(task)
        # Copies go down with the coins thrown, not with their chances.
        options["keys_all_done"] = True
    return RuleWalk(
        make_kernel(task), task.table.prices.engine, rule, order=order, skips=skips,
        **options,
    )  # fmt: skip


def find_neighbourhoods(task: Task) -> NDArray[np.uint64]:
    """Return the bits of the cases that each case need not be told from."""
    table = task.table
    if table.n_cases > MOST_NEAR:
        raise InvalidOptionError(
            f"stop='neighbourhood' takes at most {MOST_NEAR:,} cases, since it "
            f"compares every two. Got {table.n_cases:,}. Use stop='clique'."
        )
    is_near = ~np.isfinite(pair_prices(task, np.arange(table.n_cases)))
    is_near |= task.label_ids[:, None] == task.label_ids
    return pack_bits(is_near)


def write_out(task: Task, walk: RuleWalk, max_nodes: int = MAX_NODES) -> Tree:
    """Return the tree that a walk stands for."""
    try:
        arrays = walk.grow(group_labels(task.label_ids), max_nodes)
    except OverflowError:
        raise NoPolicyError(
            f"A tree must have at most {max_nodes:,} nodes. Got more: every unknown "
            "outcome doubles what may be seen. Settle some unknown outcomes."
        ) from None
    table = task.table
    return Tree.from_arrays(
        arrays, table.tests, task.labels, table.prices, task.mistakes
    )


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
