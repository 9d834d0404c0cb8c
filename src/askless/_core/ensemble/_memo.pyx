"""Remember what each tree amounts to, so that cases alike in a tree share the work.

A tree asks few tests and knows few outcomes of each; most cases pass through states
that others have been in. Every thread has a memory of its own.

This module must not know how a state is worked out.
"""

from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from askless._core.ensemble._trees cimport Model
from askless._core.base._types cimport int32_t, intp_t, uint64_t


cdef enum:
    FIRST_SLOTS = 64
    # Trees of so few leaves have a slot for every set of them.
    FEW_LEAVES = 8
    BLOCK_BYTES = 1048576
    LINE = 64


# An odd number whose multiples are spread over all bits.
cdef uint64_t SPREAD = 0x9E3779B97F4A7C15


cdef Memo* make_memo(const Model* m) noexcept nogil:
    cdef:
        Memo* memo = <Memo*> calloc(1, sizeof(Memo))
        Shelf* shelf
        intp_t tree, n_leaves, n_slots
    if memo == NULL:
        return NULL
    memo.shelves = <Shelf*> calloc(m.n_trees + 1, sizeof(Shelf))
    if memo.shelves == NULL:
        free(memo)
        return NULL
    for tree in range(m.n_trees):
        shelf = memo.shelves + tree
        # A tree of n leaves has 2 n - 1 nodes.
        n_leaves = (m.tree_start[tree + 1] - m.tree_start[tree] + 1) // 2
        n_slots = FIRST_SLOTS
        shelf.factor = SPREAD
        if n_leaves <= FEW_LEAVES:
            n_slots = (<intp_t> 1) << n_leaves
            shelf.factor = 1
        shelf.slots = <State**> calloc(n_slots, sizeof(void*))
        shelf.last = <uint64_t> (n_slots - 1)
        memo.n_trees = tree + 1
        if shelf.slots == NULL:
            free_memo(memo)
            return NULL
    return memo


cdef void free_blocks(Memo* memo) noexcept nogil:
    cdef Block* block = memo.blocks
    while block != NULL:
        memo.blocks = block.before
        free(block)
        block = memo.blocks
    memo.free = NULL
    memo.n_free = memo.n_bytes = 0


cdef void free_memo(Memo* memo) noexcept nogil:
    cdef intp_t tree
    if memo == NULL:
        return
    for tree in range(memo.n_trees):
        free(memo.shelves[tree].slots)
    free(memo.shelves)
    free_blocks(memo)
    free(memo)


cdef void empty_memo(Memo* memo) noexcept nogil:
    cdef intp_t tree
    cdef Shelf* shelf
    for tree in range(memo.n_trees):
        shelf = memo.shelves + tree
        memset(shelf.slots, 0, (shelf.last + 1) * sizeof(void*))
        shelf.n_used = 0
    free_blocks(memo)


cdef void* take_memory(Memo* memo, intp_t n_bytes) noexcept nogil:
    """Return room that lasts until the memo is emptied."""
    cdef:
        # Whole lines of the cache, so that a state lies in as few as it can.
        intp_t size = (n_bytes + LINE - 1) & ~(<intp_t> LINE - 1)
        intp_t whole = max(<intp_t> BLOCK_BYTES, size)
        Block* block
        void* taken
    if memo.n_free < size:
        block = <Block*> malloc(sizeof(Block) + LINE + whole)
        if block == NULL:
            memo.has_failed = True
            return NULL
        block.before = memo.blocks
        memo.blocks = block
        memo.free = <char*> (block + 1)
        memo.free += LINE - (<size_t> memo.free & (LINE - 1))
        memo.n_free = whole
        memo.n_bytes += whole
    taken = memo.free
    memo.free += size
    memo.n_free -= size
    return taken


cdef void put_state(Shelf* shelf, State* state) noexcept nogil:
    cdef uint64_t at = first_slot(shelf, state.leaves)
    while shelf.slots[at] != NULL:
        at = (at + 1) & shelf.last
    shelf.slots[at] = state


cdef bint grow_shelf(Shelf* shelf) noexcept nogil:
    """Double the slots; return whether there was memory for it."""
    cdef:
        State** old = shelf.slots
        uint64_t n_old = shelf.last + 1
        State** slots = <State**> calloc(2 * n_old, sizeof(void*))
        uint64_t i
    if slots == NULL:
        return False
    shelf.slots = slots
    shelf.last = 2 * n_old - 1
    for i in range(n_old):
        if old[i] != NULL:
            put_state(shelf, old[i])
    free(old)
    return True


cdef State* add_state(
    Memo* memo, intp_t tree, uint64_t leaves, intp_t n_parts
) noexcept nogil:
    cdef:
        Shelf* shelf = memo.shelves + tree
        State* state
        bint is_full = 2 * shelf.n_used > <intp_t> shelf.last
    if shelf.factor != 1 and is_full and not grow_shelf(shelf):
        memo.has_failed = True
        return NULL
    state = <State*> take_memory(memo, sizeof(State) + n_parts * 10)
    if state == NULL:
        return NULL
    state.leaves = leaves
    state.runs = NULL
    state.n_parts = <int32_t> n_parts
    put_state(shelf, state)
    shelf.n_used += 1
    return state
