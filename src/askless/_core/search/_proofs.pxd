"""Contract of what a search has proved: values and bounds of states, certificates."""

from askless._core.base._types cimport int32_t, int64_t, intp_t, uint16_t
from askless._core.search._cover cimport Cover
from askless._core.engine._states cimport Entry, StateTable
from askless._core.engine._stoppable cimport Stoppable
from askless._core.search._table cimport KnownTable, State


# What is proved of a state before it is expanded.
cdef struct Recalled:
    int64_t lower
    int64_t worst       # of the best policy, if is_exact
    bint is_exact
    bint is_certified   # the certificate bound is already in `lower`


cdef class Proofs(Stoppable):
    cdef KnownTable table
    cdef Cover cover
    cdef readonly StateTable states
    cdef uint16_t[::1] cover_scratch
    cdef readonly bint is_worst
    cdef readonly bint use_certificate
    cdef readonly intp_t breadth

    # The entry of a state under a limit, or NULL. Valid until the next record.
    cdef Entry* find(self, const State* state, int64_t limit) noexcept nogil

    # What is proved of a state, as far as it matters for a threshold.
    cdef Recalled recall(self, const State* state, int64_t theta) noexcept nogil

    # Remember a lower bound of a state; returns the best that is known.
    cdef int64_t record_lower(
        self, const State* state, int64_t lower, bint is_certified
    ) except -1 nogil

    # Remember the value of a state and the first test of its policy.
    cdef int64_t record_value(
        self, const State* state, int64_t value, int64_t worst, int32_t test
    ) except -1 nogil

    # The certificate bound, or any bound of at least `enough`.
    cdef int64_t certify(
        self, const uint16_t* cases, intp_t n, int64_t enough
    ) noexcept nogil

    # The best bound of a state without a limit that is proved or can be certified.
    cdef int64_t certify_child(self, const State* child) except -1 nogil

    # Whether some case of a state is sure to cost more than its limit.
    cdef bint exceeds_limit(self, const State* state) noexcept nogil
