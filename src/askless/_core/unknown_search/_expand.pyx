"""Expand a state of a table with unknown outcomes: which tests are worth trying."""

from libc.math cimport log2

from askless._core.base._types cimport float64_t, int32_t, intp_t, uint8_t
from askless._core.unknown_search._code_words cimport CodeWords, ROUNDING
from askless._core.unknown_search._done cimport DoneTests
from askless._core.unknown_search._measure cimport Measure
from askless._core.unknown._parts cimport (
    Weighed, close_scratch, open_scratch, ELIMINATION, INFORMATION,
)
from askless._core.unknown_search._problem cimport UnknownProblem, SURE_ONLY, TRACKED
from askless._core.unknown._scores cimport score_test
from askless._core.unknown._table cimport (
    State, plogp, SURE_TO_TELL, TELLS_NOTHING,
)


cdef float64_t TOO_DEAR = 1e300


cdef class Expander:
    """Expands states of one problem.

    Parameters
    ----------
    problem : UnknownProblem
    done : DoneTests
        The way to the state at hand; the search keeps it up to date.
    measure : Measure
    code_words : CodeWords
    mode : int
        One of ``_problem.Mode``.
    breadth : int
        Whether candidates are scored (above 0), for a restricted search.
    by_information : bool
        Score by bits of the class instead of opponents ruled out.
    """

    def __init__(
        self,
        UnknownProblem problem not None,
        DoneTests done not None,
        Measure measure not None,
        CodeWords code_words not None,
        *,
        int mode,
        intp_t breadth,
        bint by_information,
    ):
        self.problem = problem
        self.table = problem.table
        self.done = done
        self.measure = measure
        self.code_words = code_words
        self.mode = mode
        self.breadth = breadth
        self.by_information = by_information
        self.use_entropy = code_words.use_entropy and not problem.is_worst
        open_scratch(&self.scratch, problem.table.most_codes)

    def __dealloc__(self):
        close_scratch(&self.scratch)

    cdef void expand(self, const State* state, Expansion* expansion) noexcept nogil:
        cdef:
            intp_t i, test
            uint8_t effect
            bint is_surely_told = False
            float64_t* weights = expansion.weights
        self.table.weigh(state, weights)
        expansion.total = 0.0
        for i in range(state.n):
            weights[state.n + i] = plogp(weights[i])
            expansion.total += weights[i]
        expansion.n_candidates = 0
        expansion.lower = 0.0
        expansion.inside.cheapest = TOO_DEAR
        expansion.inside.rate = TOO_DEAR
        expansion.inside.arity = 2
        for test in range(self.table.n_tests):
            effect = self.measure.measure(test, state.cases, state.n, weights)
            if effect == TELLS_NOTHING:
                if self.done.may_open(test):
                    self.add_opener(test, expansion)
                continue
            if effect == SURE_TO_TELL:
                is_surely_told = True
            elif self.mode == SURE_ONLY or (
                self.mode == TRACKED and self.done.is_done[test]
            ):
                # It was done, or it may have been.
                continue
            self.add_candidate(test, effect, state, expansion)
        if is_surely_told:
            self.bound(state, expansion)
        else:
            expansion.n_candidates = 0

    cdef void add_opener(self, intp_t test, Expansion* expansion) noexcept nogil:
        """Add a test that tells nothing, and makes others of its group cheaper."""
        cdef Candidate* candidate = &expansion.candidates[expansion.n_candidates]
        candidate.rank.test = <int32_t> test
        candidate.rank.score = 0.0
        candidate.effect = TELLS_NOTHING
        candidate.base = self.done.price_now(test, -1)
        if not self.problem.is_worst:
            candidate.base *= expansion.total
        candidate.lower = 0.0
        expansion.n_candidates += 1

    cdef void add_candidate(
        self, intp_t test, uint8_t effect, const State* state, Expansion* expansion
    ) noexcept nogil:
        """Add a test that may tell something, as it was measured."""
        cdef:
            intp_t code, n_out = 0
            float64_t base = 0.0, bits = 0.0, price = self.problem.price[test]
            Candidate* candidate = &expansion.candidates[expansion.n_candidates]
        for code in range(self.table.n_levels[test] + 1):
            if self.measure.sums[code].n == 0:
                continue
            n_out += 1
            if self.problem.is_worst:
                base = max(base, self.done.price_now(test, code))
            elif self.problem.has_context:
                base += self.done.price_now(test, code) * (
                    self.measure.sums[code].weight
                )
            if self.use_entropy and self.measure.sums[code].n_blocks > 1:
                bits += plogp(self.measure.sums[code].weight) - (
                    self.measure.sums[code].logs
                )
        if not self.problem.is_worst and not self.problem.has_context:
            base = price * expansion.total
        candidate.rank.test = <int32_t> test
        candidate.rank.score = 0.0
        candidate.effect = effect
        candidate.base = base
        # In bits; the price of a bit comes later.
        candidate.lower = bits
        expansion.n_candidates += 1
        expansion.inside.cheapest = min(expansion.inside.cheapest, price)
        if n_out > 1:
            expansion.inside.rate = min(
                expansion.inside.rate, price / log2(<float64_t> n_out)
            )
            expansion.inside.arity = max(expansion.inside.arity, n_out)
        if self.breadth > 0:
            candidate.rank.score = self.score(test, state, expansion, base)

    cdef float64_t score(
        self, intp_t test, const State* state, const Expansion* expansion,
        float64_t base,
    ) noexcept nogil:
        """Score a test for its price, for the ranking of a restricted search."""
        cdef:
            Weighed weighed
            uint8_t effect
            float64_t price = base
        weighed.cases = state.cases
        weighed.weights = expansion.weights
        weighed.extra = NULL
        weighed.n = state.n
        if not self.problem.is_worst:
            price = base / max(expansion.total, 1e-300)
        return score_test(
            self.table, test, &weighed,
            INFORMATION if self.by_information else ELIMINATION,
            &self.scratch, &effect,
        ) / max(price, 1e-300)

    cdef void bound(self, const State* state, Expansion* expansion) noexcept nogil:
        """Bound the candidates and the state, now that the price of a bit is known."""
        cdef:
            intp_t i
            float64_t least = TOO_DEAR
            Candidate* candidate
        expansion.lower = self.code_words.bound(
            state.cases, expansion.weights, state.n, &expansion.inside
        )
        for i in range(expansion.n_candidates):
            candidate = &expansion.candidates[i]
            candidate.lower = (
                candidate.base + max(0.0, expansion.inside.rate * candidate.lower)
            ) * (1 - ROUNDING)
            least = min(least, candidate.lower)
        if self.breadth == 0:
            expansion.lower = max(expansion.lower, least)
