"""Follow many rows through any policy, step by step: who buys what, and decides what.

Rows that stand in the same state go on together, so a tree takes a step for each node.
It must not know how a policy chooses, nor what is made of the steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from askless._core.price._prices import Bill
from askless.policy._base import Policy, raw_columns
from askless.policy.ensemble._ensemble import encode_wide

__all__ = ["RowStep", "walk_rows"]

Rows = NDArray[np.int64]


class RowStep(NamedTuple):
    """One test, asked of rows that stand alike.

    Attributes
    ----------
    rows : ndarray of int64
        The rows, by number.
    test : int
        The test that is asked.
    bought : tuple of int
        The tests that are paid for: this one, with it whatever is ordered together with
        a delayed test, and none if it was bought before.
    charges : tuple of float
        What each of the rows pays for each of these.
    state, after : state
        Where the policy stands before and after.
    """

    rows: Rows
    test: int
    bought: tuple[int, ...]
    charges: tuple[float, ...]
    state: Any
    after: Any

    @property
    def charged(self) -> float:
        """What each of the rows pays in all."""
        return sum(self.charges)


def walk_rows(policy: Policy, X: Any) -> Iterator[RowStep]:
    """Yield every step that rows take through a policy, each row's own in order.

    Parameters
    ----------
    policy : Policy
        What to follow.
    X : frame, mapping of columns, or array-like of shape (n_rows, n_tests)
        Rows of raw values.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"], costs=[1, 3])
    >>> policy = askless.solve(table).policy
    >>> [(s.rows.tolist(), s.test, s.charged) for s in walk_rows(policy, [[0, 1]])]
    [([0], 0, 1.0), ([0], 1, 3.0)]
    """
    used = policy.used_tests
    columns, n_rows = raw_columns(X, policy.coding, used)
    codes = {
        i: encode_wide(policy.tests[i], columns[policy.tests[i].name]) for i in used
    }
    start = (policy.initial_state(), policy.prices.open_bill())
    waiting: list[tuple[Any, Bill, Rows]] = [(*start, np.arange(n_rows))]
    while waiting:
        state, bill, rows = waiting.pop()
        test = policy.next_test(state)
        if test is None or not len(rows):
            continue
        following: dict[Any, list[tuple[Bill, Rows]]] = {}
        shown = codes[test][rows]
        bought = _list_bought(policy, bill, state, test)
        is_ordered = bool(policy.prices.delayed[test])
        for code in np.unique(shown).tolist():
            # What is ordered is charged before anything is seen.
            paid, charges = _pay(bill, bought, -1 if is_ordered else code)
            part = (paid, rows[shown == code])
            key = (policy.advance(state, code), charges)
            following.setdefault(key, []).append(part)
        for (after, charges), parts in following.items():
            together = np.concatenate([part for _, part in parts])
            yield RowStep(together, test, bought, charges, state, after)
            waiting.append((after, parts[0][0], together))


def _pay(
    bill: Bill, bought: tuple[int, ...], code: int
) -> tuple[Bill, tuple[float, ...]]:
    """Return the bill after some tests, and what each of them charged."""
    paid = bill.copy()
    return paid, tuple(paid.charge(each, code) for each in bought)


def _list_bought(policy: Policy, bill: Bill, state: Any, test: int) -> tuple[int, ...]:
    if bill.has_paid(test):
        return ()
    together = policy.tests_ahead(state) if policy.prices.delayed[test] else [test]
    return tuple(t for t in dict.fromkeys(together) if not bill.has_paid(t))
