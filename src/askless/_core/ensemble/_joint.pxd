"""Contract of joint bounds: trees that await the same test agree on what it shows."""

from askless._core.ensemble._case cimport Case
from askless._core.ensemble._trees cimport Model
from askless._core.base._types cimport int64_t, intp_t


# Bound a tree that was just measured for each outcome of the test at its top.
cdef void measure_runs(const Model* m, Case* c, intp_t tree) noexcept nogil

# Add what a tree amounts to for each outcome of that test, or take it back.
cdef void add_runs(const Model* m, Case* c, intp_t tree, int64_t sign) noexcept nogil

# Bound again the trees that have moved on. The sums below ask for it.
cdef void refresh_runs(const Model* m, Case* c) noexcept nogil

# Bound a sum from below, or, if `against` is not -1, its lead over another one.
cdef int64_t least_sum(
    const Model* m, const Case* c, intp_t of, intp_t against
) noexcept nogil

# Bound a sum from above.
cdef int64_t largest_sum(const Model* m, const Case* c, intp_t of) noexcept nogil

# Bound from below how far a sum is ahead of another one, -1 for 0, where trees have their
# leaves as words.
cdef int64_t least_lead(
    const Model* m, Case* c, intp_t of, intp_t against
) noexcept nogil

# Whether a sum stays ahead of another one; -1 for 0.
cdef bint leads(const Model* m, Case* c, intp_t of, intp_t against) noexcept nogil

# Bound from below how far a sum is ahead of another one, tree by tree; -1 for 0.
cdef inline int64_t lead_apart(
    const Case* c, intp_t of, intp_t against
) noexcept nogil:
    cdef int64_t lead = 0
    if of >= 0:
        lead += c.low[of]
    if against >= 0:
        lead -= c.high[against]
    return lead


# Whether joint bounds are worth a look; whether by them no outcome of what is open can
# change who leads; and both. Once the second is so for someone it stays so, whatever is
# bought, even if somebody else comes to lead by means.
cdef bint is_near(const Model* m, const Case* c, intp_t first) noexcept nogil
cdef bint leads_all(const Model* m, Case* c, intp_t first) noexcept nogil
cdef bint holds_jointly(const Model* m, Case* c, intp_t first) noexcept nogil
