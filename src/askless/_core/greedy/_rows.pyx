"""Keep the rows of nodes: whose memory they are in, and which classes they have.

This module must not know how rows are moved.
"""

from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

import numpy as np

from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t,
)


cdef int open_rows(rows, Rows* root) except -1:
    cdef:
        uint8_t[:, ::1] narrow
        uint16_t[:, ::1] wide
        float64_t[::1] weights = rows.weights
        float64_t[::1] prior = rows.prior
        const int64_t[::1] class_rows = rows.class_rows
        intp_t k, n_classes = class_rows.shape[0]
        Block* block = <Block*> calloc(1, sizeof(Block))
    memset(root, 0, sizeof(Rows))
    root.classes = <int32_t*> malloc((n_classes + 1) * sizeof(int32_t))
    root.class_rows = <int64_t*> malloc((n_classes + 1) * sizeof(int64_t))
    if block == NULL or root.classes == NULL or root.class_rows == NULL:
        free(block)
        release_rows(root)
        raise MemoryError("no memory left to start a tree")
    block.is_wide = rows.codes.dtype == np.uint16
    if block.is_wide:
        wide = rows.codes
        block.codes = &wide[0, 0]
    else:
        narrow = rows.codes
        block.codes = &narrow[0, 0]
    block.weights = NULL if weights is None else &weights[0]
    block.prior = NULL if prior is None else &prior[0]
    block.stride = rows.codes.shape[1]
    block.n_users = 1
    root.block = block
    root.n_rows = block.stride
    for k in range(n_classes):
        if class_rows[k] > 0:
            root.classes[root.n_classes] = <int32_t> k
            root.class_rows[root.n_classes] = class_rows[k]
            root.n_classes += 1
    return 0


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
            free(rows.block.prior)
        free(rows.block)
    rows.block = NULL


cdef int list_classes(
    const Rows* parent, const int64_t* class_rows, Rows* child
) except -1 nogil:
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


cdef int64_t* count_room(const Rows* rows, intp_t n_children) except NULL nogil:
    cdef int64_t* counts = <int64_t*> calloc(
        n_children * (rows.n_classes + 1), sizeof(int64_t)
    )
    if counts == NULL:
        with gil:
            raise MemoryError("no memory left to split a node")
    return counts


cdef intp_t find_heaviest(const Rows* children, intp_t n_children) noexcept nogil:
    cdef:
        intp_t j, i, best = 0
        float64_t weight, most = -1.0
        const float64_t* weights
    for j in range(n_children):
        weights = children[j].block.prior
        if weights == NULL:
            weights = children[j].block.weights
        if weights == NULL:
            weight = <float64_t> children[j].n_rows
        else:
            weight = 0.0
            for i in range(children[j].n_rows):
                weight += weights[children[j].start + i]
        if weight > most:
            most = weight
            best = j
    return best
