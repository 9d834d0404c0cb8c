"""Measure tests in a state: how many cases, how much weight each outcome leaves."""

from libc.math cimport log2
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t,
)
from askless._core.unknown_search._problem cimport UnknownProblem
from askless._core.unknown._table cimport (
    chance_of, narrow_column, plogp, wide_column, MAY_TELL, SURE_TO_TELL,
    TELLS_NOTHING,
)


cdef class Measure:
    """Room for the outcomes of one test."""

    def __init__(self, UnknownProblem problem not None):
        self.table = problem.table
        self.block = problem.block
        self.has_own_blocks = problem.has_own_blocks
        self.sums = <Sum*> malloc((problem.table.most_codes + 1) * sizeof(Sum))
        self.run = <Sum*> malloc((problem.table.most_codes + 1) * sizeof(Sum))
        if self.sums == NULL or self.run == NULL:
            raise MemoryError("no memory left for a search")

    def __dealloc__(self):
        free(self.sums)
        free(self.run)

    cdef uint8_t measure(
        self, intp_t test, const int32_t* cases, intp_t n, const float64_t* weights
    ) noexcept nogil:
        cdef uint8_t effect
        if self.table.n_levels[test] == 0:
            return TELLS_NOTHING
        if self.has_own_blocks:
            self.sum_cases(test, cases, n, weights)
        else:
            self.sum_blocks(test, cases, n, weights)
        effect = self.find_effect(test, n)
        if effect != TELLS_NOTHING and weights != NULL:
            self.spread_unknown(test)
        return effect

    cdef void sum_cases(
        self, intp_t test, const int32_t* cases, intp_t n, const float64_t* weights
    ) noexcept nogil:
        """Sum the cases up by code where every case is a block of its own."""
        cdef:
            intp_t i, code, n_codes = self.table.n_levels[test] + 1
            const uint8_t* narrow = narrow_column(self.table, test)
            const uint16_t* wide = wide_column(self.table, test)
            Sum* sums = self.sums
        memset(sums, 0, (n_codes + 1) * sizeof(Sum))
        for i in range(n):
            code = wide[cases[i]] if wide != NULL else narrow[cases[i]]
            sums[code].n += 1
            if weights != NULL:
                sums[code].weight += weights[i]
                sums[code].logs += weights[n + i]
        for code in range(n_codes):
            sums[code].n_blocks = <int32_t> min(sums[code].n, 2)

    cdef void sum_blocks(
        self, intp_t test, const int32_t* cases, intp_t n, const float64_t* weights
    ) noexcept nogil:
        """Sum the cases up by code, block by block."""
        cdef:
            intp_t i, code, n_sums = self.table.n_levels[test] + 2
            const uint8_t* narrow = narrow_column(self.table, test)
            const uint16_t* wide = wide_column(self.table, test)
            Sum* run = self.run
        memset(self.sums, 0, n_sums * sizeof(Sum))
        memset(run, 0, n_sums * sizeof(Sum))
        for i in range(n):
            code = wide[cases[i]] if wide != NULL else narrow[cases[i]]
            run[code].n += 1
            if weights != NULL:
                run[code].weight += weights[i]
            if i + 1 == n or self.block[cases[i]] != self.block[cases[i + 1]]:
                self.add_block(test, weights != NULL)
                memset(run, 0, n_sums * sizeof(Sum))

    cdef void add_block(self, intp_t test, bint is_weighed) noexcept nogil:
        """Add the run of one block to the sums."""
        cdef:
            intp_t code, unknown = self.table.n_levels[test] + 1
            Sum* sums = self.sums
            const Sum* run = self.run
            float64_t c
        for code in range(unknown + 1):
            sums[code].n += run[code].n
            sums[code].weight += run[code].weight
            if code == unknown:
                continue
            c = chance_of(self.table, test, code)
            if run[code].n > 0 or (run[unknown].n > 0 and c > 0):
                sums[code].n_blocks += 1
                if is_weighed:
                    sums[code].logs += plogp(
                        run[code].weight + c * run[unknown].weight
                    )

    cdef uint8_t find_effect(self, intp_t test, intp_t n) noexcept nogil:
        """Return what the test that is summed up can do to a state of n cases."""
        cdef:
            intp_t code, n_codes = self.table.n_levels[test] + 1, n_seen = 0
            int64_t n_unknown = self.sums[n_codes].n, gone
        for code in range(n_codes):
            if self.sums[code].n > 0:
                n_seen += 1
                gone = n - self.sums[code].n
                if chance_of(self.table, test, code) > 0:
                    gone -= n_unknown
                if gone > 0:
                    return SURE_TO_TELL
        if n_unknown > 0 and n_seen > 0 and self.table.n_support[test] > 1:
            return MAY_TELL
        return TELLS_NOTHING

    cdef void spread_unknown(self, intp_t test) noexcept nogil:
        """Count unknown cases with every outcome that they may be drawn into."""
        cdef:
            intp_t code, unknown = self.table.n_levels[test] + 1
            Sum* sums = self.sums
            const Sum* drawn = &self.sums[unknown]
            float64_t c
        if drawn.n == 0:
            return
        for code in range(unknown):
            c = chance_of(self.table, test, code)
            if c <= 0:
                continue
            sums[code].n += drawn.n
            sums[code].weight += c * drawn.weight
            if self.has_own_blocks:
                sums[code].n_blocks = <int32_t> min(sums[code].n, 2)
                sums[code].logs += c * (drawn.logs + log2(c) * drawn.weight)
