"""Contract of one tree of a bootstrap forest, while it grows and once it has grown."""

from askless._core.base._types cimport float64_t, int32_t, intp_t, uint64_t


# `test` is -1 at a leaf. A row goes left if its code is at most `code` (a number) or
# equal to it (a category).
cdef struct BagTree:
    intp_t n_nodes
    int32_t* test
    int32_t* code
    int32_t* left       # the right child is the next node; at a leaf, its number
    float64_t* shares   # (n_leaves, n_classes)
    intp_t n_leaves
    # What growing needs.
    int32_t* rows       # the rows in the bag, node by node
    int32_t* moved
    int32_t* drawn      # (n_rows,) how often each row is in the bag
    float64_t* counts   # (n_codes, n_classes) of one test; zero between tests
    float64_t* totals   # (n_codes,)
    int32_t* met        # (n_met,) codes that occur, in order of occurrence
    intp_t n_met
    int32_t* order      # tests, in order of trial
    float64_t* node_counts
    float64_t* left_counts
    int32_t* stack      # node, start and end of the rows of those not grown yet
    intp_t n_stack


# Get and give back memory for a tree on so many rows, classes, tests and codes.
cdef int allocate_tree(
    BagTree* tree, intp_t n_rows, intp_t n_classes, intp_t n_tests, intp_t n_codes
) except -1
cdef void free_tree(BagTree* tree) noexcept

# Put a node and the range of its rows on the stack.
cdef inline void push_node(
    BagTree* tree, intp_t node, intp_t start, intp_t end
) noexcept nogil:
    cdef int32_t* top = tree.stack + 3 * tree.n_stack
    top[0] = <int32_t> node
    top[1] = <int32_t> start
    top[2] = <int32_t> end
    tree.n_stack += 1

# A Poisson number.
cdef int32_t draw_poisson(float64_t mean, uint64_t key) noexcept nogil
