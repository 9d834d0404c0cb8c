"""Contract of noisy tables: states, what a test does to one, and rules that choose.

A state is the cases that the answers so far leave possible, with how unlikely those
answers made each of them. An unknown outcome is a coin that is thrown once: a case
whose outcome was unknown and has been seen weighs less by the chance of what was seen.

    weight of a case = prior * 2 ** -(noise / UNIT)

Noise is a whole number, so that the order in which coins were thrown never matters and
equal states are equal to the last bit. Divided by UNIT it is exact for chances that are
powers of two, and within 1e-12 of a bit for others.
"""

from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t, uint64_t,
)


# What the cases of a state that show one code amount to.
cdef struct Part:
    int64_t count
    float64_t mass
    float64_t extra   # sum of squares, or of copies, as the rule needs


# What a test can do to a state.
cdef enum:
    USELESS = 0    # whatever it shows, no case is ruled out
    ONE_SIDED = 1  # it may rule out cases, and it may not
    TWO_SIDED = 2  # it is sure to tell some case from one of another label


cdef enum:
    ODTN_R = 0
    ODTN_R_RELEASED = 1
    ODTN_H = 2
    ODTN_H_RELEASED = 3
    ELIMINATION = 4
    INFORMATION = 5
    GBS = 6
    EC2 = 7


# Memory for measuring one test; one for each thread.
cdef struct Scratch:
    Part* parts      # (most codes,) zero between uses
    Part* run        # (most codes,) of one label; zero between uses
    int32_t* met     # (most codes,)
    int32_t* run_met  # (most codes,)


cdef class NoisyTable:
    cdef readonly intp_t n_cases
    cdef readonly intp_t n_tests
    cdef readonly intp_t n_labels
    cdef readonly intp_t most_codes
    cdef readonly bint has_single_labels  # every case has a label of its own
    cdef readonly bint is_in_order        # cases as they stand have ascending labels
    cdef readonly bint has_whole_bits     # every chance is a power of two
    cdef object codes_owner
    cdef const uint8_t* narrow            # (n_tests, n_cases)
    cdef const uint16_t* wide             # the same; NULL: codes are bytes
    cdef const int32_t[::1] n_levels      # (n_tests,)
    cdef const float64_t[::1] chances     # of each level, by test
    cdef const int64_t[::1] chance_start  # (n_tests + 1,)
    cdef int64_t[::1] bits                # noise of each level; -1: it never comes
    cdef int32_t[::1] n_support           # (n_tests,) levels that may come
    cdef float64_t[:, ::1] sums           # (n_tests, 3) of c^2, c^3 and c log2 c
    cdef const int32_t[::1] label         # (n_cases,)
    cdef const float64_t[::1] prior       # (n_cases,)

    cdef intp_t code(self, intp_t test, intp_t case) noexcept nogil
    # Weights of the cases of a state, divided by that of the least noise.
    cdef void weigh(
        self, const int32_t* cases, const int64_t* noise, intp_t n, float64_t* weight
    ) noexcept nogil
    # The chance of a code where the outcome is unknown.
    cdef float64_t chance(self, intp_t test, intp_t code) noexcept nogil
    # The score of a test by a rule, and what kind of test it is; cases of one label
    # must stand together. `extra` goes with the rule: copies for ODTN_H, else NULL.
    cdef float64_t score(
        self, intp_t test, const int32_t* cases, intp_t n, const float64_t* weight,
        const float64_t* extra, int rule, Scratch* scratch, uint8_t* kind,
    ) noexcept nogil
    cdef float64_t score_cases(
        self, intp_t test, intp_t n, int rule, Scratch* scratch, intp_t n_met,
        uint8_t* kind,
    ) noexcept nogil
    cdef float64_t score_labels(
        self, intp_t test, const int32_t* cases, intp_t n, const float64_t* weight,
        int rule, Scratch* scratch, intp_t n_met, uint8_t* kind,
    ) noexcept nogil
    cdef float64_t score_by_gain(
        self, intp_t test, int rule, const Scratch* scratch, intp_t n_met,
        float64_t known_gain, float64_t star_gain,
    ) noexcept nogil
    cdef float64_t balance(
        self, intp_t test, int rule, const Scratch* scratch, intp_t n_met
    ) noexcept nogil
    cdef float64_t coin_logs(
        self, float64_t mass, float64_t logs, float64_t chance
    ) noexcept nogil
    cdef bint may_rule_out(
        self, intp_t test, int64_t known, const Part* parts
    ) noexcept nogil
    # The part of a state that may show a code; returns its size.
    cdef intp_t list_part(
        self, intp_t test, intp_t code, const int32_t* cases, const int64_t* noise,
        intp_t n, int32_t* part, int64_t* part_noise,
    ) noexcept nogil


cdef int open_scratch(Scratch* scratch, intp_t most_codes) except -1 nogil
cdef void close_scratch(Scratch* scratch) noexcept nogil
cdef float64_t power_of_half(int64_t noise) noexcept nogil
cdef intp_t choose_best(
    const float64_t* scores, const float64_t* prices, const uint8_t* kinds,
    const uint8_t* is_done, intp_t n_tests,
) noexcept nogil
