"""Put two policies on the same terms: the same prices, and the same rows.

It must not know what is compared.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.policy import Policy
from askless.problem import PriceList, Table
from askless.problem._outcomes import example_value

__all__ = ["draw_rows", "settle_prices"]

# Rows that are drawn from a table with unknown outcomes, about so many in all.
DRAWN = 20_000


def settle_prices(first: Policy, second: Policy) -> tuple[Policy, Policy, list[str]]:
    """Return both policies at the same prices, with a note if they had different ones.

    The prices of the second are taken, if it prices all that the first one asks for;
    else those of the first, if that holds the other way round; else each keeps its own.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> old = askless.solve(table).policy
    >>> new = old.with_costs([7])
    >>> settle_prices(old, new)[2]
    ["The policies have different prices for 'last bit'; both are priced as the second \
one says."]
    """
    differing = _list_differing(first, second)
    if not differing:
        return first, second, []
    said = f"The policies have different prices for {', '.join(map(repr, differing))}"
    if set(first.columns) <= set(second.test_names):
        note = f"{said}; both are priced as the second one says."
        return _borrow(first, second), second, [note]
    if set(second.columns) <= set(first.test_names):
        note = f"{said}; both are priced as the first one says."
        return first, _borrow(second, first), [note]
    return first, second, [f"{said}, and each is priced by its own. Give the costs."]


def _list_differing(first: Policy, second: Policy) -> list[str]:
    """Return the tests that both know and that do not cost the same."""
    where = {name: i for i, name in enumerate(second.test_names)}
    return [
        name
        for i, name in enumerate(first.test_names)
        if name in where and _terms(first, i) != _terms(second, where[name])
    ]


def _terms(policy: Policy, test: int) -> tuple[Any, ...]:
    """Return all that a test charges, in a form that can be compared."""
    prices = policy.prices
    # Groups are compared by their members: names of groups are free.
    group = prices.group[test]
    names = policy.test_names
    together = {names[i] for i, g in enumerate(prices.group) if g == group}
    return (
        float(prices.full[test]),
        float(prices.discounted[test]),
        None if group is None else together,
        bool(prices.delayed[test]),
        _by_outcome(policy, test),
    )


def _by_outcome(policy: Policy, test: int) -> dict[Any, float] | None:
    levels = policy.prices.by_outcome.get(test)
    if levels is None:
        return None
    outcomes = policy.tests[test].outcomes or range(len(levels))
    return dict(zip(outcomes, levels.tolist(), strict=True))


def _borrow(policy: Policy, source: Policy) -> Policy:
    """Return a policy at the prices of another one, for the tests that it knows."""
    own, lent = policy.prices, source.prices
    where = {name: i for i, name in enumerate(source.test_names)}
    full, discounted = own.full.copy(), own.discounted.copy()
    delayed, group = own.delayed.copy(), list(own.group)
    by_outcome = dict(own.by_outcome)
    for i, test in enumerate(policy.tests):
        if (j := where.get(test.name)) is None:
            continue
        full[i], discounted[i] = lent.full[j], lent.discounted[j]
        delayed[i], group[i] = lent.delayed[j], lent.group[j]
        by_outcome.pop(i, None)
        listed = _by_outcome(source, j)
        if listed is not None:
            keys = test.outcomes or range(test.n_levels)
            by_outcome[i] = np.array([listed.get(key, full[i]) for key in keys])
    return policy._with_prices(
        PriceList(full, discounted, tuple(group), delayed, by_outcome)
    )


def draw_rows(
    table: Table,
) -> tuple[dict[str, list[Any]], list[Any], NDArray[np.float64]]:
    """Return rows, classes and weights that stand for a table.

    Its cases as they are, if all outcomes are known; else each case several times, with
    unknown outcomes drawn by their chances, always in the same way.

    Examples
    --------
    >>> rows, classes, weights = draw_rows(Table([[0], [1]], ["even", "odd"]))
    >>> rows, classes, weights
    ({'t0': [0, 1]}, ['even', 'odd'], array([0.5, 0.5]))
    """
    times = 1
    if table.is_unknown.any():
        times = max(1, DRAWN // table.n_cases)
    rng = np.random.default_rng(0)
    cases = np.repeat(np.arange(table.n_cases), times)
    rows = {}
    for i, test in enumerate(table.tests):
        codes = table.possible.draw_all(i, cases, rng).tolist()
        rows[test.name] = [example_value(test, code) for code in codes]
    classes = [table.case_classes[case] for case in cases]
    return rows, classes, table.prior[cases] / times
