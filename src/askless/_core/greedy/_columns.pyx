"""Move the rows of a node to its children, column by column, keeping classes together.

This module knows memory and order. It must not know why a node is split where it is.
"""

from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

from askless._core.greedy._rows cimport (
    Block, Rows, code_at, count_room, list_classes,
)
from askless._core.base._types cimport (
    code_t, float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t,
)


ctypedef fused cell_t:
    uint8_t
    uint16_t
    float64_t


cdef void share_block(Rows* rows, Rows* children, intp_t n_children) noexcept nogil:
    """Lay the children side by side in the range of their parent."""
    cdef intp_t j, start = rows.start
    for j in range(n_children):
        children[j].block = rows.block
        children[j].start = start
        start += children[j].n_rows
        rows.block.n_users += 1


# Two children, in place.


cdef void cut_column(
    cell_t* column, const uint8_t* goes_left, intp_t n, void* spare
) noexcept nogil:
    """Move the cells that go left to the front, all others behind, both in order.

        column   [ l r l l r ]  ->  [ l l l | r r ]      scratch holds the r's

    Both stores happen for every cell and only one of the two positions moves on, so
    there is no branch to mispredict; the write to the left never overtakes the read.
    """
    cdef:
        cell_t* scratch = <cell_t*> spare
        intp_t i, n_left = 0, n_right = 0
        cell_t cell
    for i in range(n):
        cell = column[i]
        column[n_left] = cell
        scratch[n_right] = cell
        n_left += goes_left[i]
        n_right += 1 - goes_left[i]
    memcpy(column + n_left, scratch, n_right * sizeof(cell_t))


cdef void mark_left(
    const code_t* column, intp_t n, intp_t cut, uint8_t* goes_left
) noexcept nogil:
    cdef intp_t i
    for i in range(n):
        goes_left[i] = column[i] <= <code_t> cut


cdef int list_cut_classes(
    const Rows* rows, const uint8_t* goes_left, Rows* children
) except -1 nogil:
    """Give both children of a cut their classes."""
    cdef:
        int64_t* class_rows = count_room(rows, 2)
        int64_t* class_rest = class_rows + rows.n_classes + 1
        intp_t i, k, row = 0
        int64_t n_left
    for k in range(rows.n_classes):
        n_left = 0
        for i in range(row, row + rows.class_rows[k]):
            n_left += goes_left[i]
        row += rows.class_rows[k]
        class_rows[k] = n_left
        class_rest[k] = rows.class_rows[k] - n_left
    try:
        list_classes(rows, class_rows, &children[0])
        list_classes(rows, class_rest, &children[1])
    finally:
        free(class_rows)
    return 0


cdef int cut_rows(
    Rows* rows, intp_t test, intp_t cut, const Columns* moved, Rows* children
) except -1 nogil:
    cdef:
        Block* block = rows.block
        uint8_t* narrow = (<uint8_t*> block.codes) + rows.start
        uint16_t* wide = (<uint16_t*> block.codes) + rows.start
        intp_t n = rows.n_rows, i
        uint8_t* goes_left = moved.scratch
        void* spare = <void*> (moved.scratch + ((n + 15) // 16) * 16)
    if block.is_wide:
        mark_left(<const uint16_t*> wide + test * block.stride, n, cut, goes_left)
    else:
        mark_left(<const uint8_t*> narrow + test * block.stride, n, cut, goes_left)
    list_cut_classes(rows, goes_left, children)
    for i in range(moved.n_tests):
        if block.is_wide:
            cut_column(wide + moved.tests[i] * block.stride, goes_left, n, spare)
        else:
            cut_column(narrow + moved.tests[i] * block.stride, goes_left, n, spare)
    if block.weights != NULL:
        cut_column(block.weights + rows.start, goes_left, n, spare)
    if block.prior != NULL:
        cut_column(block.prior + rows.start, goes_left, n, spare)
    share_block(rows, children, 2)
    return 0


# A child for every code, in place.


# How the rows of a node are divided among its children.
cdef struct Division:
    intp_t n_rows
    intp_t n_children
    const int32_t* child_of_row  # (n_rows,)
    const int64_t* child_start   # (n_children,) first cell of each child
    int64_t* next_cell           # (n_children,) scratch
    void* spare                  # scratch for a column


cdef inline void divide_column(cell_t* column, const Division* division) noexcept nogil:
    """Move the cells of each child together, in order (a counting sort)."""
    cdef:
        cell_t* scratch = <cell_t*> division.spare
        int64_t* next_cell = division.next_cell
        # Bytes that are written may lie anywhere, so that what is read from a struct
        # would be read again for each row.
        const int32_t* child_of_row = division.child_of_row
        intp_t i, j, n = division.n_rows
    for j in range(division.n_children):
        next_cell[j] = division.child_start[j]
    for i in range(n):
        j = child_of_row[i]
        scratch[next_cell[j]] = column[i]
        next_cell[j] += 1
    memcpy(column, scratch, n * sizeof(cell_t))


cdef int list_child_classes(
    const Rows* rows, intp_t test, const int32_t* child_of_code, intp_t n_children,
    int32_t* child_of_row, Rows* children,
) except -1 nogil:
    """Settle the child of each row, and give the children their classes."""
    cdef:
        int64_t* class_rows = count_room(rows, n_children)
        intp_t i, j, k, row = 0, width = rows.n_classes + 1
        intp_t first = test * rows.block.stride + rows.start
        const uint8_t* narrow = (<const uint8_t*> rows.block.codes) + first
        const uint16_t* wide = (<const uint16_t*> rows.block.codes) + first
        bint is_wide = rows.block.is_wide
    for k in range(rows.n_classes):
        for i in range(row, row + rows.class_rows[k]):
            child_of_row[i] = child_of_code[wide[i] if is_wide else narrow[i]]
            class_rows[child_of_row[i] * width + k] += 1
        row += rows.class_rows[k]
    try:
        for j in range(n_children):
            list_classes(rows, class_rows + j * width, &children[j])
    finally:
        free(class_rows)
    return 0


cdef int divide_rows(
    Rows* rows, intp_t test, intp_t n_children, const int32_t* child_of_code,
    const Columns* moved, Rows* children,
) except -1 nogil:
    cdef:
        Block* block = rows.block
        uint8_t* narrow = (<uint8_t*> block.codes) + rows.start
        uint16_t* wide = (<uint16_t*> block.codes) + rows.start
        int32_t* child_of_row = <int32_t*> moved.scratch
        int64_t* child_start
        intp_t i, j
        Division division
    list_child_classes(rows, test, child_of_code, n_children, child_of_row, children)
    child_start = <int64_t*> calloc(2 * (n_children + 1), sizeof(int64_t))
    if child_start == NULL:
        with gil:
            raise MemoryError("no memory left to split a node")
    for j in range(n_children):
        child_start[j + 1] = child_start[j] + children[j].n_rows
    division.n_rows = rows.n_rows
    division.n_children = n_children
    division.child_of_row = child_of_row
    division.child_start = child_start
    division.next_cell = child_start + n_children + 1
    division.spare = <void*> (moved.scratch + ((4 * rows.n_rows + 15) // 16) * 16)
    for i in range(moved.n_tests):
        if block.is_wide:
            divide_column(wide + moved.tests[i] * block.stride, &division)
        else:
            divide_column(narrow + moved.tests[i] * block.stride, &division)
    if block.weights != NULL:
        divide_column(block.weights + rows.start, &division)
    if block.prior != NULL:
        divide_column(block.prior + rows.start, &division)
    free(child_start)
    share_block(rows, children, n_children)
    return 0


# A copy for every child.


cdef int make_block(const Block* like, intp_t n_tests, Rows* child) except -1 nogil:
    """Give the child a block of its own, as large as its rows."""
    cdef:
        intp_t n = child.n_rows + 1
        Block* block = <Block*> calloc(1, sizeof(Block))
        bint is_whole = block != NULL
    if is_whole:
        block.is_owned = True
        block.is_wide = like.is_wide
        block.n_users = 1
        block.stride = n
        block.codes = malloc(n_tests * n * (2 if like.is_wide else 1))
        block.prior = <float64_t*> malloc(n * sizeof(float64_t))
        is_whole = block.codes != NULL and block.prior != NULL
        if like.weights != NULL:
            block.weights = <float64_t*> malloc(n * sizeof(float64_t))
            is_whole = is_whole and block.weights != NULL
    child.block = block
    child.start = 0
    if not is_whole:
        with gil:
            raise MemoryError("no memory left for the rows of a node")
    return 0


cdef inline bint goes_to(
    const Copies* copies, intp_t code, intp_t child
) noexcept nogil:
    """Return whether a row of a code has a copy in a child."""
    if code == copies.unknown_code:
        return copies.shares[child] > 0
    return copies.child_of_code[code] == child


cdef int list_copied_classes(
    const Rows* rows, intp_t test, const Copies* copies, Rows* children
) except -1 nogil:
    """Give the children that get copies their classes."""
    cdef:
        int64_t* class_rows = count_room(rows, copies.n_children)
        intp_t i, j, k, code, row = 0, width = rows.n_classes + 1
    for k in range(rows.n_classes):
        for i in range(row, row + rows.class_rows[k]):
            code = code_at(rows, test, i)
            for j in range(copies.n_children):
                class_rows[j * width + k] += goes_to(copies, code, j)
        row += rows.class_rows[k]
    try:
        for j in range(copies.n_children):
            list_classes(rows, class_rows + j * width, &children[j])
    finally:
        free(class_rows)
    return 0


cdef inline void set_code(Block* block, intp_t cell, intp_t code) noexcept nogil:
    if block.is_wide:
        (<uint16_t*> block.codes)[cell] = <uint16_t> code
    else:
        (<uint8_t*> block.codes)[cell] = <uint8_t> code


cdef void copy_row(
    const Rows* rows, intp_t row, intp_t n_tests, Block* target, intp_t place
) noexcept nogil:
    """Copy one row of a node to a place in another block."""
    cdef:
        intp_t column
        const Block* block = rows.block
    for column in range(n_tests):
        set_code(target, column * target.stride + place, code_at(rows, column, row))
    row += rows.start
    if block.weights != NULL:
        target.weights[place] = block.weights[row]
    target.prior[place] = (
        block.prior[row] if block.prior != NULL
        else block.weights[row] if block.weights != NULL
        else 1.0
    )


cdef int copy_rows(
    Rows* rows, intp_t test, intp_t n_tests, const Copies* copies, Rows* children
) except -1 nogil:
    cdef:
        Block* target
        intp_t i, j, code, n
    list_copied_classes(rows, test, copies, children)
    for j in range(copies.n_children):
        make_block(rows.block, n_tests, &children[j])
        target = children[j].block
        n = 0
        for i in range(rows.n_rows):
            code = code_at(rows, test, i)
            if not goes_to(copies, code, j):
                continue
            copy_row(rows, i, n_tests, target, n)
            if code == copies.unknown_code:
                target.prior[n] *= copies.shares[j]
                if copies.settled_code[j] >= 0:
                    # The unknown outcome has now been seen, and it stays what it was.
                    set_code(target, test * target.stride + n, copies.settled_code[j])
            n += 1
    return 0
