"""Contract of growing a tree that is kept, on some or all rows of a workspace."""

from askless._core.base._types cimport float64_t, int32_t, intp_t, uint64_t
from askless._core.cost._criteria cimport Choice, Criterion
from askless._core.cost._errors cimport ErrorTable
from askless._core.cost._samples cimport Sampler, Value
from askless._core.cost._workspace cimport Node, Workspace
from askless._core.tree._store cimport TreeBuffer


cdef class Inducer:
    cdef Workspace ws
    cdef Sampler sampler       # first of a chain, one a thread; works on `ws`
    cdef TreeBuffer tree       # of the last growth
    cdef ErrorTable errors
    cdef Criterion criterion
    cdef Value kind
    cdef bint prunes
    cdef bint use_bounds
    cdef intp_t n_samples
    cdef intp_t n_threads
    cdef uint64_t seed
    cdef const int32_t[::1] stop
    cdef readonly float64_t value
    cdef readonly bint was_stopped
    cdef Choice* candidates
    cdef float64_t* totals
    cdef intp_t n_candidates
    cdef intp_t room

    # Grow a tree on the first n of the rows that the workspace lists.
    cdef int grow_on(self, intp_t n) except -1 nogil

    cdef float64_t grow_node(
        self, const Node* node, intp_t parent, intp_t branch, intp_t depth
    ) except -1 nogil
    cdef bint is_leaf(self, const Node* node, intp_t depth) noexcept nogil
    cdef float64_t grow_children(
        self, const Node* node, const Choice* choice, intp_t place, intp_t kept,
        intp_t n_kept, intp_t depth,
    ) except -1 nogil
    cdef void cut_off(self, intp_t place) noexcept nogil
    cdef intp_t find_default(self, intp_t at, const Choice* choice) noexcept nogil
    cdef Choice choose_test(
        self, const Node* node, intp_t* kept, intp_t* n_kept
    ) noexcept nogil
    cdef bint sample_choice(
        self, const Node* node, intp_t* kept, intp_t* n_kept, Choice* best
    ) noexcept nogil
    cdef int list_candidates(
        self, const Node* node, intp_t* kept, intp_t* n_kept
    ) except -1 nogil
    cdef int make_room(self) except -1 nogil
    cdef void price_candidates(self, const Node* node) noexcept nogil
    cdef void price_in_threads(
        self, const Node* node, float64_t weight
    ) noexcept nogil
