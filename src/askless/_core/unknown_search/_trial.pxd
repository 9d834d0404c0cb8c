"""A test that is being tried in a state: what it may leave, and what that costs."""

from libc.stdlib cimport free

from askless._core.base._types cimport float64_t, int32_t, int64_t, intp_t
from askless._core.unknown_search._code_words cimport Inside, ROUNDING
from askless._core.unknown._table cimport State


# An outcome of the test that is being tried, if it leaves anything open.
cdef struct Child:
    State state
    float64_t scale   # weights in the child are these times those of its own state
    float64_t lower   # of its own state
    float64_t weight  # in the state at hand
    float64_t price   # what the test charges on the way here
    bint is_certified


# A test that is being tried in a state.
cdef struct Trial:
    intp_t test
    Inside inside           # of the state
    float64_t enough        # what costs this much is not worth trying
    float64_t total         # what the test costs at least, as far as is known
    float64_t flat_price    # of the test, if it is in a group
    int32_t* cases          # of the children, one after another
    int64_t* surprisal
    float64_t* weights      # (n,) of one child at a time
    Child* children
    intp_t n_children


cdef inline void close_trial(Trial* trial) noexcept nogil:
    """Free the room of a trial."""
    free(trial.cases)
    free(trial.surprisal)
    free(trial.weights)
    free(trial.children)


cdef inline void swap_children(Child* a, Child* b) noexcept nogil:
    """Let two children change places."""
    cdef Child kept = a[0]
    a[0] = b[0]
    b[0] = kept


cdef inline Child take_hardest(Child* children, intp_t n) noexcept nogil:
    """Take the child of the largest bound out; the last one takes its place."""
    cdef:
        intp_t j, hardest = 0
        Child taken
    for j in range(1, n):
        if children[j].scale * children[j].lower > (
            children[hardest].scale * children[hardest].lower
        ):
            hardest = j
    taken = children[hardest]
    children[hardest] = children[n - 1]
    return taken


cdef inline float64_t share_of(
    const Trial* trial, intp_t which, intp_t n
) noexcept nogil:
    """Return up to where a child is raised, as its share of what is missing."""
    cdef:
        const Child* child = &trial.children[which]
        float64_t missing = trial.enough - trial.total, open_weight = 0.0
        intp_t i
    for i in range(which, n):
        open_weight += trial.children[i].weight
    if n == 1 or child.weight <= 0:
        return (missing + child.scale * child.lower) / child.scale
    # Never the same bound again, whatever rounding does.
    return (
        child.lower + missing * child.weight / open_weight / child.scale
    ) * (1 + ROUNDING)
