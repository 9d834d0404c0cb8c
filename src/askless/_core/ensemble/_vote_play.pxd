"""Inner steps of buying for one row of votes: what is open, settled, and bought next.

Everything here is small and is compiled into the loop that calls it.
"""

from askless._core.base._types cimport (
    float64_t, int32_t, intp_t, uint8_t, uint16_t, uint32_t,
)
from askless._core.ensemble._vote_trees cimport TEST_AT


cdef extern from *:
    """
    #include <stdint.h>
    /* Scores closer than this, relatively, are equal. */
    #define TIE (1.0 + 1e-12)
    typedef uint16_t Counts
        __attribute__((vector_size(16), aligned(2), may_alias));
    static inline void add_vote(Counts *moved, Counts *waiting, const Counts *vote) {
        *moved += *vote;
        *waiting += *vote;
    }
    static inline void replace_votes(
        Counts *high, const Counts *before, const Counts *now
    ) {
        *high += *now - *before;
    }
    """
    const float64_t TIE
    # Eight counts, one for each class, added at once.
    ctypedef struct Counts:
        pass
    void add_vote(Counts* moved, Counts* waiting, const Counts* vote) nogil
    void replace_votes(Counts* high, const Counts* before, const Counts* now) nogil


cdef inline intp_t find_open(
    const uint32_t* notes, intp_t at, const uint8_t* is_bought
) noexcept nogil:
    """Return the first note from here on whose test was not bought, or the leaf.

    Most trees go on by a few tests: those are looked at together, without a branch.
    """
    cdef:
        intp_t first = is_bought[(notes[at] >> TEST_AT) & 255]
        intp_t second = first & is_bought[(notes[at + 1] >> TEST_AT) & 255]
        intp_t third = second & is_bought[(notes[at + 2] >> TEST_AT) & 255]
        intp_t fourth = third & is_bought[(notes[at + 3] >> TEST_AT) & 255]
    at += first + second + third + fourth
    while is_bought[(notes[at] >> TEST_AT) & 255]:
        at += 1
    return at


cdef inline bint is_settled(
    const uint16_t* low, const uint16_t* high, intp_t n_classes
) noexcept nogil:
    """Return whether no class can overtake the first one; ties go to the earlier."""
    cdef intp_t first = 0
    cdef intp_t q
    for q in range(1, n_classes):
        if low[q] > low[first]:
            first = q
    for q in range(first):
        if high[q] >= low[first]:
            return False
    for q in range(first + 1, n_classes):
        if high[q] > low[first]:
            return False
    return True


cdef inline intp_t choose(
    const float64_t* need, const float64_t* inverse, intp_t n_tests
) noexcept nogil:
    """Return the first test that is as good as any for its price; -1 if none waits.

    Whatever is bought is needed by nothing. Four maxima are kept side by side, so that
    they do not wait for one another.
    """
    cdef:
        intp_t test
        intp_t n_fours = n_tests // 4 * 4
        float64_t a = 0.0
        float64_t b = 0.0
        float64_t c = 0.0
        float64_t d = 0.0
        float64_t score
    for test in range(0, n_fours, 4):
        score = need[test] * inverse[test]
        a = score if score > a else a
        score = need[test + 1] * inverse[test + 1]
        b = score if score > b else b
        score = need[test + 2] * inverse[test + 2]
        c = score if score > c else c
        score = need[test + 3] * inverse[test + 3]
        d = score if score > d else d
    for test in range(n_fours, n_tests):
        score = need[test] * inverse[test]
        a = score if score > a else a
    a = a if a > b else b
    c = c if c > d else d
    a = a if a > c else c
    if a <= 0.0:
        return -1
    for test in range(n_tests):
        if need[test] * inverse[test] * TIE >= a:
            return test
    return -1


cdef inline intp_t find_free(
    const float64_t* need, const int32_t* free_tests, intp_t n_free
) noexcept nogil:
    """Return the first test that is free and waited for; -1 if there is none."""
    cdef intp_t i
    for i in range(n_free):
        if need[free_tests[i]] > 0.0:
            return free_tests[i]
    return -1
