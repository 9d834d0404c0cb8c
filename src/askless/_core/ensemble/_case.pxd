"""Contract of where one case stands: what it has bought, and what each tree awaits."""

from askless._core.ensemble._memo cimport Memo, State, Tables
from askless._core.ensemble._trees cimport Model, Node, goes_left
from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint64_t,
)


cdef enum:
    CLOSED = 0   # not bought
    BOUGHT = 1
    SKIPPED = 2  # cannot be bought

cdef enum:
    # Steps at which a row may be settled, at most, before joint bounds are looked at for
    # all of them.
    HELD = 8


cdef struct Log:
    # The steps of a row, so that it can go back to any of them. A step has an entry for
    # what was so before its purchase; the last has no purchase.
    int32_t* test
    int32_t* code
    float64_t* spent
    int64_t* total       # (n_tests + 1, n_outputs)
    int32_t* n_waiting
    int32_t* n_moves
    # Moves of trees, the newest last: which tree, from where, to where.
    int32_t* tree
    int32_t* old
    int32_t* new


cdef struct Case:
    # Where one case stands. What is marked (root) is copied from the first state.
    # All arrays lie in one block of memory.
    char* block
    int64_t* total    # (n_outputs,) expected sum (root)
    int64_t* low      # (n_outputs,) least sum (root)
    int64_t* high     # (n_outputs,) largest sum (root)
    int64_t* spread   # (n_kinds,) variance of what is open (root)
    int64_t* need     # (n_kinds, n_tests) what waits for each test (root)
    int32_t* top      # (n_trees,) where each tree waits or ended (root)
    int32_t* head     # (n_tests,) first tree that waits for a test (root)
    int32_t* next     # (n_trees,) the next one (root)
    intp_t n_waiting
    uint8_t* state    # (n_tests,) CLOSED, BOUGHT or SKIPPED
    int32_t* code     # (n_tests,) of what was bought
    uint8_t* paid
    uint8_t* is_open
    float64_t* score  # (n_tests,) scratch: how much waits for each test, for its price
    bint has_means    # of votes: whether `total` is kept up
    bint has_spread   # of small trees: whether `spread` is kept up
    # Deep states only.
    int32_t* live     # (n_nodes,) open splits of each tree, from its first node on
    int64_t* parts    # (n_nodes,) what each of them adds to `need`
    int32_t* n_live   # (n_trees,)
    int64_t* tree_mean    # (n_trees, width)
    int64_t* tree_low
    int64_t* tree_high
    int64_t* tree_spread  # (n_trees,)
    uint8_t* is_touched   # (n_trees,)
    int32_t* touched
    intp_t n_touched
    # Scratch of one tree, by its nodes, counted from its first one: so little that it
    # stays in the cache, whichever tree is next.
    int32_t* left_of  # (m.most_nodes,)
    int32_t* right_of
    float64_t* node_weight
    float64_t* node_mean  # (m.most_nodes, width)
    float64_t* node_spread
    float64_t* node_gap
    int64_t* node_low     # (m.most_nodes, width)
    int64_t* node_high
    int32_t* stack
    # Deep states that are remembered. One of `memo` and `tables` is not NULL, or both
    # are NULL where nothing is remembered.
    Memo* memo
    Tables* tables
    uint64_t* leaves      # (n_trees,) those that each tree can reach
    uint64_t* root_leaves  # (n_trees,) the same in the first state
    State** tree_state    # (n_trees,) in `memo`, what each tree amounts to
    State** root_state    # (n_trees,)
    # Moves of trees, the newest last: as many as there are leaves, at most. Whoever runs
    # a row may forget them before a purchase by `n_moves = 0`, or go back along them.
    intp_t n_moves
    int32_t* moved        # which tree,
    uint64_t* moved_from  # the leaves that it had before,
    uint64_t* moved_to    # and those that it has then
    int64_t* held_sums    # (HELD, 3, n_outputs) `total`, `low` and `high` at such steps
    intp_t leader         # the sums that were compared last by joint bounds: who leads,
    intp_t rival          # and who follows; -1 for 0
    int64_t gain          # by how much their joint bound is above that tree by tree
    int64_t* code_sum     # (n_codes,) scratch of joint bounds, all 0
    uint8_t* is_awaited   # (n_tests,) the same
    # Path states that are settled by their leaves.
    uint64_t* before      # (n_trees,) scratch: the leaves at an earlier step
    Log log
    float64_t usual       # the step at which rows before this one were settled, mostly
    # Joint bounds only. An open tree is bounded for each outcome of the test at its
    # top; these bounds are kept as runs of codes, and their sums over all trees.
    int32_t* run_test     # (n_trees,) the test at the top
    int32_t* n_runs       # (n_trees,) 0 if the tree has ended
    int32_t* run_end      # (n_runs_max,) by tree, one past the last code of each run
    int64_t* run_low      # (n_runs_max, width)
    int64_t* run_high
    int64_t* sum_low      # (n_outputs, n_codes) less that of the code before
    int64_t* sum_high
    int64_t* ended_low    # (n_outputs,) of trees that have ended
    int64_t* ended_high
    # Trees that have moved on since; nobody may ever want their new bounds.
    int32_t* stale
    uint8_t* is_stale     # (n_trees,)
    intp_t n_stale
    bint has_new_runs
    int64_t* node_run_low   # (m.most_nodes, width) scratch of one tree
    int64_t* node_run_high


# Memory for a case, or NULL if there is none; and its end.
cdef Case* make_case(const Model* m, intp_t n_groups) noexcept nogil
cdef void free_case(Case* c) noexcept nogil

# Copy all of a deep state, once for each thread.
cdef void copy_deep(const Model* m, Case* c, const Case* root) noexcept nogil

# Bring a case back to the first state.
cdef void reset(
    const Model* m, Case* c, const Case* root, intp_t n_groups
) noexcept nogil


cdef inline intp_t descend(const Model* m, const Case* c, intp_t node) noexcept nogil:
    """Return the first node from here on whose test was not bought, or a leaf."""
    cdef const Node* at = m.nodes + node
    while at.test >= 0 and c.state[at.test] == BOUGHT:
        if goes_left(m, at, c.code[at.test]):
            node += 1
        else:
            node = at.right
        at = m.nodes + node
    return node


cdef inline void wait(Case* c, intp_t test, intp_t tree) noexcept nogil:
    c.next[tree] = c.head[test]
    c.head[test] = <int32_t> tree
