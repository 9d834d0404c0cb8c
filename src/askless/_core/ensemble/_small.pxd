"""Contract of small trees: moving them by their tables, a case's first state, its end."""

from askless._core.ensemble._case cimport Case
from askless._core.ensemble._trees cimport Model
from askless._core.base._types cimport intp_t


# Let a case keep its trees in tables from here on, for so many rows; false if there is no
# memory for it.
cdef bint begin_tables(const Model* m, Case* c, intp_t n_rows) noexcept nogil

# Note what a test has shown in every tree that asks it.
cdef void buy_small(const Model* m, Case* c, intp_t test, intp_t code) noexcept nogil

# Write `top` of every tree, once all of them have ended.
cdef void write_tops(const Model* m, Case* c) noexcept nogil


cdef inline intp_t top_of(const Model* m, const Case* c, intp_t tree) noexcept nogil:
    """Return the node where a tree waits, which has leaves as bits."""
    if c.tables == NULL:
        return c.top[tree]
    return m.tree_start[tree] + c.tables.top[
        c.tables.start[tree] + <intp_t> c.leaves[tree]
    ]
