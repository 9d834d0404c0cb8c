"""``askless methods``: the ways to solve a table and to learn from examples.

It prints the registries. It must not know any method.
"""

from __future__ import annotations

import click

from askless.cli._options import json_option
from askless.cli._output import (
    print_heading,
    print_json,
    print_paragraph,
    print_table,
    say,
)
from askless.learn import LEARNERS, NUMBER_LEARNERS, Learner
from askless.solve import METHODS, Method, load_entry_points

__all__ = ["methods_command"]


@click.command("methods", short_help="List the methods of solve and fit.")
@json_option
def methods_command(as_json: bool) -> None:
    """List the methods of solve and of fit, with guarantees and options."""
    load_entry_points()
    if as_json:
        print_json(
            {
                "methods": [_describe(method) for method in METHODS.values()],
                "learners": [_describe_learner(one) for one in _list_learners()],
            }
        )
        return
    for method in METHODS.values():
        print_heading(method.name)
        print_paragraph(method.summary)
        print_paragraph(f"Guarantee: {method.guarantee}")
        if method.options:
            say()
            print_table(["option", "meaning"], method.options.items(), indent=2)
    say("", "Options are given as: askless solve ... --option NAME=VALUE")
    for learner in _list_learners():
        print_heading(f"fit --method {learner.name}")
        print_paragraph(learner.summary)
        if learner.is_anytime:
            print_paragraph("Anytime: --time-limit or Ctrl-C give the best so far.")
        say()
        options = [(name, repr(value)) for name, value in _options(learner).items()]
        print_table(["option", "default"], options, indent=2)
    say("", "Options are given as: askless fit ... --option NAME=VALUE")


def _list_learners() -> list[Learner]:
    return [*LEARNERS.values(), *NUMBER_LEARNERS.values()]


def _describe(method: Method) -> dict[str, object]:
    return {
        "name": method.name,
        "summary": method.summary,
        "guarantee": method.guarantee,
        "options": dict(method.options),
    }


def _options(learner: Learner) -> dict[str, object]:
    """Return the parameters that have no option of their own, with their defaults."""
    own = ("costs", "mistakes", "time_limit", "n_jobs")
    parameters = learner.estimator().get_params(deep=False)
    return {name: value for name, value in parameters.items() if name not in own}


def _describe_learner(learner: Learner) -> dict[str, object]:
    return {
        "name": learner.name,
        "summary": learner.summary,
        "is_anytime": learner.is_anytime,
        "options": {name: repr(value) for name, value in _options(learner).items()},
    }
