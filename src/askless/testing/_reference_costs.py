"""Charge one case for its way through a tree, as plainly as can be.

The twin of the compiled cost engine, which it must not import. The four rules:

1. a test is paid for once; asking it again is free;
2. a test priced by outcome charges the price of the outcome that it shows;
3. the first test of a group pays in full, later ones pay the discounted price;
4. on reaching a delayed test that is not paid for yet, every test of the subtree below
   it is ordered and paid for at once, in preorder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

__all__ = ["path_cost", "sequence_cost"]


class Prices(Protocol):
    """What a price list must tell, by position of the test."""

    @property
    def full(self) -> Any: ...
    @property
    def discounted(self) -> Any: ...
    @property
    def group(self) -> Sequence[str | None]: ...
    @property
    def delayed(self) -> Any: ...
    @property
    def by_outcome(self) -> Mapping[int, Any]: ...


class _Purse:
    """What one case has bought."""

    def __init__(self, prices: Prices) -> None:
        self.prices = prices
        self.bought: set[int] = set()
        self.open_groups: set[str] = set()

    def buy(self, test: int, code: int | None) -> float:
        """Buy a test and return what it charges; no code if it is not known yet."""
        if test in self.bought:
            return 0.0
        self.bought.add(test)
        group = self.prices.group[test]
        was_open = group in self.open_groups
        if group is not None:
            self.open_groups.add(group)
        by_outcome = self.prices.by_outcome.get(test, ())
        if code is not None and 0 <= code < len(by_outcome):
            return float(by_outcome[code])
        if was_open:
            return float(self.prices.discounted[test])
        return float(self.prices.full[test])


def path_cost(
    tree: Mapping[str, Any], codes: Mapping[int, int], prices: Prices
) -> float:
    """Return what one case pays on its way from the root of a tree to a leaf.

    Parameters
    ----------
    tree : mapping
        ``{"test": position, "branches": {code: tree, ...}}``, or for a leaf any mapping
        without a test.
    codes : mapping of int to int
        What each test on the way shows for the case. A sequence will do.
    prices : PriceList
        What the tests charge, or anything with the same attributes.

    Examples
    --------
    A quick look costs 5. If it shows 0, two slow tests are ordered that share 2 of
    their price, 7 and 10; if it shows 1, one more look at 10 settles it:

    >>> from types import SimpleNamespace
    >>> prices = SimpleNamespace(
    ...     full=[5, 10, 7, 10], discounted=[5, 10, 5, 8], by_outcome={},
    ...     group=[None, None, "A", "A"], delayed=[False, False, True, True])
    >>> leaf = {"decision": "well"}
    >>> slow = {"test": 2, "branches": {0: {"test": 3, "branches": {0: leaf}}, 1: leaf}}
    >>> tree = {"test": 0, "branches": {0: slow, 1: {"test": 1, "branches": {1: leaf}}}}
    >>> path_cost(tree, {0: 0, 2: 0, 3: 0}, prices)
    20.0
    >>> path_cost(tree, {0: 1, 1: 1}, prices)
    15.0
    """
    purse = _Purse(prices)
    spent = 0.0
    node = tree
    while "test" in node:
        test = node["test"]
        if prices.delayed[test] and test not in purse.bought:
            order = 0.0
            for below in _tests_in_preorder(node):
                order += purse.buy(below, None)
            spent += order
        else:
            spent += purse.buy(test, codes[test])
        node = node["branches"][codes[test]]
    return spent


def _tests_in_preorder(tree: Mapping[str, Any]) -> Iterator[int]:
    if "test" in tree:
        yield tree["test"]
        for subtree in tree["branches"].values():
            yield from _tests_in_preorder(subtree)


def sequence_cost(
    tests: Sequence[int], codes: Sequence[int | None], prices: Prices
) -> float:
    """Return what tests charge a case that buys them one by one, delays left aside.

    Parameters
    ----------
    tests : sequence of int
        The tests in order; a repeated one is free.
    codes : sequence of int or None
        What each shows, None if it is not known.
    prices : PriceList
        What the tests charge, or anything with the same attributes.

    Examples
    --------
    >>> from askless.problem import PriceList
    >>> sequence_cost([1, 0, 1], [None, None, None], PriceList.plain([2, 3]))
    5.0
    """
    purse = _Purse(prices)
    spent = 0.0
    for test, code in zip(tests, codes, strict=True):
        spent += purse.buy(test, code)
    return spent
