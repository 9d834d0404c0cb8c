"""Tables with unknown outcomes for the tests: the toy of the paper, WISER, random."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import askless

PLUS, MINUS = 1, -1

TOY = [
    [PLUS, PLUS, PLUS, None, None],
    [PLUS, MINUS, None, PLUS, None],
    [MINUS, PLUS, MINUS, MINUS, None],
    [MINUS, MINUS, None, PLUS, PLUS],
]


def make_toy(**options):
    """Return the toy; the fifth test never shows minus for sure."""
    names = [f"e{i}" for i in range(1, 6)]
    given = {"prior": [0.4, 0.3, 0.2, 0.1]} | options
    return askless.Table(
        TOY,
        ["x1", "x2", "x3", "x4"],
        tests=names,
        alphabet={name: [MINUS, PLUS] for name in names},
        **given,
    )


# Cases 3 and 5, and 4 and 5, are not sure to be told apart.
LOOSE = [
    [PLUS, PLUS, None],
    [PLUS, MINUS, None],
    [MINUS, None, PLUS],
    [MINUS, None, MINUS],
    [MINUS, None, None],
]


def make_loose():
    """Return a table whose cases cannot all be told apart."""
    names = ["t1", "t2", "t3"]
    return askless.Table(
        LOOSE,
        [f"x{i}" for i in range(1, 6)],
        tests=names,
        alphabet={name: [MINUS, PLUS] for name in names},
    )


def load_wiser(prior="prior_uniform"):
    """Return WISER under one of its priors; skip where the data is not there."""
    try:
        examples = askless.datasets.load_public("wiser")
    except askless.exceptions.DatasetNotFoundError:
        pytest.skip("the public data sets are not here")
    # The uniform prior is written in nine digits; it is meant to be even.
    weights = None if prior == "prior_uniform" else examples.extra[prior].astype(float)
    return examples.to_table(prior=weights)


def draw_unknown(rng, *, max_cases=6, max_tests=5, complete=False):
    """Return a small random table: costs, priors, chances, several outcomes."""
    while True:
        n_cases = int(rng.integers(2, max_cases + 1))
        n_tests = int(rng.integers(2, max_tests + 1))
        n_outcomes = int(rng.integers(2, 4))
        cells = rng.integers(0, n_outcomes, (n_cases, n_tests)).astype(object)
        cells[rng.random(cells.shape) < rng.uniform(0.1, 0.5)] = None
        names = [f"t{i}" for i in range(n_tests)]
        n_classes = n_cases if rng.random() < 0.5 else int(rng.integers(2, n_cases + 1))
        classes = np.arange(n_cases) % n_classes
        prior = rng.integers(1, 6, n_cases) if rng.random() < 0.6 else None
        costs = rng.integers(1, 5, n_tests).tolist() if rng.random() < 0.6 else None
        chances = None
        if rng.random() < 0.4:
            chances = {}
            for name in names:
                parts = rng.integers(0, 4, n_outcomes).astype(float)
                parts[rng.integers(n_outcomes)] += 1
                chances[name] = dict(enumerate(parts / parts.sum()))
        table = askless.Table(
            cells,
            classes,
            tests=names,
            prior=prior,
            costs=costs,
            chances=chances,
            alphabet={name: range(n_outcomes) for name in names},
        )
        if not (complete and table.indistinct):
            return table


def solve_quietly(table, **options):
    """Solve, whatever there is to warn about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return askless.solve(table, **options)
