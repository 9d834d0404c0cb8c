"""The first part of the tour: the car that does not start.

It must not know the numbers that it prints.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.text import Text

from askless.cli._output import (
    bar,
    flowchart,
    format_number,
    format_share,
    print_flowchart,
    print_heading,
    print_paragraph,
    print_table,
    say,
)
from askless.cli._working import working
from askless.cli.files._files import free_policy_path
from askless.datasets import load_car
from askless.evaluate import Evaluation, evaluate
from askless.policy import Policy, Sequence
from askless.problem import Table
from askless.run import Session
from askless.solve import Solution, solve

__all__ = ["pick_case", "tour_car"]

BAR_WIDTH = 24


def tour_car(folder: Path) -> Path:
    """Solve the car, show what came out, and return where the policy is saved."""
    with working("Solving"):
        table = load_car()
        solution = solve(table)
        result = evaluate(solution.policy, table)
    path = free_policy_path(folder, "car")
    solution.policy.save(path)
    print_heading("1. A car does not start")
    low, high = table.prices.full.min(), table.prices.full.max()
    print_paragraph(
        f"The table knows {table.n_cases} causes, {table.n_classes} repairs, and what "
        f"{table.n_tests} checks of {low:g} to {high:g} minutes show for each cause. "
        "This flowchart finds the repair; in brackets, how many cars get there and the "
        "minutes spent."
    )
    say()
    print_flowchart(flowchart(solution.policy))
    say()
    _print_comparison(table, solution, result)
    print_paragraph(f"The flowchart is saved in {path}, a file to read, run and check.")
    _print_interview(solution.policy, table, result)
    return path


def _print_comparison(table: Table, solution: Solution, result: Evaluation) -> None:
    in_order = evaluate(Sequence.from_table(table), table)
    every = table.prices.cost_of_all()
    rows = [
        ("every check", every, every),
        ("checks in order until settled", in_order.expected_cost, in_order.worst_cost),
        ("the flowchart", result.expected_cost, result.worst_cost),
    ]
    print_table(
        ["minutes", "expected", "worst", ""],
        [
            [name, f"{mean:.1f}", f"{worst:.1f}", _bar(mean / every, mean, result)]
            for name, mean, worst in rows
        ],
        numbers=["expected", "worst"],
        indent=2,
    )
    say()
    wrong = format_share(result.error) if result.error else "none"
    print_paragraph(
        f"It is wrong for {wrong} of the cars. And it is proved that no flowchart that "
        "is never wrong takes less than "
        f"{format_number(solution.lower_bound)} minutes on average."
    )
    say()


def _bar(share: float, mean: float, result: Evaluation) -> Text:
    is_ours = mean == result.expected_cost
    return Text(bar(share, BAR_WIDTH), style="green" if is_ours else "yellow")


def pick_case(table: Table, result: Evaluation) -> int:
    """Return a case that is worth following: common, and not settled at once.

    The heaviest case without unknown outcomes of those that cost more than three
    quarters of the weight do; the heaviest of all if there is none.
    """
    is_sure = ~table.is_unknown.any(axis=0)
    is_long = result.case_cost > result.quantile(0.75)
    worth = is_sure & is_long if (is_sure & is_long).any() else is_sure | True
    return int(np.argmax(np.where(worth, table.prior, -1.0)))


def _print_interview(policy: Policy, table: Table, result: Evaluation) -> None:
    case = pick_case(table, result)
    shown = {name: column[case] for name, column in table.rows().items()}
    say()
    print_paragraph(f"One car, check by check. Its secret: {table.cases[case]}.")
    say()
    session = policy.start()
    rows = []
    while session.test is not None:
        rows.append(_ask(session, shown[session.test]))
    print_table(
        ["check", "price", "why: what is possible", "shows", "spent"],
        rows,
        numbers=["price", "spent"],
        indent=2,
    )
    say()
    print_paragraph(session.why(), style="bold green", indent=2)


def _ask(session: Session, outcome: object) -> list[str]:
    """Answer the next test; return it with its price and what it was for."""
    test, price = session.test or "", session.price
    shares = {k: share for k, share in session.probabilities.items() if share > 0}
    likeliest = max(shares, key=lambda decision: shares[decision])
    why = f"{len(shares)} repairs, {likeliest} ({format_share(shares[likeliest])})"
    session.answer(outcome)
    return [test, f"{price:g}", why, str(outcome), f"{session.spent:g}"]
