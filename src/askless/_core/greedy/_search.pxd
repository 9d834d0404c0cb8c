"""Contract of the split search: the best test of a node."""

from askless._core.greedy._node cimport SplitNode
from askless._core.greedy._splits cimport Split
from askless._core.base._types cimport float64_t, int32_t, intp_t, uint8_t, uint64_t


cdef class SplitSearch(SplitNode):
    cdef readonly bint use_crossing    # switch: changes time, never the score
    cdef readonly bint use_bounds      # switch: changes time, never the answer

    # What is left of a budget at the node, INFINITY for no budget. Set by the caller
    # before each search, with the tests that a case has bought on its way.
    cdef float64_t room
    cdef uint8_t[::1] bought       # (n_tests,)

    # How many tests are tried at a node, drawn by its key; n_tests: all.
    cdef intp_t max_tests
    cdef uint64_t[::1] drawn       # (n_tests,) scratch

    # The best test among active[:n_active] whose dearest outcome fits into the room;
    # tests that can split neither this node nor any below it are moved out of the list
    # and n_active is lowered. Goes by the node that was opened last.
    cdef Split find_best(self, int32_t* active, intp_t* n_active) noexcept nogil

    # Whether every outcome that the node may show charges no more than the room.
    cdef bint is_affordable(self, intp_t test) noexcept nogil

    # Move a test behind the first n_active.
    cdef void drop_test(
        self, int32_t* active, intp_t* n_active, intp_t i
    ) noexcept nogil

    # The largest code that occurs on the left of a cut.
    cdef intp_t lower_cut(self, intp_t test, intp_t cut) noexcept nogil
