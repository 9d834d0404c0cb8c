"""Move the rows of a node to its children, column by column, keeping classes together.

This module knows memory and order. It must not know why a node is split where it is.
"""

from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

from askless._core.base._types cimport (
    code_t, float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t,
)


ctypedef fused cell_t:
    uint8_t
    uint16_t
    float64_t


cdef void release_rows(Rows* rows) noexcept nogil:
    """Free a node's lists, and its block when no other node needs it."""
    free(rows.classes)
    free(rows.class_rows)
    rows.classes = NULL
    rows.class_rows = NULL
    if rows.block == NULL:
        return
    rows.block.n_users -= 1
    if rows.block.n_users == 0:
        if rows.block.is_owned:
            free(rows.block.codes)
            free(rows.block.weights)
            free(rows.block.mass)
        free(rows.block)
    rows.block = NULL


cdef int list_classes(
    const Rows* parent, const int64_t* class_rows, Rows* child
) except -1 nogil:
    """Give the child the classes that it has rows of; by the parent's list."""
    cdef:
        intp_t k, n = 0
    for k in range(parent.n_classes):
        n += class_rows[k] > 0
    child.n_classes = n
    child.classes = <int32_t*> malloc((n + 1) * sizeof(int32_t))
    child.class_rows = <int64_t*> malloc((n + 1) * sizeof(int64_t))
    if child.classes == NULL or child.class_rows == NULL:
        with gil:
            raise MemoryError("no memory left for the classes of a node")
    n = 0
    child.n_rows = 0
    for k in range(parent.n_classes):
        if class_rows[k] > 0:
            child.classes[n] = parent.classes[k]
            child.class_rows[n] = class_rows[k]
            child.n_rows += class_rows[k]
            n += 1
    return 0


cdef void cut_column(
    cell_t* column, const uint8_t* goes_left, intp_t n, cell_t* scratch
) noexcept nogil:
    """Move the cells that go left to the front, all others behind, both in order.

        column   [ l r l l r ]  ->  [ l l l | r r ]      scratch holds the r's

    Both stores happen for every cell and only one of the two positions moves on, so
    there is no branch to mispredict; the write to the left never overtakes the read.
    """
    cdef:
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


cdef int cut_rows(
    Rows* rows, bint is_wide, intp_t test, intp_t cut,
    const int32_t* columns, intp_t n_columns,
    uint8_t* scratch, Rows* children,
) except -1 nogil:
    cdef:
        Block* block = rows.block
        intp_t n = rows.n_rows
        uint8_t* goes_left = scratch
        void* spare = <void*> (scratch + ((n + 15) // 16) * 16)
        int64_t* class_rows = <int64_t*> malloc(
            2 * (rows.n_classes + 1) * sizeof(int64_t)
        )
        int64_t* class_rest
        intp_t i, k, row = 0
        int64_t n_left

    if class_rows == NULL:
        with gil:
            raise MemoryError("no memory left to split a node")
    class_rest = class_rows + rows.n_classes + 1
    if is_wide:
        mark_left[uint16_t](
            (<uint16_t*> block.codes) + test * block.stride + rows.start,
            n, cut, goes_left,
        )
    else:
        mark_left[uint8_t](
            (<uint8_t*> block.codes) + test * block.stride + rows.start,
            n, cut, goes_left,
        )
    for k in range(rows.n_classes):
        n_left = 0
        for i in range(row, row + rows.class_rows[k]):
            n_left += goes_left[i]
        row += rows.class_rows[k]
        class_rows[k] = n_left
        class_rest[k] = rows.class_rows[k] - n_left
    list_classes(rows, class_rows, &children[0])
    list_classes(rows, class_rest, &children[1])
    free(class_rows)

    for i in range(n_columns):
        if is_wide:
            cut_column[uint16_t](
                (<uint16_t*> block.codes) + columns[i] * block.stride + rows.start,
                goes_left, n, <uint16_t*> spare,
            )
        else:
            cut_column[uint8_t](
                (<uint8_t*> block.codes) + columns[i] * block.stride + rows.start,
                goes_left, n, <uint8_t*> spare,
            )
    if block.weights != NULL:
        cut_column[float64_t](
            block.weights + rows.start, goes_left, n, <float64_t*> spare
        )
    if block.mass != NULL:
        cut_column[float64_t](
            block.mass + rows.start, goes_left, n, <float64_t*> spare
        )
    share_block(rows, children, 2)
    return 0


cdef void share_block(Rows* rows, Rows* children, intp_t n_children) noexcept nogil:
    """Lay the children side by side in the range of their parent."""
    cdef intp_t j, start = rows.start
    for j in range(n_children):
        children[j].block = rows.block
        children[j].start = start
        start += children[j].n_rows
        rows.block.n_users += 1


cdef void part_column(
    cell_t* column, const int32_t* child_of_row, intp_t n,
    const int64_t* child_start, int64_t* next_cell, intp_t n_children, cell_t* scratch
) noexcept nogil:
    """Move the cells of each child together, in order (a counting sort)."""
    cdef intp_t i, j
    for j in range(n_children):
        next_cell[j] = child_start[j]
    for i in range(n):
        j = child_of_row[i]
        scratch[next_cell[j]] = column[i]
        next_cell[j] += 1
    memcpy(column, scratch, n * sizeof(cell_t))


cdef int part_rows(
    Rows* rows, bint is_wide, intp_t test,
    intp_t n_codes, const int32_t* rank,
    const int32_t* columns, intp_t n_columns,
    uint8_t* scratch, Rows* children,
) except -1 nogil:
    cdef:
        Block* block = rows.block
        intp_t n = rows.n_rows
        int32_t* child_of_row = <int32_t*> scratch
        void* spare = <void*> (scratch + ((4 * n + 15) // 16) * 16)
        int64_t* class_rows = <int64_t*> calloc(
            n_codes * (rows.n_classes + 1), sizeof(int64_t)
        )
        int64_t* child_start = <int64_t*> calloc(2 * (n_codes + 1), sizeof(int64_t))
        int64_t* next_cell = child_start + n_codes + 1
        uint8_t* narrow = (<uint8_t*> block.codes) + test * block.stride + rows.start
        uint16_t* wide = (<uint16_t*> block.codes) + test * block.stride + rows.start
        intp_t i, j, k, row = 0

    if class_rows == NULL or child_start == NULL:
        free(class_rows)
        free(child_start)
        with gil:
            raise MemoryError("no memory left to split a node")
    for k in range(rows.n_classes):
        for i in range(row, row + rows.class_rows[k]):
            child_of_row[i] = rank[wide[i] if is_wide else narrow[i]]
            class_rows[child_of_row[i] * (rows.n_classes + 1) + k] += 1
        row += rows.class_rows[k]
    for j in range(n_codes):
        list_classes(rows, class_rows + j * (rows.n_classes + 1), &children[j])
        child_start[j + 1] = child_start[j] + children[j].n_rows
    free(class_rows)

    for i in range(n_columns):
        if is_wide:
            part_column[uint16_t](
                (<uint16_t*> block.codes) + columns[i] * block.stride + rows.start,
                child_of_row, n, child_start, next_cell, n_codes, <uint16_t*> spare,
            )
        else:
            part_column[uint8_t](
                (<uint8_t*> block.codes) + columns[i] * block.stride + rows.start,
                child_of_row, n, child_start, next_cell, n_codes, <uint8_t*> spare,
            )
    if block.weights != NULL:
        part_column[float64_t](
            block.weights + rows.start, child_of_row, n,
            child_start, next_cell, n_codes, <float64_t*> spare,
        )
    if block.mass != NULL:
        part_column[float64_t](
            block.mass + rows.start, child_of_row, n,
            child_start, next_cell, n_codes, <float64_t*> spare,
        )
    free(child_start)
    share_block(rows, children, n_codes)
    return 0


cdef int make_block(
    const Block* like, bint is_wide, intp_t n_tests, Rows* child
) except -1 nogil:
    """Give the child a block of its own, as large as its rows."""
    cdef:
        intp_t n = child.n_rows + 1
        Block* block = <Block*> calloc(1, sizeof(Block))
        bint is_whole = block != NULL
    if is_whole:
        block.is_owned = True
        block.n_users = 1
        block.stride = n
        block.codes = malloc(n_tests * n * (2 if is_wide else 1))
        block.mass = <float64_t*> malloc(n * sizeof(float64_t))
        is_whole = block.codes != NULL and block.mass != NULL
        if like.weights != NULL:
            block.weights = <float64_t*> malloc(n * sizeof(float64_t))
            is_whole = is_whole and block.weights != NULL
    child.block = block
    child.start = 0
    if not is_whole:
        with gil:
            raise MemoryError("no memory left for the rows of a node")
    return 0


cdef int copy_rows(
    Rows* rows, bint is_wide, intp_t test, intp_t n_tests,
    intp_t unknown_code, const int32_t* child_of_code, const float64_t* shares,
    const int32_t* settled_code, intp_t n_children, Rows* children,
) except -1 nogil:
    cdef:
        Block* block = rows.block
        Block* target
        uint8_t* narrow = (<uint8_t*> block.codes) + test * block.stride + rows.start
        uint16_t* wide = (<uint16_t*> block.codes) + test * block.stride + rows.start
        int64_t* class_rows = <int64_t*> calloc(
            n_children * (rows.n_classes + 1), sizeof(int64_t)
        )
        intp_t i, j, k, column, row = 0, code, n
        bint is_unknown

    if class_rows == NULL:
        with gil:
            raise MemoryError("no memory left to split a node")
    for k in range(rows.n_classes):
        for i in range(row, row + rows.class_rows[k]):
            code = wide[i] if is_wide else narrow[i]
            for j in range(n_children):
                if shares[j] > 0 if code == unknown_code else child_of_code[code] == j:
                    class_rows[j * (rows.n_classes + 1) + k] += 1
        row += rows.class_rows[k]
    for j in range(n_children):
        list_classes(rows, class_rows + j * (rows.n_classes + 1), &children[j])
        make_block(block, is_wide, n_tests, &children[j])
        target = children[j].block
        n = 0
        for i in range(rows.n_rows):
            code = wide[i] if is_wide else narrow[i]
            is_unknown = code == unknown_code
            if not (shares[j] > 0 if is_unknown else child_of_code[code] == j):
                continue
            for column in range(n_tests):
                if is_wide:
                    (<uint16_t*> target.codes)[column * target.stride + n] = (
                        (<uint16_t*> block.codes)[
                            column * block.stride + rows.start + i]
                    )
                else:
                    (<uint8_t*> target.codes)[column * target.stride + n] = (
                        (<uint8_t*> block.codes)[
                            column * block.stride + rows.start + i]
                    )
            if is_unknown and settled_code[j] >= 0:
                # The unknown outcome has now been seen, and it stays what it was.
                if is_wide:
                    (<uint16_t*> target.codes)[test * target.stride + n] = (
                        <uint16_t> settled_code[j]
                    )
                else:
                    (<uint8_t*> target.codes)[test * target.stride + n] = (
                        <uint8_t> settled_code[j]
                    )
            if block.weights != NULL:
                target.weights[n] = block.weights[rows.start + i]
            target.mass[n] = (
                block.mass[rows.start + i] if block.mass != NULL
                else block.weights[rows.start + i] if block.weights != NULL
                else 1.0
            )
            if is_unknown:
                target.mass[n] *= shares[j]
            n += 1
    free(class_rows)
    return 0
