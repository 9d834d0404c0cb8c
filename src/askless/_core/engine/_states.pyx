"""Remember what a search has proved about a state, within a limit of memory.

Open addressing over a power of two of slots, the lists of cases in one arena. When the
memory is full, the entries of the smallest sets, which are the cheapest to prove again,
make room: forgetting costs time and never changes an answer.
"""

from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy

from askless._core.base._keys cimport scatter, spread
from askless._core.base._types cimport (
    int32_t, int64_t, intp_t, uint8_t, uint16_t, uint64_t,
)


cdef inline uint64_t spread_state(
    uint64_t key, uint64_t open_groups, int64_t limit
) noexcept nogil:
    """Spread a key over all bits, with everything that tells states apart."""
    return spread(key ^ scatter(open_groups) ^ scatter(scatter(<uint64_t> limit)))


cdef inline bint may_be(
    const Entry* entry, uint64_t key, intp_t n_cases, uint64_t open_groups,
    int64_t limit,
) noexcept nogil:
    """Return whether an entry is a state, as far as can be told without its cases."""
    return (
        entry.key == key
        and entry.n_cases == n_cases
        and entry.open_groups == open_groups
        and entry.limit == limit
    )


cdef class StateTable:
    """States and what is proved about them."""

    def __cinit__(self, intp_t max_bytes):
        self.max_bytes = max_bytes
        self.n_slots = 1 << 12
        self.arena_room = 1 << 14
        self.entries = <Entry*> malloc(self.n_slots * sizeof(Entry))
        self.arena = <uint16_t*> malloc(self.arena_room * sizeof(uint16_t))
        if self.entries == NULL or self.arena == NULL:
            raise MemoryError("no memory left for the table of states")
        clear_slots(self.entries, self.n_slots)

    def __dealloc__(self):
        free(self.entries)
        free(self.arena)

    cdef Entry* find(
        self, uint64_t key, const uint16_t* cases, intp_t n_cases,
        uint64_t open_groups, int64_t limit,
    ) noexcept nogil:
        cdef:
            intp_t mask = self.n_slots - 1
            intp_t slot = spread_state(key, open_groups, limit) & mask
            Entry* entry
        while self.entries[slot].first_case >= 0:
            entry = &self.entries[slot]
            if (
                may_be(entry, key, n_cases, open_groups, limit)
                and memcmp(
                    self.arena + entry.first_case, cases, n_cases * sizeof(uint16_t)
                ) == 0
            ):
                return entry
            slot = (slot + 1) & mask
        return NULL

    cdef Entry* find_part(
        self, uint64_t key, const uint16_t* codes, uint16_t code,
        const uint8_t* is_marked, intp_t n_cases, uint64_t open_groups, int64_t limit,
    ) noexcept nogil:
        cdef:
            intp_t mask = self.n_slots - 1
            intp_t slot = spread_state(key, open_groups, limit) & mask
            intp_t i
            const uint16_t* cases
            Entry* entry
            bint is_same
        while self.entries[slot].first_case >= 0:
            entry = &self.entries[slot]
            if may_be(entry, key, n_cases, open_groups, limit):
                # As many cases as the part has, all of them in it: it is the part.
                cases = self.arena + entry.first_case
                is_same = True
                for i in range(n_cases):
                    if codes[cases[i]] != code or not is_marked[cases[i]]:
                        is_same = False
                        break
                if is_same:
                    return entry
            slot = (slot + 1) & mask
        return NULL

    cdef Entry* insert(
        self, uint64_t key, const uint16_t* cases, intp_t n_cases,
        uint64_t open_groups, int64_t limit,
    ) except NULL nogil:
        cdef:
            Entry* entry = self.find(key, cases, n_cases, open_groups, limit)
            intp_t slot, mask
        if entry != NULL:
            return entry
        self.make_room(n_cases)
        mask = self.n_slots - 1
        slot = spread_state(key, open_groups, limit) & mask
        while self.entries[slot].first_case >= 0:
            slot = (slot + 1) & mask
        entry = &self.entries[slot]
        entry.key = key
        entry.open_groups = open_groups
        entry.limit = limit
        entry.lower = 0
        entry.worst = -1
        entry.first_case = self.arena_used
        entry.n_cases = <int32_t> n_cases
        entry.test = -1
        entry.is_exact = False
        entry.is_certified = False
        memcpy(self.arena + self.arena_used, cases, n_cases * sizeof(uint16_t))
        self.arena_used += n_cases
        self.n_entries += 1
        return entry

    cdef int make_room(self, intp_t n_cases) except -1 nogil:
        """See to it that one more state of so many cases fits."""
        cdef uint16_t* larger
        if 10 * (self.n_entries + 1) > 6 * self.n_slots:
            if self.bytes_with(2 * self.n_slots, self.arena_room) <= self.max_bytes:
                self.rebuild(2 * self.n_slots, 0)
            else:
                self.evict()
        while self.arena_used + n_cases > self.arena_room:
            if self.bytes_with(self.n_slots, 2 * self.arena_room) <= self.max_bytes:
                larger = <uint16_t*> realloc(
                    self.arena, 2 * self.arena_room * sizeof(uint16_t)
                )
                if larger == NULL:
                    with gil:
                        raise MemoryError("no memory left for the table of states")
                self.arena = larger
                self.arena_room *= 2
            elif self.arena_used > 0:
                self.evict()
            else:
                with gil:
                    raise MemoryError("the memory limit is too small for one state")
        return 0

    cdef intp_t bytes_with(self, intp_t n_slots, intp_t arena_room) noexcept nogil:
        return n_slots * sizeof(Entry) + arena_room * sizeof(uint16_t)

    cdef int evict(self) except -1 nogil:
        """Forget the smaller half of the sets; all, if they have one size."""
        cdef:
            intp_t slot, size, kept = 0
            intp_t* by_size = <intp_t*> calloc(1 << 16, sizeof(intp_t))
            intp_t least = 1 << 16
        if by_size == NULL:
            with gil:
                raise MemoryError("no memory left to evict states")
        for slot in range(self.n_slots):
            if self.entries[slot].first_case >= 0:
                by_size[self.entries[slot].n_cases] += 1
        # The arena too must be half empty afterwards, so sets are kept from the largest
        # down while both halves hold.
        size = (1 << 16) - 1
        slot = 0
        while size > 0:
            slot += by_size[size] * size
            kept += by_size[size]
            if 2 * kept > self.n_entries or 2 * slot > self.arena_used:
                break
            least = size
            size -= 1
        free(by_size)
        self.n_evictions += 1
        return self.rebuild(self.n_slots, least)

    cdef int rebuild(self, intp_t n_slots, intp_t least_cases) except -1 nogil:
        """Move the entries of at least so many cases to a table of so many slots."""
        cdef:
            Entry* old = self.entries
            intp_t n_old = self.n_slots
            uint16_t* arena = NULL
            Entry* slots = <Entry*> malloc(n_slots * sizeof(Entry))
            intp_t i, slot, used = 0, n_entries = 0
        if least_cases > 0:
            arena = <uint16_t*> malloc(self.arena_room * sizeof(uint16_t))
        if slots == NULL or (least_cases > 0 and arena == NULL):
            free(slots)
            free(arena)
            with gil:
                raise MemoryError("no memory left for the table of states")
        clear_slots(slots, n_slots)
        for i in range(n_old):
            if old[i].first_case < 0 or old[i].n_cases < least_cases:
                continue
            slot = spread_state(
                old[i].key, old[i].open_groups, old[i].limit
            ) & (n_slots - 1)
            while slots[slot].first_case >= 0:
                slot = (slot + 1) & (n_slots - 1)
            slots[slot] = old[i]
            n_entries += 1
            if arena != NULL:
                memcpy(
                    arena + used, self.arena + old[i].first_case,
                    old[i].n_cases * sizeof(uint16_t),
                )
                slots[slot].first_case = used
                used += old[i].n_cases
        free(old)
        self.entries = slots
        self.n_slots = n_slots
        self.n_entries = n_entries
        if arena != NULL:
            free(self.arena)
            self.arena = arena
            self.arena_used = used
        return 0


cdef void clear_slots(Entry* entries, intp_t n_slots) noexcept nogil:
    cdef intp_t slot
    for slot in range(n_slots):
        entries[slot].first_case = -1
