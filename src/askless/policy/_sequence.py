"""A policy as a fixed order of tests: each case is asked the same, until it is settled.

It carries the cases that it tells apart, and rules them out as outcomes come in. It
does not know why the tests come in this order.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from askless._core.tree._sequence import charge_prefixes, walk_sequence
from askless.policy._base import Policy, raw_columns
from askless.policy._cases import check_cases, check_order
from askless.policy._decide import decide_classes
from askless.problem import Outcome, PriceList, Table, Test
from askless.problem._jobs import count_threads
from askless.problem._possible import Possible, find_recheck
from askless.problem._tests import CodeArray

__all__ = ["Sequence"]


class SequenceState(NamedTuple):
    """Where a case stands: how many tests it took, which cases are left."""

    step: int
    alive: tuple[int, ...]


class Sequence(Policy):
    """A policy that asks its tests in a fixed order.

    Parameters
    ----------
    tests, classes, prices, mistakes
        See :class:`Policy`.
    order : sequence of int
        The tests in the order in which they are asked, each at most once.
    case_codes : ndarray of shape (n_steps, n_cases)
        What each test of ``order`` shows for each case, as codes.
    case_class : ndarray of int32 of shape (n_cases,)
        The class of each case.
    case_weights : ndarray of shape (n_cases,)
        The weight of each case.
    stops_early : bool, default=True
        Stop as soon as the cases that are left have one class; else ask every test.

    Notes
    -----
    An outcome that no case left can show rules nothing out: the policy goes on with
    what it believed before, rather than with nothing. So does a missing outcome, unless
    some case is known to show "missing".

    Examples
    --------
    Asking every check, whatever comes out, is what a policy is measured against:

    >>> import askless
    >>> table = askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"])
    >>> everything = Sequence.from_table(table, stops_early=False)
    >>> everything.cost([[0, 0], [1, 1]])
    array([2., 2.])
    >>> Sequence.from_table(table).cost([[0, 0], [1, 1]])
    array([2., 1.])
    """

    kind: ClassVar[str] = "sequence"

    def __init__(
        self,
        tests: tuple[Test, ...],
        classes: tuple[Outcome, ...],
        prices: PriceList,
        *,
        order: Any,
        case_codes: CodeArray,
        case_class: NDArray[np.int32],
        case_weights: NDArray[np.float64],
        stops_early: bool = True,
        mistakes: NDArray[np.float64] | None = None,
    ) -> None:
        super().__init__(tests, classes, prices, mistakes)
        self.order = check_order(order, len(tests))
        self.case_codes = np.ascontiguousarray(case_codes)
        self.case_class = np.array(case_class, dtype=np.int32)
        self.case_weights = np.array(case_weights, dtype=np.float64)
        self.stops_early = bool(stops_early)
        check_cases(
            "sequence",
            [tests[test] for test in self.order],
            self.case_codes,
            self.case_class,
            self.case_weights,
            len(classes),
        )

    @classmethod
    def from_table(
        cls,
        table: Table,
        order: Any = None,
        *,
        stops_early: bool = True,
    ) -> Sequence:
        """Ask the tests of a table in a given order; as they stand by default."""
        order = range(table.n_tests) if order is None else order
        order = check_order(order, table.n_tests)
        return cls(
            table.tests,
            table.classes,
            table.prices,
            order=order,
            case_codes=table.codes[order],
            case_class=table.class_ids,
            case_weights=table.prior,
            stops_early=stops_early,
            mistakes=table.costs.mistake_matrix(table.classes),
        )

    @property
    def n_steps(self) -> int:
        """How many tests are asked at most."""
        return len(self.order)

    # The machine.

    @cached_property
    def _first(self) -> SequenceState:
        return SequenceState(0, tuple(range(len(self.case_class))))

    def initial_state(self) -> SequenceState:
        """Return the state in which every case is possible."""
        return self._first

    def next_test(self, state: SequenceState) -> int | None:
        """Return the next test in order, or None at the end or when settled."""
        if state.step == self.n_steps:
            return None
        if self.stops_early:
            labels = self.case_class[list(state.alive)]
            if not np.any(labels != labels[0]):
                return None
        return int(self.order[state.step])

    def advance(self, state: SequenceState, code: int) -> SequenceState:
        """Rule out the cases that cannot show the code."""
        test = self.tests[self.order[state.step]]
        unknown = test.unknown_code
        if code == unknown or (
            code == test.missing_code and not self._shows_missing[state.step]
        ):
            return SequenceState(state.step + 1, state.alive)
        alive = np.array(state.alive)
        shown = self.case_codes[state.step, alive]
        kept = tuple(alive[(shown == code) | (shown == unknown)].tolist())
        return SequenceState(state.step + 1, kept or state.alive)

    def class_weights(self, state: SequenceState) -> NDArray[np.float64]:
        """Return the weight of each class among the cases that are left."""
        alive = list(state.alive)
        weights = np.bincount(
            self.case_class[alive], self.case_weights[alive], len(self.classes)
        )
        return weights.astype(np.float64, copy=False)

    def _even_weights(self, state: SequenceState) -> NDArray[np.float64]:
        alive = list(state.alive)
        counts = np.bincount(self.case_class[alive], minlength=len(self.classes))
        return counts.astype(np.float64)

    def code_followed(self, state: SequenceState, code: int) -> int:
        """Return the code, or "unknown" if no case that is left can show it."""
        test = self.tests[self.order[state.step]]
        shown = self.case_codes[state.step, list(state.alive)]
        if code == test.missing_code and not self._shows_missing[state.step]:
            return code
        fits = np.any((shown == code) | (shown == test.unknown_code))
        return code if fits else test.unknown_code

    def recheck(self, shown: dict[int, int]) -> tuple[int, ...]:
        """Return the fewest tests whose answers leave no case, taken together."""
        step_of = {int(test): step for step, test in enumerate(self.order)}
        steps = {step_of[test]: code for test, code in shown.items() if test in step_of}
        tests = tuple(self.tests[test] for test in self.order)
        # A missing outcome says nothing unless some case is known to show it.
        steps = {
            step: code
            for step, code in steps.items()
            if code != tests[step].missing_code or self._shows_missing[step]
        }
        # Any level may come where the outcome is unknown.
        chances = tuple(np.ones(max(test.n_levels, 1)) for test in tests)
        codes: Any = self.case_codes
        found = find_recheck(Possible(codes, tests, chances), steps)
        return tuple(int(self.order[step]) for step in found)

    def tests_ahead(self, state: SequenceState) -> list[int]:
        """Return the rest of the sequence."""
        return [int(test) for test in self.order[state.step :]]

    # Many rows.

    @cached_property
    def _shows_missing(self) -> NDArray[np.bool_]:
        """Whether some case is known to show "missing", for each step."""
        missing = [self.tests[t].missing_code for t in self.order]
        return np.array(
            [
                bool(np.any(codes == code))
                for codes, code in zip(self.case_codes, missing, strict=True)
            ],
            dtype=bool,
        )

    def _encode(self, X: Any) -> CodeArray:
        """Return the codes of rows, a row of the result for each step."""
        columns, n_rows = raw_columns(X, self.coding, self.order.tolist())
        codes: CodeArray = np.zeros((self.n_steps, n_rows), dtype=self.coding.dtype)
        if self.n_steps:
            codes = self.coding.encode(columns, self.order.tolist())
        for step in np.flatnonzero(~self._shows_missing):
            test = self.tests[self.order[step]]
            codes[step, codes[step] == test.missing_code] = test.unknown_code
        return codes

    def _walk(
        self, codes: CodeArray, case_weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return how many tests each row takes, and its class weights at the end."""
        case_codes: Any = self.case_codes.astype(codes.dtype, copy=False)
        weights = np.zeros((codes.shape[1], len(self.classes)))
        unknown = np.array(
            [self.tests[t].unknown_code for t in self.order], dtype=np.int32
        )
        n_taken = walk_sequence(
            codes,
            case_codes,
            unknown,
            self.case_class,
            case_weights,
            self.stops_early,
            weights,
        )
        return n_taken, weights

    def _run(
        self, X: Any, n_jobs: int | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the class weights where each row ends, and what it pays.

        Where no case that is left has a weight, all of them count the same.
        """
        count_threads(n_jobs)
        codes = self._encode(X)
        n_taken, weights = self._walk(codes, self.case_weights)
        empty = ~weights.any(axis=1)
        if empty.any():
            even = np.ones_like(self.case_weights)
            rows: Any = np.ascontiguousarray(codes[:, empty])
            weights[empty] = self._walk(rows, even)[1]
        cost = charge_prefixes(self.prices.engine, self.order, codes, n_taken)
        return weights, cost

    def predict_and_cost(
        self, X: Any, *, n_jobs: int | None = None
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the decision for each row and what it pays, from one run."""
        weights, cost = self._run(X, n_jobs)
        return self._class_array[decide_classes(weights, self.mistakes)], cost

    def predict(self, X: Any, *, n_jobs: int | None = None) -> NDArray[Any]:
        """Return the decision for each row; see :meth:`Policy.predict`."""
        return self.predict_and_cost(X, n_jobs=n_jobs)[0]

    def predict_proba(
        self, X: Any, *, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """Return the share of each class among the cases left for each row."""
        weights = self._run(X, n_jobs)[0]
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def cost(self, X: Any, *, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return what each row pays."""
        return self._run(X, n_jobs)[1]

    def __repr__(self) -> str:
        return f"Sequence({self.n_steps} tests, {len(self.case_class)} cases)"
