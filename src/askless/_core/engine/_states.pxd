"""Contract of the state table: what is proved about sets of cases met in a search.

A state is a list of cases (ascending), the groups that are open, and how much the
worst case may still cost. Entries are found by a 64-bit key and then compared case by
case, so a collision of keys can never be taken for a proof.
"""

from askless._core.base._types cimport (
    int32_t, int64_t, intp_t, uint8_t, uint16_t, uint64_t,
)


cdef struct Entry:
    uint64_t key
    uint64_t open_groups
    int64_t limit      # what the worst case may still cost
    int64_t lower      # no policy costs less; the value itself if is_exact
    int64_t worst      # worst cost of the stored policy; only if is_exact
    intp_t first_case  # where the cases are in the arena; -1: the slot is free
    int32_t n_cases
    int32_t test       # first test of a policy of that value; only if is_exact
    uint8_t is_exact
    uint8_t is_certified  # the certificate bound is already in `lower`


cdef class StateTable:
    cdef Entry* entries
    cdef uint16_t* arena
    cdef readonly intp_t n_entries
    cdef readonly intp_t n_evictions
    cdef intp_t n_slots        # a power of two
    cdef intp_t arena_used
    cdef intp_t arena_room
    cdef readonly intp_t max_bytes

    # The entry of a state, or NULL. Valid until the next insert.
    cdef Entry* find(
        self, uint64_t key, const uint16_t* cases, intp_t n_cases,
        uint64_t open_groups, int64_t limit,
    ) noexcept nogil

    # The entry of the part of the marked cases that shows `code`, or NULL, without
    # listing the part: codes is the column of the test.
    cdef Entry* find_part(
        self, uint64_t key, const uint16_t* codes, uint16_t code,
        const uint8_t* is_marked, intp_t n_cases, uint64_t open_groups, int64_t limit,
    ) noexcept nogil

    # The entry of a state, made if it is new. May evict others, and moves entries.
    cdef Entry* insert(
        self, uint64_t key, const uint16_t* cases, intp_t n_cases,
        uint64_t open_groups, int64_t limit,
    ) except NULL nogil

    cdef int make_room(self, intp_t n_cases) except -1 nogil
    cdef intp_t bytes_with(self, intp_t n_slots, intp_t arena_room) noexcept nogil
    cdef int evict(self) except -1 nogil
    cdef int rebuild(self, intp_t n_slots, intp_t least_cases) except -1 nogil
