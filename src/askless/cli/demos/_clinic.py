"""The second part of the tour: learning from examples what to buy for a patient.

It must not know the numbers that it prints.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from rich.text import Text

from askless.cli._output import (
    bar,
    flowchart,
    format_share,
    print_flowchart,
    print_heading,
    print_paragraph,
    print_table,
    say,
)
from askless.cli._working import working
from askless.datasets import Examples, make_clinic
from askless.evaluate import Evaluation, evaluate
from askless.exceptions import DegeneratePolicyWarning
from askless.policy import Tree
from askless.problem import Costs
from askless.problem._frames import take_rows

__all__ = ["Candidate", "compare_trees", "learn_trees", "tour_clinic"]

# A third to learn from, a third to choose by, a third to judge by.
N_PATIENTS = 6000
SURCHARGES = (0.0, 10.0, 100.0)
BAR_WIDTH = 17


@dataclass(frozen=True)
class Candidate:
    """A tree, how it was learned, and what it comes to on patients of its own."""

    name: str
    tree: Tree
    choosing: Evaluation
    judging: Evaluation


def tour_clinic() -> None:
    """Learn trees that know the prices and one that does not, and compare them."""
    with working("Learning"):
        clinic = make_clinic(N_PATIENTS, random_state=0)
        candidates = compare_trees(clinic)
    best = min(candidates, key=lambda candidate: candidate.choosing.total_cost)
    every = best.tree.prices.cost_of_all()
    n = N_PATIENTS // 3
    print_heading("2. Learning from examples")
    print_paragraph(
        f"Invented patients, {len(clinic.classes)} illnesses, {len(clinic.columns)} "
        "tests: cheap questions, blood tests that share the needle, an image. All of "
        f"them together cost {every:g}. A tree learns from {n:,} patients which to "
        "buy; adding a number to every price makes it spend more to be right. Below, "
        f"the mean costs over {n:,} other patients."
    )
    say()
    _print_candidates(candidates, best, every)
    say()
    saved = 1 - best.judging.expected_cost / every
    print_paragraph(
        f"* The cheapest in all, chosen on yet other {n:,} patients. It "
        f"saves {format_share(saved)} of the cost of all tests, and begins so:"
    )
    say()
    print_flowchart(flowchart(best.tree, max_depth=1))


def _print_candidates(
    candidates: list[Candidate], best: Candidate, every: float
) -> None:
    blind = candidates[-1].judging
    rows = [(c.name, c.judging.expected_cost, c.judging, c is best) for c in candidates]
    rows.append(("nobody: all bought", every, blind, False))
    dearest = max(spent + (result.mistake_cost or 0.0) for _, spent, result, _ in rows)
    print_table(
        ["who chooses", "tests", "mistakes", "together", "wrong", _legend()],
        [
            _row(name, spent, result, is_best, dearest)
            for name, spent, result, is_best in rows
        ],
        numbers=["tests", "mistakes", "together", "wrong"],
    )


def _row(
    name: str, spent: float, result: Evaluation, is_best: bool, dearest: float
) -> list[str | Text]:
    mistakes = result.mistake_cost or 0.0
    style = "bold green" if is_best else ""
    cells = [
        f"{name} *" if is_best else name,
        f"{spent:.1f}",
        f"{mistakes:.1f}",
        f"{spent + mistakes:.1f}",
        f"{100 * result.error:.1f} %",
    ]
    bars = Text.assemble(
        (bar(spent / dearest, BAR_WIDTH), "green"),
        (bar(mistakes / dearest, BAR_WIDTH, light=True), "yellow"),
    )
    return [*(Text(cell, style=style) for cell in cells), bars]


def _legend() -> str:
    full, light = bar(1, 1), bar(1, 1, light=True)
    return f"{full} tests {light} mistakes"


def compare_trees(clinic: Examples) -> list[Candidate]:
    """Learn on the first third, and evaluate on the second and on the last one."""
    third = clinic.n_cases // 3
    parts = [slice(third), slice(third, 2 * third), slice(2 * third, None)]
    return [
        Candidate(name, tree, *(_judge(tree, clinic, part) for part in parts[1:]))
        for name, tree in learn_trees(clinic, parts[0])
    ]


def _judge(tree: Tree, clinic: Examples, part: slice) -> Evaluation:
    return evaluate(tree, take_rows(clinic.columns, part), clinic.y[part])


def learn_trees(clinic: Examples, part: slice) -> Iterator[tuple[str, Tree]]:
    """Yield trees with their names, from one that buys nothing to one without prices.

    All of them carry the true names and prices of the tests.
    """
    # Imported here, so that other commands need not wait for scikit-learn.
    from askless.learn import GreedyTreeClassifier

    def learn(costs: Costs, **options: Any) -> Tree:
        model = GreedyTreeClassifier(costs, **options)
        model.fit(clinic.X[part], clinic.y[part])
        assert isinstance(model.policy_, Tree)
        return _name_tests(model.policy_, clinic)

    plain = Costs([1.0] * len(clinic.columns), mistakes=clinic.costs.mistakes)
    with warnings.catch_warnings():
        # To buy nothing is what it is here for.
        warnings.simplefilter("ignore", DegeneratePolicyWarning)
        nothing = learn(plain, max_depth=0)
    yield "nobody: none bought", nothing
    for extra in SURCHARGES:
        name = f"tree, prices + {extra:g}" if extra else "tree, true prices"
        yield name, learn(_raise_prices(clinic, extra))
    yield "tree, no prices", learn(plain)


def _raise_prices(clinic: Examples, extra: float) -> Costs:
    """Return the costs by position, the same amount added to every price."""
    costs = clinic.costs.renamed({n: i for i, n in enumerate(clinic.test_names)})
    return Costs(
        {test: price + extra for test, price in costs.costs.items()},
        groups=costs.groups,
        discounted={test: price + extra for test, price in costs.discounted.items()},
        delayed=costs.delayed,
        mistakes=costs.mistakes,
    )


def _name_tests(tree: Tree, clinic: Examples) -> Tree:
    """Return a tree learned on columns without names with its true names and prices."""
    named = zip(tree.tests, clinic.test_names, strict=True)
    tests = tuple(replace(test, name=name) for test, name in named)
    prices = clinic.costs.price_list(tests)
    return Tree(tests, tree.classes, prices, nodes=tree.nodes, mistakes=tree.mistakes)
