"""Memory of a tree of a bootstrap forest, and how often a row is drawn.

This module must not know how a tree is grown.
"""

from libc.math cimport exp
from libc.stdlib cimport calloc, free, malloc

from askless._core.base._keys cimport draw_share, mix_with
from askless._core.base._types cimport float64_t, int32_t, intp_t, uint64_t


cdef int allocate_tree(
    BagTree* tree, intp_t n_rows, intp_t n_classes, intp_t n_tests, intp_t n_codes
) except -1:
    cdef:
        intp_t n = n_rows + 1
        size_t whole = sizeof(int32_t), real = sizeof(float64_t)
    # A leaf holds a row at least, and a tree of n leaves has n - 1 inner nodes.
    tree.test = <int32_t*> malloc(2 * n * whole)
    tree.code = <int32_t*> malloc(2 * n * whole)
    tree.left = <int32_t*> malloc(2 * n * whole)
    tree.shares = <float64_t*> malloc(n * n_classes * real)
    tree.rows = <int32_t*> malloc(n * whole)
    tree.moved = <int32_t*> malloc(n * whole)
    tree.drawn = <int32_t*> malloc(n * whole)
    tree.counts = <float64_t*> calloc(n_codes * n_classes, real)
    tree.totals = <float64_t*> calloc(n_codes, real)
    tree.met = <int32_t*> malloc(n_codes * whole)
    tree.order = <int32_t*> malloc((n_tests + 1) * whole)
    tree.node_counts = <float64_t*> malloc(n_classes * real)
    tree.left_counts = <float64_t*> malloc(n_classes * real)
    tree.stack = <int32_t*> malloc(3 * n * whole)
    if not (
        tree.test and tree.code and tree.left and tree.shares and tree.rows
        and tree.moved and tree.drawn and tree.counts and tree.totals and tree.met
        and tree.order and tree.node_counts and tree.left_counts and tree.stack
    ):
        raise MemoryError("no memory left for the trees of a forest")
    return 0


cdef void free_tree(BagTree* tree) noexcept:
    free(tree.test)
    free(tree.code)
    free(tree.left)
    free(tree.shares)
    free(tree.rows)
    free(tree.moved)
    free(tree.drawn)
    free(tree.counts)
    free(tree.totals)
    free(tree.met)
    free(tree.order)
    free(tree.node_counts)
    free(tree.left_counts)
    free(tree.stack)


cdef int32_t draw_poisson(float64_t mean, uint64_t key) noexcept nogil:
    """Count down the distribution.

    A large mean is drawn in parts, so that exp(-part) is not tiny.
    """
    cdef:
        float64_t part, chance, left
        int32_t n = 0
        int32_t step
    while mean > 0:
        part = min(mean, 16.0)
        mean -= part
        key = mix_with(key, 0)
        left = draw_share(mix_with(key, 0))
        chance = exp(-part)
        step = 0
        while left >= chance and step < 200:
            left -= chance
            step += 1
            chance *= part / step
        n += step
    return n
