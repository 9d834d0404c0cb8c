"""Search for the cheapest policy of a table with unknown outcomes.

The sibling of the search of known tables for states that carry surprisals: the cases
left, and how unlikely the answers so far made each of them. A test of price c leads to

    expected:  V(S, w) = min over tests of  c w(S) + sum over outcomes  V(S_o, w_o)
    worst:     V(S)    = min over tests of  c + max over outcomes  V(S_o)

where a case whose outcome is unknown goes into every S_o that it may be drawn into,
lighter by its chance. Values scale with the weights, so a state is kept with its
surprisals counted from the least.

Values are real numbers; whether a value is one of a policy or a bound is told by a flag
and never by a comparison.
"""

from libc.stdlib cimport free, malloc, qsort

import numpy as np

from askless._core.base._types cimport float64_t, int32_t, int64_t, intp_t
from askless._core.engine._breadth cimport keep_best
from askless._core.engine._states cimport Entry
from askless._core.unknown_search._code_words cimport CodeWords, ROUNDING
from askless._core.unknown_search._expand cimport Candidate, Expander, Expansion
from askless._core.unknown._memo cimport Spelling, bits_of, real_of
from askless._core.unknown_search._problem cimport UnknownProblem, FRESH_DRAWS
from askless._core.unknown_search._proofs cimport Found, UnknownProofs
from askless._core.unknown._table cimport State, power_of_half
from askless._core.unknown_search._trial cimport (
    Child, Trial, close_trial, share_of, swap_children, take_hardest,
)


cdef float64_t TOO_DEAR = 1e300
# Deeper than this, the stack of a thread may end.
cdef intp_t MOST_DEPTH = 3000


cdef int compare_lower(const void* a, const void* b) noexcept nogil:
    """Order by lower bound, then sure tests first, then by test."""
    cdef const Candidate* x = <const Candidate*> a
    cdef const Candidate* y = <const Candidate*> b
    if x.lower != y.lower:
        return -1 if x.lower < y.lower else 1
    if x.effect != y.effect:
        return -1 if x.effect > y.effect else 1
    return x.rank.test - y.rank.test


cdef class UnknownSearch(UnknownProofs):
    """One search over one table with unknown outcomes, for one objective.

    Parameters
    ----------
    problem : UnknownProblem
    mode : int
        How tests that may have been done are dealt with; one of ``_problem.Mode``.
    max_bytes : int
        What remembering states may take.
    breadth : int
        Look only at so many of the best-scored tests of a state; 0: at all.
    by_information : bool
        Score tests by bits of the class instead of opponents ruled out.
    use_certificate, use_huffman, use_entropy, use_children, use_shares : bool
        Switches of the bounds; they change time, never the answer.
    """

    cdef Expander expander
    cdef readonly intp_t breadth
    cdef readonly bint use_shares
    cdef readonly intp_t n_expanded
    # Whether fresh draws have led too deep, one after another, to go on.
    cdef readonly bint is_too_deep
    cdef intp_t depth

    def __init__(
        self,
        UnknownProblem problem not None,
        *,
        int mode,
        intp_t max_bytes,
        intp_t breadth=0,
        bint by_information=False,
        bint use_certificate=True,
        bint use_huffman=True,
        bint use_entropy=True,
        bint use_children=True,
        bint use_shares=True,
    ):
        UnknownProofs.__init__(self, problem, mode, max_bytes)
        self.code_words = CodeWords(problem, use_huffman, use_entropy)
        self.expander = Expander(
            problem, self.done, self.measure, self.code_words, mode=mode,
            breadth=breadth, by_information=by_information,
        )
        self.breadth = breadth
        self.use_certificate = use_certificate and problem.can_certify
        self.use_children = use_children
        self.use_shares = use_shares and not problem.is_worst

    def run(
        self,
        const int32_t[::1] cases not None,
        const int64_t[::1] surprisal not None,
        float64_t theta,
        float64_t seconds,
        done=(),
    ):
        """Solve a state up to a threshold within some seconds.

        Returns (value, is_exact, test): the value with the first test of its policy if
        it is exact, else a lower bound and -1; or None if it was stopped. A test of -1
        in an exact answer means that the state is settled.
        """
        cdef:
            int64_t least = np.min(surprisal)
            int64_t[::1] own = np.asarray(surprisal) - least
            float64_t scale = 1.0
            State state
            Found found
        if self.problem.is_worst:
            own[:] = 0
        else:
            scale = power_of_half(least)
        self.done.restart(done)
        self.begin(seconds)
        self.depth = 0
        state.cases = &cases[0]
        state.surprisal = &own[0]
        state.n = cases.shape[0]
        with nogil:
            self.solve_state(&state, theta / scale, &found)
        if self.is_out and not found.is_exact:
            return None
        return (
            found.value * scale, bool(found.is_exact),
            int(found.test) if found.is_exact else -1,
        )

    def lower_bound(
        self, const int32_t[::1] cases not None, const int64_t[::1] surprisal not None
    ):
        """Return what is proved so far of a state that has no done tests."""
        cdef:
            int64_t[::1] own = np.asarray(surprisal) - np.min(surprisal)
            Entry* entry
            State state
        self.done.restart(())
        state.cases = &cases[0]
        state.surprisal = &own[0]
        state.n = cases.shape[0]
        self.spell(&state)
        entry = self.memo.find()
        if entry == NULL:
            return 0.0
        return real_of(entry.lower) * power_of_half(np.min(surprisal))

    # States.

    cdef int solve_state(
        self, const State* state, float64_t theta, Found* found
    ) except -1 nogil:
        """Find the value of a state, or a lower bound of at least theta.

        Out of time, the bound may be less.
        """
        cdef:
            Entry* entry
            Spelling spelling
        found.value = 0.0
        found.test = -1
        found.is_exact = self.settled.holds(state.cases, state.n)
        if found.is_exact or self.solve_pair(state, found):
            return 0
        self.spell(state)
        entry = self.memo.find()
        if entry != NULL:
            found.value = real_of(entry.lower)
            found.is_exact = entry.is_exact
            if found.is_exact:
                found.test = entry.test
            if found.is_exact or found.value >= theta:
                return 0
        if self.depth > MOST_DEPTH:
            self.is_too_deep = True
            self.is_out = True
        if self.is_late():
            return 0
        if self.mode == FRESH_DRAWS:
            theta = min(theta, self.most_to_prove(state))
            if found.value >= theta:
                return 0
        self.memo.copy(&spelling)
        try:
            self.expand_state(state, theta, found)
            if self.is_out and not found.is_exact:
                return 0
            entry = self.memo.insert(&spelling)
            if found.is_exact:
                entry.lower = bits_of(found.value)
                entry.is_exact = True
                entry.test = <int32_t> found.test
            elif found.value > real_of(entry.lower):
                entry.lower = bits_of(found.value)
        finally:
            free(spelling.words)
        return 0

    cdef int expand_state(
        self, const State* state, float64_t theta, Found* found
    ) except -1 nogil:
        """List the tests of a state and try them; `found` has what is known so far."""
        cdef Expansion expansion
        expansion.weights = <float64_t*> malloc((2 * state.n + 1) * sizeof(float64_t))
        expansion.candidates = <Candidate*> malloc(
            (self.table.n_tests + 1) * sizeof(Candidate)
        )
        try:
            if expansion.weights == NULL or expansion.candidates == NULL:
                with gil:
                    raise MemoryError("no memory left to expand a state")
            self.expander.expand(state, &expansion)
            found.value = max(found.value, expansion.lower)
            if expansion.n_candidates > 0 and found.value < theta:
                self.n_expanded += 1
                self.try_candidates(state, &expansion, theta, found)
            elif found.value < theta:
                # Nothing is sure to tell these apart any more.
                found.is_exact = True
                found.value = 0.0
        finally:
            free(expansion.weights)
            free(expansion.candidates)
        return 0

    # Tests.

    cdef int try_candidates(
        self, const State* state, Expansion* expansion, float64_t theta, Found* found
    ) except -1 nogil:
        """Descend into the tests, most promising first."""
        cdef:
            intp_t i, n = keep_best(
                expansion.candidates, expansion.n_candidates, sizeof(Candidate),
                self.breadth, state.n,
            )
            intp_t first_test = -1
            float64_t best = TOO_DEAR, rest = TOO_DEAR, enough, value
            Candidate* candidates = expansion.candidates
            bint is_value = False
        qsort(candidates, n, sizeof(Candidate), compare_lower)
        for i in range(n):
            enough = min(theta, best)
            if candidates[i].lower >= enough * (1 - ROUNDING):
                rest = min(rest, candidates[i].lower)
                break
            value = self.try_test(state, expansion, enough, &candidates[i], &is_value)
            if self.is_out and not is_value:
                return 0
            if is_value and value < enough:
                best = value
                first_test = candidates[i].rank.test
            else:
                rest = min(rest, value)
        if best < theta:
            found.value = best
            found.is_exact = True
            found.test = first_test
        else:
            # If tests were left out, nothing is proved but that it is not cheaper here.
            found.value = max(found.value, theta if self.breadth > 0 else rest)
        return 0

    cdef float64_t try_test(
        self, const State* state, const Expansion* expansion, float64_t enough,
        Candidate* candidate, bint* is_value,
    ) except -1 nogil:
        """Return what starting with a test costs if `is_value`, else a lower bound."""
        cdef:
            intp_t test = candidate.rank.test, group = self.done.group_of(test)
            bint was_done = self.done.is_done[test], was_open = True
            Trial trial
        is_value[0] = False
        trial.test = test
        trial.inside = expansion.inside
        trial.enough = enough
        trial.total = 0.0
        if not self.problem.is_worst and not self.problem.has_context:
            trial.total = expansion.total * self.problem.price[test]
        # A test of a group has one price for all outcomes.
        trial.flat_price = self.done.price_now(test, -1)
        self.open_trial(state, &trial)
        self.done.is_done[test] = 1
        if group >= 0:
            was_open = self.done.is_open[group]
            self.done.is_open[group] = 1
        try:
            self.list_children(state, &trial)
            candidate.lower = max(candidate.lower, trial.total)
            if trial.total >= enough * (1 - ROUNDING):
                return trial.total
            if self.use_certificate and self.certify_children(&trial):
                return trial.total
            if self.use_shares:
                is_value[0] = self.solve_by_shares(&trial) == 0
            else:
                is_value[0] = self.solve_in_turn(&trial) == 0
            return trial.total
        finally:
            self.done.is_done[test] = was_done
            if group >= 0:
                self.done.is_open[group] = was_open
            close_trial(&trial)

    cdef intp_t solve_in_turn(self, Trial* trial) except -1 nogil:
        """Solve what a test may leave, one after another; return how many are open.

        None is open if the test costs less than enough. The hardest child comes first:
        it is the likeliest to end the trial.
        """
        cdef:
            intp_t left = trial.n_children
            float64_t allowed
            Found found
            Child child
        while left > 0:
            child = take_hardest(trial.children, left)
            if self.problem.is_worst:
                allowed = trial.enough - child.price
            else:
                allowed = (
                    trial.enough - (trial.total - child.scale * child.lower)
                ) / child.scale
            self.depth += 1
            self.solve_state(&child.state, allowed, &found)
            self.depth -= 1
            if self.is_out and not found.is_exact:
                return left
            if self.problem.is_worst:
                trial.total = max(trial.total, child.price + found.value)
            else:
                trial.total += child.scale * (found.value - child.lower)
            if not found.is_exact:
                # It costs at least what was allowed, whatever rounding says.
                trial.total = max(trial.total, trial.enough)
                return left
            if trial.total >= trial.enough:
                return left
            left -= 1
        return 0

    cdef intp_t solve_by_shares(self, Trial* trial) except -1 nogil:
        """Raise what a test may leave together; return how many are open.

        What is missing to `enough` is shared out by weight. To raise two bounds a
        little is far cheaper than to raise one by as much as both, since the effort
        grows exponentially. After each round either enough is reached or one child more
        is solved.
        """
        cdef:
            intp_t left = trial.n_children, j
            float64_t allowed
            Found found
            Child* child
        for j in range(left):
            child = &trial.children[j]
            child.weight = child.scale * self.table.weigh_all(&child.state)
        while left > 0:
            j = 0
            while j < left:
                if trial.total >= trial.enough:
                    return left
                child = &trial.children[j]
                allowed = share_of(trial, j, left)
                self.depth += 1
                self.solve_state(&child.state, allowed, &found)
                self.depth -= 1
                if self.is_out and not found.is_exact:
                    return left
                found.value = max(found.value, child.lower)
                trial.total += child.scale * (found.value - child.lower)
                child.lower = found.value
                if found.is_exact:
                    left -= 1
                    swap_children(child, &trial.children[left])
                elif left == 1:
                    # At least what was allowed, whatever rounding says.
                    trial.total = max(trial.total, trial.enough)
                    return left
                else:
                    j += 1
        return 0 if trial.total < trial.enough else 1
