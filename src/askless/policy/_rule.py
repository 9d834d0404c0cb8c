"""A policy as a rule: it chooses the next test for the state at hand, no more.

It carries the table that it was made for, and no tree, so that 100,000 cases are no
trouble. It does not know what it costs; that is worked out by whoever made it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from askless._core.unknown._scores import choose_test, score_tests
from askless._core.unknown._table import Effect, UnknownTable
from askless.exceptions import (
    InvalidPolicyError,
    UnknownNameError,
    suggest_name,
)
from askless.policy._cases import check_cases, check_order
from askless.policy._first_steps import FirstSteps
from askless.policy.online._rows import OnlinePolicy
from askless.problem import Outcome, PriceList, Table, Test
from askless.problem._jobs import threads_for
from askless.problem._possible import Possible, find_recheck
from askless.problem._tests import CodeArray

__all__ = ["RULES", "Belief", "Rule"]

# By name and form; the numbers are those of the kernel.
RULES = {
    ("odtn-r", "paper"): 0,
    ("odtn-r", "released"): 1,
    ("odtn-h", "paper"): 2,
    ("odtn-h", "released"): 3,
    ("elimination", "paper"): 4,
    ("information", "paper"): 5,
    ("gbs", "paper"): 6,
    ("ec2", "paper"): 7,
}
# Which of them count copies of cases.
BY_COPIES = (2, 3)
# Cases times tests of a belief: so many are worth a second thread, some milliseconds of
# scoring, and so many are worth being remembered. Below, a case is nearly told.
LEAST_WORK = 200_000
LEAST_KEPT = 500
# What a belief takes besides the cases in it.
BELIEF_BYTES = 1_000


@dataclass(frozen=True, eq=False)
class Belief:
    """What a rule knows of a case: the cases left, how likely, and what was done.

    Attributes
    ----------
    cases : ndarray of int32
        The cases that the answers leave possible, those of one class together.
    surprisal : ndarray of int64
        How unlikely the answers make each of them, in parts of a bit.
    done : tuple of int
        The tests that were answered or skipped, in order.
    note : tuple of int
        What a rule with a memory keeps in mind.
    path : tuple of int or None
        The codes that led to it from the first belief of a rule, if nothing else did.
    """

    cases: NDArray[np.int32]
    surprisal: NDArray[np.int64]
    done: tuple[int, ...]
    note: tuple[int, ...]
    path: tuple[int, ...] | None = None

    @cached_property
    def key(self) -> bytes:
        """Stands for the arrays when two beliefs are compared."""
        return self.cases.tobytes() + self.surprisal.tobytes()

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Belief)
            and (self.done, self.note) == (other.done, other.note)
            and self.key == other.key
        )

    def __hash__(self) -> int:
        return hash((self.done, self.note, self.key))

    @property
    def n_bytes(self) -> int:
        """How much memory it takes."""
        return self.cases.nbytes + self.surprisal.nbytes + BELIEF_BYTES


def make_belief(
    cases: NDArray[np.int32],
    surprisal: NDArray[np.int64],
    done: tuple[int, ...],
    note: tuple[int, ...] = (),
    path: tuple[int, ...] | None = None,
) -> Belief:
    """Return a belief whose least unlikely case counts as certain."""
    surprisal = surprisal - surprisal.min() if len(surprisal) else surprisal
    return Belief(cases, surprisal, done, note, path)


class Rule(OnlinePolicy):
    """A policy that scores every test in the state at hand and takes the best.

    Parameters
    ----------
    tests, classes, prices, mistakes
        See :class:`Policy`.
    rule : str
        "odtn-r", "odtn-h", "elimination", "information", "gbs", "ec2"; or "order",
        which asks tests in a fixed order without those that can rule out no case.
    form : {"paper", "released"}, default="paper"
        Of the first two; see :func:`askless.solve`.
    case_codes : ndarray of uint8 or uint16 of shape (n_tests, n_cases)
        What each test shows for each case, as codes. Not copied.
    case_class : ndarray of int32 of shape (n_cases,)
    case_weights : ndarray of shape (n_cases,)
    chances : tuple of ndarray
        The chance of each level of each test where the outcome is unknown.
    order : sequence of int, optional
        The tests of "order".
    n_threads : int, default=1
        Threads to score tests with, where there are enough cases for it.

    Notes
    -----
    An outcome that no case left can show rules nothing out, and neither does a skipped
    test: the policy goes on with what it believed before. :attr:`Session.recheck` names
    the answers to look at again.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0, 0], [None, 1], [1, 0]], ["a", "b", "c"])
    >>> policy = Rule.from_table(table, "elimination")
    >>> session = policy.start()
    >>> session.test
    't1'
    >>> session.answer(0)
    >>> session.test, round(session.probabilities["a"], 3)
    ('t0', 0.5)
    """

    kind: ClassVar[str] = "rule"

    def __init__(
        self,
        tests: tuple[Test, ...],
        classes: tuple[Outcome, ...],
        prices: PriceList,
        *,
        rule: str,
        case_codes: CodeArray,
        case_class: NDArray[np.int32],
        case_weights: NDArray[np.float64],
        chances: tuple[NDArray[np.float64], ...],
        form: str = "paper",
        order: Any = None,
        mistakes: NDArray[np.float64] | None = None,
        n_threads: int = 1,
    ) -> None:
        super().__init__(tests, classes, prices, mistakes)
        names = sorted({name for name, _ in RULES} | {"order"})
        if rule not in names:
            raise UnknownNameError(
                f"rule must be one of {', '.join(names)}. Got {rule!r}. "
                f"{suggest_name(rule, names)}Choose one of them."
            )
        if (rule == "order") != (order is not None) or (
            rule != "order" and (rule, form) not in RULES
        ):
            raise InvalidPolicyError(
                "A rule must have a form that it knows, and tests if it is an order. "
                f"Got rule {rule!r}, form {form!r}. See its documentation."
            )
        self.rule, self.form = rule, form
        self.order = None if order is None else np.array(order, dtype=np.int32)
        self.case_codes = case_codes
        self.case_class = np.ascontiguousarray(case_class, dtype=np.int32)
        self.case_weights = np.ascontiguousarray(case_weights, dtype=np.float64)
        self.chances = tuple(chances)
        self.n_threads = n_threads
        _check_rule(self)
        self.possible = Possible(case_codes, self.tests, self.chances)
        self._prepare()

    def _prepare(self) -> None:
        """Make what is compiled, and forget the first steps."""
        codes: Any = np.ascontiguousarray(self.case_codes)
        self.kernel = UnknownTable(
            codes,
            np.array([test.n_levels for test in self.tests], dtype=np.int32),
            *self.possible.flat_chances,
            self.case_class,
            self.case_weights,
        )
        self._chosen: FirstSteps[Belief] = FirstSteps()

    def __getstate__(self) -> dict[str, Any]:
        # What is compiled and what is remembered is made again.
        left_out = ("kernel", "_chosen", "_first")
        return {k: v for k, v in self.__dict__.items() if k not in left_out}

    def __setstate__(self, parts: dict[str, Any]) -> None:
        self.__dict__.update(parts)
        self._prepare()

    @classmethod
    def from_table(
        cls, table: Table, rule: str = "elimination", *, form: str = "paper"
    ) -> Rule:
        """Return the rule for a table, ready to be asked."""
        return cls(
            table.tests,
            table.classes,
            table.prices,
            rule=rule,
            form=form,
            case_codes=table.codes,
            case_class=table.class_ids,
            case_weights=table.prior,
            chances=table.chances,
            mistakes=table.costs.mistake_matrix(table.classes),
        )

    # The machine.

    @cached_property
    def _first(self) -> Belief:
        cases = np.argsort(self.case_class, kind="stable").astype(np.int32)
        return make_belief(cases, np.zeros(len(cases), dtype=np.int64), (), path=())

    def initial_state(self) -> Belief:
        """Return the belief in which every case is possible."""
        return self._first

    def next_test(self, state: Belief) -> int | None:
        """Return the test that scores best for its price, or None to decide."""
        # A belief remembers what was chosen for it, and by which rule. Two threads may
        # both work it out, with the same result.
        known = state.__dict__.get("_choice")
        if known is None or known[0] is not self:
            known = (self, self._choose(state))
            state.__dict__["_choice"] = known
        test: int | None = known[1]
        return test

    def _choose(self, state: Belief) -> int | None:
        labels = self.case_class[state.cases]
        if not np.any(labels != labels[0]):
            return None
        weight = self.kernel.weigh_cases(state.cases, state.surprisal)
        number = RULES.get((self.rule, self.form), RULES["elimination", "paper"])
        copies = self._copies(state) if number in BY_COPIES else None
        n_threads = self._count_threads(state)
        scores, effects = score_tests(
            self.kernel, state.cases, weight, number, copies, n_threads
        )
        done = np.zeros(len(self.tests), dtype=np.uint8)
        done[list(state.done)] = 1
        if self.order is not None:
            is_left = (done == 0) & (effects != Effect.TELLS_NOTHING)
            left = self.order[is_left[self.order]]
            return int(left[0]) if left.size else None
        # A test that was skipped is not asked again, so it is no hope either.
        effects[done == 1] = Effect.TELLS_NOTHING
        test = choose_test(scores, self._prices_now(state), effects, done)
        return None if test < 0 else int(test)

    def _count_threads(self, state: Belief) -> int:
        work = len(state.cases) * len(self.tests)
        return threads_for(self.n_threads, work, LEAST_WORK)

    def _prices_now(self, state: Belief) -> NDArray[np.float64]:
        if not self.prices.groups:
            return np.ascontiguousarray(self.prices.full)
        bill = self.prices.open_bill()
        for test in state.done:
            bill.charge(test)
        return np.array([bill.price(test) for test in range(len(self.tests))])

    def _copies(self, state: Belief) -> NDArray[np.float64]:
        """Return in how many ways the draws of each case can still come, scaled."""
        bits = self.possible.draw_bits[state.cases]
        for test in state.done:
            is_unknown = self.possible.is_unknown_in(test, state.cases)
            bits = bits - self.possible.bits_of_draw(test) * is_unknown
        return np.asarray(np.exp2(bits - bits.max()))

    def advance(self, state: Belief, code: int) -> Belief:
        """Rule out the cases that cannot show the code, and weigh the others."""
        path = None if state.path is None else (*state.path, int(code))
        found = None if path is None else self._chosen.find(path)
        if found is not None:
            return found
        test = self.next_test(state)
        assert test is not None
        cases, surprisal = state.cases, state.surprisal
        if code != self.tests[test].unknown_code:
            cases, surprisal = self.kernel.advance(cases, surprisal, test, code)
        if len(cases) == 0:
            cases, surprisal = state.cases, state.surprisal
        after = make_belief(cases, surprisal, (*state.done, test), path=path)
        if path is not None and len(cases) * len(self.tests) >= LEAST_KEPT:
            self._chosen.keep(path, after, after.n_bytes)
        return after

    def class_weights(self, state: Belief) -> NDArray[np.float64]:
        """Return the weight of each class among the cases that are left."""
        weight = self.kernel.weigh_cases(state.cases, state.surprisal)
        summed = np.bincount(
            self.case_class[state.cases], weight, minlength=len(self.classes)
        )
        return summed.astype(np.float64)

    def _even_weights(self, state: Belief) -> NDArray[np.float64]:
        counts = np.bincount(self.case_class[state.cases], minlength=len(self.classes))
        return counts.astype(np.float64)

    def tests_ahead(self, state: Belief) -> list[int]:
        """Return every test that was not done: any of them may be asked."""
        done = set(state.done)
        return [test for test in range(len(self.tests)) if test not in done]

    def code_followed(self, state: Belief, code: int) -> int:
        """Return the code, or "unknown" if no case that is left can show it."""
        test = self.next_test(state)
        assert test is not None
        unknown = self.tests[test].unknown_code
        if code == unknown or self.possible.can_show(test, code)[state.cases].any():
            return code
        return unknown

    def recheck(self, shown: dict[int, int]) -> tuple[int, ...]:
        """Return the fewest tests whose answers leave no case, taken together."""
        return find_recheck(self.possible, shown)

    def _with_prices(self, prices: PriceList) -> Self:
        other = super()._with_prices(prices)
        # What was chosen at the old prices.
        other._chosen = FirstSteps()
        return other

    def __repr__(self) -> str:
        size = f"{len(self.tests)} tests, {len(self.case_class)} cases"
        return f"{type(self).__name__}({self.rule!r}, {size})"


def _check_rule(rule: Rule) -> None:
    if not rule.tests:
        raise InvalidPolicyError(
            "A rule must have a test to choose. Got none. Decide without a policy."
        )
    check_cases(
        "rule",
        list(rule.tests),
        rule.case_codes,
        rule.case_class,
        rule.case_weights,
        len(rule.classes),
    )
    if rule.order is not None:
        check_order(rule.order, len(rule.tests))
    for test, given in zip(rule.tests, rule.chances, strict=False):
        fits = given.shape == (max(test.n_levels, 1),) and bool(np.all(given >= 0))
        if not fits or not np.isclose(given.sum(), 1.0):
            raise InvalidPolicyError(
                f"The chances of {test.name!r} must be >= 0, one for each level, and "
                f"sum to 1. Got {given[:8]}. Divide them by their sum."
            )
    if len(rule.chances) != len(rule.tests):
        raise InvalidPolicyError(
            f"Every test must have chances. Got {len(rule.chances)} for "
            f"{len(rule.tests)} tests. Give one for each."
        )
