"""Contract of stopping: when nothing more has to be told about a set of cases.

A set of one class is settled. Where some cases cannot be told apart for sure, each case
comes with the cases that it need not be told from, its *near* ones; then a set is
settled if every two of its cases are near (a clique) or, if one asks for less, if all
are near one and the same case (a neighbourhood).
"""

from askless._core.base._types cimport int32_t, intp_t, uint64_t


cdef class Settled:
    cdef const int32_t[::1] class_id    # (n_cases,)
    cdef const uint64_t[:, ::1] near    # (n_cases, n_words) bits of cases
    cdef readonly bint has_near
    cdef readonly bint stops_near       # at a neighbourhood; else, at a clique
    cdef uint64_t[::1] alive            # (n_words,) zero between uses

    # Whether a set of cases, those of one class together, is settled.
    cdef bint holds(self, const int32_t* cases, intp_t n) noexcept nogil

    cdef bint is_inside(self, intp_t x) noexcept nogil
