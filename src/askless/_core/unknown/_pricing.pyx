"""Work out what following a rule costs, state by state, each state once.

For tables with unknown outcomes on which the tree of a rule would be too large. A case
whose outcome is unknown goes on with every outcome that may be drawn, lighter by the
chance of that.
"""

from libc.stdlib cimport free, malloc

import numpy as np

from askless._core.base._types cimport float64_t, int32_t, int64_t, intp_t, uint8_t
from askless._core.engine._states cimport Entry
from askless._core.unknown._memo cimport Spelling, StateMemo, bits_of, real_of
from askless._core.unknown._table cimport (
    State, UnknownTable, power_of_half, TELLS_NOTHING,
)
from askless._core.unknown._walk cimport RuleWalk


# What a state costs. If wrong decisions are counted, the first is their weight.
cdef struct Cost:
    float64_t expected
    float64_t worst


# Room for the parts of one state, one part at a time.
cdef struct Parts:
    int32_t* cases
    int64_t* surprisal
    uint8_t* may_show


def price_states(
    RuleWalk walk not None,
    const int32_t[::1] cases not None,
    intp_t max_states,
    intp_t max_bytes,
    bint counts_wrong=False,
):
    """Return (expected, worst) cost of following a rule, exactly.

    `cases` are all cases, those of one class together. OverflowError if there are too
    many states. If it `counts_wrong`, the first is the weight that is decided wrongly
    instead.
    """
    cdef:
        Pricing pricing = Pricing(walk, max_states, max_bytes, counts_wrong)
        int64_t[::1] surprisal = np.zeros(cases.shape[0], dtype=np.int64)
        State state
        Cost cost
    state.cases = &cases[0]
    state.surprisal = &surprisal[0]
    state.n = cases.shape[0]
    walk.restart()
    with nogil:
        pricing.price_state(&state, 0, &cost)
    return cost.expected, cost.worst


cdef class Pricing:
    """The states of a rule that are priced so far."""

    cdef RuleWalk walk
    cdef UnknownTable table
    cdef StateMemo memo
    cdef bint counts_wrong
    cdef intp_t n_states
    cdef intp_t max_states

    def __init__(
        self,
        RuleWalk walk not None,
        intp_t max_states,
        intp_t max_bytes,
        bint counts_wrong,
    ):
        self.walk = walk
        self.table = walk.table
        # A position in the order, and the tests.
        self.memo = StateMemo(walk.table, walk.table.n_tests + 1, max_bytes)
        self.max_states = max_states
        self.counts_wrong = counts_wrong

    cdef void spell(self, const State* state, intp_t position) noexcept nogil:
        """Spell a state: everything that its price depends on.

        Of the tests done, those that look useful again are told: they would not be
        chosen, since an outcome once seen is seen again.
        """
        cdef intp_t test
        self.memo.spell(state)
        self.memo.add_number(position)
        for test in range(self.table.n_tests):
            if self.walk.is_done[test] and (
                self.walk.keys_all_done or (
                    not self.walk.has_order
                    and self.walk.effects[test] != TELLS_NOTHING
                )
            ):
                self.memo.add_number(test)

    cdef int price_state(
        self, const State* state, intp_t position, Cost* cost
    ) except -1 nogil:
        cdef:
            intp_t test
            Entry* entry
            Spelling spelling
        cost.expected = cost.worst = 0.0
        if self.walk.settled.holds(state.cases, state.n):
            cost.expected = self.weigh_wrong(state)
            return 0
        self.walk.measure(state)
        self.spell(state, position)
        entry = self.memo.find()
        if entry != NULL:
            cost.expected = real_of(entry.lower)
            cost.worst = real_of(entry.worst)
            return 0
        self.n_states += 1
        if self.n_states > self.max_states:
            with gil:
                raise OverflowError(f"more than {self.max_states} states")
        test = self.walk.choose(&position)
        if test < 0:
            cost.expected = self.weigh_wrong(state)
            return 0
        self.memo.copy(&spelling)
        try:
            self.price_test(state, test, position, cost)
            entry = self.memo.insert(&spelling)
            entry.lower = bits_of(cost.expected)
            entry.worst = bits_of(cost.worst)
            entry.test = <int32_t> test
        finally:
            free(spelling.words)
        return 0

    cdef int price_test(
        self, const State* state, intp_t test, intp_t position, Cost* cost
    ) except -1 nogil:
        """Add up what a test and all that follows it costs."""
        cdef:
            intp_t code, n_codes = self.table.n_levels[test] + 1
            Parts parts
        parts.cases = <int32_t*> malloc((state.n + 1) * sizeof(int32_t))
        parts.surprisal = <int64_t*> malloc((state.n + 1) * sizeof(int64_t))
        parts.may_show = <uint8_t*> malloc(n_codes + 1)
        try:
            if (
                parts.cases == NULL or parts.surprisal == NULL
                or parts.may_show == NULL
            ):
                with gil:
                    raise MemoryError("no memory left to price a rule")
            self.table.mark_codes(test, state, parts.may_show)
            for code in range(n_codes):
                if parts.may_show[code]:
                    self.price_outcome(state, test, code, position, &parts, cost)
        finally:
            free(parts.cases)
            free(parts.surprisal)
            free(parts.may_show)
        return 0

    cdef int price_outcome(
        self, const State* state, intp_t test, intp_t code, intp_t position,
        const Parts* parts, Cost* cost,
    ) except -1 nogil:
        """Add what a test costs if it shows a code."""
        cdef:
            intp_t i
            State part
            Cost below
            int64_t least
            float64_t weight, price
            bint opens
        part.cases = parts.cases
        part.surprisal = parts.surprisal
        part.n = self.table.list_part(test, code, state, parts.cases, parts.surprisal)
        weight = self.table.weigh_all(&part)
        least = parts.surprisal[0]
        for i in range(1, part.n):
            least = min(least, parts.surprisal[i])
        for i in range(part.n):
            parts.surprisal[i] -= least
        price = self.walk.prices.price(
            test, code, &self.walk.is_done[0], &self.walk.is_open[0]
        )
        opens = self.walk.enter(test)
        self.price_state(&part, position, &below)
        self.walk.leave(opens)
        cost.expected += power_of_half(least) * below.expected
        if not self.counts_wrong:
            cost.expected += price * weight
        cost.worst = max(cost.worst, price + below.worst)
        return 0

    cdef float64_t weigh_wrong(self, const State* state) noexcept nogil:
        """Return the weight that a decision for the heaviest class gets wrong."""
        cdef:
            intp_t i, x
            float64_t weight = 0.0, most = 0.0, total = 0.0
        if not self.counts_wrong:
            return 0.0
        for i in range(state.n):
            x = state.cases[i]
            weight += self.table.prior[x] * power_of_half(state.surprisal[i])
            if i + 1 == state.n or (
                self.table.class_id[x] != self.table.class_id[state.cases[i + 1]]
            ):
                total += weight
                most = max(most, weight)
                weight = 0.0
        return total - most
