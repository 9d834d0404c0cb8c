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
    working,
)
from askless.cli._reading import check_roles, find_role, read_data
from askless.evaluate import Evaluation, evaluate
from askless.policy import Policy, load
from askless.problem import Costs, Table
from askless.problem._column import is_missing
from askless.problem._frames import Columns

__all__ = ["evaluate_command"]


@click.command("evaluate", short_help="Price a policy on rows of data.")
@policy_argument
@data_argument("data")
@target_option(required=False)
@click.option("--prior", metavar="COLUMN", help="The column of weights of the rows.")
@click.option(
    "--missing",
    type=click.Choice(["outcome", "unknown"]),
    default="outcome",
    show_default=True,
    help="Whether an empty cell is an outcome of its own, or can be any outcome that "
    "its column shows: then all of them are followed.",
)
@click.option("--unknown", metavar="TEXT", help="A text that is read as an empty cell.")
@click.option(
    "--mistakes",
    metavar="COST",
    help="What a wrong decision costs, instead of what the policy says: a number, or "
    "a matrix by true class and decision, [[0, 5], [9, 0]].",
)
@edited_option
@json_option
def evaluate_command(
    policy: Path,
    data: Path,
    target: str | None,
    prior: str | None,
    missing: str,
    unknown: str | None,
    mistakes: str | None,
    edited: bool,
    as_json: bool,
) -> None:
    """Price the policy in the file POLICY on the rows of DATA (CSV or Parquet).

    Without --target only the cost is known, not the error.
    """
    notes: list[str] = []
    loaded = load(policy, edited=edited)
    if mistakes is not None:
        # Decisions stay as they are; only their price is another.
        matrix = Costs([0.0], mistakes=parse_value(mistakes))
        loaded.mistakes = matrix.mistake_matrix(loaded.classes)
    with working(f"Evaluating {policy} on {data}"):
        columns = read_data(data, unknown)
        prior = find_role(
            "prior", prior, columns, [str(target), *loaded.test_names], notes
        )
        check_roles(columns, data, target=target, prior=prior)
        result = _price(loaded, columns, target, prior, missing, notes)
        normalised = _normalise(loaded, result, columns, target, prior)
    if as_json:
        more = {} if normalised is None else {"normalised_cost": normalised}
        print_json({**_numbers(result), **more, "notes": notes})
        return
    for note in notes:
        print_note(note)
    _print_result(policy, result, normalised, is_priced=loaded.mistakes is not None)


def _price(
    policy: Policy,
    columns: Columns,
    target: str | None,
    prior: str | None,
    missing: str,
    notes: list[str],
) -> Evaluation:
    weights = None if prior is None else columns[prior]
    rows = Columns((k, v) for k, v in columns.items() if k not in (target, prior))
    if missing == "unknown":
        if target is None:
            raise click.UsageError("--missing unknown needs --target.")
        asked = Columns((k, rows[k]) for k in policy.test_names if k in rows)
        return evaluate(policy, Table(asked, columns[target], prior=weights))
    n_empty = sum(
        _count_empty(rows[name]) for name in policy.test_names if name in rows
    )
    if n_empty:
        notes.append(
            f"{n_empty} empty cells were taken for missing outcomes. With --missing "
            "unknown, every outcome that they may be is followed."
        )
    truth = None if target is None else columns[target]
    return evaluate(policy, rows, truth, sample_weight=weights)


def _count_empty(column: Any) -> int:
    return sum(map(is_missing, column.tolist()))


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
    if numbers["error"] is None:
        facts.append(("error", "unknown without --target"))
    else:
        facts.append(("error", format_share(result.error)))
        if is_priced:
            facts.append(("mistake cost", format_number(result.mistake_cost)))
            facts.append(("total cost", format_number(result.total_cost)))
        if normalised is not None:
            facts.append(("  of the standard cost", format_share(normalised)))
    print_facts(facts)
