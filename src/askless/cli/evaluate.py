"""``askless evaluate``: what a policy costs on rows of data, and how often it is wrong.

It must not know how costs are charged: that is the library's.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click
import numpy as np

from askless.cli._options import (
    data_argument,
    edited_option,
    json_option,
    mistakes_option,
    parse_value,
    policy_argument,
    target_option,
)
from askless.cli._output import (
    format_number,
    format_share,
    print_facts,
    print_json,
    print_note,
    say,
)
from askless.cli._working import working
from askless.cli.files._rows import read_priced_rows, row_options
from askless.evaluate import Evaluation, evaluate
from askless.policy import Policy, load
from askless.problem import Costs
from askless.problem._frames import Columns

__all__ = ["evaluate_command"]


@click.command("evaluate", short_help="Price a policy on rows of data.")
@policy_argument
@data_argument("data")
@target_option(required=False)
@row_options
@mistakes_option(", instead of what the policy says")
@edited_option
@json_option
def evaluate_command(
    policy: Path,
    data: Path,
    target: str | None,
    mistakes: str | None,
    edited: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Price the policy in the file POLICY on the rows of DATA (CSV or Parquet).

    Without --target only the cost is known, not the error.
    """
    notes: list[str] = []
    loaded = load(policy, edited=edited)
    with working(f"Evaluating {policy} on {data}"):
        rows = read_priced_rows(data, [loaded], notes, target=target, **reading)
        if rows.costs is not None:
            loaded = loaded.with_costs(rows.costs)
        if mistakes is not None:
            # Decisions stay as they are; only their price is another.
            matrix = Costs([0.0], mistakes=parse_value(mistakes))
            loaded.mistakes = matrix.mistake_matrix(loaded.classes)
        result = evaluate(loaded, rows.data, rows.classes, sample_weight=rows.weights)
        normalised = _normalise(loaded, result, rows.columns, target, rows.prior)
    if as_json:
        more = {} if normalised is None else {"normalised_cost": normalised}
        print_json({**_numbers(result), **more, "notes": notes})
        return
    for note in notes:
        print_note(note)
    _print_result(policy, result, normalised, is_priced=loaded.mistakes is not None)


def _numbers(result: Evaluation) -> dict[str, Any]:
    """Return the summary with null where nothing is known: JSON has no NaN."""
    numbers = result.to_dict()
    return numbers | {k: None for k, v in numbers.items() if _is_nan(v)}


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _normalise(
    policy: Policy, result: Evaluation, columns: Columns, target: str | None, prior: Any
) -> float | None:
    """Return the total cost over the standard cost of the rows, after Turney."""
    if policy.mistakes is None or target is None:
        return None
    # Here, since learners wait for scikit-learn.
    from askless.learn._scoring import standard_cost

    weights = None if prior is None else np.asarray(columns[prior], dtype=float)
    every = policy.prices.cost_of_all()
    classes = [str(one) for one in columns[target]]
    standard = standard_cost(every, classes, policy.mistakes, weights)
    return result.total_cost / standard if standard > 0 else None


def _print_result(
    path: Path, result: Evaluation, normalised: float | None, *, is_priced: bool
) -> None:
    numbers = _numbers(result)
    say(f"{path} on {result.n_cases:,} rows", "")
    facts = [
        ("expected cost", format_number(result.expected_cost)),
        ("worst cost", format_number(result.worst_cost)),
    ]
    facts += [
        (f"  {100 * float(share):g} % within", format_number(cost))
        for share, cost in numbers["quantiles"].items()
    ]
    if "squared_error" in numbers:
        facts.append(("mean absolute error", format_number(result.absolute_error)))
        facts.append(("mean squared error", format_number(result.squared_error)))
    elif numbers["error"] is None:
        facts.append(("error", "unknown without --target"))
    else:
        facts.append(("error", format_share(result.error)))
        if is_priced:
            facts.append(("mistake cost", format_number(result.mistake_cost)))
            facts.append(("total cost", format_number(result.total_cost)))
        if normalised is not None:
            facts.append(("  of the standard cost", format_share(normalised)))
    print_facts(facts)
