"""Contract of remembered trees: what a tree amounts to, by the leaves that are left."""

from libc.stdint cimport int16_t

from askless._core.ensemble._trees cimport Model
from askless._core.base._types cimport int32_t, int64_t, intp_t, uint8_t, uint64_t


cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define fetch_early(place) __builtin_prefetch(place)
    #else
    #define fetch_early(place) ((void) (place))
    #endif
    """
    # Begin to read a line of memory that is needed soon; it may be no place at all.
    void fetch_early(const void* place) nogil


cdef struct State:
    # What a tree amounts to once some tests were bought: the leaves that it can still
    # reach say all of it, whichever tests left them. Its parts stand behind it.
    uint64_t leaves
    int64_t mean
    int64_t spread
    int32_t top       # the node where the tree waits, or its leaf
    int32_t n_parts   # tests that it asks for, filled up to fours; 0 once it has ended


cdef struct Shelf:
    # The states of one tree, found by their leaves: from `leaves * factor >> shift` on.
    State** slots     # NULL where a slot is free
    uint64_t last     # how many there are, a power of two, less one
    uint64_t factor   # 1 where every set of leaves has a slot of its own
    intp_t n_used


cdef struct Block:
    Block* before


cdef struct Memo:
    intp_t n_trees
    Shelf* shelves    # (n_trees,)
    Block* blocks     # memory of all states, the newest first
    char* free
    intp_t n_free
    intp_t n_bytes
    bint has_failed   # there was no memory left


# What waits for each test, and the tests, of a state.
cdef inline int64_t* parts_of(State* state) noexcept nogil:
    return <int64_t*> (state + 1)


cdef inline int16_t* tests_of(State* state) noexcept nogil:
    return <int16_t*> (parts_of(state) + state.n_parts)


cdef inline void fetch_state(const Model* m, const State* state) noexcept nogil:
    fetch_early(state)
    fetch_early(<const char*> state + 64)
    if m.word_bytes > 1:
        # Large trees ask for more than two lines hold.
        fetch_early(<const char*> state + 128)


# Memory for states, or NULL if there is none; its end; and starting again.
cdef Memo* make_memo(const Model* m) noexcept nogil
cdef void free_memo(Memo* memo) noexcept nogil
cdef void empty_memo(Memo* memo) noexcept nogil

# A new state with room for its parts, and room for anything else; NULL if there is none.
cdef State* add_state(
    Memo* memo, intp_t tree, uint64_t leaves, intp_t n_parts
) noexcept nogil
cdef void* take_memory(Memo* memo, intp_t n_bytes) noexcept nogil


cdef inline uint64_t first_slot(const Shelf* shelf, uint64_t leaves) noexcept nogil:
    cdef uint64_t at = leaves * shelf.factor
    return (at ^ (at >> 32)) & shelf.last


cdef inline void fetch_slot(
    const Memo* memo, intp_t tree, uint64_t leaves
) noexcept nogil:
    cdef const Shelf* shelf = memo.shelves + tree
    fetch_early(shelf.slots + first_slot(shelf, leaves))


cdef inline State* guess_state(
    const Memo* memo, intp_t tree, uint64_t leaves
) noexcept nogil:
    """Return the state that these leaves most likely have; it is not looked at."""
    cdef const Shelf* shelf = memo.shelves + tree
    return shelf.slots[first_slot(shelf, leaves)]


cdef inline State* find_state(
    const Memo* memo, intp_t tree, uint64_t leaves
) noexcept nogil:
    """Return the state of a tree that has these leaves left, or NULL."""
    cdef:
        const Shelf* shelf = memo.shelves + tree
        uint64_t at = first_slot(shelf, leaves)
        State* state = shelf.slots[at]
    while state != NULL and state.leaves != leaves:
        at = (at + 1) & shelf.last
        state = shelf.slots[at]
    return state


# Small trees.


cdef enum:
    # Trees of so many leaves at most have a place for every set of leaves.
    SMALL_LEAVES = 8


cdef struct Entry:
    # What a tree amounts to: a line of the cache.
    int64_t mean      # and so much more that it is not 0; 0 if it is not worked out
    int64_t[7] part   # what waits for each of its tests


cdef struct Tables:
    char* block
    Entry* entries    # of one tree after another
    int64_t* start    # (n_trees + 1,) where those of a tree start: at no leaf at all
    int64_t* spread   # by entry
    uint8_t* top      # by entry, the node where the tree waits, counted from its first
    int16_t* tests    # (n_trees, 8) that a tree may ask, each once; 0 where it has fewer


# Memory for tables that know nothing, or NULL if there is none; and its end. All trees
# must have SMALL_LEAVES at most. Large pages are soon found, but are cleared as a whole:
# they are for many rows.
cdef Tables* make_tables(const Model* m, bint has_large_pages) noexcept nogil
cdef void free_tables(Tables* tables) noexcept nogil
