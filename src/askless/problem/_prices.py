"""Settle what every test of a problem charges: costs by name become prices by position.

A :class:`PriceList` is what the cost engine and the policy file work from. It must not
know where the costs came from.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.price._prices import Bill, Prices

__all__ = ["PriceList"]


@dataclass(frozen=True, eq=False)
class PriceList:
    """What each test charges, by position.

    Parameters
    ----------
    full : ndarray of shape (n_tests,)
        The plain price.
    discounted : ndarray of shape (n_tests,)
        The price once another test of the same group has been bought.
    group : tuple of (str or None)
        The group of each test.
    delayed : ndarray of bool of shape (n_tests,)
        Whether the result comes too late to choose the next test by.
    by_outcome : dict of int to ndarray
        Prices by level, of the tests that are priced by outcome.

    Examples
    --------
    >>> prices = PriceList.plain([2.0, 3.0])
    >>> bill = prices.open_bill()
    >>> bill.charge(1), bill.charge(1), bill.spent
    (3.0, 0.0, 3.0)
    """

    full: NDArray[np.float64]
    discounted: NDArray[np.float64]
    group: tuple[str | None, ...]
    delayed: NDArray[np.bool_]
    by_outcome: dict[int, NDArray[np.float64]] = field(default_factory=dict)

    @classmethod
    def plain(cls, full: object) -> PriceList:
        """Return a list without groups, delays or prices by outcome."""
        prices = np.array(full, dtype=np.float64)
        return cls(
            full=prices,
            discounted=prices,
            group=(None,) * len(prices),
            delayed=np.zeros(len(prices), dtype=bool),
        )

    @property
    def n_tests(self) -> int:
        """How many tests there are."""
        return len(self.full)

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups, in order of their first test."""
        return tuple(dict.fromkeys(name for name in self.group if name is not None))

    @cached_property
    def engine(self) -> Prices:
        """The compiled cost engine for these prices."""
        index = {name: i for i, name in enumerate(self.groups)}
        priced = [self.by_outcome.get(t, np.zeros(0)) for t in range(self.n_tests)]
        starts = np.cumsum([0] + [len(p) for p in priced]).astype(np.int64)
        return Prices(
            np.ascontiguousarray(self.full, dtype=np.float64),
            np.ascontiguousarray(self.discounted, dtype=np.float64),
            np.array([-1 if g is None else index[g] for g in self.group], np.int32),
            self.delayed.astype(np.uint8),
            starts,
            np.concatenate([*priced, np.zeros(0)]),
        )

    def __getstate__(self) -> dict[str, Any]:
        # The engine is compiled and made again when it is asked for.
        return {k: v for k, v in self.__dict__.items() if k != "engine"}

    def open_bill(self) -> Bill:
        """Return the bill of a case that has bought nothing yet."""
        return Bill(self.engine)

    def cost_of_all(self) -> float:
        """Return what buying every test charges, in order; by outcome, the dearest.

        Examples
        --------
        >>> PriceList.plain([2.0, 3.0]).cost_of_all()
        5.0
        """
        return self._cost_of_all

    @cached_property
    def _cost_of_all(self) -> float:
        bill = self.open_bill()
        total = 0.0
        for test in range(self.n_tests):
            price = bill.charge(test)
            by_outcome = self.by_outcome.get(test, np.zeros(0))
            total += max([price, *by_outcome.tolist()])
        return total
