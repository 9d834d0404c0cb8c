"""State what tests and mistakes cost, by name or by position.

:class:`Costs` is data; which tests there are is known only when a problem brings them
together. This module must not know how costs are charged: that is the cost engine's.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidCostsError, suggest_name
from askless.problem._cost_checks import (
    Key,
    check_combinations,
    check_delayed,
    check_discounted,
    check_groups,
    check_mistakes,
    check_outcome_prices,
    check_prices,
    named_mistakes,
    prices_by_level,
)
from askless.problem._frames import list_some
from askless.problem._prices import PriceList
from askless.problem._tests import Test

__all__ = ["Costs", "as_costs"]


class Costs:
    """What tests charge, and what being wrong costs, in one currency.

    Parameters
    ----------
    costs : mapping or sequence
        The price of each test, by name or by position.
    groups : mapping of str to sequence, optional
        Tests that share a fixed part of their cost: group name to its tests. The first
        test of a group that a case buys pays in full, later ones pay ``discounted``.
    discounted : mapping, optional
        Price of a test once its group is open. A grouped test without one pays in full.
    delayed : iterable, default=()
        Tests whose result comes too late to choose the next test by.
    by_outcome : mapping, optional
        Test to a mapping of outcome to price, where the price depends on what is shown.
        Outcomes left out charge the plain price.
    mistakes : number, matrix or mapping, optional
        Cost of a wrong decision: one number for all, or ``mistakes[true][decision]``
        with a zero diagonal, rows and columns in ascending order of the classes, or a
        mapping of true class to a mapping of decision to cost.

    See Also
    --------
    read_costs : Read costs from a CSV or TOML file.

    Notes
    -----
    A test that is priced by outcome can be in no group, and cannot be combined with
    delayed tests: an order placed in advance has no outcome to be priced by.

    Examples
    --------
    Two blood tests share the drawing of blood, which is 2 of their price:

    >>> costs = Costs({"iron": 7, "sugar": 5, "x-ray": 40},
    ...               groups={"blood": ["iron", "sugar"]},
    ...               discounted={"iron": 5, "sugar": 3})
    >>> costs
    Costs(3 tests, 1 group)
    """

    def __init__(
        self,
        costs: Mapping[Any, float] | Sequence[float] | NDArray[Any],
        *,
        groups: Mapping[str, Iterable[Key]] | None = None,
        discounted: Mapping[Any, float] | None = None,
        delayed: Iterable[Key] = (),
        by_outcome: Mapping[Any, Mapping[Any, float]] | None = None,
        mistakes: Any = None,
    ) -> None:
        self.costs = check_prices(costs)
        self.groups = check_groups(groups)
        self.discounted = check_discounted(discounted)
        self.delayed = check_delayed(delayed)
        self.by_outcome = check_outcome_prices(by_outcome)
        self.mistakes = check_mistakes(mistakes)
        check_combinations(
            self.costs, self.groups, self.discounted, self.delayed, self.by_outcome
        )

    @property
    def is_positional(self) -> bool:
        """Whether tests are named by position."""
        return all(isinstance(key, int) for key in self.costs)

    def __repr__(self) -> str:
        n = len(self.costs)
        parts = [f"{n} test{'s' if n != 1 else ''}"]
        if self.groups:
            parts.append(
                f"{len(self.groups)} group{'s' if len(self.groups) > 1 else ''}"
            )
        if self.delayed:
            parts.append(f"{len(self.delayed)} delayed")
        if self.by_outcome:
            parts.append(f"{len(self.by_outcome)} by outcome")
        if self.mistakes is not None:
            parts.append("mistakes")
        return f"Costs({', '.join(parts)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Costs):
            return NotImplemented
        mine, theirs = self.mistakes, other.mistakes
        if isinstance(mine, np.ndarray) and isinstance(theirs, np.ndarray):
            is_same = np.array_equal(mine, theirs)
        else:
            # A matrix compared with anything else would answer element by element.
            is_same = type(mine) is type(theirs) and mine == theirs
        names = ("costs", "groups", "discounted", "delayed", "by_outcome")
        return is_same and all(
            getattr(self, name) == getattr(other, name) for name in names
        )

    __hash__ = None  # type: ignore[assignment]

    def subset(self, names: Sequence[str], *, all_names: Sequence[str]) -> Costs:
        """Return the costs of some of the tests, by name.

        A group that keeps fewer than two tests is dissolved.

        Parameters
        ----------
        names : sequence of str
            The tests to keep, in order.
        all_names : sequence of str
            Names of all tests, for costs that are given by position.

        Examples
        --------
        >>> Costs([1, 2, 3]).subset(["c", "a"], all_names=["a", "b", "c"]).costs
        {'c': 3.0, 'a': 1.0}
        """
        named = self.renamed(self._names(all_names))
        named._check_complete(names)
        kept = set(names)
        members = {g: [t for t in ts if t in kept] for g, ts in named.groups.items()}
        groups = {g: tests for g, tests in members.items() if len(tests) > 1}
        grouped = {test for tests in groups.values() for test in tests}
        return Costs(
            {name: named.costs[name] for name in names},
            groups=groups,
            discounted={k: v for k, v in named.discounted.items() if k in grouped},
            delayed=[k for k in named.delayed if k in kept],
            by_outcome={k: v for k, v in named.by_outcome.items() if k in kept},
            mistakes=self.mistakes,
        )

    def with_mistakes(self, mistakes: Any) -> Costs:
        """Return the same costs of tests with other costs of mistakes.

        Examples
        --------
        >>> Costs([1, 2], mistakes=5).with_mistakes(7).mistakes
        7.0
        """
        other = copy(self)
        other.mistakes = check_mistakes(mistakes)
        return other

    def renamed(self, names: Mapping[Key, Key] | Callable[[Key], Key]) -> Costs:
        """Return the same costs for tests that are called something else.

        Parameters
        ----------
        names : mapping or callable
            The new name, or the position, of a test; a test that a mapping leaves out
            keeps its name.

        Raises
        ------
        InvalidCostsError
            If two tests with a cost come to have one name.

        Examples
        --------
        >>> Costs([1, 2]).renamed({0: "lamp", 1: "socket"}).costs
        {'lamp': 1.0, 'socket': 2.0}
        """

        def rename(key: Key) -> Key:
            return names(key) if callable(names) else names.get(key, key)

        called: dict[Key, Key] = {}
        for key in self.costs:
            name = rename(key)
            if name in called:
                raise InvalidCostsError(
                    f"Every test must have one cost. Got two for {name!r}, by "
                    f"{called[name]!r} and by {key!r}. Remove one of them."
                )
            called[name] = key
        prices = {name: self.costs[key] for name, key in called.items()}
        return Costs(
            prices,
            groups={g: list(map(rename, ts)) for g, ts in self.groups.items()},
            discounted={rename(k): v for k, v in self.discounted.items()},
            delayed=list(map(rename, self.delayed)),
            by_outcome={rename(k): v for k, v in self.by_outcome.items()},
            mistakes=self.mistakes,
        )

    def price_list(self, tests: Sequence[Test]) -> PriceList:
        """Settle the prices of the tests of a problem, in order.

        Raises
        ------
        InvalidCostsError
            If a test has no cost, or a cost names a test that is not there.

        Examples
        --------
        >>> Costs([2, 3]).price_list([Test("a", "number"), Test("b", "number")]).full
        array([2., 3.])
        """
        names = [test.name for test in tests]
        named = self.renamed(self._names(names))
        named._check_complete(names)
        group_of = {test: g for g, ts in named.groups.items() for test in ts}
        delayed = set(named.delayed)
        return PriceList(
            full=np.array([named.costs[name] for name in names]),
            discounted=np.array(
                [named.discounted.get(name, named.costs[name]) for name in names]
            ),
            group=tuple(group_of.get(name) for name in names),
            delayed=np.array([name in delayed for name in names], dtype=bool),
            by_outcome={
                i: prices_by_level(
                    test, named.by_outcome[test.name], named.costs[test.name]
                )
                for i, test in enumerate(tests)
                if test.name in named.by_outcome
            },
        )

    def mistake_matrix(self, classes: Sequence[Hashable]) -> NDArray[np.float64] | None:
        """Return ``mistakes[true][decision]`` for the classes, or None if not given.

        Examples
        --------
        >>> Costs([1], mistakes=5).mistake_matrix(["a", "b"])
        array([[0., 5.],
               [5., 0.]])
        """
        n = len(classes)
        if self.mistakes is None:
            return None
        if isinstance(self.mistakes, float):
            return self.mistakes * (1.0 - np.eye(n))
        if isinstance(self.mistakes, dict):
            return named_mistakes(self.mistakes, classes)
        if self.mistakes.shape != (n, n):
            shown = " x ".join(map(str, self.mistakes.shape))
            raise InvalidCostsError(
                "mistakes must have a row and a column for each class. Got a "
                f"{shown} matrix for {n} classes ({list_some(classes)}). Order both by "
                "class, ascending."
            )
        return np.array(self.mistakes)

    def _names(self, names: Sequence[str]) -> dict[Key, str]:
        """Return the name that each key used in these costs stands for."""
        used: list[Key] = [
            *self.costs,
            *(t for tests in self.groups.values() for t in tests),
            *self.discounted,
            *self.delayed,
            *self.by_outcome,
        ]
        known = set(names)
        return {key: self._resolve(key, names, known) for key in used}

    @staticmethod
    def _resolve(key: Key, names: Sequence[str], known: set[str]) -> str:
        if isinstance(key, int) and 0 <= key < len(names):
            return names[key]
        if str(key) in known:
            # A number that is no position may be a name: the columns of a frame can be
            # called 2023 and 2024.
            return str(key)
        if isinstance(key, int):
            raise InvalidCostsError(
                "A cost by position must be of a test of the problem. Got one for "
                f"position {key}, and there are {len(names)} tests. Give one cost for "
                "each test."
            )
        raise InvalidCostsError(
            f"Costs must name tests of the problem. Got {key!r}, which is none of "
            f"{list_some(names)}. {suggest_name(key, names)}Leave out what is not a "
            "test."
        )

    def _check_complete(self, names: Sequence[str]) -> None:
        absent = [name for name in names if name not in self.costs]
        if absent:
            raise InvalidCostsError(
                f"Every test must have a cost. Got none for {list_some(absent)} "
                f"({len(absent)} of {len(names)} tests). A test that is free has cost "
                "0; a column that is no test is left out, or named as what it is."
            )


def as_costs(costs: Any, n_tests: int) -> Costs:
    """Return costs, whatever describes them.

    Parameters
    ----------
    costs : Costs, mapping, sequence or None
        A mapping of test to cost, or a cost for each test by position; None for a cost
        of 1 each.
    n_tests : int
        How many tests there are.

    Examples
    --------
    >>> as_costs(None, 2).costs, as_costs({"lamp": 3}, 1).costs
    ({0: 1.0, 1: 1.0}, {'lamp': 3.0})
    """
    if costs is None:
        return Costs([1.0] * n_tests)
    return costs if isinstance(costs, Costs) else Costs(costs)
