"""Contract of leaves that are left: what an outcome leaves, and who is ahead by them."""

from askless._core.ensemble._case cimport Case
from askless._core.ensemble._trees cimport Model
from askless._core.base._types cimport float64_t, int64_t, intp_t, uint64_t


# Take from each tree the leaves that a code of a test rules out.
cdef void drop_leaves(
    const Model* m, uint64_t* leaves, intp_t test, intp_t code
) noexcept nogil

# Bound all sums tree by tree, from the leaves that are left: `low` and `high`.
cdef void bound_leaves(const Model* m, Case* c) noexcept nogil

# The class that is ahead of all others, whatever the rest shows, -1 if there is none; and
# the likeliest to be. Sums must have been bounded. Once a class is ahead it stays so.
cdef intp_t find_winner(const Model* m, Case* c) noexcept nogil
cdef intp_t guess_winner(const Model* m, const Case* c) noexcept nogil

# Write the sum of a class that is ahead, or its negative, at least as far ahead of all
# others as it is sure to be: expected sums of path states may say something else.
cdef void lift(
    const Model* m, Case* c, const int64_t* total, intp_t winner, float64_t* raw
) noexcept nogil
