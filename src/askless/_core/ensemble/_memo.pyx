"""Remember what each tree amounts to, so that cases alike in a tree share the work.

A tree asks few tests and knows few outcomes of each; most cases pass through states
that others have been in. Every thread has a memory of its own.

This module must not know how a state is worked out.
"""

from libc.stdlib cimport calloc, free, malloc

from askless._core.base._types cimport int32_t, int64_t, intp_t, uint64_t


cdef enum:
    FIRST_SLOTS = 16
    BLOCK_BYTES = 1048576


cdef Memo* make_memo(intp_t n_trees) noexcept nogil:
    cdef:
        Memo* memo = <Memo*> calloc(1, sizeof(Memo))
        intp_t tree
    if memo == NULL:
        return NULL
    memo.n_trees = n_trees
    memo.shelves = <Shelf*> calloc(n_trees + 1, sizeof(Shelf))
    if memo.shelves == NULL:
        free(memo)
        return NULL
    for tree in range(n_trees):
        memo.shelves[tree].slots = <Slot*> calloc(FIRST_SLOTS, sizeof(Slot))
        memo.shelves[tree].n_slots = FIRST_SLOTS
        if memo.shelves[tree].slots == NULL:
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
    cdef intp_t tree, i
    cdef Shelf* shelf
    for tree in range(memo.n_trees):
        shelf = memo.shelves + tree
        for i in range(shelf.n_slots):
            shelf.slots[i].state = NULL
        shelf.n_used = 0
    free_blocks(memo)


cdef void* take_memory(Memo* memo, intp_t n_bytes) noexcept nogil:
    """Return room that lasts until the memo is emptied."""
    cdef:
        intp_t size = (n_bytes + 7) & ~(<intp_t> 7)
        intp_t whole = max(<intp_t> BLOCK_BYTES, size)
        Block* block
        void* taken
    if memo.n_free < size:
        block = <Block*> malloc(sizeof(Block) + whole)
        if block == NULL:
            memo.has_failed = True
            return NULL
        block.before = memo.blocks
        memo.blocks = block
        memo.free = <char*> (block + 1)
        memo.n_free = whole
        memo.n_bytes += whole
    taken = memo.free
    memo.free += size
    memo.n_free -= size
    return taken


cdef void put_slot(Shelf* shelf, State* state) noexcept nogil:
    cdef:
        uint64_t last = <uint64_t> (shelf.n_slots - 1)
        uint64_t at = (state.leaves * <uint64_t> 0x9E3779B97F4A7C15) >> 32
    while shelf.slots[at & last].state != NULL:
        at += 1
    shelf.slots[at & last].leaves = state.leaves
    shelf.slots[at & last].state = state


cdef bint grow_shelf(Shelf* shelf) noexcept nogil:
    """Double the slots; return whether there was memory for it."""
    cdef:
        Slot* old = shelf.slots
        intp_t n_old = shelf.n_slots
        Slot* slots = <Slot*> calloc(2 * n_old, sizeof(Slot))
        intp_t i
    if slots == NULL:
        return False
    shelf.slots = slots
    shelf.n_slots = 2 * n_old
    for i in range(n_old):
        if old[i].state != NULL:
            put_slot(shelf, old[i].state)
    free(old)
    return True


cdef State* add_state(
    Memo* memo, intp_t tree, uint64_t leaves, intp_t n_parts
) noexcept nogil:
    cdef:
        Shelf* shelf = memo.shelves + tree
        State* state
    if 2 * shelf.n_used >= shelf.n_slots and not grow_shelf(shelf):
        memo.has_failed = True
        return NULL
    state = <State*> take_memory(memo, sizeof(State) + n_parts * 12)
    if state == NULL:
        return NULL
    state.leaves = leaves
    state.runs = NULL
    state.n_parts = <int32_t> n_parts
    put_slot(shelf, state)
    shelf.n_used += 1
    return state
