"""Report what was learned: for people with a flowchart, for machines as plain data.

This module must not know how it was learned.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

from askless.cli._output import format_number, format_share, print_facts, say
from askless.cli.reports._solution import MOST_NODES, print_policy
from askless.evaluate import Evaluation
from askless.policy import Tree

__all__ = ["Fit", "describe_fit", "print_fit"]


class Fit(NamedTuple):
    """What was learned from what, and how it does on its own examples."""

    data: Path
    output: Path | None
    method: str
    model: Any
    result: Evaluation
    n_rows: int
    notes: list[str]


def describe_fit(fit: Fit) -> dict[str, Any]:
    """Return what was learned, for JSON."""
    policy = fit.model.policy_
    stages = getattr(fit.model, "stages_", [])
    return {
        "data": str(fit.data),
        "method": fit.method,
        "n_rows": fit.n_rows,
        "n_tests": len(policy.tests),
        "classes": [str(one) for one in policy.classes],
        "training": {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in fit.result.to_dict().items()
        },
        "cost_of_all": policy.prices.cost_of_all(),
        "n_nodes": policy.n_nodes if isinstance(policy, Tree) else None,
        "depth": policy.depth if isinstance(policy, Tree) else None,
        "status": getattr(fit.model, "status_", None),
        "stages": [
            {"name": s.name, "seconds": s.seconds, "cost": s.cost, "best": s.best}
            for s in stages
        ],
        "notes": fit.notes,
        "policy": None if fit.output is None else str(fit.output),
    }


def print_fit(fit: Fit, *, quiet: bool) -> None:
    """Print what was learned, for people."""
    policy, result = fit.model.policy_, fit.result
    says = "a number" if policy.answers_number else f"{len(policy.classes):,} classes"
    say(f"{fit.data}: {fit.n_rows:,} examples, {len(policy.tests):,} tests, {says}", "")
    facts = [("method", fit.method)]
    if isinstance(policy, Tree):
        tests = "test" if policy.depth == 1 else "tests"
        shape = f"{policy.n_nodes} nodes, {policy.depth} {tests} at most"
        facts.append(("tree", shape))
    facts += [
        ("tests cost", f"{format_number(result.expected_cost)} a row"),
        ("cost of all tests", format_number(policy.prices.cost_of_all())),
    ]
    if policy.answers_number:
        facts.append(("mean absolute error", format_number(result.absolute_error)))
        facts.append(("mean squared error", format_number(result.squared_error)))
    else:
        facts.append(("error", format_share(result.error)))
    if result.mistake_cost is not None:
        facts.append(("mistakes cost", f"{format_number(result.mistake_cost)} a row"))
        facts.append(("total", f"{format_number(result.total_cost)} a row"))
    print_facts(facts)
    say("", "These figures are of the rows it learned from; evaluate others.")
    stages = getattr(fit.model, "stages_", [])
    if len(stages) > 1:
        last = stages[-1]
        say(f"{len(stages)} stages, the last one ready after {last.seconds:.2g} s.")
    is_small = getattr(policy, "n_nodes", MOST_NODES + 1) <= MOST_NODES
    print_policy(policy, fit.output, is_drawn=is_small and not quiet)
