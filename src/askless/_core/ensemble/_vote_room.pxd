"""Contract of the memory that one thread works on: a block of rows and their notes."""

from askless._core.base._types cimport (
    float64_t, int32_t, intp_t, uint8_t, uint16_t, uint32_t,
)


cdef enum:
    # Notes that are read at once, and may lie behind those of the last row.
    AT_ONCE = 4


cdef struct Room:
    # What one thread works on.
    uint16_t* codes    # (n_rows, n_tests + 1)
    uint32_t* notes    # (n_rows, n_notes)
    uint32_t* spare    # (n_notes,) where lanes without a row write
    int32_t* start     # (n_rows, n_trees) where the notes of each tree start
    int32_t* end       # (n_rows,)
    int32_t* waiting   # (n_tests + 1, n_trees) by test, which notes trees wait at
    int32_t* tail      # (n_tests + 1,) where the list of a test ends in `waiting`
    uint16_t* votes    # (n_tests + 1, 8) what the trees in the list may say
    float64_t* need    # (n_tests + 1,) whole numbers
    uint8_t* is_bought  # (256,)
    uint8_t* paid
    uint8_t* is_open


# Memory for a block of rows, or NULL if there is none; and its end.
cdef Room* make_room(
    intp_t n_rows, intp_t n_tests, intp_t n_trees, intp_t n_notes, intp_t n_groups
) noexcept nogil
cdef void free_room(Room* room) noexcept nogil
