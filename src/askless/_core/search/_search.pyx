"""Search for the cheapest policy: depth-first branch and bound over sets of cases.

A state is the set of cases that the answers so far leave possible. Its value is

    expected:  V(S) = min over tests of  sum over outcomes  w(S_o) * price + V(S_o)
    worst:     V(S) = min over tests of  max over outcomes  price + V(S_o)

and zero for a set of one class. Costs and weights are whole numbers, so every bound can
be rounded up and nothing is ever proved by a rounding error.

``solve_state(S, theta)`` returns the value if it is below theta, else a lower bound of
at least theta. Called with a rising theta it proves a rising lower bound; what it
learns stays in the table, so little is done twice. With a ``breadth`` it looks only at
that many of the best-scored tests of each state: then its values are those of good
policies, and its bounds prove nothing.

This module knows arrays; it must not know names, nor why a search has to stop.
"""

from libc.stdlib cimport free, malloc, qsort

from askless._core.engine._breadth cimport keep_best
from askless._core.search._cover cimport Cover
from askless._core.search._expand cimport Candidate, Child, Expander
from askless._core.search._proofs cimport Proofs, Recalled
from askless._core.engine._states cimport Entry
from askless._core.search._table cimport (
    KnownTable, State, dearest_price, is_pure, list_part, NO_LIMIT, TOO_DEAR,
)
from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint16_t, uint64_t,
)


cdef int compare_lower(const void* a, const void* b) noexcept nogil:
    """Order candidates by lower bound, then by test."""
    cdef const Candidate* x = <const Candidate*> a
    cdef const Candidate* y = <const Candidate*> b
    if x.lower != y.lower:
        return -1 if x.lower < y.lower else 1
    return x.rank.test - y.rank.test


cdef class Search(Proofs):
    """One search over one table, for one objective.

    Parameters
    ----------
    table : KnownTable
    is_worst : bool
        Whether values are of the worst case.
    max_bytes : int
        What remembering states may take.
    cover : Cover, optional
        The certificate bound of the table.
    breadth : int
        Look only at so many of the best-scored tests of a state; 0: at all.
    rank_by_entropy : bool
        Score tests by bits of the class instead of opponents.
    use_certificate, use_entropy, use_children, use_additivity : bool
        Switches of the bounds; they change time, never the answer.
    """

    cdef Expander expander
    cdef readonly intp_t n_expanded

    def __init__(
        self,
        KnownTable table not None,
        *,
        bint is_worst,
        intp_t max_bytes,
        Cover cover=None,
        intp_t breadth=0,
        bint rank_by_entropy=False,
        bint use_certificate=True,
        bint use_entropy=True,
        bint use_children=True,
        bint use_additivity=True,
    ):
        Proofs.__init__(self, table, cover, is_worst, max_bytes)
        self.use_certificate = use_certificate and cover is not None
        self.breadth = breadth
        self.expander = Expander(
            table, self.states, is_worst=is_worst, breadth=breadth,
            rank_by_entropy=rank_by_entropy, use_entropy=use_entropy,
            use_children=use_children, use_additivity=use_additivity,
        )

    def run(
        self,
        const uint16_t[::1] cases not None,
        int64_t theta,
        float64_t seconds,
        uint64_t open_groups=0,
        int64_t limit=NO_LIMIT,
    ):
        """Solve a state up to a threshold within some seconds.

        Returns (value, worst, test): the value with the worst cost and the first test
        of its policy if the value is below theta, else a lower bound with -1 and -1; or
        None if it was stopped.
        """
        cdef:
            State state = self.state_of(cases, open_groups, limit)
            int64_t value, worst = -1
            Entry* entry
        self.begin(seconds)
        with nogil:
            value = self.solve_state(&state, theta, &worst)
        if self.is_out:
            return None
        if value >= theta:
            return value, -1, -1
        state.open_groups = self.table.useful_groups(state.cases, state.n, open_groups)
        entry = self.find(&state, limit)
        if entry == NULL or not entry.is_exact:
            # A state with a limit may be answered by its state without one.
            entry = self.find(&state, NO_LIMIT)
        return value, worst, -1 if entry == NULL or not entry.is_exact else entry.test

    def lower_bound(self, const uint16_t[::1] cases not None):
        """Return what is proved of a state so far."""
        cdef:
            State state = self.state_of(cases, 0, NO_LIMIT)
            Entry* entry = self.find(&state, NO_LIMIT)
        return 0 if entry == NULL else entry.lower

    cdef State state_of(
        self, const uint16_t[::1] cases, uint64_t open_groups, int64_t limit
    ):
        cdef:
            State state
            intp_t i
        state.cases = &cases[0]
        state.n = cases.shape[0]
        state.key = 0
        state.weight = 0
        state.open_groups = open_groups
        state.limit = limit
        for i in range(state.n):
            state.key += self.table.hash[cases[i]]
            state.weight += self.table.weight[cases[i]]
        return state

    # The search.

    cdef int64_t solve_state(
        self, State* state, int64_t theta, int64_t* worst
    ) except -1 nogil:
        """Return the value of a state if it is below theta, else a lower bound."""
        cdef:
            Recalled known
            int64_t found
        worst[0] = 0
        if is_pure(self.table, state.cases, state.n):
            return 0
        state.open_groups = self.table.useful_groups(
            state.cases, state.n, state.open_groups
        )
        known = self.recall(state, theta)
        if known.is_exact:
            worst[0] = known.worst
        if known.is_exact or known.lower >= theta:
            return known.lower
        if self.use_certificate and not known.is_certified:
            found = self.certify(state.cases, state.n, theta)
            if self.is_out:
                return known.lower
            # A bound cut short at theta is as good as any for this call only.
            known.is_certified = found < theta
            known.lower = max(known.lower, found)
            if known.lower >= theta:
                return self.record_lower(state, known.lower, known.is_certified)
        if self.exceeds_limit(state):
            return self.record_lower(state, TOO_DEAR, known.is_certified)
        if self.is_late():
            return known.lower
        return self.expand_state(state, theta, &known, worst)

    cdef int64_t expand_state(
        self, const State* state, int64_t theta, Recalled* known, int64_t* worst
    ) except -1 nogil:
        """List the tests of a state and try them."""
        cdef:
            int64_t found, additive = 0
            intp_t n_candidates
            Candidate* candidates = <Candidate*> malloc(
                (self.table.n_tests + 1) * sizeof(Candidate)
            )
            Child* children = <Child*> malloc(
                (self.expander.count_children(state.n) + 1) * sizeof(Child)
            )
        self.n_expanded += 1
        try:
            if candidates == NULL or children == NULL:
                with gil:
                    raise MemoryError("no memory left to expand a state")
            n_candidates = self.expander.expand(state, candidates, children, &additive)
            known.lower = max(known.lower, additive)
            found = self.try_candidates(
                state, theta, known, candidates, n_candidates, children, worst
            )
        finally:
            free(candidates)
            free(children)
        return found

    cdef int64_t try_candidates(
        self, const State* state, int64_t theta, const Recalled* known,
        Candidate* candidates, intp_t n_candidates, Child* children, int64_t* worst,
    ) except -1 nogil:
        """Descend into the tests, most promising first; record what is proved."""
        cdef:
            intp_t i
            int64_t lower = known.lower, best = TOO_DEAR, rest = TOO_DEAR, enough, value
            int64_t value_worst = 0, best_worst = -1
            int32_t best_test = -1
            uint16_t* part
        if n_candidates == 0:
            # Nothing splits the cases (or nothing that the limit allows).
            if state.limit >= NO_LIMIT:
                return self.record_value(state, 0, 0, -1)
            return self.record_lower(state, TOO_DEAR, known.is_certified)
        n_candidates = keep_best(
            candidates, n_candidates, sizeof(Candidate), self.breadth, state.n
        )
        qsort(candidates, n_candidates, sizeof(Candidate), compare_lower)
        if self.breadth == 0:
            lower = max(lower, candidates[0].lower)
            if lower >= theta:
                return self.record_lower(state, lower, known.is_certified)
        part = <uint16_t*> malloc((state.n + 1) * sizeof(uint16_t))
        if part == NULL:
            with gil:
                raise MemoryError("no memory left to expand a state")
        try:
            for i in range(n_candidates):
                enough = min(theta, best)
                if candidates[i].lower >= enough:
                    rest = min(rest, candidates[i].lower)
                    break
                value = self.try_test(
                    state, enough, &candidates[i],
                    children + candidates[i].first_child, part, &value_worst,
                )
                if self.is_out:
                    return lower
                if value < enough:
                    best = value
                    best_worst = value_worst
                    best_test = candidates[i].rank.test
                else:
                    rest = min(rest, value)
        finally:
            free(part)
        if best < theta:
            worst[0] = best_worst
            return self.record_value(state, best, best_worst, best_test)
        return self.record_lower(state, max(lower, rest), known.is_certified)

    cdef int64_t try_test(
        self, const State* state, int64_t enough, Candidate* candidate,
        Child* children, uint16_t* part, int64_t* worst,
    ) except -1 nogil:
        """Return what starting with a test costs, or a bound of at least `enough`."""
        cdef:
            intp_t j, n_children = candidate.n_children
            int64_t total, value, value_worst = 0, allowed
            State child
        worst[0] = dearest_price(self.table, candidate.rank.test, state)
        total = self.certify_children(state, enough, candidate, children, part)
        if total >= enough:
            return total
        for j in range(n_children):
            swap_hardest(children, j, n_children)
            child = self.enter(state, candidate.rank.test, &children[j], part)
            if self.is_worst:
                allowed = enough - children[j].price
            else:
                allowed = enough - (total - children[j].lower)
            if child.limit < 0:
                return TOO_DEAR
            value = self.solve_state(&child, allowed, &value_worst)
            if self.is_out:
                return enough
            if value >= TOO_DEAR:
                return TOO_DEAR
            total = self.raise_lower(candidate, children, n_children, j, value)
            worst[0] = max(worst[0], children[j].price + value_worst)
            if total >= enough:
                return total
        return total

    cdef int64_t certify_children(
        self, const State* state, int64_t enough, Candidate* candidate,
        Child* children, uint16_t* part,
    ) except -1 nogil:
        """Return the bound of a test with its children certified.

        Before any descent: it often settles the test.
        """
        cdef:
            intp_t j
            int64_t value, total = candidate.lower
            State child
        if not self.use_certificate:
            return total
        for j in range(candidate.n_children):
            child = self.enter(state, candidate.rank.test, &children[j], part)
            child.limit = NO_LIMIT
            child.open_groups = self.table.useful_groups(
                child.cases, child.n, child.open_groups
            )
            value = self.certify_child(&child)
            if value > children[j].lower:
                total = self.raise_lower(
                    candidate, children, candidate.n_children, j, value
                )
                if total >= enough:
                    return total
        return total

    cdef State enter(
        self, const State* state, intp_t test, const Child* child, uint16_t* part
    ) noexcept nogil:
        """Return the state after a test has shown the code of a child."""
        cdef State after
        after.cases = part
        after.n = list_part(self.table, state, test, child.code, part)
        after.key = child.key
        after.weight = child.weight
        after.open_groups = state.open_groups
        if self.table.group[test] >= 0:
            after.open_groups |= (<uint64_t> 1) << self.table.group[test]
        after.limit = state.limit
        if state.limit < NO_LIMIT:
            after.limit -= child.price
        return after

    cdef int64_t raise_lower(
        self, Candidate* candidate, Child* children, intp_t n_children, intp_t which,
        int64_t lower,
    ) noexcept nogil:
        """Put a better bound of one child into the bound of the test."""
        cdef intp_t j
        cdef int64_t total
        lower = max(lower, children[which].lower)
        if self.is_worst:
            children[which].lower = lower
            total = candidate.base
            for j in range(n_children):
                total = max(total, children[j].price + children[j].lower)
            candidate.lower = max(candidate.lower, total)
        else:
            candidate.lower += lower - children[which].lower
            children[which].lower = lower
        return candidate.lower


cdef void swap_hardest(Child* children, intp_t at, intp_t n) noexcept nogil:
    """Put the hardest of the children from a place on at that place.

    If it is too dear, the others are never opened.
    """
    cdef:
        intp_t k, hardest = at
        Child spare
    for k in range(at + 1, n):
        if children[k].lower > children[hardest].lower:
            hardest = k
    spare = children[at]
    children[at] = children[hardest]
    children[hardest] = spare
