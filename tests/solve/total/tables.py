"""Small random tables of facts, unknown outcomes and likelihoods."""

import numpy as np

from askless import Costs, Table


def make_table(rng, *, mixed=True):
    """Return a small table of facts, unknown cells and likelihoods."""
    n_cases, n_tests = rng.integers(2, 6), rng.integers(1, 5)
    n_classes = rng.integers(2, n_cases + 1)
    classes = [f"c{i % n_classes}" for i in range(n_cases)]
    n_levels = rng.integers(2, 4, n_tests)
    cells = []
    for test in range(n_tests):
        column = []
        for _ in range(n_cases):
            kind = rng.integers(3) if mixed else 0
            if kind == 0:
                column.append(int(rng.integers(n_levels[test])))
            elif kind == 1:
                column.append(None)
            else:
                shares = rng.integers(0, 5, n_levels[test]) + 1e-9
                column.append(shares / shares.sum())
        cells.append(column)
    return classes, n_levels, cells


def build(
    rng,
    *,
    mixed=True,
    mistakes=None,
    outcome_prices=False,
    groups=False,
    delays=False,
    cheapest=0,
):
    classes, n_levels, cells = make_table(rng, mixed=mixed)
    n_tests, n_cases = len(cells), len(classes)
    names = [f"t{i}" for i in range(n_tests)]
    prices = rng.integers(cheapest, 6, n_tests).astype(float)
    options = {}
    if groups and n_tests > 1:
        discounted = {n: float(p // 2) for n, p in zip(names, prices, strict=True)}
        options["groups"] = {"g": names[:2]}
        options["discounted"] = {n: discounted[n] for n in names[:2]}
    if outcome_prices and (not groups or n_tests > 2):
        # Not of a test that has a discount.
        priced = n_tests - 1 if groups else 0
        options["by_outcome"] = {
            names[priced]: {
                level: float(rng.integers(cheapest, 6))
                for level in range(n_levels[priced])
            }
        }
    if delays:
        options["delayed"] = [n for n in names if rng.integers(2)]
    if mistakes is None:
        n_classes = len(set(classes))
        mistakes = rng.integers(1, 40, (n_classes, n_classes)).astype(float)
        np.fill_diagonal(mistakes, 0)
    costs = Costs(dict(zip(names, prices, strict=True)), mistakes=mistakes, **options)
    rows = [
        [c if isinstance(c := cells[t][i], int) else None for t in range(n_tests)]
        for i in range(n_cases)
    ]
    table = Table(
        rows,
        classes,
        costs=costs,
        prior=rng.integers(1, 6, n_cases),
        tests=names,
        alphabet={n: list(range(k)) for n, k in zip(names, n_levels, strict=True)},
    )
    own = {}
    for t, name in enumerate(names):
        for i in range(n_cases):
            if isinstance(cells[t][i], np.ndarray):
                shares = dict(enumerate(cells[t][i].tolist()))
                own.setdefault(name, {})[table.cases[i]] = shares
    return table.with_likelihoods(own) if own else table
