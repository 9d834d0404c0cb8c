"""Contract of a backbone: the chain of tests that one call of DecTree builds.

Cases that show the main outcome of a test go on along the chain; the others leave it
there. The rows of the call's set are moved so that those which go on are always the tail:

    rows      [ left at step 0 | left at step 1 | ... | U at the end ]
    step 0      start            after                              end
    step 1                       start            after             end

Rows that leave at a step lie sorted by code.
"""

from askless._core.chain._lazy_greedy cimport LazyGreedy
from askless._core.base._types cimport float64_t, int32_t, intp_t, uint8_t


cdef struct Step:
    intp_t test
    intp_t main_code  # of the cases that go on to the next step; -1: none go on
    intp_t start      # the first of the rows that get here; they run to the end
    intp_t after      # the first of the rows that go on


cdef class Backbone(LazyGreedy):
    cdef readonly bint is_guarded    # skip tests that split nothing, stop at a pure U
    cdef readonly bint keep_all      # see fits_budget
    cdef readonly float64_t alpha    # the share of the pairs that a budget must cover
    cdef bint has_whole_prices

    # What `build` found: the chain, what it was allowed, and what it spent on the tests
    # chosen by weight and on those chosen by pairs. A budget of 0: a free test.
    cdef Step* steps
    cdef intp_t step_room
    cdef readonly intp_t n_steps
    cdef readonly float64_t budget
    cdef readonly float64_t spent_on_weight
    cdef readonly float64_t spent_on_pairs
    cdef bint is_over                # whether the chain must end here

    # The tests: those that split the set, then those that only may be in the chain.
    cdef int32_t[::1] candidates     # (n_tests,)
    cdef intp_t n_splitting
    cdef intp_t n_candidates

    # The order in which the adapted greedy takes the tests of at most some price.
    cdef int32_t[::1] order          # (n_tests,)
    cdef float64_t[::1] order_spent  # (n_tests,) up to and with each test
    cdef intp_t n_order
    cdef intp_t n_affordable         # tests it could choose from; -1: no order yet
    cdef bint is_enough              # whether the whole order covers the target
    cdef float64_t target

    # Build a chain for a range of rows and move them; no steps if no test splits
    # them. `tests` holds all tests. The first n_splitting may split the rows; those that
    # do not are moved behind and n_splitting is lowered. Of those behind, tests that
    # are not marked in `is_used` may be in the chain as well; NULL: none of them.
    cdef int build(
        self, intp_t first, intp_t n_rows,
        int32_t* tests, intp_t* n_splitting, const uint8_t* is_used,
    ) except -1 nogil

    cdef int list_candidates(
        self, int32_t* tests, intp_t* n_splitting, const uint8_t* is_used
    ) except -1 nogil
    cdef void make_order(self, float64_t budget) noexcept nogil
    cdef intp_t count_affordable(
        self, intp_t first, intp_t end, float64_t budget
    ) noexcept nogil
    cdef bint fits_budget(self, float64_t budget) noexcept nogil
    cdef float64_t find_budget(self) noexcept nogil
    cdef intp_t find_free(self) noexcept nogil
    cdef int add_test(self, intp_t test) except -1 nogil
    cdef int add_free_test(self, intp_t test) except -1 nogil
    cdef int build_chain(self) except -1 nogil
    cdef int extend(self, bint is_first) except -1 nogil
    cdef void drop_taken(self) noexcept nogil
    cdef int add_step(
        self, intp_t test, intp_t main_code, intp_t start, intp_t after
    ) except -1 nogil
    cdef int open_all(self) except -1
