"""Expand a state: list the tests that split it, what they leave, and what that costs.

Every test is looked at once for what holds inside the state, and once for its parts.
The bounds here are cheap; the search certifies what they leave open.
"""

from libc.math cimport log2

import numpy as np

from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint16_t,
)
from askless._core.search._code_words cimport CodeWords, Part
from askless._core.engine._states cimport Entry, StateTable
from askless._core.search._table cimport (
    Inside, KnownTable, State, dearest_price, price_of, NO_LIMIT, TOO_DEAR,
)


cdef class Expander:
    """Expands states of one table, for one objective.

    Parameters
    ----------
    table : KnownTable
    states : StateTable
        What is proved so far; bounds of parts are looked up there.
    is_worst : bool
    breadth : int
        Whether candidates are scored (above 0), for a restricted search.
    rank_by_entropy : bool
        Score by bits of the class instead of opponents.
    use_entropy, use_children, use_additivity : bool
        Switches of the bounds; they change time, never the answer.
    """

    def __init__(
        self,
        KnownTable table not None,
        StateTable states not None,
        *,
        bint is_worst,
        intp_t breadth,
        bint rank_by_entropy,
        bint use_entropy,
        bint use_children,
        bint use_additivity,
    ):
        self.table = table
        self.states = states
        self.code_words = CodeWords(table, is_worst)
        self.is_worst = is_worst
        self.breadth = breadth
        self.rank_by_entropy = rank_by_entropy
        self.use_entropy = use_entropy
        self.use_children = use_children
        self.use_additivity = use_additivity
        self.is_marked = np.zeros(table.n_cases, dtype=np.uint8)
        self.summaries = np.zeros(table.most_codes * sizeof(Summary), dtype=np.uint8)
        self.by_class = np.zeros(
            (2 * table.most_codes + 1) * table.n_classes, dtype=np.int64
        )

    cdef intp_t count_children(self, intp_t n) noexcept nogil:
        cdef intp_t test, total = 0
        for test in range(self.table.n_tests):
            # A child that is not settled has at least two cases.
            total += min(<intp_t> self.table.n_codes[test], n // 2) + 1
        return total

    cdef intp_t expand(
        self, const State* state, Candidate* candidates, Child* children,
        int64_t* additive,
    ) noexcept nogil:
        cdef:
            intp_t test, i, n_candidates = 0, n_children = 0
            Candidate* candidate
            Inside inside
        for i in range(state.n):
            self.is_marked[state.cases[i]] = 1
        self.look_inside(state, &inside)
        for test in range(self.table.n_tests):
            candidate = &candidates[n_candidates]
            candidate.first_child = <int32_t> n_children
            if self.describe(test, state, candidate, children) and self.bound(
                state, &inside, candidate, children, additive
            ):
                n_candidates += 1
                n_children += candidate.n_children
        for i in range(state.n):
            self.is_marked[state.cases[i]] = 0
        return n_candidates

    cdef void look_inside(self, const State* state, Inside* inside) noexcept nogil:
        """Find what holds for all sets inside a state: its tests are theirs too."""
        cdef intp_t test, n_met
        inside.cheapest = TOO_DEAR
        inside.rate = 1e300
        inside.arity = 2
        for test in range(self.table.n_tests):
            n_met = self.count_outcomes(test, state)
            if n_met > 1:
                inside.cheapest = min(inside.cheapest, self.table.least[test])
                inside.arity = max(inside.arity, n_met)
                inside.rate = min(
                    inside.rate, self.table.least[test] / log2(<float64_t> n_met)
                )

    cdef intp_t count_outcomes(self, intp_t test, const State* state) noexcept nogil:
        """Return how many outcomes the cases of a state show."""
        cdef:
            intp_t i, n_met = 0
            const uint16_t* column = &self.table.codes[test, 0]
            Summary* summary = <Summary*> &self.summaries[0]
        for i in range(state.n):
            if summary[column[state.cases[i]]].n_cases == 0:
                n_met += 1
                summary[column[state.cases[i]]].n_cases = 1
        for i in range(state.n):
            summary[column[state.cases[i]]].n_cases = 0
        return n_met

    cdef intp_t summarise(self, intp_t test, const State* state) noexcept nogil:
        """Sum the cases up by code; return how many codes they show."""
        cdef:
            intp_t i, n_met = 0
            uint16_t x
            const uint16_t* column = &self.table.codes[test, 0]
            Summary* own
        for i in range(state.n):
            x = state.cases[i]
            own = (<Summary*> &self.summaries[0]) + column[x]
            if own.n_cases == 0:
                n_met += 1
                own.weight = 0
                own.n_classes = 1
                own.first_class = self.table.class_id[x]
                own.key = 0
            elif self.table.class_id[x] != own.first_class:
                own.n_classes = 2
            own.n_cases += 1
            own.weight += self.table.weight[x]
            own.key += self.table.hash[x]
        return n_met

    cdef bint describe(
        self, intp_t test, const State* state, Candidate* candidate, Child* children
    ) noexcept nogil:
        """Describe a test as a candidate; False if it cannot help.

        A test that shows the same for all cases can help only by opening its group.
        """
        cdef:
            intp_t i, code
            const uint16_t* column = &self.table.codes[test, 0]
            Summary* summary = <Summary*> &self.summaries[0]
            int64_t price
            Child* child
        if self.summarise(test, state) == 1 and not self.table.may_open(test, state):
            summary[column[state.cases[0]]].n_cases = 0
            return False
        candidate.rank.test = <int32_t> test
        candidate.rank.score = self.score(test, state) if self.breadth > 0 else 0.0
        candidate.base = 0
        candidate.n_children = 0
        for i in range(state.n):
            code = column[state.cases[i]]
            if summary[code].n_cases == 0:
                continue
            price = price_of(self.table, test, code, state.open_groups)
            if self.is_worst:
                if summary[code].n_classes == 1:
                    candidate.base = max(candidate.base, price)
            else:
                candidate.base += price * summary[code].weight
            if summary[code].n_classes > 1:
                child = &children[candidate.first_child + candidate.n_children]
                child.key = summary[code].key
                child.weight = summary[code].weight
                child.price = price
                child.n_cases = summary[code].n_cases
                child.code = <uint16_t> code
                child.lower = 0
                candidate.n_children += 1
            summary[code].n_cases = 0
        return True

    cdef bint bound(
        self, const State* state, const Inside* inside, Candidate* candidate,
        Child* children, int64_t* additive,
    ) noexcept nogil:
        """Bound a candidate by its children; False if the limit rules it out."""
        cdef:
            intp_t i
            int64_t parts = 0
            bint fits = True
            Child* child
        candidate.lower = candidate.base
        for i in range(candidate.n_children):
            child = &children[candidate.first_child + i]
            child.lower = self.bound_child(child, candidate.rank.test, state, inside)
            if state.limit < NO_LIMIT and child.price + inside.cheapest > state.limit:
                fits = False
            if self.is_worst:
                parts = max(parts, child.lower)
                candidate.lower = max(candidate.lower, child.price + child.lower)
            else:
                parts += child.lower
                candidate.lower += child.lower
        if self.use_additivity:
            additive[0] = max(additive[0], parts)
        return fits and (
            state.limit >= NO_LIMIT
            or dearest_price(self.table, candidate.rank.test, state) <= state.limit
        )

    cdef int64_t bound_child(
        self, const Child* child, intp_t test, const State* state, const Inside* inside
    ) noexcept nogil:
        """Bound a child by what holds for all sets inside the parent, and by the table.

        Tests that split a child split the parent too.
        """
        cdef:
            int64_t bound = inside.cheapest
            Entry* entry
            Part part
        if not self.is_worst:
            bound *= child.weight
        if self.use_entropy and self.table.n_classes > 2:
            part.test = test
            part.code = child.code
            part.n_cases = child.n_cases
            part.weight = child.weight
            bound = max(bound, self.code_words.bound_part(&part, state, inside))
        if self.use_children and not self.table.has_groups:
            # With groups a state is also told by what is open, which is not worked out
            # for children that are only looked at.
            entry = self.states.find_part(
                child.key, &self.table.codes[test, 0], child.code, &self.is_marked[0],
                child.n_cases, 0, NO_LIMIT,
            )
            if entry != NULL:
                bound = max(bound, entry.lower)
        return bound

    # Ranking, for a restricted search.

    cdef float64_t score(self, intp_t test, const State* state) noexcept nogil:
        """Score a test; larger is better. Its summaries must be there."""
        cdef:
            intp_t i, n_classes = self.table.n_classes
            int64_t* all_counts = &self.by_class[0]
            int64_t* counts = all_counts + n_classes
            int64_t* own
            const uint16_t* column = &self.table.codes[test, 0]
            uint16_t x
            float64_t gain, price = 0.0
        for i in range(state.n):
            x = state.cases[i]
            all_counts[self.table.class_id[x]] += 1
            own = counts + 2 * (column[x] * n_classes + self.table.class_id[x])
            own[0] += 1
            own[1] += self.table.weight[x]
        if self.is_worst:
            gain = self.gain_worst(test, state, &price)
        else:
            gain = self.gain_expected(test, state, &price)
        for i in range(state.n):
            x = state.cases[i]
            all_counts[self.table.class_id[x]] = 0
            own = counts + 2 * (column[x] * n_classes + self.table.class_id[x])
            own[0] = 0
            own[1] = 0
        if price <= 0:
            return 1e300 if gain > 0 else 0.0
        return gain / price

    cdef float64_t gain_worst(
        self, intp_t test, const State* state, float64_t* price
    ) noexcept nogil:
        """Return the pairs of different class that the worst outcome takes away."""
        cdef:
            intp_t i, code, n_classes = self.table.n_classes
            const int64_t* all_counts = &self.by_class[0]
            const int64_t* counts = all_counts + n_classes
            const uint16_t* column = &self.table.codes[test, 0]
            Summary* summary = <Summary*> &self.summaries[0]
            int32_t own
            int64_t whole = 0, most = 0
        for i in range(state.n):
            summary[column[state.cases[i]]].opponents = 0
        for i in range(state.n):
            code = column[state.cases[i]]
            own = self.table.class_id[state.cases[i]]
            price[0] = max(price[0], <float64_t> price_of(
                self.table, test, code, state.open_groups
            ))
            whole += state.n - all_counts[own]
            summary[code].opponents += (
                summary[code].n_cases - counts[2 * (code * n_classes + own)]
            )
            most = max(most, summary[code].opponents)
        return <float64_t> (whole - most)

    cdef float64_t gain_expected(
        self, intp_t test, const State* state, float64_t* price
    ) noexcept nogil:
        """Return the opponents that a case is told from, by weight; or bits of class.

        Of bits, those that are left count against the test. The constant keeps the gain
        positive and is the same for all tests.
        """
        cdef:
            intp_t i, code, n_classes = self.table.n_classes
            const int64_t* all_counts = &self.by_class[0]
            const int64_t* counts = all_counts + n_classes
            const int64_t* own
            const uint16_t* column = &self.table.codes[test, 0]
            const Summary* summary = <const Summary*> &self.summaries[0]
            uint16_t x
            float64_t gain = 0.0
        for i in range(state.n):
            x = state.cases[i]
            code = column[x]
            own = counts + 2 * (code * n_classes + self.table.class_id[x])
            price[0] += price_of(self.table, test, code, state.open_groups) * (
                <float64_t> self.table.weight[x]
            )
            if self.rank_by_entropy:
                gain += self.table.weight[x] * (64.0 + log2(
                    (own[1] + 1e-9) / (summary[code].weight + 1e-9)
                ))
            else:
                gain += self.table.weight[x] * <float64_t> (
                    state.n - all_counts[self.table.class_id[x]]
                    - summary[code].n_cases + own[0]
                )
        return gain
