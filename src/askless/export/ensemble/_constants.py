"""What programs in scripting languages know beside the trees, under the same names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from askless.export.ensemble._parts import Parts
from askless.policy import Ensemble

__all__ = ["constants_text"]

# A remark, and what is known by name.
Block = tuple[str, dict[str, Any]]


def constants_text(
    policy: Ensemble,
    parts: Parts,
    write: Callable[[Any], str],
    line: str,
    mark: str,
) -> str:
    """Return what a program knows beside the trees, a line for each, with remarks."""
    blocks = [
        _of_tests(parts),
        _of_prices(parts),
        _of_decisions(policy),
        _of_stopping(policy, parts),
    ]
    return "".join(
        "".join(f"{mark} {text}\n" for text in remark.split("\n"))
        + "".join(line.format(name, write(value)) for name, value in names.items())
        for remark, names in blocks
    )


def _of_tests(parts: Parts) -> Block:
    return (
        "What can be asked: of a number the cuts between its levels, else the "
        "outcomes\nand how else they are written.",
        {
            "TESTS": [test.name for test in parts.tests],
            "N_LEVELS": [test.n_levels for test in parts.tests],
            "CUTS": [list(test.cuts) for test in parts.tests],
            "OUTCOMES": [
                None if test.kind == "number" else dict(test.lookup)
                for test in parts.tests
            ],
        },
    )


def _of_prices(parts: Parts) -> Block:
    return (
        "What tests charge: in full, once their group is open, the group, whether "
        "they are\ndelayed, and prices by outcome.",
        {
            "FULL": parts.prices.full,
            "DISCOUNTED": parts.prices.discounted,
            "GROUP": parts.prices.group,
            "DELAYED": parts.prices.delayed,
            "BY_OUTCOME": parts.prices.by_outcome,
        },
    )


def _of_decisions(policy: Ensemble) -> Block:
    output = policy.output
    return (
        "How sums become a decision.",
        {
            "CLASSES": list(policy.classes),
            "OFFSET": list(output.offset),
            "LINK": output.link,
            "DIVISOR": output.divisor,
            "SLOPE": output.slope,
            "DECIDES_BY": output.decides_by,
            "IS_SINGLE": output.is_single,
        },
    )


def _of_stopping(policy: Ensemble, parts: Parts) -> Block:
    endless = float("inf")
    return (
        "When to stop; sums are kept in whole units.",
        {
            "THRESHOLD": endless if policy.threshold is None else policy.threshold,
            "VARIES_TOGETHER": policy.varies_together,
            "MAX_COST": endless if policy.max_cost is None else policy.max_cost,
            "EAGERNESS": parts.eagerness,
            "IS_COMPLETE": policy.is_complete,
            "TARGET": parts.target,
            "IS_VOTE": parts.is_vote,
            "IS_JOINT": parts.is_joint or parts.by_leaves,
            "IS_DEEP": parts.wholes is None,
            "N_KINDS": parts.n_kinds,
            "START": parts.start,
            "SLACK": parts.slack,
            "TOLERANCE": parts.tolerance,
            "UNIT": parts.unit,
            "SPREAD_UNIT": parts.spread_unit,
            "SCORE_UNIT": parts.score_unit,
        },
    )
