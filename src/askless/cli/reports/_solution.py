"""Report a solution: for people with its flowchart, for machines as plain data.

This module must not know where the table came from or how it was solved.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from askless.cli._output import (
    flowchart,
    format_number,
    format_share,
    print_facts,
    print_flowchart,
    print_table,
    say,
)
from askless.policy import Policy, Tree
from askless.problem import Table
from askless.solve import Solution
from askless.solve._task import FrontPoint

__all__ = ["MOST_NODES", "describe_solution", "print_policy", "print_solution"]

# Larger flowcharts are left to `askless show`.
MOST_NODES = 60


def describe_solution(
    path: Path, output: Path | None, table: Table, solution: Solution, notes: list[str]
) -> dict[str, Any]:
    """Return what was found, for JSON."""
    policy = solution.policy
    return {
        "table": str(path),
        "n_cases": table.n_cases,
        "n_tests": table.n_tests,
        "n_classes": table.n_classes,
        "method": solution.method,
        "objective": solution.objective,
        "expected_cost": solution.expected_cost,
        "is_exact": solution.is_exact,
        "margin": solution.margin,
        "worst_cost": solution.worst_cost,
        "error": solution.error,
        "mistake_cost": solution.mistake_cost if _prices_mistakes(solution) else None,
        "total_cost": solution.total_cost if _prices_mistakes(solution) else None,
        "lower_bound": solution.lower_bound,
        "bound_name": solution.bound_name,
        "gap": solution.gap,
        "status": solution.status,
        "cost_of_all": table.prices.cost_of_all(),
        "n_nodes": policy.n_nodes if isinstance(policy, Tree) else None,
        "depth": policy.depth if isinstance(policy, Tree) else None,
        "pareto": [
            [point.worst_cost, point.expected_cost] for point in solution.pareto
        ],
        "expected_front": [_front_entry(p) for p in solution.expected_front],
        "worst_front": [_front_entry(p) for p in solution.worst_front],
        "notes": notes,
        "policy": None if output is None else str(output),
    }


def print_solution(
    path: Path, output: Path | None, table: Table, solution: Solution, *, quiet: bool
) -> None:
    """Print what was found, for people."""
    say(
        f"{path}: {_count(table.n_cases, 'case')}, {_count(table.n_tests, 'test')}, "
        f"{_count(table.n_classes, 'class')}",
        "",
    )
    print_facts(
        [
            ("method", solution.method),
            ("expected cost", _expected(solution)),
            *_explain_mistakes(solution),
            ("worst cost", format_number(solution.worst_cost)),
            ("error", format_share(solution.error)),
            *_explain_bound(solution),
            ("cost of all tests", format_number(table.prices.cost_of_all())),
        ]
    )
    if solution.pareto:
        _print_pareto(solution)
    if solution.objective == "tradeoff":
        _print_fronts(solution)
    policy = solution.policy
    is_drawn = (
        policy.kind not in ("rule", "posterior")
        and getattr(policy, "n_nodes", 0) <= MOST_NODES
    )
    print_policy(policy, output, is_drawn=is_drawn and not quiet)


def print_policy(policy: Policy, output: Path | None, *, is_drawn: bool) -> None:
    """Print the flowchart of a policy, if it is to be drawn, and where it is saved."""
    if is_drawn:
        say()
        print_flowchart(flowchart(policy))
    say("", f"Wrote {output}" if output else "Nothing was written: -o FILE does it.")


def _expected(solution: Solution) -> str:
    cost = format_number(solution.expected_cost)
    return cost if solution.objective == "total" else _sampled(cost, solution)


def _sampled(cost: str, solution: Solution) -> str:
    """Return the cost that was to be small, with its margin if it was sampled."""
    if solution.is_exact:
        return cost
    return f"{cost} +- {format_number(solution.margin)} (sampled, 99 %)"


def _prices_mistakes(solution: Solution) -> bool:
    """Return whether it is known what wrong decisions cost."""
    policy = solution.policy
    return policy.kind in ("tree", "posterior") and policy.mistakes is not None


def _explain_mistakes(solution: Solution) -> list[tuple[str, str]]:
    is_total = solution.objective == "total"
    if not is_total and not (solution.error > 0 and _prices_mistakes(solution)):
        return []
    return [
        ("mistake cost", format_number(solution.mistake_cost)),
        ("total cost", _sampled(format_number(solution.total_cost), solution)),
    ]


def _explain_bound(solution: Solution) -> list[tuple[str, str]]:
    is_total = solution.objective == "total"
    if solution.bound_name == "none":
        kind = "method that proves nothing" if is_total else "policy that may be wrong"
        return [("lower bound", f"none for a {kind}")]
    which = {"worst": "worst", "total": "total"}.get(solution.objective, "expected")
    bound = format_number(solution.lower_bound)
    if solution.status == "optimal":
        gap = "0 %: no policy is cheaper"
    elif solution.error > 0 and not is_total:
        gap = "unknown: the bound is of policies that are never wrong"
    else:
        gap = f"{format_share(solution.gap)}: no policy can save more of the cost"
    return [
        ("lower bound", f"{bound} ({which} cost, by {solution.bound_name})"),
        ("gap", gap),
    ]


def _print_pareto(solution: Solution) -> None:
    say("", "Trade-offs that no policy beats in both costs:", "")
    costs = (solution.worst_cost, solution.expected_cost)
    print_table(
        ["worst", "expected", ""],
        [
            [
                format_number(point.worst_cost),
                format_number(point.expected_cost),
                "this policy" if point[:2] == costs else "",
            ]
            for point in solution.pareto
        ],
        numbers=["worst", "expected"],
        indent=2,
    )


def _front_entry(point: FrontPoint) -> dict[str, Any]:
    return {
        "error": point.error,
        "expected_cost": point.expected_cost,
        "worst_cost": point.worst_cost,
        "lower_bound": point.lower_bound,
        "is_proved": point.is_proved,
    }


def _print_fronts(solution: Solution) -> None:
    say("", "What a smaller error costs, on average:", "")
    print_table(
        ["error", "expected", "at least"],
        [
            [
                format_share(point.error),
                format_number(point.expected_cost),
                "proved" if point.is_proved else format_number(point.lower_bound),
            ]
            for point in solution.expected_front
        ],
        numbers=["error", "expected"],
        indent=2,
    )
    say("", "The least error within a worst cost:", "")
    print_table(
        ["worst", "error", "at least"],
        [
            [
                format_number(point.worst_cost),
                format_share(point.error),
                "proved" if point.is_proved else format_share(point.lower_bound),
            ]
            for point in solution.worst_front
        ],
        numbers=["worst", "error"],
        indent=2,
    )


def _count(n: int, what: str) -> str:
    plural = f"{what}es" if what.endswith("s") else f"{what}s"
    return f"{n:,} {what if n == 1 else plural}"
