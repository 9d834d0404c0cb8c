"""What is known of states before they are searched: memory, small cases and bounds."""

from libc.stdlib cimport malloc
from libc.string cimport memset

import numpy as np

from askless._core.base._types cimport float64_t, int32_t, int64_t, intp_t
from askless._core.engine._states cimport Entry
from askless._core.unknown_search._certificate cimport Certificate
from askless._core.unknown_search._code_words cimport ROUNDING
from askless._core.unknown_search._done cimport DoneTests
from askless._core.unknown_search._measure cimport Measure
from askless._core.unknown._memo cimport StateMemo, bits_of, real_of
from askless._core.unknown_search._problem cimport UnknownProblem, TRACKED
from askless._core.unknown._settled cimport Settled
from askless._core.unknown._table cimport State, power_of_half, MAY_TELL
from askless._core.unknown_search._trial cimport Child, Trial, close_trial


cdef class UnknownProofs(Stoppable):
    """What one search over one problem knows.

    Parameters
    ----------
    problem : UnknownProblem
    mode : int
        How tests that may have been done are dealt with; one of ``_problem.Mode``.
    max_bytes : int
        What remembering states may take.
    """

    def __init__(
        self, UnknownProblem problem not None, int mode, intp_t max_bytes
    ):
        self.problem = problem
        self.table = problem.table
        self.mode = mode
        self.done = DoneTests(problem)
        self.measure = Measure(problem)
        self.certificate = Certificate(problem)
        self.settled = Settled(
            problem.table.class_id, problem.near if problem.has_near else None,
            problem.stops_near,
        )
        self.memo = StateMemo(
            problem.table, problem.table.n_tests + self.done.is_open.shape[0],
            max_bytes,
        )
        self.may_show = np.zeros(problem.table.most_codes, dtype=np.uint8)

    @property
    def states(self):
        """The table of what is proved."""
        return self.memo.states

    cdef void spell(self, const State* state) noexcept nogil:
        cdef intp_t test, group
        self.memo.spell(state)
        if self.mode == TRACKED:
            for test in range(self.table.n_tests):
                if self.done.is_done[test] and MAY_TELL == self.measure.measure(
                    test, state.cases, state.n, NULL
                ):
                    self.memo.add_number(test)
        # Groups are numbered after the tests.
        for group in range(self.done.is_open.shape[0] - 1):
            if self.done.is_open[group]:
                self.memo.add_number(self.table.n_tests + group)

    cdef bint solve_pair(self, const State* state, Found* found) noexcept nogil:
        cdef:
            intp_t test
            float64_t price = self.problem.cheapest
        if state.n != 2 or not self.problem.has_pairs or (
            self.problem.pair_price[state.cases[0], state.cases[1]] > price
        ):
            return False
        for test in range(self.table.n_tests):
            if self.problem.price[test] <= price and self.table.tells(
                test, state.cases[0], state.cases[1]
            ):
                found.test = test
                break
        found.is_exact = True
        found.value = price
        if not self.problem.is_worst:
            found.value *= self.table.weigh_all(state)
        return True

    cdef float64_t most_to_prove(self, const State* state) noexcept nogil:
        # A sure test always takes a case away, so no best policy needs more of them
        # than cases. Without this, fresh draws might go on for ever.
        cdef float64_t most = (state.n - 1) * self.problem.dearest
        if not self.problem.is_worst:
            most *= self.table.weigh_all(state)
        return most * (1 + 1e-9) + 1e-300

    # What a test may leave.

    cdef int open_trial(self, const State* state, Trial* trial) except -1 nogil:
        cdef intp_t code, n_out = 0
        self.table.mark_codes(trial.test, state, &self.may_show[0])
        for code in range(self.table.n_levels[trial.test] + 1):
            n_out += self.may_show[code]
        trial.cases = <int32_t*> malloc((n_out * state.n + 1) * sizeof(int32_t))
        trial.surprisal = <int64_t*> malloc((n_out * state.n + 1) * sizeof(int64_t))
        trial.weights = <float64_t*> malloc((state.n + 1) * sizeof(float64_t))
        trial.children = <Child*> malloc((n_out + 1) * sizeof(Child))
        trial.n_children = 0
        if (
            trial.cases == NULL or trial.surprisal == NULL
            or trial.weights == NULL or trial.children == NULL
        ):
            close_trial(trial)
            with gil:
                raise MemoryError("no memory left to expand a state")
        return 0

    cdef void list_children(self, const State* state, Trial* trial) noexcept nogil:
        cdef intp_t code, first = 0
        for code in range(self.table.n_levels[trial.test] + 1):
            if self.may_show[code]:
                first += self.add_child(state, code, first, trial)

    cdef intp_t add_child(
        self, const State* state, intp_t code, intp_t first, Trial* trial
    ) noexcept nogil:
        """Add what an outcome leaves; return how many cases, 0 if it is settled."""
        cdef:
            Child* child = &trial.children[trial.n_children]
            int64_t* surprisal = trial.surprisal + first
            int64_t least
            intp_t i, n
        n = self.table.list_part(
            trial.test, code, state, trial.cases + first, surprisal
        )
        child.state.cases = trial.cases + first
        child.state.surprisal = surprisal
        child.state.n = n
        child.price = trial.flat_price
        if self.done.group_of(trial.test) < 0:
            child.price = self.done.price_now(trial.test, code)
        if self.problem.is_worst:
            trial.total = max(trial.total, child.price)
        elif self.problem.has_context:
            trial.total += child.price * self.table.weigh_all(&child.state)
        if self.settled.holds(child.state.cases, n):
            return 0
        child.scale = 1.0
        if self.problem.is_worst:
            memset(surprisal, 0, n * sizeof(int64_t))
        else:
            least = surprisal[0]
            for i in range(1, n):
                least = min(least, surprisal[i])
            child.scale = power_of_half(least)
            for i in range(n):
                surprisal[i] -= least
        self.bound_child(trial, child)
        if self.problem.is_worst:
            trial.total = max(trial.total, child.price + child.lower)
        else:
            trial.total += child.scale * child.lower
        trial.n_children += 1
        return n

    cdef void bound_child(self, Trial* trial, Child* child) noexcept nogil:
        """Bound a child by code words, and by what is proved of it."""
        cdef Entry* entry
        child.is_certified = False
        self.table.weigh(&child.state, trial.weights)
        child.lower = self.code_words.bound(
            child.state.cases, trial.weights, child.state.n, &trial.inside
        )
        if self.use_children and (child.state.n > 2 or not self.problem.has_pairs):
            self.spell(&child.state)
            entry = self.memo.find()
            if entry != NULL:
                child.lower = max(child.lower, real_of(entry.lower))
                child.is_certified = entry.is_certified or entry.is_exact

    cdef bint certify_children(self, Trial* trial) except -1 nogil:
        cdef:
            intp_t j
            float64_t value
            Child* child
            Entry* entry
        for j in range(trial.n_children):
            child = &trial.children[j]
            if child.is_certified or child.state.n < 3:
                continue
            self.table.weigh(&child.state, trial.weights)
            value = self.certificate.bound(
                child.state.cases, trial.weights, child.state.n, &trial.inside
            )
            self.spell(&child.state)
            entry = self.memo.insert(&self.memo.spelling)
            entry.is_certified = True
            if value > child.lower:
                trial.total += child.scale * (value - child.lower)
                child.lower = value
            if not entry.is_exact and child.lower > real_of(entry.lower):
                entry.lower = bits_of(child.lower)
            if trial.total >= trial.enough * (1 - ROUNDING):
                return True
        return False
