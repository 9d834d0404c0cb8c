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

This module knows arrays; it must not know names, tables or clocks' reasons.
"""

from libc.math cimport ceil, log2
from libc.stdlib cimport free, malloc, qsort

import numpy as np

from askless._core.base._clock cimport seconds_now
from askless._core.search._cover cimport Cover
from askless._core.base._huffman cimport huffman
from askless._core.search._states cimport Entry, StateTable
from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t, uint64_t,
)


cdef int64_t TOO_DEAR = <int64_t> 1 << 60
cdef int64_t NO_LIMIT = <int64_t> 1 << 60

# Small sets are searched in full even by a restricted search: it costs nothing.
cdef intp_t SMALL = 6


# A part of a state that holds more than one class.
cdef struct Child:
    uint64_t key
    int64_t weight
    int64_t price   # what its cases pay for the test
    int64_t lower   # what its policies cost at least
    int32_t n_cases
    uint16_t code


cdef struct Candidate:
    int64_t lower   # what policies that start with the test cost at least
    # By expectation: what all cases pay for the test; by the worst case: the dearest
    # outcome that is already settled.
    int64_t base
    float64_t score  # larger is better; ranks the tests of a restricted search
    int32_t test
    int32_t first_child
    int32_t n_children


# What a part of a state has; filled for the parts of one test at a time.
cdef struct Summary:
    int64_t weight
    int64_t opponents  # twice the pairs of different class
    int32_t n_cases
    int32_t n_labels
    int32_t first_label


cdef int compare_lower(const void* a, const void* b) noexcept nogil:
    """Order candidates by lower bound, then by test."""
    cdef const Candidate* x = <const Candidate*> a
    cdef const Candidate* y = <const Candidate*> b
    if x.lower != y.lower:
        return -1 if x.lower < y.lower else 1
    return x.test - y.test


cdef int compare_score(const void* a, const void* b) noexcept nogil:
    """Order candidates by score, best first, then by test."""
    cdef const Candidate* x = <const Candidate*> a
    cdef const Candidate* y = <const Candidate*> b
    if x.score != y.score:
        return -1 if x.score > y.score else 1
    return x.test - y.test


cdef int64_t round_up(float64_t value) noexcept nogil:
    """Return the least whole number that a computed bound is sure to prove."""
    return <int64_t> ceil(value * (1 - 1e-9) - 1e-6)


cdef class Search:
    """One search over one table, for one objective."""

    cdef readonly intp_t n_cases
    cdef readonly intp_t n_tests
    cdef readonly intp_t n_labels
    cdef readonly bint is_worst
    cdef readonly bint has_groups
    cdef const uint16_t[:, ::1] codes      # (n_tests, n_cases)
    cdef const int32_t[::1] n_codes        # (n_tests,)
    cdef const int32_t[::1] label          # (n_cases,)
    cdef const int64_t[::1] weight         # (n_cases,) never rising: heaviest first
    cdef const int64_t[:, ::1] full        # (n_tests, max codes) price by outcome
    cdef const int64_t[::1] discounted     # (n_tests,)
    cdef const int32_t[::1] group          # (n_tests,) -1: none
    cdef const int64_t[::1] least          # (n_tests,) smallest price in any context
    cdef const uint64_t[::1] hash          # (n_cases,) random; a key is a sum of them
    cdef Cover cover
    cdef readonly StateTable table
    cdef uint8_t[::1] is_marked            # (n_cases,)
    cdef uint16_t[::1] cover_scratch

    # Scratch of one expansion, empty between expansions.
    cdef uint8_t[::1] summaries   # (most codes,) of Summary
    cdef uint64_t[::1] keys       # (most codes,)
    cdef int64_t[::1] by_label    # (2 * n_labels,), then (most codes, n_labels, 2)
    cdef int64_t[::1] buffer      # (3 * n_cases + 8,)

    # Switches: they change time, never the answer.
    cdef readonly bint use_certificate
    cdef readonly bint use_entropy
    cdef readonly bint use_children
    cdef readonly bint use_additivity

    # A restricted search looks only at so many tests per state; 0: at all of them.
    cdef readonly intp_t breadth
    cdef readonly bint rank_by_entropy

    cdef readonly intp_t n_expanded
    cdef float64_t deadline
    cdef volatile bint is_stopped
    cdef bint is_out

    def __init__(
        self,
        const uint16_t[:, ::1] codes not None,
        const int32_t[::1] n_codes not None,
        const int32_t[::1] label not None,
        const int64_t[::1] weight not None,
        const int64_t[:, ::1] full not None,
        const int64_t[::1] discounted not None,
        const int32_t[::1] group not None,
        *,
        bint is_worst,
        Cover cover=None,
        intp_t max_bytes,
        intp_t breadth=0,
        bint rank_by_entropy=False,
        bint use_certificate=True,
        bint use_entropy=True,
        bint use_children=True,
        bint use_additivity=True,
    ):
        cdef intp_t test, code
        self.codes = codes
        self.n_codes = n_codes
        self.label = label
        self.weight = weight
        self.full = full
        self.discounted = discounted
        self.group = group
        self.n_tests = codes.shape[0]
        self.n_cases = codes.shape[1]
        self.n_labels = np.max(label) + 1
        self.is_worst = is_worst
        self.has_groups = np.any(np.asarray(group) >= 0)
        self.cover = cover
        self.use_certificate = use_certificate and cover is not None
        self.use_entropy = use_entropy
        self.use_children = use_children
        self.use_additivity = use_additivity
        self.breadth = breadth
        self.rank_by_entropy = rank_by_entropy
        self.table = StateTable(max_bytes)
        self.is_marked = np.zeros(self.n_cases, dtype=np.uint8)
        most_codes = max(1, int(np.max(n_codes)))
        self.summaries = np.zeros(most_codes * sizeof(Summary), dtype=np.uint8)
        self.keys = np.zeros(most_codes, dtype=np.uint64)
        self.by_label = np.zeros(
            2 * (most_codes + 1) * self.n_labels, dtype=np.int64
        )
        self.buffer = np.zeros(3 * self.n_cases + 8, dtype=np.int64)
        least = np.zeros(self.n_tests, dtype=np.int64)
        for test in range(self.n_tests):
            least[test] = discounted[test] if group[test] >= 0 else full[test, 0]
            for code in range(n_codes[test]):
                least[test] = min(least[test], full[test, code])
        self.least = least
        self.hash = np.random.default_rng(20150101).integers(
            0, 2**64, self.n_cases, dtype=np.uint64
        )
        if cover is not None:
            self.cover_scratch = np.zeros(
                (cover.depth + 1) * self.n_cases, dtype=np.uint16
            )

    def stop(self):
        """Make a running search return soon, and later ones at once.

        What is proved is kept; :meth:`resume` lets searches run again.
        """
        self.is_stopped = True

    def resume(self):
        """Take a stop back."""
        self.is_stopped = False

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
            uint64_t key = 0
            int64_t weight = 0, value, worst = -1
            intp_t i
            Entry* entry
        self.is_out = False
        self.deadline = seconds_now() + seconds
        for i in range(cases.shape[0]):
            key += self.hash[cases[i]]
            weight += self.weight[cases[i]]
        with nogil:
            value = self.solve_state(
                &cases[0], cases.shape[0], key, weight, open_groups, limit, theta,
                &worst,
            )
        if self.is_out:
            return None
        if value >= theta:
            return value, -1, -1
        open_groups = self.useful_groups(&cases[0], cases.shape[0], open_groups)
        entry = self.table.find(key, &cases[0], cases.shape[0], open_groups, limit)
        if entry == NULL or not entry.is_exact:
            # A state with a limit may be answered by its state without one.
            entry = self.table.find(
                key, &cases[0], cases.shape[0], open_groups, NO_LIMIT
            )
        return value, worst, -1 if entry == NULL or not entry.is_exact else entry.test

    def lower_bound(self, const uint16_t[::1] cases not None):
        """Return what is proved of a state so far."""
        cdef:
            uint64_t key = 0
            intp_t i
            Entry* entry
        for i in range(cases.shape[0]):
            key += self.hash[cases[i]]
        entry = self.table.find(
            key, &cases[0], cases.shape[0],
            self.useful_groups(&cases[0], cases.shape[0], 0), NO_LIMIT,
        )
        return 0 if entry == NULL else entry.lower

    cdef int64_t price(
        self, intp_t test, intp_t code, uint64_t open_groups
    ) noexcept nogil:
        if self.group[test] >= 0 and (open_groups >> self.group[test]) & 1:
            return self.discounted[test]
        return self.full[test, code]

    cdef uint64_t useful_groups(
        self, const uint16_t* cases, intp_t n, uint64_t open_groups
    ) noexcept nogil:
        """Leave out open groups none of whose tests can part the cases any more."""
        cdef:
            intp_t test, i
            uint64_t useful = 0
        if not self.has_groups or open_groups == 0:
            return 0
        for test in range(self.n_tests):
            if self.group[test] < 0 or not (open_groups >> self.group[test]) & 1:
                continue
            for i in range(1, n):
                if self.codes[test, cases[i]] != self.codes[test, cases[0]]:
                    useful |= (<uint64_t> 1) << self.group[test]
                    break
        return useful

    cdef bint is_pure(self, const uint16_t* cases, intp_t n) noexcept nogil:
        cdef intp_t i
        for i in range(1, n):
            if self.label[cases[i]] != self.label[cases[0]]:
                return False
        return True

    cdef int64_t certify(
        self, const uint16_t* cases, intp_t n, int64_t enough
    ) noexcept nogil:
        """Return the certificate bound, or any bound of at least `enough`."""
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
                total += bound * self.weight[cases[i]]
            if total >= enough:
                return total
        return total

    cdef bint exceeds_limit(
        self, const uint16_t* cases, intp_t n, int64_t limit
    ) noexcept nogil:
        """Return whether some case is sure to cost more than the limit."""
        cdef intp_t i
        for i in range(n):
            if (i & 15) == 15 and self.is_late():
                return False
            if self.cover.bound_case(
                cases[i], cases, n, &self.cover_scratch[0]
            ) > limit:
                return True
        return False

    cdef bint is_late(self) noexcept nogil:
        """Return whether to stop: asked to, or out of time."""
        if not self.is_out:
            self.is_out = self.is_stopped or seconds_now() > self.deadline
        return self.is_out

    cdef int64_t solve_state(
        self, const uint16_t* cases, intp_t n, uint64_t key, int64_t weight,
        uint64_t open_groups, int64_t limit, int64_t theta, int64_t* worst,
    ) except -1 nogil:
        cdef:
            Entry* entry
            int64_t lower = 0, found
            Candidate* candidates
            Child* children
            intp_t n_candidates
            int64_t additive = 0
            bint is_certified = False

        worst[0] = 0
        if self.is_pure(cases, n):
            return 0
        open_groups = self.useful_groups(cases, n, open_groups)
        entry = self.table.find(key, cases, n, open_groups, limit)
        if entry != NULL:
            if entry.is_exact:
                worst[0] = entry.worst
                return entry.lower
            lower = entry.lower
            is_certified = entry.is_certified
            if lower >= theta:
                return lower
        if limit < NO_LIMIT:
            # What holds without the limit holds with it; and if the best policy without
            # it keeps to it, that is the answer.
            entry = self.table.find(key, cases, n, open_groups, NO_LIMIT)
            if entry != NULL:
                if entry.is_exact and entry.worst <= limit:
                    worst[0] = entry.worst
                    return entry.lower
                lower = max(lower, entry.lower)
                if lower >= theta:
                    return lower
        if self.use_certificate and not is_certified:
            found = self.certify(cases, n, theta)
            if self.is_out:
                return lower
            # A bound cut short at theta is as good as any for this call only.
            is_certified = found < theta
            lower = max(lower, found)
            if lower >= theta:
                return self.record_lower(
                    cases, n, key, open_groups, limit, lower, is_certified
                )
        if limit < NO_LIMIT and self.use_certificate and self.exceeds_limit(
            cases, n, limit
        ):
            return self.record_lower(
                cases, n, key, open_groups, limit, TOO_DEAR, is_certified
            )
        if self.is_late():
            return lower

        self.n_expanded += 1
        candidates = <Candidate*> malloc((self.n_tests + 1) * sizeof(Candidate))
        children = <Child*> malloc(
            (self.count_codes(n) + 1) * sizeof(Child)
        )
        if candidates == NULL or children == NULL:
            free(candidates)
            free(children)
            with gil:
                raise MemoryError("no memory left to expand a state")
        try:
            n_candidates = self.expand(
                cases, n, weight, open_groups, limit, candidates, children, &additive
            )
            found = self.try_candidates(
                cases, n, key, open_groups, limit, theta, max(lower, additive),
                is_certified, candidates, n_candidates, children, worst,
            )
        finally:
            free(candidates)
            free(children)
        return found

    cdef intp_t count_codes(self, intp_t n) noexcept nogil:
        """Return an upper limit of the children of all tests of a state of n cases."""
        cdef intp_t test, total = 0
        for test in range(self.n_tests):
            # A child that is not settled has at least two cases.
            total += min(<intp_t> self.n_codes[test], n // 2) + 1
        return total

    cdef int64_t record_lower(
        self, const uint16_t* cases, intp_t n, uint64_t key,
        uint64_t open_groups, int64_t limit, int64_t lower, bint is_certified,
    ) except -1 nogil:
        cdef Entry* entry = self.table.insert(key, cases, n, open_groups, limit)
        entry.lower = max(entry.lower, lower)
        entry.is_certified = entry.is_certified or is_certified
        return entry.lower

    cdef intp_t expand(
        self, const uint16_t* cases, intp_t n, int64_t weight,
        uint64_t open_groups, int64_t limit,
        Candidate* candidates, Child* children, int64_t* additive,
    ) except -1 nogil:
        """List the tests that part the cases, with their children and lower bounds.

        `additive` gets a lower bound of the state itself: the parts of any one test
        together cost no more than the whole, test or no test.
        """
        cdef:
            intp_t test, n_candidates = 0, n_children = 0, first, i
            intp_t most_codes = 2
            int64_t cheapest = TOO_DEAR, lower, parts
            float64_t rate = 1e300
            Candidate* candidate
            Child* child
            Summary* summary
            intp_t n_met
            bint fits

        summary = <Summary*> &self.summaries[0]
        for i in range(n):
            self.is_marked[cases[i]] = 1
        # First pass: which tests part the cases at all, at which least price.
        for test in range(self.n_tests):
            n_met = self.count_met(test, cases, n, summary)
            if n_met > 1:
                cheapest = min(cheapest, self.least[test])
                most_codes = max(most_codes, n_met)
                rate = min(rate, self.least[test] / log2(<float64_t> n_met))
        # Second pass: the parts of each test.
        for test in range(self.n_tests):
            first = n_children
            candidate = &candidates[n_candidates]
            if not self.describe(
                test, cases, n, weight, open_groups, summary, candidate, children,
                &n_children,
            ):
                n_children = first
                continue
            fits = True
            parts = 0
            lower = candidate.base
            for i in range(first, n_children):
                child = &children[i]
                child.lower = self.bound_child(
                    child, test, cases, n, cheapest, rate, most_codes
                )
                if limit < NO_LIMIT and child.price + cheapest > limit:
                    fits = False
                if self.is_worst:
                    parts = max(parts, child.lower)
                    lower = max(lower, child.price + child.lower)
                else:
                    parts += child.lower
                    lower += child.lower
            if self.use_additivity:
                additive[0] = max(additive[0], parts)
            if not fits or (
                limit < NO_LIMIT
                and self.dearest(candidate, cases, n, open_groups) > limit
            ):
                n_children = first
                continue
            candidate.lower = lower
            candidate.first_child = <int32_t> first
            candidate.n_children = <int32_t> (n_children - first)
            n_candidates += 1
        for i in range(n):
            self.is_marked[cases[i]] = 0
        return n_candidates

    cdef int64_t dearest(
        self, const Candidate* candidate, const uint16_t* cases, intp_t n,
        uint64_t open_groups,
    ) noexcept nogil:
        """Return the most that any of the cases pays for the test itself."""
        cdef:
            intp_t i
            int64_t most = 0
        for i in range(n):
            most = max(most, self.price(
                candidate.test, self.codes[candidate.test, cases[i]], open_groups
            ))
        return most

    cdef intp_t count_met(
        self, intp_t test, const uint16_t* cases, intp_t n, Summary* summary
    ) noexcept nogil:
        """Return how many outcomes the cases show."""
        cdef intp_t i, n_met = 0
        for i in range(n):
            if summary[self.codes[test, cases[i]]].n_cases == 0:
                n_met += 1
                summary[self.codes[test, cases[i]]].n_cases = 1
        for i in range(n):
            summary[self.codes[test, cases[i]]].n_cases = 0
        return n_met

    cdef bint describe(
        self, intp_t test, const uint16_t* cases, intp_t n, int64_t weight,
        uint64_t open_groups, Summary* summary, Candidate* candidate, Child* children,
        intp_t* n_children,
    ) noexcept nogil:
        """Describe a test as a candidate; False if it cannot help.

        A test that shows the same for all cases can help only by opening its group.
        """
        cdef:
            intp_t i, code, n_met = 0
            uint16_t x
            const uint16_t* column = &self.codes[test, 0]
            uint64_t* keys = &self.keys[0]
            int64_t price
            Child* child

        for i in range(n):
            x = cases[i]
            code = column[x]
            if summary[code].n_cases == 0:
                n_met += 1
                summary[code].weight = 0
                summary[code].n_labels = 1
                summary[code].first_label = self.label[x]
                keys[code] = 0
            elif self.label[x] != summary[code].first_label:
                summary[code].n_labels = 2
            summary[code].n_cases += 1
            summary[code].weight += self.weight[x]
            keys[code] += self.hash[x]
        if n_met == 1 and not self.may_open(test, cases, n, open_groups):
            summary[column[cases[0]]].n_cases = 0
            return False
        candidate.test = <int32_t> test
        candidate.base = 0
        candidate.score = 0.0
        if self.breadth > 0:
            candidate.score = self.score(
                test, cases, n, weight, open_groups, summary
            )
        for i in range(n):
            code = column[cases[i]]
            if summary[code].n_cases == 0:
                continue
            price = self.price(test, code, open_groups)
            if self.is_worst:
                if summary[code].n_labels == 1:
                    candidate.base = max(candidate.base, price)
            else:
                candidate.base += price * summary[code].weight
            if summary[code].n_labels > 1:
                child = &children[n_children[0]]
                child.key = keys[code]
                child.weight = summary[code].weight
                child.price = price
                child.n_cases = summary[code].n_cases
                child.code = <uint16_t> code
                child.lower = 0
                n_children[0] += 1
            summary[code].n_cases = 0
        return True

    cdef bint may_open(
        self, intp_t test, const uint16_t* cases, intp_t n, uint64_t open_groups
    ) noexcept nogil:
        """Return whether a test that shows nothing new can pay by its discount."""
        cdef intp_t other, i
        cdef int32_t group = self.group[test]
        if group < 0 or (open_groups >> group) & 1:
            return False
        for other in range(self.n_tests):
            if other == test or self.group[other] != group:
                continue
            if self.full[other, 0] - self.discounted[other] <= self.full[test, 0]:
                continue
            for i in range(1, n):
                if self.codes[other, cases[i]] != self.codes[other, cases[0]]:
                    return True
        return False

    cdef float64_t score(
        self, intp_t test, const uint16_t* cases, intp_t n, int64_t weight,
        uint64_t open_groups, Summary* summary,
    ) noexcept nogil:
        """Score a test for the ranking of a restricted search; larger is better.

        Worst case: pairs of different class removed in the worst outcome, for the
        price. Expected: opponents that a case is told from, by weight, for the price;
        or the bits of the class that it tells.
        """
        cdef:
            intp_t i, code, stride = self.n_labels
            int64_t* all_counts = &self.by_label[0]
            # Counts and weights of (code, class), behind the counts of each class.
            int64_t* counts = all_counts + 2 * stride
            int64_t* count
            const uint16_t* column = &self.codes[test, 0]
            uint16_t x
            int64_t whole = 0, most = 0
            float64_t price = 0.0, gain = 0.0

        for i in range(n):
            x = cases[i]
            all_counts[self.label[x]] += 1
            count = counts + 2 * (column[x] * stride + self.label[x])
            count[0] += 1
            count[1] += self.weight[x]
            summary[column[x]].opponents = 0
        for i in range(n):
            x = cases[i]
            code = column[x]
            count = counts + 2 * (code * stride + self.label[x])
            if self.is_worst:
                price = max(price, <float64_t> self.price(test, code, open_groups))
                whole += n - all_counts[self.label[x]]
                summary[code].opponents += summary[code].n_cases - count[0]
                most = max(most, summary[code].opponents)
                continue
            price += self.price(test, code, open_groups) * <float64_t> self.weight[x]
            if self.rank_by_entropy:
                # Bits of the class that are left count against the test; the constant
                # keeps the gain positive and is the same for all tests.
                gain += self.weight[x] * (64.0 + log2(
                    (count[1] + 1e-9) / (summary[code].weight + 1e-9)
                ))
            else:
                gain += self.weight[x] * <float64_t> (
                    n - all_counts[self.label[x]] - summary[code].n_cases + count[0]
                )
        for i in range(n):
            x = cases[i]
            all_counts[self.label[x]] = 0
            count = counts + 2 * (column[x] * stride + self.label[x])
            count[0] = 0
            count[1] = 0
        if self.is_worst:
            gain = <float64_t> (whole - most)
        if price <= 0:
            return 1e300 if gain > 0 else 0.0
        return gain / price

    cdef int64_t bound_child(
        self, const Child* child, intp_t test, const uint16_t* cases, intp_t n,
        int64_t cheapest, float64_t rate, intp_t most_codes,
    ) noexcept nogil:
        """Bound a child by what holds for all sets inside the parent, and by the table.

        `cheapest`, `rate` and `most_codes` are of the tests that part the parent; those
        that part a child are among them.
        """
        cdef:
            int64_t bound = cheapest if self.is_worst else cheapest * child.weight
            Entry* entry
        if self.use_entropy and self.n_labels > 2:
            bound = max(bound, self.bound_by_entropy(
                child, test, cases, n, cheapest, rate, most_codes
            ))
        if self.use_children and not self.has_groups:
            # With groups a state is also told by what is open, which is not worked out
            # for children that are only looked at.
            entry = self.table.find_part(
                child.key, &self.codes[test, 0], child.code, &self.is_marked[0],
                child.n_cases, 0, NO_LIMIT,
            )
            if entry != NULL:
                bound = max(bound, entry.lower)
        return bound

    cdef int64_t bound_by_entropy(
        self, const Child* child, intp_t test, const uint16_t* cases, intp_t n,
        int64_t cheapest, float64_t rate, intp_t most_codes,
    ) noexcept nogil:
        """Bound a child by the code words that its classes need.

        The leaves of a tree are code words over outcomes; a class needs at least one of
        them. So the expected number of tests is at least Huffman's for the weights of
        the classes, and the price at least the entropy at the best rate of price per
        bit; in the worst case some word is as long as the logarithm of their number.
        """
        cdef:
            intp_t i, n_words = 0, j
            int64_t total = child.weight, moved
            float64_t bits = 0.0
            const uint16_t* column = &self.codes[test, 0]
            int64_t* sums = &self.by_label[0]
            int64_t* buffer = &self.buffer[0]
            int32_t label
        if self.n_labels == self.n_cases:
            # Every case is a class, and cases come heaviest first.
            n_words = child.n_cases
            if not self.is_worst:
                j = 0
                for i in range(n):
                    if column[cases[i]] == child.code:
                        buffer[j] = self.weight[cases[i]]
                        j += 1
        else:
            for i in range(n):
                if column[cases[i]] == child.code:
                    label = self.label[cases[i]]
                    if sums[2 * label] == 0:
                        sums[2 * label] = 1
                        n_words += 1
                    sums[2 * label + 1] += self.weight[cases[i]]
            j = 0
            for i in range(n):
                label = self.label[cases[i]]
                if sums[2 * label]:
                    buffer[j] = sums[2 * label + 1]
                    # Keep the list falling; there are few classes.
                    moved = j
                    while moved > 0 and buffer[moved - 1] < buffer[moved]:
                        buffer[moved - 1], buffer[moved] = (
                            buffer[moved], buffer[moved - 1]
                        )
                        moved -= 1
                    j += 1
                    sums[2 * label] = 0
                    sums[2 * label + 1] = 0
        if n_words <= 2:
            return 0
        if self.is_worst:
            # Words of length d over so many outcomes: no more than most_codes to the d.
            i = 0
            moved = 1
            while moved < n_words:
                moved *= most_codes
                i += 1
            return max(cheapest * i, round_up(rate * log2(<float64_t> n_words)))
        for i in range(n_words):
            if buffer[i] > 0:
                bits += buffer[i] * log2(<float64_t> total / <float64_t> buffer[i])
        return max(
            cheapest * huffman(buffer, n_words, most_codes), round_up(rate * bits)
        )

    cdef int64_t try_candidates(
        self, const uint16_t* cases, intp_t n, uint64_t key,
        uint64_t open_groups, int64_t limit, int64_t theta, int64_t lower,
        bint is_certified, Candidate* candidates, intp_t n_candidates,
        Child* children, int64_t* worst,
    ) except -1 nogil:
        """Descend into the tests, most promising first; record what is proved."""
        cdef:
            intp_t i, breadth
            int64_t best = TOO_DEAR, rest = TOO_DEAR, enough, value, value_worst = 0
            int64_t best_worst = -1
            int32_t best_test = -1
            uint16_t* part
            Entry* entry

        if n_candidates == 0:
            # Nothing parts the cases (or nothing that the limit allows).
            if limit >= NO_LIMIT:
                entry = self.table.insert(key, cases, n, open_groups, limit)
                entry.lower = 0
                entry.worst = 0
                entry.is_exact = True
                worst[0] = 0
                return 0
            return self.record_lower(
                cases, n, key, open_groups, limit, TOO_DEAR, is_certified
            )
        if self.breadth > 0 and n > SMALL:
            breadth = 2 * self.breadth if n <= 14 else self.breadth
            if breadth < n_candidates:
                qsort(candidates, n_candidates, sizeof(Candidate), compare_score)
                n_candidates = breadth
        qsort(candidates, n_candidates, sizeof(Candidate), compare_lower)
        if self.breadth == 0:
            lower = max(lower, candidates[0].lower)
            if lower >= theta:
                return self.record_lower(
                    cases, n, key, open_groups, limit, lower, is_certified
                )
        part = <uint16_t*> malloc((n + 1) * sizeof(uint16_t))
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
                    cases, n, open_groups, limit, enough, &candidates[i],
                    children + candidates[i].first_child, part, &value_worst,
                )
                if self.is_out:
                    return lower
                if value < enough:
                    best = value
                    best_worst = value_worst
                    best_test = candidates[i].test
                else:
                    rest = min(rest, value)
        finally:
            free(part)
        if best < theta:
            entry = self.table.insert(key, cases, n, open_groups, limit)
            entry.lower = best
            entry.worst = best_worst
            entry.test = best_test
            entry.is_exact = True
            worst[0] = best_worst
            return best
        return self.record_lower(
            cases, n, key, open_groups, limit, max(lower, rest), is_certified
        )

    cdef int64_t try_test(
        self, const uint16_t* cases, intp_t n, uint64_t open_groups, int64_t limit,
        int64_t enough, Candidate* candidate, Child* children, uint16_t* part,
        int64_t* worst,
    ) except -1 nogil:
        """Return what starting with a test costs, or a bound of at least `enough`."""
        cdef:
            intp_t j, k, hardest, n_part, n_children = candidate.n_children
            int64_t total = candidate.lower, value, value_worst = 0, allowed, after
            uint64_t groups = open_groups
            Child spare

        worst[0] = self.dearest(candidate, cases, n, open_groups)
        if self.group[candidate.test] >= 0:
            groups |= (<uint64_t> 1) << self.group[candidate.test]
        # Before any descent, certify all children: it often settles the test.
        if self.use_certificate:
            for j in range(n_children):
                n_part = self.list_part(
                    cases, n, candidate.test, children[j].code, part
                )
                value = self.certify_child(&children[j], part, n_part, groups)
                if value > children[j].lower:
                    total = self.raise_lower(candidate, children, n_children, j, value)
                    if total >= enough:
                        return total
        for j in range(n_children):
            # The hardest child first: if it is too dear, the others are never opened.
            hardest = j
            for k in range(j + 1, n_children):
                if children[k].lower > children[hardest].lower:
                    hardest = k
            spare = children[j]
            children[j] = children[hardest]
            children[hardest] = spare
            n_part = self.list_part(cases, n, candidate.test, children[j].code, part)
            if self.is_worst:
                allowed = enough - children[j].price
            else:
                allowed = enough - (total - children[j].lower)
            after = limit if limit >= NO_LIMIT else limit - children[j].price
            if after < 0:
                return TOO_DEAR
            value = self.solve_state(
                part, n_part, children[j].key, children[j].weight, groups, after,
                allowed, &value_worst,
            )
            if self.is_out:
                return enough
            if value >= TOO_DEAR:
                return TOO_DEAR
            total = self.raise_lower(candidate, children, n_children, j, value)
            worst[0] = max(worst[0], children[j].price + value_worst)
            if total >= enough:
                return total
        return total

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

    cdef intp_t list_part(
        self, const uint16_t* cases, intp_t n, intp_t test, uint16_t code,
        uint16_t* part,
    ) noexcept nogil:
        cdef intp_t i, n_part = 0
        for i in range(n):
            part[n_part] = cases[i]
            n_part += self.codes[test, cases[i]] == code
        return n_part

    cdef int64_t certify_child(
        self, const Child* child, const uint16_t* part, intp_t n_part, uint64_t groups
    ) except -1 nogil:
        """Return the best bound of a child that is proved or can be certified."""
        cdef:
            Entry* entry
            int64_t bound
        groups = self.useful_groups(part, n_part, groups)
        entry = self.table.find(child.key, part, n_part, groups, NO_LIMIT)
        if entry != NULL and (entry.is_exact or entry.is_certified):
            return entry.lower
        bound = self.certify(part, n_part, TOO_DEAR)
        if self.breadth > 0 or self.is_out:
            return bound
        return self.record_lower(
            part, n_part, child.key, groups, NO_LIMIT, bound, True
        )
