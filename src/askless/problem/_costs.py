"""State what tests and mistakes cost, by name or by position.

:class:`Costs` is data; which tests there are is known only when a problem brings them
together. This module must not know how costs are charged: that is the cost engine's.
"""

from __future__ import annotations

import csv
import math
import tomllib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import DataFileError, InvalidCostsError, suggest_name
from askless.problem._files import open_text
from askless.problem._prices import PriceList
from askless.problem._tests import Test

__all__ = ["Costs", "read_costs"]

Key = str | int


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
        costs: Mapping[str, float] | Sequence[float] | NDArray[Any],
        *,
        groups: Mapping[str, Iterable[Key]] | None = None,
        discounted: Mapping[Any, float] | None = None,
        delayed: Iterable[Key] = (),
        by_outcome: Mapping[Any, Mapping[Any, float]] | None = None,
        mistakes: Any = None,
    ) -> None:
        self.costs = _checked_prices(costs)
        self.groups = _checked_groups(groups or {})
        self.discounted = {
            _key(k): _price(v, f"The discounted cost of test {k!r}")
            for k, v in (discounted or {}).items()
        }
        if isinstance(delayed, str):
            raise InvalidCostsError(
                f"delayed must be a list of tests. Got the text {delayed!r}. Put it in a "
                f"list: [{delayed!r}]."
            )
        self.delayed = tuple(_key(k) for k in delayed)
        self.by_outcome = {
            _key(t): {
                o: _price(v, f"The cost of outcome {o!r} of test {t!r}")
                for o, v in prices.items()
            }
            for t, prices in (by_outcome or {}).items()
        }
        self.mistakes = _checked_mistakes(mistakes)
        self._check_combinations()

    @property
    def is_positional(self) -> bool:
        """Whether tests are named by position."""
        return all(isinstance(key, int) for key in self.costs)

    def __repr__(self) -> str:
        n = len(self.costs)
        parts = [f"{n} test{'s' if n != 1 else ''}"]
        if self.groups:
            parts.append(f"{len(self.groups)} group{'s' if len(self.groups) > 1 else ''}")
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
        return vars(self).keys() == vars(other).keys() and all(
            np.array_equal(value, vars(other)[name])
            if isinstance(value, np.ndarray)
            else value == vars(other)[name]
            for name, value in vars(self).items()
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
        name_of = self._names(all_names)
        kept = set(names)
        groups = {
            group: [name_of[t] for t in tests if name_of[t] in kept]
            for group, tests in self.groups.items()
        }
        prices = {name_of[k]: v for k, v in self.costs.items()}
        return Costs(
            {name: prices[name] for name in names},
            groups={g: tests for g, tests in groups.items() if len(tests) > 1},
            discounted={
                name_of[k]: v
                for k, v in self.discounted.items()
                if any(name_of[k] in t for t in groups.values() if len(t) > 1)
            },
            delayed=[name_of[k] for k in self.delayed if name_of[k] in kept],
            by_outcome={
                name_of[k]: v for k, v in self.by_outcome.items() if name_of[k] in kept
            },
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
        name_of = self._names(names)
        self._check_complete(names, name_of)
        position = {name: i for i, name in enumerate(names)}
        full = np.zeros(len(names))
        for key, price in self.costs.items():
            full[position[name_of[key]]] = price
        discounted = full.copy()
        group: list[str | None] = [None] * len(names)
        for label, members in self.groups.items():
            for key in members:
                group[position[name_of[key]]] = label
        for key, price in self.discounted.items():
            discounted[position[name_of[key]]] = price
        delayed = np.zeros(len(names), dtype=bool)
        for key in self.delayed:
            delayed[position[name_of[key]]] = True
        by_outcome = {
            position[name_of[key]]: _outcome_prices(
                tests[position[name_of[key]]], prices, full[position[name_of[key]]]
            )
            for key, prices in self.by_outcome.items()
        }
        return PriceList(full, discounted, tuple(group), delayed, by_outcome)

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
            return _named_mistakes(self.mistakes, classes)
        if self.mistakes.shape != (n, n):
            shown = " x ".join(map(str, self.mistakes.shape))
            raise InvalidCostsError(
                "mistakes must have a row and a column for each class. Got a "
                f"{shown} matrix for {n} classes ({_list(classes)}). Order "
                "both by class, ascending."
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
        resolved: dict[Key, str] = {}
        for key in used:
            if isinstance(key, int) and 0 <= key < len(names):
                resolved[key] = names[key]
            elif isinstance(key, str) and key in known:
                resolved[key] = key
            elif isinstance(key, int):
                raise InvalidCostsError(
                    "A cost by position must be of a test of the problem. Got one for "
                    f"position {key}, and there are {len(names)} tests. Give one cost "
                    "for each test."
                )
            else:
                raise InvalidCostsError(
                    f"Costs must name tests of the problem. Got {key!r}, which is none "
                    f"of {_list(names)}. {suggest_name(key, names)}Leave out what is "
                    "not a test."
                )
        return resolved

    def _check_complete(self, names: Sequence[str], name_of: dict[Key, str]) -> None:
        priced = {name_of[key] for key in self.costs}
        absent = [name for name in names if name not in priced]
        if absent:
            raise InvalidCostsError(
                f"Every test must have a cost. Got none for {_list(absent)} "
                f"({len(absent)} of {len(names)} tests). A test that is free has cost 0."
            )

    def _check_combinations(self) -> None:
        grouped: dict[Key, str] = {}
        for group, tests in self.groups.items():
            for test in tests:
                if test in grouped:
                    raise InvalidCostsError(
                        f"A test must be in at most one group. Got {test!r} in "
                        f"{grouped[test]!r} and {group!r}. Keep it in one of them."
                    )
                grouped[test] = group
        for test, price in self.discounted.items():
            if price > self.costs.get(test, math.inf):
                raise InvalidCostsError(
                    "A discounted cost must not be above the cost. Got "
                    f"{price:g} for {test!r}, which costs {self.costs[test]:g}. "
                    "Swap the two, or leave the discount out."
                )
            if test not in grouped and price != self.costs.get(test, price):
                raise InvalidCostsError(
                    "A discounted cost must be of a test in a group. Got one for "
                    f"{test!r}, which is in none. Name its group, or leave the "
                    "discount out."
                )
        for test in self.by_outcome:
            if test in grouped:
                raise InvalidCostsError(
                    "A test priced by outcome must be in no group. Got "
                    f"{test!r} in {grouped[test]!r}. Keep one of the two."
                )
        if self.by_outcome and self.delayed:
            raise InvalidCostsError(
                "Prices by outcome cannot be combined with delayed tests, which are "
                f"paid for before they show anything. Got {next(iter(self.by_outcome))!r} "
                f"priced by outcome and {self.delayed[0]!r} delayed. Keep one of the two."
            )


def _key(key: object) -> Key:
    return int(key) if isinstance(key, (int, np.integer)) else str(key)


def _price(value: Any, what: str) -> float:
    try:
        price = float(value)
    except (TypeError, ValueError):
        price = math.nan
    if not (math.isfinite(price) and price >= 0):
        raise InvalidCostsError(
            f"{what} must be a finite number >= 0. Got {value!r}. To keep a policy from "
            "ever buying a test, leave that test out."
        )
    return price


def _checked_prices(costs: Any) -> dict[Key, float]:
    if isinstance(costs, Mapping):
        items: Iterable[tuple[Key, Any]] = ((_key(k), v) for k, v in costs.items())
    elif isinstance(costs, (str, bytes)) or not hasattr(costs, "__len__"):
        raise InvalidCostsError(
            "costs must be a mapping of test to cost, or a sequence with a cost for "
            f"each test. Got {type(costs).__name__}. For a file, use read_costs."
        )
    else:
        items = enumerate(costs)
    checked = {key: _price(v, f"The cost of test {key!r}") for key, v in items}
    if not checked:
        raise InvalidCostsError(
            "There must be a cost for each test. Got no costs at all. For unit costs, "
            "pass costs=None."
        )
    return checked


def _checked_groups(groups: Mapping[str, Iterable[Key]]) -> dict[str, tuple[Key, ...]]:
    checked: dict[str, tuple[Key, ...]] = {}
    for group, tests in groups.items():
        if isinstance(tests, str):
            raise InvalidCostsError(
                "groups must map a group to the list of its tests. Got the text "
                f"{tests!r} for {group!r}. Write {{group: [test, test, ...]}}."
            )
        members = tuple(dict.fromkeys(_key(test) for test in tests))
        if len(members) < 2:
            raise InvalidCostsError(
                "A group must have at least two tests. Got "
                f"{len(members)} ({_list(members)}) in group {group!r}. Check how the "
                "group's name is spelled, or leave the group out."
            )
        checked[str(group)] = members
    return checked


def _checked_mistakes(mistakes: Any) -> Any:
    if mistakes is None:
        return None
    if isinstance(mistakes, Mapping):
        return {
            true: {
                decision: _price(v, f"The cost of deciding {decision!r} for {true!r}")
                for decision, v in row.items()
            }
            for true, row in mistakes.items()
        }
    if np.ndim(mistakes) == 0:
        return _price(mistakes, "The cost of a mistake")
    try:
        matrix = np.asarray(mistakes, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidCostsError(
            "mistakes must be a number or a square matrix, mistakes[true][decision]. "
            f"Got {'ragged rows' if matrix.size == 0 else matrix.shape}. Give a row and "
            "a column for each class."
        )
    if not np.all(np.isfinite(matrix)) or np.any(matrix < 0):
        row, column = np.argwhere(~(np.isfinite(matrix) & (matrix >= 0)))[0]
        raise InvalidCostsError(
            "mistakes must be finite and >= 0. Got "
            f"{matrix[row, column]} in row {row}, column {column}. Costs are never "
            "negative: a right decision costs 0."
        )
    if np.any(np.diag(matrix) != 0):
        where = int(np.flatnonzero(np.diag(matrix))[0])
        raise InvalidCostsError(
            "A right decision must cost nothing: the diagonal of mistakes is zero. Got "
            f"{matrix[where, where]:g} in row {where}. Set the diagonal to 0."
        )
    return matrix


def _named_mistakes(
    mistakes: dict[Any, dict[Any, float]], classes: Sequence[Hashable]
) -> NDArray[np.float64]:
    index = {label: i for i, label in enumerate(classes)}
    index |= {str(label): i for i, label in enumerate(classes) if str(label) not in index}
    matrix = np.full((len(classes), len(classes)), np.nan)
    np.fill_diagonal(matrix, 0.0)
    for true, row in mistakes.items():
        for decision, cost in row.items():
            for label in (true, decision):
                if label not in index:
                    raise InvalidCostsError(
                        f"mistakes must name classes. Got {label!r}, which is none of "
                        f"{_list(classes)}. {suggest_name(str(label), map(str, classes))}"
                        "Leave out what is not a class."
                    )
            if index[true] == index[decision] and cost != 0:
                raise InvalidCostsError(
                    f"A right decision must cost nothing. Got {cost:g} for deciding "
                    f"{decision!r} when it is true. Set it to 0."
                )
            matrix[index[true], index[decision]] = cost
    if np.isnan(matrix).any():
        true_i, decision_i = np.argwhere(np.isnan(matrix))[0]
        raise InvalidCostsError(
            "mistakes must have a cost for every wrong decision. Got none for deciding "
            f"{classes[decision_i]!r} when {classes[true_i]!r} is true. Add it."
        )
    return matrix


def _outcome_prices(
    test: Test, prices: Mapping[Any, float], otherwise: float
) -> NDArray[np.float64]:
    if test.kind != "category":
        raise InvalidCostsError(
            "A test priced by outcome must show categories. Got "
            f"{test.name!r}, which shows numbers. Give it one price, or turn its values "
            "into categories."
        )
    array = np.full(test.n_levels, otherwise)
    for outcome, price in prices.items():
        code = test.code_of(outcome)
        if code >= test.n_levels:
            raise InvalidCostsError(
                f"Prices by outcome must name outcomes of the test. Got {outcome!r} "
                f"for {test.name!r}, which shows {_list(test.outcomes)}. "
                f"{suggest_name(str(outcome), map(str, test.outcomes))}Leave out what "
                "it never shows."
            )
        array[code] = price
    return array


def _list(items: Iterable[object], most: int = 6) -> str:
    shown = [repr(item) for item in items]
    return ", ".join(shown[:most]) + (", ..." if len(shown) > most else "")


def read_costs(path: str | Path) -> Costs:
    """Read costs from a CSV or TOML file.

    Parameters
    ----------
    path : str or Path
        A CSV file with the columns ``test,cost`` and optionally ``discounted_cost``,
        ``group`` and ``delayed`` (0 or 1), or a TOML file whose tables carry the names
        of the arguments of :class:`Costs`.

    Raises
    ------
    DataFileError
        If the file cannot be read or a line of it makes no sense.
    InvalidCostsError
        If a cost is negative, not a number, or a group is named once.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp(), "costs.csv")
    >>> _ = path.write_text("test,cost,discounted_cost,group\\niron,7,5,blood\\n"
    ...                     "sugar,5,3,blood\\nx-ray,40,,\\n")
    >>> read_costs(path)
    Costs(3 tests, 1 group)
    """
    path = Path(path)
    if path.suffix == ".toml":
        return _read_toml(path)
    return _read_csv(path)


def _read_csv(path: Path) -> Costs:
    costs: dict[str, float] = {}
    groups: dict[str, list[str]] = {}
    discounted: dict[str, float] = {}
    delayed: list[str] = []
    with open_text(path) as file:
        reader = csv.DictReader(file)
        header = reader.fieldnames or []
        for needed in ("test", "cost"):
            if needed not in header:
                raise DataFileError(
                    "A file of costs must have the columns test and cost in its first "
                    f"line. Got {_list(header)} in {path}. "
                    f"{suggest_name(needed, header)}Add the column {needed!r}."
                )
        for line, row in enumerate(reader, start=2):
            where = f"line {line} of {path}"
            name = (row["test"] or "").strip()
            if not name:
                raise DataFileError(
                    f"Every line must name a test. Got no name in {where}. Remove the "
                    "line or name the test."
                )
            if name in costs:
                raise DataFileError(
                    f"Every test must be listed once. Got {name!r} again in {where}. "
                    "Remove one of the two lines."
                )
            text = (row["cost"] or "").strip()
            if not text:
                raise InvalidCostsError(
                    f"Every test must have a cost. Got none for {name!r} in {where}. "
                    "A test that is free has cost 0."
                )
            costs[name] = _price(_number(text), f"The cost of test {name!r} in {where}")
            if (row.get("group") or "").strip():
                groups.setdefault(str(row["group"]).strip(), []).append(name)
            if (row.get("discounted_cost") or "").strip():
                discounted[name] = _price(
                    _number(row["discounted_cost"].strip()),
                    f"The discounted cost of test {name!r} in {where}",
                )
            if _flag((row.get("delayed") or "").strip(), where):
                delayed.append(name)
    # Ungrouped tests often repeat their plain cost as the discounted one.
    grouped = {test for tests in groups.values() for test in tests}
    discounted = {
        test: price
        for test, price in discounted.items()
        if test in grouped or price != costs[test]
    }
    return Costs(costs, groups=groups, discounted=discounted, delayed=delayed)


def _number(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def _flag(text: str, where: str) -> bool:
    if text.lower() in ("", "0", "false", "no"):
        return False
    if text.lower() in ("1", "true", "yes"):
        return True
    raise DataFileError(
        f"delayed must be 0 or 1. Got {text!r} in {where}. Write 1 for a test whose "
        "result comes late."
    )


def _read_toml(path: Path) -> Costs:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataFileError(
            f"A file of costs must be readable. Got {error.strerror} for {path}. Check "
            "the path."
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataFileError(
            f"A file of costs must be valid TOML. Got: {error} in {path}. Mend that "
            "line."
        ) from error
    known = ("costs", "groups", "discounted", "delayed", "by_outcome", "mistakes")
    for key in content:
        if key not in known:
            raise DataFileError(
                f"A file of costs may hold {_list(known)}. Got {key!r} in {path}. "
                f"{suggest_name(key, known)}Remove it."
            )
    if not isinstance(content.get("costs"), Mapping):
        raise DataFileError(
            f"A file of costs must hold a table [costs]. Got none in {path}. Write "
            "[costs] and then a line test = cost for each test."
        )
    return Costs(content.pop("costs"), **content)
