"""A policy as an ensemble of trees that buys tests until its decision is settled.

Every tree waits for the tests that it has not seen, and is bounded by the leaves that
it can still reach. This module does not know which library grew the trees.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from askless._core.ensemble._machine import Machine
from askless.exceptions import InvalidOptionError, InvalidPolicyError
from askless.policy._base import Policy, raw_columns
from askless.policy.ensemble._bounds import (
    check_bounds,
    choose_bounds,
    names_one_class,
)
from askless.policy.ensemble._output import Output
from askless.policy.ensemble._parts import EnsembleTrees, check_sums, find_scales
from askless.policy.ensemble._state import Answers, EnsembleState, WalkPool
from askless.problem import Outcome, PriceList, Test
from askless.problem._jobs import threads_for
from askless.problem._tests import _as_numbers

__all__ = ["Ensemble", "Trace", "encode_wide"]

# Rows run between two looks at the keyboard.
CHUNK = 32_768
# Rows times trees that are worth a second thread: about a millisecond of votes.
LEAST_WORK = 20_000


class Trace(NamedTuple):
    """Every step of many rows: what was spent, how sure it was, what it would decide.

    ``cost``, ``z`` and ``decision`` have a column for each step; ``n_steps`` of a row's
    entries hold. ``raw`` are the sums at the end, ``z_together`` how sure it was if all
    that is open varies together. ``sums`` are those of every step, if they were asked
    for: in single precision, with an axis for the outputs.
    """

    raw: NDArray[np.float64]
    cost: NDArray[np.float64]
    z: NDArray[np.float64]
    decision: NDArray[np.float64]
    n_steps: NDArray[np.int32]
    z_together: NDArray[np.float64]
    sums: NDArray[np.float32] | None = None


class Ensemble(Policy):
    """A policy that sums over trees, and stops when its decision can no longer change.

    Parameters
    ----------
    tests, classes, prices, mistakes
        See :class:`Policy`. Without classes the decision is a number.
    trees : EnsembleTrees
        The trees.
    output : Output
        How sums become classes or numbers.
    threshold : float, optional
        Stop early, once the lead is so many standard deviations of what is still open.
    varies_together : bool, default=False
        Whether what is open is taken to vary all at once, so that the deviations of all
        splits add up, instead of the variances of trees.
    max_cost : float, optional
        Stop before a test that may bring what a case has paid above this.
    is_complete : bool, default=False
        Go on until every tree has ended, so that probabilities are the source's too.
    tolerance : float, default=0.0
        Of a number: stop when it is known so closely.
    eagerness : sequence of float, optional
        For each test, a factor of what waits for it, when the next one is chosen: tests
        of a large one are bought early. From 1e-6 to 1e6; 1 each by default.
    bounds : {"auto", "path", "leaves", "deep", "joint", "vote"}, default="auto"
        How bounds are kept. All are valid; deep ones are tighter and slower than those
        on paths, and joint ones, where trees that wait for the same test agree on what
        it will show, tighter still. Those by leaves are as tight as joint ones, and
        nearly as fast as those on paths, in whose way tests are chosen; they are taken
        for boosters of more than 8 leaves a tree unless `threshold`, `max_cost` or
        `is_complete` is given. Both are for classes.

    Notes
    -----
    A test that is skipped stays open: its splits are averaged over, by how much
    training data went each way, and the decision may then differ from the source's.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> import askless
    >>> X, y = [[0, 5], [1, 5], [2, 6], [3, 7]], ["a", "a", "b", "b"]
    >>> forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    >>> policy = askless.AdaptiveEnsemble(forest, costs=[1, 2]).fit().policy_
    >>> policy.predict(X).tolist() == forest.predict(X).tolist()
    True
    """

    kind: ClassVar[str] = "ensemble"

    def __init__(
        self,
        tests: tuple[Test, ...],
        classes: tuple[Outcome, ...],
        prices: PriceList,
        *,
        trees: EnsembleTrees,
        output: Output,
        threshold: float | None = None,
        varies_together: bool = False,
        max_cost: float | None = None,
        is_complete: bool = False,
        tolerance: float = 0.0,
        eagerness: Sequence[float] | None = None,
        bounds: Literal["auto", "path", "leaves", "deep", "joint", "vote"] = "auto",
        mistakes: NDArray[np.float64] | None = None,
    ) -> None:
        self.answers_number = output.is_number
        super().__init__(tests, classes, prices, mistakes)
        n_classes = 2 if output.link == "logit" else output.n_outputs
        if len(self.classes) != (0 if output.is_number else n_classes):
            raise InvalidPolicyError(
                f"An ensemble with {output.n_outputs} sums and the link "
                f"{output.link!r} must have {0 if output.is_number else n_classes} "
                f"classes. Got {len(self.classes)}. List the classes of the model."
            )
        trees.check(self.tests, output.n_outputs)
        check_sums(trees, output)
        self.trees = trees
        self.output = output
        self.threshold = None if threshold is None else float(threshold)
        self.varies_together = bool(varies_together)
        self.max_cost = None if max_cost is None else float(max_cost)
        self.is_complete = bool(is_complete)
        self.tolerance = float(tolerance)
        self.eagerness = _read_eagerness(eagerness, len(self.tests))
        self.bounds = self._choose_bounds(bounds)
        _check_stop(self)

    def _choose_bounds(self, bounds: str) -> str:
        check_bounds(bounds, self.trees, self.output, self.tests)
        if bounds != "auto":
            return bounds
        return choose_bounds(
            self.trees,
            self.output,
            self.tests,
            is_settled_only=self._is_lossless and not self.is_complete,
        )

    @cached_property
    def _is_vote(self) -> bool:
        """Whether every leaf names one class, so that sums are counts."""
        return names_one_class(self.trees, self.output)

    def with_stop(
        self,
        *,
        threshold: float | None = None,
        max_cost: float | None = None,
        is_complete: bool = False,
        varies_together: bool | None = None,
    ) -> Ensemble:
        """Return the same ensemble with another rule to stop by.

        Parameters
        ----------
        threshold, max_cost, is_complete
            See :class:`Ensemble`.
        varies_together : bool, optional
            The same; by default as it is.
        """
        other = copy(self)
        if varies_together is not None:
            other.varies_together = bool(varies_together)
        other.threshold = None if threshold is None else float(threshold)
        other.max_cost = None if max_cost is None else float(max_cost)
        other.is_complete = is_complete
        other.__dict__.pop("_first", None)
        _check_stop(other)
        return other

    def with_eagerness(self, eagerness: Sequence[float] | None) -> Ensemble:
        """Return the same ensemble, which buys tests in another order.

        Parameters
        ----------
        eagerness : sequence of float or None
            See :class:`Ensemble`.
        """
        other = copy(self)
        other.eagerness = _read_eagerness(eagerness, len(self.tests))
        for compiled in ("_walks", "_first"):
            other.__dict__.pop(compiled, None)
        return other

    def with_slope(self, slope: float) -> Ensemble:
        """Return the same ensemble, whose log-odds are multiplied by a factor.

        Probabilities change, decisions do not.

        Parameters
        ----------
        slope : float
            See :class:`Output`.
        """
        other = copy(self)
        other.output = replace(self.output, slope=float(slope))
        return other

    def __getstate__(self) -> dict[str, Any]:
        # What is compiled is made again when it is asked for.
        left_out = ("machine", "_walks", "_first")
        return {k: v for k, v in self.__dict__.items() if k not in left_out}

    @cached_property
    def machine(self) -> Machine:
        """The compiled ensemble."""
        return Machine(
            self.trees.arrays(),
            self.trees.codes(self.tests),
            find_scales(self.trees, self.output, self.tolerance, self.bounds),
        )

    @cached_property
    def used_tests(self) -> list[int]:
        """The tests that some tree asks."""
        return sorted(set(self.trees.test[~self.trees.is_leaf].tolist()))

    # The machine.

    @cached_property
    def _walks(self) -> WalkPool:
        return WalkPool(self.machine, self.prices.engine, self.eagerness)

    @cached_property
    def _first(self) -> EnsembleState:
        return self.state_after(())

    def initial_state(self) -> EnsembleState:
        """Return the state in which nothing has been asked."""
        return self._first

    def state_after(self, answers: Answers) -> EnsembleState:
        """Return the state after some answers.

        Parameters
        ----------
        answers : tuple of (int, int)
            Tests and the codes that they showed, in order; -1 for a test that was
            skipped, -2 for one that was run and showed nothing.
        """
        walk = self._walks.take()
        for test, code in answers:
            walk.buy(test, code)
        state = EnsembleState(answers, *walk.stand(*self._terms))
        self._walks.give_back(walk)
        return state

    def bounds_at(
        self, state: EnsembleState
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the least and the largest sums that a state leaves possible."""
        walk = self._walks.take()
        for test, code in state.answers:
            walk.buy(test, code)
        found = walk.bounds()
        self._walks.give_back(walk)
        return found

    def _step(self, state: EnsembleState, code: int) -> EnsembleState:
        """Return the state after the next test was bought or skipped."""
        walk = state.take_walk()
        if walk is None:
            walk = self._walks.take()
            for test, shown in state.answers:
                walk.buy(test, shown)
        walk.buy(state.test, code)
        after = EnsembleState(
            (*state.answers, (state.test, code)),
            *walk.stand(*self._terms),
        )
        if after.test < 0:
            self._walks.give_back(walk)
        else:
            after.give_walk(walk)
        return after

    @property
    def _terms(self) -> tuple[float, float, bool, bool]:
        """When a case stops: as ``Walk.stand`` takes it."""
        threshold = np.inf if self.threshold is None else self.threshold
        most = np.inf if self.max_cost is None else self.max_cost
        return threshold, most, self.is_complete, self.varies_together

    def next_test(self, state: EnsembleState) -> int | None:
        """Return the test that most waits for, or None if the decision is settled."""
        return None if state.test < 0 else state.test

    def advance(self, state: EnsembleState, code: int) -> EnsembleState:
        """Return the state after the next test has shown a code."""
        return self._step(state, int(code))

    def skip(self, state: EnsembleState, *, paid: bool = False) -> EnsembleState:
        """Return the state in which the next test stays open for good."""
        return self._step(state, -2 if paid else -1)

    def class_weights(self, state: EnsembleState) -> NDArray[np.float64]:
        """Return the probability of each class, what is open averaged over."""
        if self.answers_number:
            return np.zeros(0)
        return np.asarray(self.output.probabilities(state.raw[None, :])[0])

    def class_shares(self, state: EnsembleState) -> NDArray[np.float64]:
        """Return the probability of each class, to the bit as predict_proba does.

        Probabilities of single precision add up to nearly one, and are left so.
        """
        return self.class_weights(state)

    def decision(self, state: EnsembleState) -> int:
        """Return the class that the ensemble would decide for in a state."""
        return int(self.output.decide(state.raw[None, :])[0])

    def answer(self, state: EnsembleState) -> Outcome:
        """Return the class, or the number, that the ensemble would decide for."""
        if self.answers_number:
            return float(self.output.numbers(state.raw[None])[0])
        return self.classes[self.decision(state)]

    def tests_ahead(self, state: EnsembleState) -> list[int]:
        """Return every test that may still be asked, by position."""
        return list(state.ahead)

    # Many rows.

    def _rows(self, X: Any) -> tuple[Any, Any, int]:
        """Return rows as a matrix of numbers, or of codes, and how many there are."""
        n_tests = len(self.tests)
        is_numbers = all(self.tests[i].kind == "number" for i in self.used_tests)
        is_matrix = isinstance(X, np.ndarray) and X.dtype.kind in "fiub"
        if is_matrix and is_numbers and X.shape[1:] == (n_tests,):
            return np.ascontiguousarray(X, dtype=np.float64), None, len(X)
        columns, n_rows = raw_columns(X, self.coding, self.used_tests)
        if is_numbers:
            values = np.zeros((n_rows, n_tests))
            for i in self.used_tests:
                name = self.tests[i].name
                values[:, i] = _as_numbers(columns[name], name)
            return values, None, n_rows
        codes = np.zeros((n_rows, n_tests), dtype=np.int32)
        for i in self.used_tests:
            codes[:, i] = encode_wide(self.tests[i], columns[self.tests[i].name])
        return None, codes, n_rows

    def run_rows(
        self, X: Any, *, n_jobs: int | None = None, with_means: bool = True
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32]]:
        """Run rows; return the sums of each, what it paid and how many tests it bought.

        Parameters
        ----------
        X : frame, mapping of columns, or array-like of shape (n_rows, n_tests)
            Raw values.
        n_jobs : int, optional
            Threads; nothing depends on it.
        with_means : bool, default=True
            Whether sums must be good for probabilities; decisions need less.
        """
        values, codes, n_rows = self._rows(X)
        n_threads = self._count_threads(n_jobs, n_rows)
        threshold, most, is_complete, varies_together = self._terms
        means = with_means or self.threshold is not None or self.max_cost is not None
        parts = []
        for start in range(0, max(n_rows, 1), CHUNK):
            stop = min(start + CHUNK, n_rows)
            parts.append(
                self.machine.run_rows(
                    self.prices.engine,
                    None if values is None else values[start:stop],
                    None if codes is None else codes[start:stop],
                    threshold,
                    is_complete,
                    means,
                    n_threads,
                    most=most,
                    varies_together=varies_together,
                    eagerness=self.eagerness,
                )
            )
        raw, cost, n_bought = zip(*parts, strict=True)
        return np.concatenate(raw), np.concatenate(cost), np.concatenate(n_bought)

    def _count_threads(self, n_jobs: int | None, n_rows: int) -> int:
        return threads_for(n_jobs, n_rows * self.trees.n_trees, LEAST_WORK)

    def trace(
        self, X: Any, *, n_jobs: int | None = None, with_sums: bool = False
    ) -> Trace:
        """Run rows until they are settled, and keep every step.

        Parameters
        ----------
        X : frame, mapping of columns, or array-like of shape (n_rows, n_tests)
            Raw values.
        n_jobs : int, optional
            Threads; nothing depends on it.
        with_sums : bool, default=False
            Whether the sums of every step are kept, too.
        """
        values, codes, n_rows = self._rows(X)
        n_threads = self._count_threads(n_jobs, n_rows)
        return Trace(
            *self.machine.trace_rows(
                self.prices.engine,
                values,
                codes,
                n_threads,
                eagerness=self.eagerness,
                with_sums=with_sums,
            )
        )

    def predict_and_cost(
        self, X: Any, *, n_jobs: int | None = None
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the decision for each row and what it pays, from one run."""
        raw, cost, _ = self.run_rows(X, n_jobs=n_jobs, with_means=False)
        if self.answers_number:
            return self.output.numbers(raw), cost
        return self._class_array[self.output.decide(raw)], cost

    @property
    def _is_lossless(self) -> bool:
        """Whether a run that goes on until it is settled says what all trees say."""
        return self.threshold is None and self.max_cost is None and not self.tolerance

    def _answer_rows(self, X: Any, *, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return the sums of all trees, as if everything had been bought.

        Parameters
        ----------
        X : frame, mapping of columns, or array-like of shape (n_rows, n_tests)
            Raw values.
        n_jobs : int, optional
            Threads; nothing depends on it.
        """
        values, codes, n_rows = self._rows(X)
        n_threads = self._count_threads(n_jobs, n_rows)
        parts = []
        for start in range(0, max(n_rows, 1), CHUNK):
            rows = slice(start, min(start + CHUNK, n_rows))
            parts.append(
                self.machine.answer_rows(
                    None if values is None else values[rows],
                    None if codes is None else codes[rows],
                    n_threads,
                )
            )
        return np.concatenate(parts)

    def predict(self, X: Any, *, n_jobs: int | None = None) -> NDArray[Any]:
        """Return the decision for each row; see :meth:`Policy.predict`.

        Where no row stops before its decision is settled, it is what all trees say, and
        nothing has to be bought in turn to say it.
        """
        if self.bounds == "vote" or not self._is_lossless:
            return self.predict_and_cost(X, n_jobs=n_jobs)[0]
        raw = self._answer_rows(X, n_jobs=n_jobs)
        if self.answers_number:
            return self.output.numbers(raw)
        return self._class_array[self.output.decide(raw)]

    def predict_proba(
        self, X: Any, *, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """Return the probability of each class where each row stopped.

        What was not bought is averaged over, so that these are the source's own only
        where every tree has ended.
        """
        if self.answers_number:
            raise InvalidOptionError(
                "predict_proba must have classes. Got a model that answers numbers. "
                "Use predict."
            )
        if self.is_complete and self._is_lossless and self.bounds != "vote":
            return self.output.probabilities(self._answer_rows(X, n_jobs=n_jobs))
        return self.output.probabilities(self.run_rows(X, n_jobs=n_jobs)[0])

    def cost(self, X: Any, *, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return what each row pays."""
        return self.run_rows(X, n_jobs=n_jobs, with_means=False)[1]

    @property
    def n_nodes(self) -> int:
        """How many nodes all trees have."""
        return self.trees.n_nodes

    def __repr__(self) -> str:
        return f"Ensemble({self.trees.n_trees} trees, {self.trees.n_nodes} nodes)"


def encode_wide(test: Test, column: Any) -> NDArray[Any]:
    """Return the codes of a clean column, of a number in more than two bytes."""
    if test.kind == "category":
        return test.encode_clean(column)
    values = _as_numbers(column, test.name)
    codes = np.searchsorted(test.cut_array, values)
    codes[np.isnan(values)] = test.missing_code
    return codes


def _read_eagerness(
    eagerness: Sequence[float] | None, n_tests: int
) -> tuple[float, ...] | None:
    """Return factors, None if all of them are 1, or say what is wrong with them."""
    if eagerness is None:
        return None
    factors = tuple(float(factor) for factor in eagerness)
    if len(factors) != n_tests or not all(1e-6 <= f <= 1e6 for f in factors):
        raise InvalidOptionError(
            f"eagerness must be a number from 1e-6 to 1e6 for each of the {n_tests} "
            f"tests. Got {eagerness!r}. Leave it out for 1 each."
        )
    return None if all(factor == 1.0 for factor in factors) else factors


def _check_stop(ensemble: Ensemble) -> None:
    threshold = ensemble.threshold
    if threshold is not None and (ensemble.is_complete or not threshold >= 0):
        raise InvalidOptionError(
            "threshold must be >= 0, and not be combined with is_complete. Got "
            f"{threshold!r}. Leave one of them out."
        )
    if ensemble.max_cost is not None and not ensemble.max_cost >= 0:
        raise InvalidOptionError(
            f"max_cost must be >= 0. Got {ensemble.max_cost!r}. Leave it out for no "
            "limit."
        )
    if not 0 <= ensemble.tolerance < np.inf or (
        ensemble.tolerance > 0 and not ensemble.answers_number
    ):
        raise InvalidOptionError(
            "tolerance must be >= 0, and 0 unless the decision is a number. Got "
            f"{ensemble.tolerance!r}. Leave it out."
        )
