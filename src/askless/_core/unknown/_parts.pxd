"""Contract of parts: what the cases of a state amount to, by what a test shows.

Counted once, they give what every rule needs; rules that weigh cases score them here.
"""

from libc.math cimport log2

from askless._core.base._types cimport float64_t, int32_t, int64_t, intp_t
from askless._core.unknown._table cimport UnknownTable, chance_of


# The rules. Those up to elimination count cases, the others weigh them.
cdef enum:
    ODTN_R = 0
    ODTN_R_RELEASED = 1
    ODTN_H = 2
    ODTN_H_RELEASED = 3
    ELIMINATION = 4
    INFORMATION = 5
    GBS = 6
    EC2 = 7


# What the cases of a state that show one code amount to.
cdef struct Part:
    int64_t count
    float64_t weight
    float64_t extra   # sum of squares, or of copies, as the rule needs


# Memory for scoring one test; one for each thread.
cdef struct Scratch:
    Part* parts       # (most codes,) zero between uses
    Part* run         # (most codes,) of one class; zero between uses
    int32_t* met      # (most codes,)
    int32_t* run_met  # (most codes,)


# The cases of a state, those of one class together, and their weights. `extra` goes
# with the rule: copies for ODTN_H, else NULL.
cdef struct Weighed:
    const int32_t* cases
    const float64_t* weights
    const float64_t* extra
    intp_t n


# A test in a state, counted by code.
cdef struct View:
    intp_t test
    int rule
    intp_t n                   # cases of the state
    intp_t unknown             # the code of an unknown outcome
    intp_t n_met               # codes that are met
    const int32_t* met
    Part* parts
    int64_t n_unknown          # cases whose outcome is unknown
    float64_t unknown_weight
    float64_t total            # weight of the state


# What the runs of cases of one class add up to.
cdef struct Runs:
    float64_t known_gain       # share of opponents ruled out where outcomes are known
    float64_t unknown_gain     # and where they are unknown, on average
    float64_t expected_gone    # known cases that the draw of an unknown one rules out
    float64_t squares          # of the weights of classes
    float64_t unknown_squares  # of the weights of their unknown cases
    float64_t joint            # sum of p log p of outcome and class, less that of class


# Room for tests of so many codes; freed by `close_scratch`.
cdef int open_scratch(Scratch* scratch, intp_t most_codes) except -1 nogil
cdef void close_scratch(Scratch* scratch) noexcept nogil

# Count the cases of a state by what the test of a view shows for them.
cdef void look_at(
    UnknownTable table, const Weighed* state, Scratch* scratch, View* view
) noexcept nogil


# Of a test whose cases are counted, and whose weight is above 0.
cdef float64_t bits_of_cases(UnknownTable table, const View* view) noexcept nogil
cdef float64_t bits_of_classes(
    UnknownTable table, const View* view, const Runs* runs
) noexcept nogil
cdef float64_t score_gbs(UnknownTable table, const View* view) noexcept nogil
cdef float64_t edges_of_cases(UnknownTable table, const View* view) noexcept nogil
cdef float64_t edges_of_classes(
    UnknownTable table, const View* view, const Runs* runs
) noexcept nogil


cdef inline intp_t add_case(
    Part* parts, int32_t* met, intp_t n_met, intp_t code, float64_t weight,
    float64_t extra,
) noexcept nogil:
    """Add a case to the part of its code; return how many codes have been met."""
    if parts[code].count == 0:
        met[n_met] = <int32_t> code
        n_met += 1
    parts[code].count += 1
    parts[code].weight += weight
    parts[code].extra += extra
    return n_met


cdef inline void clear_parts(
    Part* parts, const int32_t* met, intp_t n_met
) noexcept nogil:
    cdef intp_t j
    for j in range(n_met):
        parts[met[j]].count = 0
        parts[met[j]].weight = 0.0
        parts[met[j]].extra = 0.0


cdef inline int64_t count_gone(
    const View* view, intp_t code, float64_t chance
) noexcept nogil:
    """Return how many cases an outcome rules out."""
    return view.n - view.parts[code].count - (view.n_unknown if chance > 0 else 0)


cdef inline bint may_rule_out(UnknownTable table, const View* view) noexcept nogil:
    """Return whether the draw of an unknown case may rule out a known one."""
    cdef intp_t level, known = view.n - view.n_unknown
    if view.n_unknown == 0 or known == 0:
        return False
    if table.n_support[view.test] > 1:
        return True
    for level in range(table.n_levels[view.test]):
        if chance_of(table, view.test, level) > 0:
            return view.parts[level].count < known
    return False


cdef inline float64_t draw_logs(
    float64_t weight, float64_t logs, float64_t chance
) noexcept nogil:
    """Return the sum of p log p over levels that only unknown outcomes show.

    `logs` is the sum of c log c of these levels, `chance` that of c.
    """
    if weight <= 0 or chance <= 1e-15:
        return 0.0
    return weight * (logs + chance * log2(weight))
