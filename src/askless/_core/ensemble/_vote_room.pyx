"""Make room for a block of rows on its way through the trees of a vote.

This module must not know what is done with it.
"""

from libc.stdlib cimport calloc, free

from askless._core.base._types cimport (
    float64_t, int32_t, intp_t, uint8_t, uint16_t, uint32_t,
)
from askless._core.ensemble._vote_trees cimport MOST_CLASSES


cdef extern from *:
    """
    #include <stdlib.h>
    #ifdef __linux__
    #include <sys/mman.h>
    #endif
    /* Notes lie far apart: with large pages their addresses are found at once. */
    static inline void *grab_large(size_t n_bytes) {
    #if defined(__linux__) && defined(MADV_HUGEPAGE)
        void *memory = NULL;
        const size_t page = (size_t) 1 << 21;
        if (n_bytes >= page && posix_memalign(&memory, page, n_bytes) == 0) {
            (void) madvise(memory, n_bytes, MADV_HUGEPAGE);
            return memory;
        }
    #endif
        return malloc(n_bytes);
    }
    """
    void* grab_large(size_t n_bytes) nogil


cdef void free_room(Room* room) noexcept nogil:
    if room == NULL:
        return
    free(room.codes)
    free(room.notes)
    free(room.spare)
    free(room.start)
    free(room.end)
    free(room.waiting)
    free(room.tail)
    free(room.votes)
    free(room.need)
    free(room.is_bought)
    free(room.paid)
    free(room.is_open)
    free(room)


cdef Room* make_room(
    intp_t n_rows, intp_t n_tests, intp_t n_trees, intp_t n_notes, intp_t n_groups
) noexcept nogil:
    """Return memory for a block of rows, or NULL if there is none."""
    cdef Room* room = <Room*> calloc(1, sizeof(Room))
    if room == NULL:
        return NULL
    room.codes = <uint16_t*> calloc(n_rows * (n_tests + 1), 2)
    room.notes = <uint32_t*> grab_large((n_rows * n_notes + AT_ONCE) * 4)
    room.spare = <uint32_t*> calloc(n_notes + 1, 4)
    room.start = <int32_t*> calloc(n_rows * n_trees + 1, 4)
    room.end = <int32_t*> calloc(n_rows, 4)
    room.waiting = <int32_t*> calloc((n_tests + 1) * n_trees + 1, 4)
    room.tail = <int32_t*> calloc(n_tests + 1, 4)
    room.votes = <uint16_t*> calloc((n_tests + 1) * MOST_CLASSES, 2)
    room.need = <float64_t*> calloc(n_tests + 1, 8)
    room.is_bought = <uint8_t*> calloc(256, 1)
    room.paid = <uint8_t*> calloc(n_tests + 1, 1)
    room.is_open = <uint8_t*> calloc(n_groups + 1, 1)
    if (
        room.codes == NULL or room.notes == NULL or room.start == NULL
        or room.spare == NULL or room.end == NULL or room.waiting == NULL
        or room.tail == NULL or room.votes == NULL or room.need == NULL
        or room.is_bought == NULL or room.paid == NULL or room.is_open == NULL
    ):
        free_room(room)
        return NULL
    return room
