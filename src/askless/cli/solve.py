"""``askless solve``: from a table in a file to a policy in a file.

It reads, calls the library and reports. It must not know how a table is solved.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import click

from askless.cli._files import check_policy_path
from askless.cli._fit_costs import fit_costs
from askless.cli._output import (
    flowchart,
    format_number,
    format_share,
    print_facts,
    print_flowchart,
    print_json,
    print_note,
    working,
)
from askless.cli._reading import find_role, json_option, read_names
from askless.exceptions import AsklessError, AsklessWarning, InvalidOptionError
from askless.policy import Tree
from askless.problem import Table, read_costs, read_table
from askless.solve import Solution, solve

__all__ = ["solve_command"]

# Larger flowcharts are left to `askless show`.
MOST_NODES = 60


def parse_options(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> dict[str, Any]:
    """Return the options of the method by name."""
    options: dict[str, Any] = {}
    for value in values:
        name, sign, text = value.partition("=")
        if not sign or not name.strip():
            raise click.BadParameter(
                f"{value!r} is not of the form NAME=VALUE.", ctx, param
            )
        options[name.strip().replace("-", "_")] = parse_value(text.strip())
    return options


def parse_value(text: str) -> Any:
    """Return what a text stands for: a number, a truth value, None, a list, or itself.

    Examples
    --------
    >>> [parse_value(text) for text in ("3", "0.5", "true", "none", "[1, 2]", "prior")]
    [3, 0.5, True, None, [1, 2], 'prior']
    """
    words = {"true": True, "yes": True, "false": False, "no": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float, _parse_list):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _parse_list(text: str) -> list[Any]:
    if not text.startswith("["):
        raise ValueError(text)
    items: list[Any] = json.loads(text)
    return items


@click.command("solve", short_help="Find a cheap policy for a known table.")
@click.argument("table", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--target", required=True, metavar="COLUMN", help="The column of classes."
)
@click.option(
    "--costs",
    type=click.Path(path_type=Path, dir_okay=False),
    help="What tests cost: CSV with the columns test,cost, or TOML. 1 each by default.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Write the policy to this file.",
)
@click.option(
    "--prior",
    metavar="COLUMN",
    help="The column of weights of the cases; 'prior' if there is one.",
)
@click.option(
    "--case",
    metavar="COLUMN",
    help="The column of names of the cases; 'case' if there is one.",
)
@click.option(
    "--drop", multiple=True, metavar="COLUMN", help="A column that is no test."
)
@click.option(
    "--method",
    default="auto",
    show_default=True,
    metavar="NAME",
    help="See `askless methods`.",
)
@click.option(
    "--objective",
    type=click.Choice(["expected", "worst"]),
    default="expected",
    show_default=True,
    help="Which cost is to be small.",
)
@click.option(
    "--stop",
    type=click.Choice(["class", "case"]),
    default="class",
    show_default=True,
    help="What is to be found out.",
)
@click.option("--levels", type=int, help="Cut numbers into so many levels.")
@click.option("--thresholds", is_flag=True, help="Compare numbers with a threshold.")
@click.option(
    "--missing",
    type=click.Choice(["unknown", "outcome"]),
    default="unknown",
    show_default=True,
    help="What an empty cell is: any outcome can be seen, or an outcome of its own.",
)
@click.option("--unknown", metavar="TEXT", help="A text that marks an unknown outcome.")
@click.option("--merge", is_flag=True, help="Merge cases that show the same.")
@click.option(
    "--option",
    "options",
    multiple=True,
    callback=parse_options,
    metavar="NAME=VALUE",
    help="An option of the method.",
)
@json_option
@click.option("--quiet", "-q", is_flag=True, help="Leave out the flowchart.")
def solve_command(
    table: Path,
    output: Path | None,
    method: str,
    objective: str,
    stop: str,
    merge: bool,
    options: dict[str, Any],
    as_json: bool,
    quiet: bool,
    **reading: Any,
) -> None:
    """Find a cheap policy for the known TABLE (CSV, CSV.gz or Parquet).

    A row is a case, a column is a test, and a cell is what the test shows for the case.
    """
    if output is not None:
        check_policy_path(output)
    notes: list[str] = []
    with working(f"Solving {table}"):
        problem = _read(table, notes, **reading)
        problem = problem.merged() if merge else problem
        how = {"method": method, "objective": objective, "stop": stop}
        solution = _solve(problem, how, options, notes)
    if output is not None:
        solution.policy.save(output)
    if as_json:
        print_json(_describe(table, output, problem, solution, notes))
        return
    for note in notes:
        print_note(note)
    _print_solution(table, output, problem, solution, quiet=quiet)


def _read(
    path: Path,
    notes: list[str],
    *,
    target: str,
    costs: Path | None,
    prior: str | None,
    case: str | None,
    drop: tuple[str, ...],
    **options: Any,
) -> Table:
    names = read_names(path)
    prices = None if costs is None else read_costs(costs)
    priced = set() if prices is None else {str(key) for key in prices.costs}
    taken = {target, *drop, *priced}
    prior = find_role("prior", prior, names, taken, notes)
    case = find_role("case", case, names, taken, notes)
    if prices is not None:
        tests = [name for name in names if name not in (target, prior, case)]
        prices = fit_costs(prices, tests, drop)
    return read_table(
        path, target, costs=prices, prior=prior, case=case, drop=drop, **options
    )


def _solve(
    table: Table, how: dict[str, Any], options: dict[str, Any], notes: list[str]
) -> Solution:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", AsklessWarning)
        try:
            solution = solve(table, **how, **options)
        except AsklessError:
            raise
        except (TypeError, ValueError) as error:
            if not options:
                raise
            given = ", ".join(f"{name}={value!r}" for name, value in options.items())
            raise InvalidOptionError(
                f"An option must have a value of its kind. Got {given} ({error}). See "
                "`askless methods` for what each option means."
            ) from error
    said = [str(warning.message) for warning in caught]
    # A warning says what a note of the table says.
    notes += dict.fromkeys([*said, *solution.notes])
    return solution


def _describe(
    path: Path, output: Path | None, table: Table, solution: Solution, notes: list[str]
) -> dict[str, Any]:
    policy = solution.policy
    return {
        "table": str(path),
        "n_cases": table.n_cases,
        "n_tests": table.n_tests,
        "n_classes": table.n_classes,
        "method": solution.method,
        "objective": solution.objective,
        "expected_cost": solution.expected_cost,
        "worst_cost": solution.worst_cost,
        "error": solution.error,
        "lower_bound": solution.lower_bound,
        "bound_name": solution.bound_name,
        "gap": solution.gap,
        "status": solution.status,
        "cost_of_all": table.prices.cost_of_all(),
        "n_nodes": policy.n_nodes if isinstance(policy, Tree) else None,
        "depth": policy.depth if isinstance(policy, Tree) else None,
        "notes": notes,
        "policy": None if output is None else str(output),
    }


def _print_solution(
    path: Path, output: Path | None, table: Table, solution: Solution, *, quiet: bool
) -> None:
    click.echo(
        f"{path}: {_count(table.n_cases, 'case')}, {_count(table.n_tests, 'test')}, "
        f"{_count(table.n_classes, 'class')}\n"
    )
    bound = format_number(solution.lower_bound)
    print_facts(
        [
            ("method", solution.method),
            ("expected cost", format_number(solution.expected_cost)),
            ("worst cost", format_number(solution.worst_cost)),
            ("error", format_share(solution.error)),
            (
                "lower bound",
                f"{bound} ({solution.objective} cost, by {solution.bound_name})",
            ),
            ("gap", _explain_gap(solution)),
            ("cost of all tests", format_number(table.prices.cost_of_all())),
        ]
    )
    policy = solution.policy
    if not quiet and getattr(policy, "n_nodes", 0) <= MOST_NODES:
        click.echo()
        print_flowchart(flowchart(policy))
    click.echo()
    click.echo(f"Wrote {output}" if output else "Nothing was written: -o FILE does it.")


def _explain_gap(solution: Solution) -> str:
    if solution.status == "optimal":
        return "0 %: no policy is cheaper"
    if solution.error > 0:
        return "unknown: the bound is of policies that are never wrong"
    return f"{format_share(solution.gap)}: no policy can save more of the cost"


def _count(n: int, what: str) -> str:
    plural = f"{what}es" if what.endswith("s") else f"{what}s"
    return f"{n:,} {what if n == 1 else plural}"
