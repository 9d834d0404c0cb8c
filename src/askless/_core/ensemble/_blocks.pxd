"""Contract of blocks: votes of many rows, which walk each tree together."""

from askless._core.ensemble._case cimport Case
from askless._core.ensemble._rows cimport Results, Rows
from askless._core.ensemble._trees cimport Model
from askless._core.price._prices cimport Prices
from askless._core.base._types cimport float64_t, int32_t, intp_t, uint64_t


cdef struct Stop:
    # A node where a tree waits, or its leaf.
    uint64_t classes
    int32_t score
    int32_t test      # -1 for the leaf


cdef struct Step:
    Stop stop
    int32_t cut
    int32_t right
    int32_t flags
    int32_t unused


cdef class Blocks:
    cdef object memory
    cdef const Step* steps  # (n_nodes,) what a walk needs, in one place
    cdef intp_t depth       # the most tests on any path

    # Buy for every row until it is settled, or until every tree has voted.
    cdef int run(
        self, const Model* m, const Case* root, Prices prices,
        const float64_t[::1] inverse, const Rows* rows, bint is_complete,
        const Results* results, int n_threads,
    ) except -1


# Pack the trees of votes.
cdef Blocks make_blocks(const Model* m)
