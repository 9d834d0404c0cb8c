"""Remember and certify what a search proves: values and lower bounds of states."""

import numpy as np

from askless._core.base._types cimport int32_t, int64_t, intp_t, uint16_t
from askless._core.search._cover cimport Cover
from askless._core.engine._states cimport Entry, StateTable
from askless._core.search._table cimport KnownTable, State, NO_LIMIT, TOO_DEAR


cdef class Proofs(Stoppable):
    """What one search over one table has proved.

    Parameters
    ----------
    table : KnownTable
    cover : Cover or None
        The certificate bound of the table.
    is_worst : bool
        Whether values are of the worst case.
    max_bytes : int
        What remembering states may take.
    """

    def __init__(
        self,
        KnownTable table not None,
        Cover cover,
        bint is_worst,
        intp_t max_bytes,
    ):
        self.table = table
        self.cover = cover
        self.is_worst = is_worst
        self.states = StateTable(max_bytes)
        if cover is not None:
            self.cover_scratch = np.zeros(
                (cover.depth + 1) * table.n_cases, dtype=np.uint16
            )

    cdef Entry* find(self, const State* state, int64_t limit) noexcept nogil:
        return self.states.find(
            state.key, state.cases, state.n, state.open_groups, limit
        )

    cdef Recalled recall(self, const State* state, int64_t theta) noexcept nogil:
        cdef:
            Recalled known
            Entry* entry = self.find(state, state.limit)
        known.lower = 0
        known.worst = 0
        known.is_exact = False
        known.is_certified = False
        if entry != NULL:
            known.lower = entry.lower
            known.worst = entry.worst
            known.is_exact = entry.is_exact
            known.is_certified = entry.is_certified
        if known.is_exact or known.lower >= theta or state.limit >= NO_LIMIT:
            return known
        # What holds without the limit holds with it; and if the best policy without it
        # keeps to it, that is the answer.
        entry = self.find(state, NO_LIMIT)
        if entry != NULL:
            known.is_exact = entry.is_exact and entry.worst <= state.limit
            known.worst = entry.worst
            known.lower = max(known.lower, entry.lower)
            if known.is_exact:
                known.lower = entry.lower
        return known

    cdef int64_t record_lower(
        self, const State* state, int64_t lower, bint is_certified
    ) except -1 nogil:
        cdef Entry* entry = self.states.insert(
            state.key, state.cases, state.n, state.open_groups, state.limit
        )
        entry.lower = max(entry.lower, lower)
        entry.is_certified = entry.is_certified or is_certified
        return entry.lower

    cdef int64_t record_value(
        self, const State* state, int64_t value, int64_t worst, int32_t test
    ) except -1 nogil:
        cdef Entry* entry = self.states.insert(
            state.key, state.cases, state.n, state.open_groups, state.limit
        )
        entry.lower = value
        entry.worst = worst
        entry.test = test
        entry.is_exact = True
        return value

    cdef int64_t certify(
        self, const uint16_t* cases, intp_t n, int64_t enough
    ) noexcept nogil:
        cdef:
            intp_t i
            int64_t bound, total = 0
        for i in range(n):
            if (i & 15) == 15 and self.is_late():
                return total
            bound = self.cover.bound_case(cases[i], cases, n, &self.cover_scratch[0])
            if self.is_worst:
                total = max(total, bound)
            else:
                total += bound * self.table.weight[cases[i]]
            if total >= enough:
                return total
        return total

    cdef int64_t certify_child(self, const State* child) except -1 nogil:
        cdef:
            Entry* entry = self.find(child, NO_LIMIT)
            int64_t bound
        if entry != NULL and (entry.is_exact or entry.is_certified):
            return entry.lower
        bound = self.certify(child.cases, child.n, TOO_DEAR)
        if self.breadth > 0 or self.is_out:
            return bound
        return self.record_lower(child, bound, True)

    cdef bint exceeds_limit(self, const State* state) noexcept nogil:
        cdef intp_t i
        if state.limit >= NO_LIMIT or not self.use_certificate:
            return False
        for i in range(state.n):
            if (i & 15) == 15 and self.is_late():
                return False
            if self.cover.bound_case(
                state.cases[i], state.cases, state.n, &self.cover_scratch[0]
            ) > state.limit:
                return True
        return False
