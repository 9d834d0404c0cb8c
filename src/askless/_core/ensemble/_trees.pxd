"""Contract of the trees of an ensemble, as they are when nothing has been bought.

Nodes of all trees stand one tree after another, each tree in preorder: the left child
of a node is the next node, and ``right`` names the other one. Sums are whole numbers of
a fixed unit, so that adding and taking back is exact and no order of trees matters.
"""

from libc.math cimport llrint

from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t, uint64_t,
)


cdef enum:
    MISSING_LEFT = 1
    IS_SET = 2

cdef enum:
    PATH = 0
    DEEP = 1
    VOTE = 2

# What is decided.
cdef enum:
    TWO_CLASSES = 0
    CLASSES = 1
    NUMBER = 2

cdef enum:
    FULL_SHARE = 65535


cdef struct Node:
    int32_t test   # -1 for a leaf
    int32_t cut    # left iff code <= cut; of a set: where its words start
    int32_t right
    int32_t flags  # MISSING_LEFT | IS_SET


cdef struct Place:
    # A node, and what a tree amounts to that waits there: half a line of the cache.
    int64_t mean
    int64_t score
    Node node


cdef struct Model:
    intp_t n_tests
    intp_t n_trees
    intp_t n_nodes
    intp_t most_nodes       # of one tree
    intp_t n_outputs        # sums that are kept: 1, or one for each class
    intp_t width            # values of a leaf: 1, or n_outputs
    intp_t n_kinds          # rows of `need` and `spread`: one for each output, or one
    int mode                # PATH, DEEP or VOTE
    bint is_joint           # deep, with bounds by outcome too
    bint by_leaves          # path, settled by the leaves that are left, jointly
    int target              # TWO_CLASSES, CLASSES or NUMBER
    bint ties_are_exact     # sums are whole numbers in the source too
    bint is_single          # the source adds in single precision
    int64_t slack           # lead that no rounding in the source can turn
    int64_t tolerance       # of a number: how wide its bounds may be
    float64_t unit          # sums are counted in 1 / unit
    float64_t spread_unit
    float64_t score_unit
    const float64_t* offset   # (n_outputs,) where sums start
    Node* nodes
    const uint64_t* words     # sets of codes that go left
    const int32_t* n_levels   # (n_tests,)
    const int64_t* tree_start  # (n_trees + 1,)
    const int32_t* output     # (n_trees,) the sum that a tree adds to, 0 if to all
    const float64_t* weight   # (n_nodes,)
    const float64_t* value    # (n_nodes, width) of leaves; not of votes
    int64_t* mean             # (n_nodes, width) of the subtree; of all nodes or leaves
    int64_t* low
    int64_t* high
    int64_t* spread           # (n_nodes,)
    int64_t* score            # (n_nodes,)
    uint64_t* classes         # (n_nodes,) of votes: classes that a tree may still say
    uint16_t* share           # (n_nodes, n_outputs) of votes, in 1 / 65535
    const int64_t* users      # of a test: the trees that may ask it
    const int64_t* user_start  # (n_tests + 1,)
    const int64_t* code_start  # (n_tests + 1,) where the codes of a test start
    const int64_t* run_start   # (n_trees + 1,) where the runs of a tree start
    Place* places              # (n_nodes,) if `by_leaves`
    # Leaves of a tree are bits of a word, the least value first: the lowest and the
    # highest bit of a set of leaves bound it. For each code of a test, a word for each
    # tree that asks it: the leaves that it leaves, and those that it says nothing of. A
    # word has 1, 4 or 8 bytes; 0 if there are no such words, nor what follows.
    int word_bytes
    const char* leaf_words
    const int64_t* word_start  # (n_tests,) where those of a test start, in bytes
    const int64_t* leaf_start  # (n_trees + 1,) where the leaves of a tree start
    const int64_t* leaf_bound  # (n_leaves,) twice the low of each, odd if its high is more
    const int32_t* leaf_node   # (n_leaves,)
    # The same words as runs of codes, of each tree that asks a test: an entry of `users`.
    const int32_t* node_user   # (n_nodes,) that of its test and tree
    const int64_t* user_run    # (n_users + 1,) where its runs start
    const int32_t* word_end    # one past the last code of each run
    const uint64_t* run_word   # the leaves that it leaves


cdef inline bint goes_left(
    const Model* m, const Node* node, intp_t code
) noexcept nogil:
    if node.flags & IS_SET:
        return (m.words[node.cut + (code >> 6)] >> (code & 63)) & 1
    if code < m.n_levels[node.test]:
        return code <= node.cut
    # Missing, or an outcome that nobody knows.
    return node.flags & MISSING_LEFT


cdef inline int64_t to_units(
    float64_t value, float64_t unit, int64_t low, int64_t high
) noexcept nogil:
    """Return a mean in whole units, kept within its bounds."""
    cdef int64_t whole = llrint(value * unit)
    return low if whole < low else (high if whole > high else whole)


# Work out what each whole subtree amounts to; return the arrays to keep.
cdef list measure_subtrees(Model* m)

# Make room for bounds by outcome, of each test and of each tree; the same.
cdef list lay_out_runs(Model* m)

# Write the places of trees that are settled by their leaves; the same.
cdef list lay_out_places(Model* m)
