"""Follow every case of a table through a policy, along all outcomes that it may show.

Works for any policy, through its states alone. A case whose outcome is unknown, or only
likely, goes on in every branch that the outcome may take, with its chance; what it has
shown once, it shows again. This module must not know what a policy looks like inside.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from askless._core.price._prices import Bill
from askless.exceptions import InvalidTableError, suggest_name
from askless.policy import Policy, Tree
from askless.problem import Table, Test

__all__ = ["Ending", "walk_table"]


class Ending(NamedTuple):
    """A place where the policy decides, and the cases that may get there."""

    cases: NDArray[np.int64]
    chances: NDArray[np.float64]
    spent: float
    decision: int


class Visit(NamedTuple):
    """A state of the policy on one path, and the cases that may get there."""

    state: Any
    cases: NDArray[np.int64]
    chances: NDArray[np.float64]
    bill: Bill
    # For each test asked on this path: the levels it can have shown.
    shown: dict[int, NDArray[np.bool_]]


def walk_table(policy: Policy, table: Table, most: int | None = None) -> list[Ending]:
    """Return where the cases of a table end, with their chances and costs.

    Raises
    ------
    OverflowError
        If there are more than `most` places where they end.
    """
    guide = Guide(policy, table)
    if isinstance(policy, Tree) and not table.has_unknown:
        return _walk_tree(policy, guide)
    every = np.arange(table.n_cases)
    first = Visit(
        policy.initial_state(),
        every,
        np.ones(len(every)),
        policy.prices.open_bill(),
        {},
    )
    endings: list[Ending] = []
    stack = [first]
    while stack:
        visit = stack.pop()
        if most is not None and len(endings) + len(stack) > most:
            raise OverflowError(f"more than {most} endings")
        test = policy.next_test(visit.state)
        if test is None:
            endings.append(
                Ending(
                    visit.cases,
                    visit.chances,
                    visit.bill.spent,
                    policy.decision(visit.state),
                )
            )
        else:
            stack.extend(guide.follow(visit, test))
    return endings


def _walk_tree(tree: Tree, guide: Guide) -> list[Ending]:
    """Walk every case at once: without unknown outcomes each ends in one leaf."""
    codes = guide.policy_codes(tree.used_tests)
    leaf = tree.apply_codes(codes)
    order = np.argsort(leaf, kind="stable")
    bounds = np.flatnonzero(np.diff(leaf[order])) + 1
    if tree.prices.engine.has_outcome_prices:
        spent = tree.charge_codes(codes)
        return [
            Ending(np.array([c]), np.ones(1), float(spent[c]), tree.decision(leaf[c]))
            for c in range(len(leaf))
        ]
    return [
        Ending(
            cases,
            np.ones(len(cases)),
            float(tree.spent[leaf[cases[0]]]),
            tree.decision(int(leaf[cases[0]])),
        )
        for cases in np.split(order, bounds)
    ]


class Guide:
    """Translate between the levels of a table and those of a policy, test by test."""

    def __init__(self, policy: Policy, table: Table) -> None:
        self.policy = policy
        self.table = table
        self._column = {test.name: i for i, test in enumerate(table.tests)}
        self._translations: dict[int, NDArray[np.int64]] = {}

    def column_of(self, test: int) -> int:
        """Return the column of the table that shows a test of the policy."""
        name = self.policy.tests[test].name
        if name not in self._column:
            raise InvalidTableError(
                "The table must have every test that the policy asks for. Got no test "
                f"{name!r}. {suggest_name(name, self._column)}Evaluate the policy on "
                "its own table."
            )
        return self._column[name]

    def translation(self, test: int) -> NDArray[np.int64]:
        """Return the policy's code for each code of the table.

        Made when a test is first asked for: levels of other tests need not fit.
        """
        if test not in self._translations:
            source = self.table.tests[self.column_of(test)]
            self._translations[test] = _translate(source, self.policy.tests[test])
        return self._translations[test]

    def policy_codes(self, tests: list[int]) -> NDArray[Any]:
        """Return the codes of the table in the terms of the policy, of some tests."""
        shape = (len(self.policy.tests), self.table.n_cases)
        codes = np.zeros(shape, dtype=self.policy.coding.dtype)
        for test in tests:
            column = self.column_of(test)
            codes[test] = self.translation(test)[self.table.codes[column]]
        return codes

    def follow(self, visit: Visit, test: int) -> list[Visit]:
        """Return the states that come next, with the cases that go there."""
        column = self.column_of(test)
        allowed = visit.shown.get(column)
        following: dict[Any, list[tuple[int, NDArray[np.float64]]]] = {}
        bills: dict[Any, Bill] = {}
        for code, share in self._shares(column, visit.cases, allowed):
            bill, state = self._pay(visit, test, int(self.translation(test)[code]))
            key = (state, bill.spent)
            bills.setdefault(key, bill)
            following.setdefault(key, []).append((code, share))
        return [
            self._visit(visit, column, key[0], bills[key], parts)
            for key, parts in following.items()
        ]

    def _shares(
        self, column: int, cases: NDArray[np.int64], allowed: Any
    ) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Yield each code that may be shown, with how likely each case shows it.

        `allowed` are the codes that it can have shown before, if it was asked.
        """
        possible = self.table.possible
        if possible.likelihoods[column] is not None:
            chances = possible.outcome_chances(column)[:, cases]
            if allowed is not None:
                chances *= allowed[:-1, None]
                chances /= chances.sum(axis=0)
            for code in np.flatnonzero(chances.any(axis=1)).tolist():
                yield code, chances[code]
            return
        codes = self.table.codes[column, cases]
        is_unknown = self.table.is_unknown[column, cases]
        shared = self._chances(column, allowed)
        for code in possible.list_codes(column, cases, shared):
            yield code, np.where(is_unknown, shared[code], codes == code)

    def _chances(self, column: int, allowed: Any) -> NDArray[np.float64]:
        """Return the chance of each code where the outcome is unknown."""
        chances = self.table.possible.chances_of(column)
        if allowed is not None:
            chances *= allowed
        total = chances.sum()
        return chances / total if total > 0 else chances

    def _pay(self, visit: Visit, test: int, code: int) -> tuple[Bill, Any]:
        bill = visit.bill.copy()
        if self.policy.prices.delayed[test] and not bill.has_paid(test):
            bill.charge_together(self.policy.tests_ahead(visit.state))
        else:
            bill.charge(test, code)
        return bill, self.policy.advance(visit.state, code)

    def _visit(
        self,
        visit: Visit,
        column: int,
        state: Any,
        bill: Bill,
        parts: list[tuple[int, NDArray[np.float64]]],
    ) -> Visit:
        """Gather the levels that lead to one state into one visit."""
        share = np.zeros(len(visit.cases))
        shown = np.zeros(self.table.tests[column].n_levels + 2, dtype=bool)
        for code, part in parts:
            shown[code] = True
            share += part
        here = share > 0
        return Visit(
            state,
            visit.cases[here],
            visit.chances[here] * share[here],
            bill,
            {**visit.shown, column: shown},
        )


def _translate(source: Test, target: Test) -> NDArray[np.int64]:
    """Return the target's code for each code of the source."""
    codes = np.full(source.n_levels + 2, target.unknown_code)
    codes[source.missing_code] = target.missing_code
    if source == target:
        codes[: source.n_levels] = np.arange(source.n_levels)
    elif source.kind == "category":
        codes[: source.n_levels] = [target.code_of(o) for o in source.outcomes]
    elif target.kind == "number" and set(target.cuts) <= set(source.cuts):
        highest = [*source.cuts, np.inf]
        codes[: source.n_levels] = [
            sum(cut < high for cut in target.cuts) for high in highest
        ]
    else:
        raise InvalidTableError(
            f"The levels of {source.name!r} in the table must fit those of the policy. "
            "Got levels cut elsewhere. Evaluate the policy on rows of raw values."
        )
    return codes
