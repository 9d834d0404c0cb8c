"""A table with unknown outcomes, as the rules and the search want it.

This module knows arrays; it must not know names, nor how tests are chosen.
"""

from libc.math cimport log2, rint
from libc.string cimport memset

import numpy as np

from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t,
)

# Surprisal is counted in parts of a bit: 2^40 of them.
cdef int64_t UNIT = <int64_t> 1 << 40
# Room for at least so many codes: tests of few codes are counted without a table.
cdef intp_t LEAST_CODES = 8


class Effect:
    """What a test can do to a state, as declared for the kernels."""

    TELLS_NOTHING = 0
    MAY_TELL = 1
    SURE_TO_TELL = 2


cdef class UnknownTable:
    """A table with unknown outcomes.

    Parameters
    ----------
    codes : ndarray of uint8 or uint16 of shape (n_tests, n_cases)
        Not copied.
    n_levels : ndarray of int32 of shape (n_tests,)
    chances : ndarray
        The chance of each level of each test where the outcome is unknown.
    chance_start : ndarray of int64 of shape (n_tests + 1,)
    class_id : ndarray of int32 of shape (n_cases,)
        What is to be found out about each case.
    prior : ndarray of shape (n_cases,)
    """

    def __init__(
        self,
        codes not None,
        const int32_t[::1] n_levels not None,
        const float64_t[::1] chances not None,
        const int64_t[::1] chance_start not None,
        const int32_t[::1] class_id not None,
        const float64_t[::1] prior not None,
    ):
        cdef:
            const uint8_t[:, ::1] narrow
            const uint16_t[:, ::1] wide
        self.codes_owner = codes
        if codes.dtype == np.uint16:
            wide = codes
            self.wide = &wide[0, 0]
        else:
            narrow = codes
            self.narrow = &narrow[0, 0]
        self.n_tests = codes.shape[0]
        self.n_cases = codes.shape[1]
        self.n_levels = n_levels
        self.chances = chances
        self.chance_start = chance_start
        self.class_id = class_id
        self.prior = prior
        self.n_classes = np.max(class_id) + 1
        self.has_own_classes = len(np.unique(class_id)) == self.n_cases
        self.is_in_order = bool(np.all(np.diff(class_id) >= 0))
        self.most_codes = max(np.max(n_levels) + 2, LEAST_CODES)
        self.bits = np.full(chances.shape[0], -1, dtype=np.int64)
        self.n_support = np.zeros(self.n_tests, dtype=np.int32)
        self.sums = np.zeros((self.n_tests, 3))
        self.has_whole_bits = True
        self._sum_chances()

    def _sum_chances(self):
        """Work out surprisals, and the sums over levels that scores need."""
        cdef:
            intp_t test, level, at
            float64_t c
        for test in range(self.n_tests):
            for level in range(self.n_levels[test]):
                at = self.chance_start[test] + level
                c = self.chances[at]
                if c <= 0:
                    continue
                self.bits[at] = <int64_t> rint(-log2(c) * <float64_t> UNIT)
                if self.bits[at] % UNIT != 0:
                    self.has_whole_bits = False
                self.n_support[test] += 1
                self.sums[test, 0] += c * c
                self.sums[test, 1] += c * c * c
                self.sums[test, 2] += plogp(c)

    cdef void weigh(self, const State* state, float64_t* weights) noexcept nogil:
        cdef:
            intp_t i
            int64_t least = state.surprisal[0] if state.n else 0
        for i in range(1, state.n):
            least = min(least, state.surprisal[i])
        for i in range(state.n):
            weights[i] = self.prior[state.cases[i]]
            if state.surprisal[i] != least:
                weights[i] *= power_of_half(state.surprisal[i] - least)

    cdef float64_t weigh_all(self, const State* state) noexcept nogil:
        cdef:
            intp_t i
            float64_t total = 0.0
        for i in range(state.n):
            total += self.prior[state.cases[i]] * power_of_half(state.surprisal[i])
        return total

    cdef intp_t list_part(
        self, intp_t test, intp_t code, const State* state, int32_t* cases,
        int64_t* surprisal,
    ) noexcept nogil:
        cdef:
            intp_t i, own, n_part = 0
            intp_t unknown = self.n_levels[test] + 1
            int64_t bits = -1
        if code < self.n_levels[test]:
            bits = self.bits[self.chance_start[test] + code]
        for i in range(state.n):
            own = code_of(self, test, state.cases[i])
            if own == code:
                cases[n_part] = state.cases[i]
                surprisal[n_part] = state.surprisal[i]
                n_part += 1
            elif own == unknown and bits >= 0:
                cases[n_part] = state.cases[i]
                surprisal[n_part] = state.surprisal[i] + bits
                n_part += 1
        return n_part

    cdef void mark_codes(
        self, intp_t test, const State* state, uint8_t* may_show
    ) noexcept nogil:
        cdef intp_t i, code, n_levels = self.n_levels[test]
        memset(may_show, 0, n_levels + 2)
        for i in range(state.n):
            may_show[code_of(self, test, state.cases[i])] = 1
        if may_show[n_levels + 1]:
            for code in range(n_levels):
                if chance_of(self, test, code) > 0:
                    may_show[code] = 1

    cdef bint tells(self, intp_t test, intp_t x, intp_t y) noexcept nogil:
        cdef:
            intp_t a = code_of(self, test, x), b = code_of(self, test, y)
            intp_t unknown = self.n_levels[test] + 1
        if a == b:
            return False
        if a != unknown and b != unknown:
            return True
        # Nothing is known of a test without a level.
        return self.n_levels[test] > 0 and (
            chance_of(self, test, a if b == unknown else b) <= 0
        )

    # For callers in Python.

    def weigh_cases(
        self, const int32_t[::1] cases not None, const int64_t[::1] surprisal not None
    ):
        """Return the weights of the cases of a state, up to a common factor."""
        weights = np.empty(cases.shape[0])
        cdef:
            float64_t[::1] view = weights
            State state
        if cases.shape[0]:
            state.cases = &cases[0]
            state.surprisal = &surprisal[0]
            state.n = cases.shape[0]
            self.weigh(&state, &view[0])
        return weights

    def advance(
        self,
        const int32_t[::1] cases not None,
        const int64_t[::1] surprisal not None,
        intp_t test,
        intp_t code,
    ):
        """Return (cases, surprisal) of the state after a test has shown a code."""
        cdef:
            State state
            intp_t n_part
            int32_t[::1] part = np.empty(cases.shape[0] + 1, dtype=np.int32)
            int64_t[::1] own = np.empty(cases.shape[0] + 1, dtype=np.int64)
        state.cases = &cases[0]
        state.surprisal = &surprisal[0]
        state.n = cases.shape[0]
        n_part = self.list_part(test, code, &state, &part[0], &own[0])
        return np.asarray(part)[:n_part].copy(), np.asarray(own)[:n_part].copy()
