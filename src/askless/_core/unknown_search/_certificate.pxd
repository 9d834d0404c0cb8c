"""Contract of certificates: code words that are long enough to be told apart.

The word of a case is at least as long as the fewest tests that may rule out all others,
whatever is drawn. Starting from these lengths, words are made longer, always where it
costs least for the room that it makes, until all of them fit.
"""

from askless._core.base._types cimport float64_t, int32_t, intp_t
from askless._core.unknown_search._code_words cimport Inside
from askless._core.unknown_search._problem cimport UnknownProblem


cdef class Certificate:
    cdef UnknownProblem problem
    cdef int32_t[::1] rest       # (most tests of a set + 2, n_cases) cases still left
    cdef intp_t n_steps
    cdef int32_t[::1] heap       # (n_cases + 1,)
    cdef float64_t[::1] ratio    # (n_cases + 1,) what room costs where it is made
    cdef float64_t[::1] length   # (n_cases + 1,) of each word

    # A lower bound of a state in which every case is a class.
    cdef float64_t bound(
        self, const int32_t* cases, const float64_t* weights, intp_t n,
        const Inside* inside,
    ) noexcept nogil

    cdef intp_t count_tests(
        self, const int32_t* cases, intp_t n, intp_t case, intp_t most
    ) noexcept nogil
    cdef float64_t fit_words(
        self, const float64_t* weights, intp_t n, float64_t arity, float64_t room,
        float64_t cost,
    ) noexcept nogil
    cdef void sift(self, intp_t at, intp_t n) noexcept nogil
    cdef bint may_cover(
        self, const int32_t* others, intp_t n, intp_t case, intp_t k
    ) noexcept nogil
    cdef bint has_single(
        self, const int32_t* others, intp_t n, intp_t case
    ) noexcept nogil
    cdef intp_t find_hardest(
        self, const int32_t* others, intp_t n, intp_t case
    ) noexcept nogil
