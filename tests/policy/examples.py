"""A few policies that together use everything a policy file can hold."""

from dataclasses import replace

import numpy as np

from askless.policy import Forest, NumberTree, Posterior, Rule, Sequence
from askless.problem import Costs, Table
from tests.policy.random_ensembles import random_ensemble
from tests.strategies import grow_at_random, solved

__all__ = ["EXAMPLES", "make_example"]


def _numbers():
    """Return a tree that cuts numbers, one of them twice, and parts missing ones."""
    table = Table(
        {
            "age": [20.0, 30.0, 40.0, 50.0, 60.0, None],
            "fever": [36.5, 39.0, 36.5, 39.0, 36.5, 39.0],
        },
        ["low", "mid", "mid", "high", "high", "low"],
        thresholds=True,
        missing="outcome",
        prior=[1, 2, 3, 4, 5, 6],
        costs=[1, 2.5],
    )
    return solved(table)


def _groups():
    """Return a tree of categories with groups, delays and prices of mistakes."""
    table = Table(
        {
            "smear": ["+", "-", "+", "-", "+", "-"],
            "iron": ["low", "low", "high", "high", "high", "low"],
            "sugar": ["low", "high", "low", "low", "high", "high"],
            "x-ray": ["clear", "clear", "clear", "shadow", "shadow", "shadow"],
        },
        ["a", "b", "c", "a", "b", "c"],
        costs=Costs(
            {"smear": 3, "iron": 7.25, "sugar": 5, "x-ray": 40},
            groups={"blood": ["iron", "sugar"]},
            discounted={"iron": 5, "sugar": 3.5},
            delayed=["iron", "sugar"],
            mistakes=[[0, 10, 200], [30, 0, 5], [1, 2, 0]],
        ),
    )
    return solved(table)


def _outcome_prices():
    """Return a tree whose outcomes are flags, counts and fractions, with own prices."""
    table = Table(
        {
            "flag": [True, True, False, False, True, False],
            "count": [0, 1, 2, 0, 1, 2],
            "ratio": [0.5, 0.25, 0.5, 0.25, 0.125, 0.125],
        },
        [1, 2, 3, 1, 2, 1],
        costs=Costs([1, 2, 3], by_outcome={0: {True: 9}, 1: {0: 0.1, 1: 0.2, 2: 0.3}}),
    )
    return solved(table)


def _sequence(stops_early):
    table = Table(
        {
            "lamp": ["dark", "dark", "dim", None],
            "socket": ["dead", "live", "live", "live"],
            "volts": [0.0, 4.5, 9.0, 2.0],
        },
        ["fuse", "bulb", "dimmer", "bulb"],
        thresholds=True,
        prior=[0.1, 0.2, 0.3, 0.4],
        costs=Costs(
            {"lamp": 1, "socket": 5, "volts": 2},
            groups={"bench": ["socket", "volts"]},
            discounted={"volts": 0.5},
            delayed=["volts"],
            mistakes=3,
        ),
    )
    return Sequence.from_table(table, [2, 0, 1], stops_early=stops_early)


def _rule(rule, **options):
    """Return a rule over a table with unknown outcomes, groups and chances."""
    table = Table(
        {
            "lamp": ["dark", None, "dim", "bright"],
            "socket": ["dead", "live", None, "live"],
            "fuse": ["whole", "whole", "blown", None],
        },
        ["fuse", "bulb", "dimmer", "bulb"],
        prior=[0.1, 0.2, 0.3, 0.4],
        costs=Costs(
            {"lamp": 1, "socket": 5, "fuse": 2},
            groups={"bench": ["socket", "fuse"]},
            discounted={"fuse": 0.5},
            mistakes=3,
        ),
        chances={"lamp": {"dark": 0.75, "bright": 0.25}},
    )
    plain = Rule.from_table(table)
    if rule != "order":
        return Rule.from_table(table, rule, **options)
    return Rule(
        plain.tests, plain.classes, plain.prices, rule=rule, order=[2, 0],
        case_codes=plain.case_codes, case_class=plain.case_class,
        case_weights=plain.case_weights, chances=plain.chances,
        mistakes=plain.mistakes,
    )  # fmt: skip


def _posterior(criterion, **prices):
    """Return a posterior over facts, an unknown outcome and likelihoods."""
    table = Table(
        {
            "lamp": ["dark", "dark", "dim", "bright"],
            "socket": ["dead", "live", None, "live"],
            "fuse": ["whole", "whole", "blown", "whole"],
        },
        ["fuse", "bulb", "dimmer", "bulb"],
        prior=[0.1, 0.2, 0.3, 0.4],
        costs=Costs({"lamp": 1, "socket": 3, "fuse": 2}, mistakes=30, **prices),
    )
    table = table.with_likelihoods(
        {
            "lamp": {
                0: {"dark": 0.75, "dim": 0.25},
                3: {"dim": 0.125, "bright": 0.875},
            },
            "fuse": {1: {"whole": 0.875, "blown": 0.125}},
        }
    )
    return Posterior.from_table(table, criterion, factor=2.0)


def _number_tree():
    """Return the tree of another example that says numbers instead of classes."""
    like = _outcome_prices()
    nodes = replace(
        like.nodes,
        weight_start=np.arange(like.n_nodes + 1, dtype=np.int64),
        weight_class=np.zeros(like.n_nodes, dtype=np.int32),
        weight=like.node_weight,
        decision=None,
    )
    values = 10.5 - 0.25 * np.arange(like.n_nodes)
    return NumberTree(like.tests, like.prices, nodes=nodes, values=values)


def _forest(name, voting):
    """Return a forest over the tests of another example, grown at random."""
    like = EXAMPLES[name]()
    rng = np.random.default_rng(0)
    trees = [
        grow_at_random(
            rng, like.tests, like.classes, like.prices, mistakes=like.mistakes,
            max_depth=2,
        )
        for _ in range(3)
    ]  # fmt: skip
    return Forest.from_trees(trees, voting=voting)


def _ensemble(link, **options):
    """Return an ensemble of numbers and categories, thresholds and sets."""
    seeds = range(100)
    # Files that were saved before there were factors are compared with.
    options.setdefault("eagerness", None)
    made = (random_ensemble(np.random.default_rng(s), link, **options) for s in seeds)
    return next(e for e in made if (e.trees.flags == 3).any() and e.n_nodes > 30)


EXAMPLES = {
    "numbers": _numbers,
    "groups": _groups,
    "outcome prices": _outcome_prices,
    "number tree": _number_tree,
    "sequence": lambda: _sequence(True),
    "long sequence": lambda: _sequence(False),
    "forest": lambda: _forest("numbers", "votes"),
    "forest of counts": lambda: _forest("groups", "counts"),
    "ensemble": lambda: _ensemble("softmax", threshold=2.5),
    "votes": lambda: _ensemble("votes", bounds="vote"),
    "rule": lambda: _rule("odtn-h", form="released"),
    "order": lambda: _rule("order"),
    "posterior": lambda: _posterior(
        "information", groups={"bench": ["socket", "fuse"]}, discounted={"fuse": 0.5}
    ),
    "posterior by value": lambda: _posterior(
        "value", by_outcome={"lamp": {"dark": 0.5, "dim": 1.5, "bright": 1}}
    ),
}


def make_example(name):
    return EXAMPLES[name]()
