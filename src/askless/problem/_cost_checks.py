"""Check what costs are made of, and put each part into its final form.

What can be wrong with costs is said here; what costs are, in :mod:`._costs`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidCostsError, suggest_name
from askless.problem._frames import list_some
from askless.problem._tests import Test

__all__ = [
    "Key",
    "check_combinations",
    "check_delayed",
    "check_discounted",
    "check_groups",
    "check_mistakes",
    "check_outcome_prices",
    "check_price",
    "check_prices",
    "named_mistakes",
    "prices_by_level",
]

# A test by its name or by its position.
Key = str | int

LEAVE_OUT = "To keep a policy from ever buying a test, leave that test out."
RIGHT_IS_FREE = "A right decision costs 0, and a wrong one never less."


def check_price(value: Any, what: str, remedy: str = LEAVE_OUT) -> float:
    """Return a price as a float that is finite and not negative."""
    try:
        price = float(value)
    except (TypeError, ValueError, OverflowError):
        price = math.nan
    if not (math.isfinite(price) and price >= 0):
        raise InvalidCostsError(
            f"{what} must be a finite number >= 0. Got {value!r}. {remedy}"
        )
    return price + 0.0  # -0.0 becomes 0.0


def check_prices(costs: Any) -> dict[Key, float]:
    """Return prices by name or position, whatever they come as."""
    if _is_mapping(costs):
        items = [(_key(key), value) for key, value in costs.items()]
    elif _is_collection(costs) and not isinstance(costs, AbstractSet):
        items = list(enumerate(costs))
    else:
        raise InvalidCostsError(
            "costs must be a mapping of test to cost, or a sequence with a cost for "
            f"each test. Got {type(costs).__name__}. For a file, use read_costs."
        )
    checked: dict[Key, float] = {}
    for key, value in items:
        if key in checked:
            raise InvalidCostsError(
                f"Every test must have one cost. Got two for {key!r}. Remove one of "
                "them."
            )
        checked[key] = check_price(value, f"The cost of test {key!r}")
    if not checked:
        raise InvalidCostsError(
            "There must be a cost for each test. Got no costs at all. For unit costs, "
            "pass costs=None."
        )
    return checked


def check_groups(groups: Any) -> dict[str, tuple[Key, ...]]:
    """Return the tests of each group."""
    checked: dict[str, tuple[Key, ...]] = {}
    for group, tests in _items(groups, "groups", "group to the list of its tests"):
        if not _is_collection(tests):
            raise InvalidCostsError(
                f"A group must be a list of its tests. Got {tests!r} for {group!r}. "
                "Write {group: [test, test, ...]}."
            )
        members = _keys(tests)
        if len(members) < 2:
            raise InvalidCostsError(
                "A group must have at least two tests. Got "
                f"{len(members)} ({list_some(members)}) in group {group!r}. Check how "
                "the group's name is spelled, or leave the group out."
            )
        checked[str(group)] = members
    return checked


def check_discounted(discounted: Any) -> dict[Key, float]:
    """Return the discounted prices."""
    return {
        _key(test): check_price(price, f"The discounted cost of test {test!r}")
        for test, price in _items(discounted, "discounted", "test to price")
    }


def check_delayed(delayed: Any) -> tuple[Key, ...]:
    """Return the tests that are delayed, each once."""
    if not _is_collection(delayed):
        raise InvalidCostsError(
            f"delayed must be a list of tests. Got {delayed!r}. Write [test, test, "
            "...]."
        )
    return _keys(delayed)


def check_outcome_prices(by_outcome: Any) -> dict[Key, dict[Any, float]]:
    """Return the prices by outcome."""
    checked: dict[Key, dict[Any, float]] = {}
    shape = "test to a mapping of outcome to price"
    for test, prices in _items(by_outcome, "by_outcome", shape):
        what = f"by_outcome[{test!r}]"
        checked[_key(test)] = {
            outcome: check_price(v, f"The cost of outcome {outcome!r} of test {test!r}")
            for outcome, v in _items(prices, what, "outcome to price")
        }
    return checked


def check_mistakes(
    mistakes: Any,
) -> float | NDArray[np.float64] | dict[Any, dict[Any, float]] | None:
    """Return costs of mistakes as a number, a matrix or a mapping of mappings."""
    if mistakes is None:
        return None
    if hasattr(mistakes, "columns") and hasattr(mistakes, "index"):
        # A pandas frame names its rows and columns: their order is not to be trusted.
        mistakes = mistakes.to_dict("index")
    if isinstance(mistakes, Mapping):
        return {
            true: {
                decision: check_price(
                    v, f"The cost of deciding {decision!r} for {true!r}", RIGHT_IS_FREE
                )
                for decision, v in _items(row, f"mistakes[{true!r}]", "class to cost")
            }
            for true, row in mistakes.items()
        }
    try:
        matrix = np.array(mistakes, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        matrix = None
    if isinstance(mistakes, str) or (matrix is not None and matrix.ndim == 0):
        return check_price(mistakes, "The cost of a mistake", RIGHT_IS_FREE)
    _check_matrix(matrix)
    return matrix


def _check_matrix(matrix: NDArray[np.float64] | None) -> None:
    if matrix is None or matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        got = "ragged rows or text" if matrix is None else f"the shape {matrix.shape}"
        raise InvalidCostsError(
            "mistakes must be a number or a square matrix, mistakes[true][decision]. "
            f"Got {got}. Give a row and a column for each class."
        )
    wrong = np.argwhere(~(np.isfinite(matrix) & (matrix >= 0)))
    if wrong.size:
        row, column = wrong[0]
        raise InvalidCostsError(
            "mistakes must be finite and >= 0. Got "
            f"{matrix[row, column]} in row {row}, column {column}. {RIGHT_IS_FREE}"
        )
    if np.any(np.diag(matrix) != 0):
        where = int(np.flatnonzero(np.diag(matrix))[0])
        raise InvalidCostsError(
            "A right decision must cost nothing: the diagonal of mistakes is zero. Got "
            f"{matrix[where, where]:g} in row {where}. Set the diagonal to 0."
        )
    matrix.flags.writeable = False


def named_mistakes(
    mistakes: Mapping[Any, Mapping[Any, float]], classes: Sequence[Hashable]
) -> NDArray[np.float64]:
    """Return the matrix of mistakes that are given by class."""
    index: dict[Any, int] = {one: i for i, one in enumerate(classes)}
    for i, one in enumerate(classes):
        index.setdefault(str(one), i)
    matrix = np.full((len(classes), len(classes)), np.nan)
    np.fill_diagonal(matrix, 0.0)
    for true, row in mistakes.items():
        for decision, cost in row.items():
            i, j = (_class_index(name, index, classes) for name in (true, decision))
            if i == j and cost != 0:
                raise InvalidCostsError(
                    f"A right decision must cost nothing. Got {cost:g} for deciding "
                    f"{decision!r} when it is true. Set it to 0."
                )
            matrix[i, j] = cost
    if np.isnan(matrix).any():
        true_i, decision_i = np.argwhere(np.isnan(matrix))[0]
        raise InvalidCostsError(
            "mistakes must have a cost for every wrong decision. Got none for deciding "
            f"{classes[decision_i]!r} when {classes[true_i]!r} is true. Add it."
        )
    return matrix


def _class_index(name: Any, index: dict[Any, int], classes: Sequence[Hashable]) -> int:
    if name not in index:
        raise InvalidCostsError(
            f"mistakes must name classes. Got {name!r}, which is none of "
            f"{list_some(classes)}. {suggest_name(str(name), map(str, classes))}"
            "Leave out what is not a class."
        )
    return index[name]


def check_combinations(
    costs: Mapping[Key, float],
    groups: Mapping[str, Sequence[Key]],
    discounted: Mapping[Key, float],
    delayed: Sequence[Key],
    by_outcome: Mapping[Key, Mapping[Any, float]],
) -> None:
    """Check what each part allows of the others, as far as they use the same keys."""
    group_of: dict[Key, str] = {}
    for group, tests in groups.items():
        for test in tests:
            if test in group_of:
                raise InvalidCostsError(
                    f"A test must be in at most one group. Got {test!r} in "
                    f"{group_of[test]!r} and {group!r}. Keep it in one of them."
                )
            group_of[test] = group
    _check_discounts(costs, group_of, discounted)
    for test in by_outcome:
        if test in group_of:
            raise InvalidCostsError(
                "A test priced by outcome must be in no group. Got "
                f"{test!r} in {group_of[test]!r}. Keep one of the two."
            )
    if by_outcome and delayed:
        raise InvalidCostsError(
            "Prices by outcome cannot be combined with delayed tests, which are paid "
            f"for before they show anything. Got {next(iter(by_outcome))!r} priced by "
            f"outcome and {delayed[0]!r} delayed. Keep one of the two."
        )


def _check_discounts(
    costs: Mapping[Key, float],
    group_of: Mapping[Key, str],
    discounted: Mapping[Key, float],
) -> None:
    for test, price in discounted.items():
        if price > costs.get(test, math.inf):
            raise InvalidCostsError(
                f"A discounted cost must not be above the cost. Got {price:g} for "
                f"{test!r}, which costs {costs[test]:g}. Swap the two, or leave the "
                "discount out."
            )
        # Whether a test given by position is in a group given by names is known only
        # when the problem is. Price lists often repeat the plain price of tests in no
        # group.
        is_alone = all(type(key) is type(test) for key in group_of)
        if test not in group_of and is_alone and price != costs.get(test, price):
            raise InvalidCostsError(
                "A discounted cost must be of a test in a group. Got one for "
                f"{test!r}, which is in none. Name its group, or leave the discount "
                "out."
            )


def prices_by_level(
    test: Test, prices: Mapping[Any, float], otherwise: float
) -> NDArray[np.float64]:
    """Return the price of each level of a test that is priced by outcome."""
    if test.kind != "category":
        raise InvalidCostsError(
            "A test priced by outcome must show categories. Got "
            f"{test.name!r}, which shows numbers. Give it one price, or turn its "
            "values into categories."
        )
    array = np.full(test.n_levels, otherwise)
    for outcome, price in prices.items():
        code = test.code_of(outcome)
        if code >= test.n_levels:
            raise InvalidCostsError(
                f"Prices by outcome must name outcomes of the test. Got {outcome!r} "
                f"for {test.name!r}, which shows {list_some(test.outcomes)}. "
                f"{suggest_name(str(outcome), map(str, test.outcomes))}Leave out what "
                "it never shows."
            )
        array[code] = price
    return array


def _key(key: object) -> Key:
    return int(key) if isinstance(key, (int, np.integer)) else str(key)


def _keys(tests: Iterable[object]) -> tuple[Key, ...]:
    """Return the keys of tests, each once, in an order that is always the same."""
    keys = dict.fromkeys(_key(test) for test in tests)
    return tuple(sorted(keys, key=str) if isinstance(tests, AbstractSet) else keys)


def _is_mapping(value: object) -> bool:
    """Return whether a value has names, as a mapping or a pandas series has."""
    return isinstance(value, Mapping) or (
        hasattr(value, "keys") and hasattr(value, "items")
    )


def _is_collection(value: object) -> bool:
    """Return whether a value lists others, as a list, a set or an array does."""
    is_other = isinstance(value, (str, bytes)) or _is_mapping(value)
    return isinstance(value, Iterable) and not is_other


def _items(value: Any, what: str, shape: str) -> Iterable[tuple[Any, Any]]:
    if value is None:
        return ()
    if not _is_mapping(value):
        raise InvalidCostsError(
            f"{what} must be a mapping of {shape}. Got {type(value).__name__}. Write "
            "it as {name: value, ...}."
        )
    items: Iterable[tuple[Any, Any]] = value.items()
    return items
