"""Contract of deep states: what a tree amounts to, from the leaves that are left."""

from askless._core.ensemble._case cimport Case
from askless._core.ensemble._memo cimport State
from askless._core.ensemble._trees cimport Model
from askless._core.base._types cimport int64_t, intp_t, uint64_t


# Work out what a tree amounts to, from what was bought.
cdef void measure_tree(const Model* m, Case* c, intp_t tree) noexcept nogil

# Add what a tree amounts to, or take it back.
cdef void add_tree(const Model* m, Case* c, intp_t tree, int64_t sign) noexcept nogil

# Whether a tree has an open split on a test.
cdef bint is_live(const Model* m, const Case* c, intp_t tree, intp_t test) noexcept nogil

# The same, looked up by the leaves that are left, and worked out if it is new. NULL if
# there is no memory left.
cdef State* recall_tree(
    const Model* m, Case* c, intp_t tree, uint64_t leaves
) noexcept nogil

# Remember trees from here on, or forget all but the first states; false without memory.
cdef bint begin_memo(const Model* m, Case* c, const Case* root) noexcept nogil
