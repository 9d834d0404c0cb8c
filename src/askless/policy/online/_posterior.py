"""A policy that keeps the posterior of every case, and chooses test by test.

No tree is grown, so that 10,000 cases and 1,000 tests that may err are no trouble. An
outcome that a case cannot show rules it out; any other makes it more or less likely.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidPolicyError
from askless.policy._first_steps import FirstSteps
from askless.policy.online._check import check_posterior, check_prices
from askless.policy.online._model import CaseModel, Scores
from askless.policy.online._rows import OnlinePolicy
from askless.problem import Outcome, PriceList, Table, Test

__all__ = ["CRITERIA", "Look", "Posterior", "PosteriorState"]

Floats = NDArray[np.float64]
CRITERIA = ("information", "value")
# Bits, or shares of the dearest mistake, that are no gain but rounding.
NO_GAIN = 1e-12
# Scores that differ by less than this, relatively, tie: the first test wins.
TIE = 1e-12
# Bytes of a state beside its arrays.
STATE_BYTES = 1_000


@dataclass(frozen=True, eq=False)
class PosteriorState:
    """What is known of a case: how likely the answers make each case of the table.

    Attributes
    ----------
    log_weight : ndarray of shape (n_cases,)
        The natural logarithm of the prior times the chances of the answers.
    done, paid : tuple of int
        The tests that were answered or skipped, in order; those that were paid.
    path : tuple of int or None
        The codes that led to it from the first state, if nothing else did.
    """

    log_weight: Floats
    done: tuple[int, ...]
    paid: tuple[int, ...]
    path: tuple[int, ...] | None = None

    @cached_property
    def weight(self) -> Floats:
        """The posterior: weights that sum to 1."""
        weight = np.exp(self.log_weight - self.log_weight.max())
        return np.asarray(weight / weight.sum())

    @property
    def log_chance(self) -> float:
        """The natural logarithm of the chance of the answers so far."""
        most = float(self.log_weight.max())
        return most + float(np.log(np.exp(self.log_weight - most).sum()))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, PosteriorState)
            and (self.done, self.paid) == (other.done, other.paid)
            and self.log_weight.tobytes() == other.log_weight.tobytes()
        )

    def __hash__(self) -> int:
        return hash((self.done, self.paid, self.log_weight.tobytes()))


class Look(NamedTuple):
    """The test that is worth most for its price in a state.

    Attributes
    ----------
    test : int
        -1 if no test gains anything, or all cost more than deciding now loses.
    rate : float
        What it is estimated to save for a unit of price; infinite if it is free.
    loss : float
        What deciding now is expected to lose.
    """

    test: int
    rate: float
    loss: float


class Posterior(OnlinePolicy):
    """A policy that weighs every case by the answers, and buys what is worth its price.

    Parameters
    ----------
    tests, classes, prices, mistakes
        See :class:`Policy`; mistakes must have prices, and no test may be delayed.
    criterion : {"information", "value"}
        What a test is estimated to save. "value": what it takes off the expected cost
        of mistakes. "information": the same share of that cost as the test tells of the
        bits that are open about the class.
    factor : float
        It stops where no test saves more than its price by this factor.
    chances : sequence of ndarray of shape (n_codes, n_cases)
        Of each test, the chance of each code. A single row is of a test of two codes:
        the second one has the chance that is left.
    case_class : ndarray of int32 of shape (n_cases,)
    case_weights : ndarray of shape (n_cases,)

    Notes
    -----
    Deciding now is expected to lose L. Among the tests that charge less than L, the one
    that saves most for its price is bought if `factor` times what it saves is above its
    price. No test can save more than L, and one test alone often changes no decision
    though several do: that is what the factor is for. ``solve`` chooses it.

    An outcome that no case can show rules nothing out, and neither does a skipped test.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([["yes"], ["no"]], ["flu", "cold"], tests=["fever"],
    ...                       costs=askless.Costs([1], mistakes=20))
    >>> table = table.with_likelihoods({"fever": {0: {"yes": 0.8, "no": 0.2}}})
    >>> session = Posterior.from_table(table).start()
    >>> session.test
    'fever'
    >>> session.answer("no")
    >>> session.decision, round(session.probabilities["flu"], 3)
    ('cold', 0.167)
    """

    kind: ClassVar[str] = "posterior"

    def __init__(
        self,
        tests: tuple[Test, ...],
        classes: tuple[Outcome, ...],
        prices: PriceList,
        *,
        criterion: str,
        factor: float,
        chances: Sequence[Floats],
        case_class: NDArray[np.int32],
        case_weights: Floats,
        mistakes: Floats | None,
    ) -> None:
        super().__init__(tests, classes, prices, mistakes)
        if criterion not in CRITERIA:
            raise InvalidPolicyError(
                f"criterion must be one of {', '.join(CRITERIA)}. Got {criterion!r}. "
                "Choose one of them."
            )
        check_posterior(
            self.tests,
            len(self.classes),
            prices,
            mistakes,
            factor=factor,
            chances=chances,
            case_class=case_class,
            case_weights=case_weights,
        )
        assert mistakes is not None
        self.criterion = criterion
        self.factor = float(factor)
        self.model = CaseModel(chances, case_class, case_weights, mistakes)
        self._first_steps: FirstSteps[PosteriorState] = FirstSteps()

    @classmethod
    def from_table(
        cls, table: Table, criterion: str = "information", *, factor: float = 1.0
    ) -> Posterior:
        """Return the policy of a table with the price of mistakes."""
        return cls(
            table.tests,
            table.classes,
            table.prices,
            criterion=criterion,
            factor=factor,
            chances=[_rows(table, test) for test in range(table.n_tests)],
            case_class=table.class_ids,
            case_weights=table.prior,
            mistakes=table.costs.mistake_matrix(table.classes),
        )

    def with_factor(self, factor: float) -> Self:
        """Return the same policy with another factor; the cases are shared."""
        other = copy.copy(self)
        other.factor = float(factor)
        return other

    def with_costs(self, costs: Any) -> Self:
        """Return the policy at other costs; it may ask something else then."""
        other = super().with_costs(costs)
        check_prices(other.tests, other.prices)
        assert other.mistakes is not None
        # What was looked at is remembered by the model.
        other.model = self.model.with_mistakes(other.mistakes)
        other._first_steps = FirstSteps()
        return other

    # The machine.

    @cached_property
    def _first(self) -> PosteriorState:
        with np.errstate(divide="ignore"):
            return PosteriorState(np.log(self.model.case_weights), (), (), ())

    def initial_state(self) -> PosteriorState:
        """Return the state in which every case has its prior."""
        return self._first

    def next_test(self, state: PosteriorState) -> int | None:
        """Return the test that is worth most for its price, or None to decide."""
        look = self.look(state)
        is_worth_it = look.test >= 0 and look.rate * self.factor > 1.0
        return look.test if is_worth_it else None

    def look(self, state: PosteriorState) -> Look:
        """Return the best test of a state; whether to buy it is not decided here."""
        # A state remembers it, and of which cases. Two threads may both work it out,
        # with the same result.
        known = state.__dict__.get("_look")
        if known is None or known[0] is not self.model:
            known = (self.model, self._look(state))
            state.__dict__["_look"] = known
        look: Look = known[1]
        return look

    def _look(self, state: PosteriorState) -> Look:
        scores = self.model.score(state.weight, by_value=self.criterion == "value")
        saves = self._estimate(scores)
        prices = self._prices_now(state)
        saves[list(state.done)] = 0.0
        saves[prices >= scores.loss] = 0.0
        if not saves.any():
            return Look(-1, 0.0, scores.loss)
        is_free = prices <= 0
        if saves[is_free].any():
            saves[~is_free] = 0.0
            return Look(_first_largest(saves), np.inf, scores.loss)
        with np.errstate(over="ignore"):
            rates = np.divide(saves, prices, out=np.zeros_like(saves), where=~is_free)
        test = _first_largest(rates)
        return Look(test, float(rates[test]), scores.loss)

    def _estimate(self, scores: Scores) -> Floats:
        """Return what each test is estimated to save."""
        is_value = self.criterion == "value"
        unit = self.model.largest_mistake if is_value else 1.0
        gains = np.where(scores.gains > NO_GAIN * unit, scores.gains, 0.0)
        if is_value or not gains.any():
            return np.minimum(gains, scores.loss)
        return np.asarray(np.minimum(gains / scores.open_bits, 1.0) * scores.loss)

    def _prices_now(self, state: PosteriorState) -> Floats:
        """Return what each test charges on average, given what was paid."""
        bill = self.prices.open_bill()
        for test in state.paid:
            bill.charge(test)
        prices = np.array(self.prices.full, dtype=np.float64)
        if self.prices.groups:
            prices[:] = [bill.price(test) for test in range(len(self.tests))]
        for test in self.prices.by_outcome:
            codes = range(self.model.n_codes(test))
            prices[test] = sum(
                float(self.model.chance_of(test, code) @ state.weight)
                * bill.price(test, code)
                for code in codes
            )
        return prices

    def advance(self, state: PosteriorState, code: int) -> PosteriorState:
        """Weigh every case by its chance to show the code."""
        path = None if state.path is None else (*state.path, int(code))
        found = None if path is None else self._first_steps.find(path)
        if found is not None:
            return found
        test = self.next_test(state)
        assert test is not None
        log_weight = state.log_weight
        if code != self.tests[test].unknown_code:
            with np.errstate(divide="ignore"):
                after = log_weight + np.log(self.model.chance_of(test, code))
            log_weight = after if np.isfinite(after).any() else log_weight
        then = PosteriorState(
            log_weight, (*state.done, test), (*state.paid, test), path
        )
        if path is not None:
            size = 2 * log_weight.nbytes + STATE_BYTES
            self._first_steps.keep(path, then, size)
        return then

    def skip(self, state: PosteriorState, *, paid: bool = False) -> PosteriorState:
        """Return the state after the next test has shown nothing."""
        test = self.next_test(state)
        assert test is not None
        bought = (*state.paid, test) if paid else state.paid
        return PosteriorState(state.log_weight, (*state.done, test), bought)

    def code_followed(self, state: PosteriorState, code: int) -> int:
        """Return the code itself, or "unknown" where no case left can show it."""
        test = self.next_test(state)
        assert test is not None
        shows = self.model.chance_of(test, code) > 0
        is_shown = bool(np.any(shows & np.isfinite(state.log_weight)))
        return code if is_shown else self.tests[test].unknown_code

    def class_weights(self, state: PosteriorState) -> Floats:
        """Return the posterior of each class."""
        summed = np.bincount(
            self.model.case_class, state.weight, minlength=len(self.classes)
        )
        return summed.astype(np.float64)

    def tests_ahead(self, state: PosteriorState) -> list[int]:
        """Return every test that was not done: any of them may be asked."""
        done = set(state.done)
        return [test for test in range(len(self.tests)) if test not in done]

    def recheck(self, shown: dict[int, int]) -> tuple[int, ...]:
        """Return the fewest tests whose answers leave no case, taken together."""
        asked = sorted(shown)
        against = [self.model.chance_of(test, shown[test]) <= 0 for test in asked]
        if not against:
            return ()
        likeliest = int(np.argmin(np.sum(against, axis=0)))
        return tuple(t for t, no in zip(asked, against, strict=True) if no[likeliest])

    def __getstate__(self) -> dict[str, Any]:
        # What is remembered has a lock, and is found again.
        left_out = ("_first_steps", "_first")
        return {k: v for k, v in self.__dict__.items() if k not in left_out}

    def __setstate__(self, parts: dict[str, Any]) -> None:
        self.__dict__.update(parts)
        self._first_steps = FirstSteps()

    def __repr__(self) -> str:
        size = f"{len(self.tests)} tests, {self.model.n_cases} cases"
        return f"{type(self).__name__}({self.criterion!r}, {size})"


def _first_largest(values: Floats) -> int:
    return int(np.argmax(values >= values.max() * (1 - TIE)))


def _rows(table: Table, test: int) -> Floats:
    """Return the chances of the codes of a test that may be seen."""
    chances = table.possible.outcome_chances(test)
    seen = np.flatnonzero(chances.any(axis=1))
    chances = np.asarray(chances[: int(seen[-1]) + 1])
    if len(chances) != 2:
        return chances
    # The second row is what is left of 1: exactly 0 where it cannot be seen.
    return np.where(chances[1:] > 0, chances[:1], 1.0)
