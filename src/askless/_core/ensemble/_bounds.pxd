"""Contract of moving trees: what a purchase does to sums, bounds and what is needed."""

from askless._core.base._bits cimport lowest_bit
from askless._core.ensemble._case cimport Case
from askless._core.ensemble._trees cimport Model
from askless._core.base._types cimport int64_t, intp_t, uint64_t


# Work out the first state: every tree waits at its root.
cdef void begin(const Model* m, Case* c, const int64_t* offset) noexcept nogil

# Note what a test has shown, and move every tree that waited for it.
cdef void buy(const Model* m, Case* c, intp_t test, intp_t code) noexcept nogil

# Of remembered trees: let them have the leaves that they had after some of the moves,
# where they have those after others. Only joint bounds know of it.
cdef void go_along(
    const Model* m, Case* c, intp_t before, intp_t after
) noexcept nogil


cdef inline void drop_classes(Case* c, uint64_t gone) noexcept nogil:
    while gone:
        c.high[lowest_bit(gone)] -= 1
        gone &= gone - 1
