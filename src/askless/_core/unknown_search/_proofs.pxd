"""Contract of what is known of states before they are searched: memory and bounds."""

from askless._core.base._types cimport float64_t, intp_t, uint8_t
from askless._core.engine._stoppable cimport Stoppable
from askless._core.unknown_search._certificate cimport Certificate
from askless._core.unknown_search._code_words cimport CodeWords
from askless._core.unknown_search._done cimport DoneTests
from askless._core.unknown_search._measure cimport Measure
from askless._core.unknown._memo cimport StateMemo
from askless._core.unknown_search._problem cimport UnknownProblem
from askless._core.unknown._settled cimport Settled
from askless._core.unknown._table cimport State, UnknownTable
from askless._core.unknown_search._trial cimport Child, Trial


# What is found out about a state.
cdef struct Found:
    float64_t value  # the value if is_exact, else a lower bound
    bint is_exact
    intp_t test      # the first test of the policy; -1 if the state is settled


cdef class UnknownProofs(Stoppable):
    cdef UnknownProblem problem
    cdef UnknownTable table
    cdef DoneTests done
    cdef Measure measure
    cdef CodeWords code_words
    cdef Certificate certificate
    cdef Settled settled
    cdef StateMemo memo
    cdef uint8_t[::1] may_show     # (most codes,) what the test being tried may show
    cdef readonly int mode
    cdef readonly bint use_certificate
    cdef readonly bint use_children

    # Spell a state for the memo: everything that its value depends on.
    cdef void spell(self, const State* state) noexcept nogil

    # Solve a state of two cases, if a cheapest test is sure to tell them apart.
    cdef bint solve_pair(self, const State* state, Found* found) noexcept nogil

    # What no best policy of a state costs more than.
    cdef float64_t most_to_prove(self, const State* state) noexcept nogil

    # Make room for the children of a test in a state; freed by `close_trial`.
    cdef int open_trial(self, const State* state, Trial* trial) except -1 nogil

    # List what a test may leave, with bounds, and add up what it costs at least.
    cdef void list_children(self, const State* state, Trial* trial) noexcept nogil
    cdef intp_t add_child(
        self, const State* state, intp_t code, intp_t first, Trial* trial
    ) noexcept nogil
    cdef void bound_child(self, Trial* trial, Child* child) noexcept nogil

    # Raise the bounds of children by certificates; True if that is enough.
    cdef bint certify_children(self, Trial* trial) except -1 nogil
