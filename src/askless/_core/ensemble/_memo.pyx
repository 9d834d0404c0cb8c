"""Remember what each tree amounts to, so that cases alike in a tree share the work.

A tree asks few tests and knows few outcomes of each; most cases pass through states
that others have been in. Every thread has a memory of its own.

This module must not know how a state is worked out.
"""

from libc.stdint cimport int16_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from askless._core.ensemble._trees cimport Model
from askless._core.base._types cimport int32_t, int64_t, intp_t, uint8_t, uint64_t


cdef extern from *:
    """
    #if defined(__linux__)
    #include <sys/mman.h>
    #endif

    static void want_large_pages(char *block, size_t n_bytes)
    {
    #if defined(__linux__) && defined(MADV_HUGEPAGE)
        size_t first = ((size_t) block + 4095) & ~(size_t) 4095;
        size_t last = ((size_t) block + n_bytes) & ~(size_t) 4095;
        /* A wish: whether it is granted changes nothing but time. */
        if (first < last) (void) madvise((void *) first, last - first, MADV_HUGEPAGE);
    #else
        (void) block, (void) n_bytes;
    #endif
    }
    """
    void want_large_pages(char* block, size_t n_bytes) nogil


cdef enum:
    FIRST_SLOTS = 64
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
        if n_leaves <= SMALL_LEAVES:
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
    state.n_parts = <int32_t> n_parts
    put_state(shelf, state)
    shelf.n_used += 1
    return state


# Small trees. A set of few leaves is a small number, which is where its entry stands; and
# all entries of a tree list the same tests, so that two of them are compared part by part.


cdef Tables* make_tables(const Model* m, bint has_large_pages) noexcept nogil:
    cdef:
        Tables* tables = <Tables*> calloc(1, sizeof(Tables))
        intp_t tree
        intp_t n_entries = 0
        size_t n_bytes
        intp_t n_trees = m.n_trees
        char* at
    if tables == NULL:
        return NULL
    for tree in range(n_trees):
        n_entries += count_sets(m, tree)
    # What is never written to takes no memory: most systems give a page when it is used.
    n_bytes = LINE + n_entries * (sizeof(Entry) + 9) + n_trees * (8 + 16) + 8
    tables.block = <char*> calloc(n_bytes, 1)
    if tables.block == NULL:
        free(tables)
        return NULL
    if has_large_pages:
        want_large_pages(tables.block, n_bytes)
    at = tables.block + LINE - (<size_t> tables.block & (LINE - 1))
    tables.entries = <Entry*> at
    at += n_entries * sizeof(Entry)
    tables.start = <int64_t*> at
    at += (n_trees + 1) * 8
    tables.spread = <int64_t*> at
    at += n_entries * 8
    tables.tests = <int16_t*> at
    at += n_trees * 16
    tables.top = <uint8_t*> at
    for tree in range(n_trees):
        tables.start[tree + 1] = tables.start[tree] + count_sets(m, tree)
        list_tests(m, tree, tables.tests + 8 * tree)
    return tables


cdef intp_t count_sets(const Model* m, intp_t tree) noexcept nogil:
    """Return how many sets of leaves a tree has, the empty one as well."""
    return 1 << (m.leaf_start[tree + 1] - m.leaf_start[tree])


cdef void list_tests(const Model* m, intp_t tree, int16_t* tests) noexcept nogil:
    """Write the tests of a tree, each once."""
    cdef intp_t node, k
    cdef intp_t n = 0
    for node in range(m.tree_start[tree], m.tree_start[tree + 1]):
        if m.nodes[node].test < 0:
            continue
        k = 0
        while k < n and tests[k] != m.nodes[node].test:
            k = k + 1
        if k == n:
            tests[n] = <int16_t> m.nodes[node].test
            n = n + 1


cdef void free_tables(Tables* tables) noexcept nogil:
    if tables != NULL:
        free(tables.block)
        free(tables)
