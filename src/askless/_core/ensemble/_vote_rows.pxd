"""Contract of packed votes: trees that many rows are run on, a block at a time."""

from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t,
)
from askless._core.ensemble._rows cimport Results, Rows
from askless._core.ensemble._vote_room cimport Room
from askless._core.ensemble._vote_trees cimport Step
from askless._core.price._prices cimport Prices


cdef struct Votes:
    intp_t n_tests
    intp_t n_trees
    intp_t n_classes
    intp_t n_notes             # the most notes of a row
    const Step* steps          # (n_steps,) see _vote_trees
    const int64_t* root        # (n_trees + 1,)
    const uint8_t* is_used     # (n_tests + 1,) whether some tree asks it
    const uint16_t* counts     # (256, 8) of each set of classes
    # The first state, the same for every row.
    const int32_t* place       # (n_trees + 1,) of each tree, in `waiting`
    const int32_t* tail        # (n_tests + 1,)
    const uint16_t* waiting    # (n_tests + 1, 8) what those that wait may say
    const float64_t* need      # (n_tests + 1,)
    const uint16_t* high       # (8,) what all trees may say


cdef struct Purse:
    # What tests cost: 1 / price, 0 for what is free, which is listed.
    const float64_t* inverse   # (n_tests,)
    const int32_t* free_tests  # (n_free,)
    intp_t n_free


cdef class VoteRows:
    cdef Votes votes
    cdef object kept           # keeps the arrays alive that the votes point to

    # Run rows until they are settled, or until every tree has voted. Prices must have
    # no groups and no delays.
    cdef int run(
        self, Prices prices, const float64_t[::1] inverse, const Rows* rows,
        bint is_complete, const Results* results, int n_threads,
    ) except -1

    cdef void play_row(
        self, Room* room, Prices prices, const Purse* purse, intp_t row,
        intp_t n_needed, const Results* results, intp_t to,
    ) noexcept nogil
