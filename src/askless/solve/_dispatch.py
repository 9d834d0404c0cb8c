"""One name, two engines: tables with unknown outcomes go to the noisy one."""

from __future__ import annotations

from askless.policy import Tree
from askless.solve._answer import Answer, Limits
from askless.solve._greedy import grow_ec2_tree, grow_gbs_tree
from askless.solve._noisy_rules import grow_noisy_ec2, grow_noisy_gbs
from askless.solve._noisy_search import is_noisy, search_noisy, search_noisy_restricted
from askless.solve._search import MOST_BYTES, search_exactly, search_restricted
from askless.solve._task import Task

__all__ = ["grow_ec2", "grow_gbs", "solve_exactly", "solve_restricted"]


def grow_gbs(task: Task) -> Answer | Tree:
    """Generalised binary search: buy what rules out most weight for its price."""
    if is_noisy(task) and not task.table.is_ordered.any():
        return grow_noisy_gbs(task)
    return grow_gbs_tree(task)


def grow_ec2(task: Task) -> Answer | Tree:
    """EC2: buy what cuts most pairs of different class, by weight, for its price."""
    if is_noisy(task) and not task.table.is_ordered.any():
        return grow_noisy_ec2(task)
    return grow_ec2_tree(task)


def solve_exactly(
    task: Task,
    limits: Limits,
    *,
    max_memory: int = MOST_BYTES,
    cover_depth: int = 2,
    use_certificate: bool = True,
    use_entropy: bool = True,
    use_children: bool = True,
    use_additivity: bool = True,
) -> Answer:
    """Find a cheapest policy and prove it; stopped early, the best one and a bound.

    Parameters
    ----------
    task : Task
        What to solve.
    limits : Limits
        Time, threads and progress.
    max_memory : int, default=2147483648
        Bytes that remembering states may take; forgetting costs time only.
    cover_depth : int, default=2
        How many tests of a certificate are searched exactly; not for tables with
        unknown outcomes.
    use_certificate, use_entropy, use_children, use_additivity : bool, default=True
        Switches of the bounds; they change time, never the answer.
    """
    if is_noisy(task):
        return search_noisy(
            task,
            limits,
            max_memory=max_memory,
            use_certificate=use_certificate,
            use_entropy=use_entropy,
            use_children=use_children,
        )
    return search_exactly(
        task,
        limits,
        max_memory=max_memory,
        cover_depth=cover_depth,
        use_certificate=use_certificate,
        use_entropy=use_entropy,
        use_children=use_children,
        use_additivity=use_additivity,
    )


def solve_restricted(
    task: Task,
    limits: Limits,
    *,
    max_breadth: int | None = None,
    max_memory: int = MOST_BYTES,
    cover_depth: int = 2,
) -> Answer:
    """Search the K best-scored tests of each state, K = 1, 2, 3, ... as time allows.

    Parameters
    ----------
    task, limits, max_memory, cover_depth
        See :func:`solve_exactly`.
    max_breadth : int, optional
        The largest K; up to all tests by default.
    """
    if is_noisy(task):
        return search_noisy_restricted(
            task, limits, max_breadth=max_breadth, max_memory=max_memory
        )
    return search_restricted(
        task,
        limits,
        max_breadth=max_breadth,
        max_memory=max_memory,
        cover_depth=cover_depth,
    )
