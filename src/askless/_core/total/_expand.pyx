"""List the tests that may come next in a state, and bound what they lead to."""

from libc.math cimport log2
from libc.stdlib cimport free, malloc

import numpy as np

from askless._core.base._types cimport float64_t, int32_t, intp_t, uint8_t
from askless._core.total._bound cimport Segment, bound_loss
from askless._core.total._problem cimport Belief, TotalProblem


# What rounding may take from a bound, relatively.
cdef float64_t ROUNDING = 1e-9
# What a path may spend beyond its limit by rounding, relatively.
cdef float64_t SPENT = 1e-12


cdef inline float64_t times_log(float64_t x) noexcept nogil:
    return x * log2(x) if x > 0 else 0.0


cdef class Expander:
    """Bounds of the tests of a state.

    Parameters
    ----------
    problem : TotalProblem
    use_information : bool
        Bound by the price of information; else by the price of the first test alone.
    n_leaves : int
        Split a state into so many parts to see what tests tell together; 1: into none.
    """

    def __init__(
        self, TotalProblem problem not None, bint use_information, intp_t n_leaves
    ):
        cdef intp_t most = 1, t
        self.problem = problem
        self.use_information = use_information
        for t in range(problem.n_tests):
            most = max(most, problem.first[t + 1] - problem.first[t])
        self.nothing_paid = np.zeros(problem.n_tests + 1, dtype=np.uint8)
        self.is_met = np.zeros(problem.n_tests + 1, dtype=np.uint8)
        self.is_wanted = np.zeros(problem.prices.n_groups + 1, dtype=np.uint8)
        self.by_class = np.zeros(problem.n_classes + 1)
        self.bits = np.zeros(problem.n_tests + 1)
        self.parts = np.zeros((problem.n_tests + 1, problem.slope.shape[0]))
        self.logs = np.zeros(most)
        self.height = np.zeros(problem.slope.shape[0] + 1)
        self.by_code = np.zeros(most)
        self.n_leaves = n_leaves
        self.leaves = np.zeros((2 * n_leaves, problem.n_cases + 1))
        self.segments = <Segment*> malloc(
            (problem.n_tests * problem.slope.shape[0] + 1) * sizeof(Segment)
        )
        if self.segments == NULL:
            raise MemoryError("no memory left for the bound by information")

    def __dealloc__(self):
        free(self.segments)

    cdef void mark_useful(
        self, const Belief* state, const uint8_t* is_done, const uint8_t* is_open,
        uint8_t* is_useful,
    ) noexcept nogil:
        cdef intp_t test, group
        for group in range(self.problem.prices.n_groups):
            self.is_wanted[group] = 0
        for test in range(self.problem.n_tests):
            is_useful[test] = not is_done[test] and self.problem.varies(state, test)
            group = self.problem.prices.group[test]
            if is_useful[test] and group >= 0:
                self.is_wanted[group] = 1
        if not self.problem.prices.has_groups:
            return
        for test in range(self.problem.n_tests):
            group = self.problem.prices.group[test]
            if group >= 0 and not is_open[group] and not is_done[test]:
                is_useful[test] = is_useful[test] or self.is_wanted[group]

    cdef float64_t charge(
        self, intp_t test, intp_t code, const uint8_t* is_open
    ) noexcept nogil:
        return self.problem.prices.price(test, code, &self.nothing_paid[0], is_open)

    cdef float64_t most_charged(
        self, intp_t test, const uint8_t* is_open
    ) noexcept nogil:
        cdef:
            intp_t code, n = self.problem.first[test + 1] - self.problem.first[test]
            float64_t most = 0.0
        for code in range(n):
            most = max(most, self.charge(test, code, is_open))
        return most

    cdef void count_codes(self, const Belief* state, intp_t test) noexcept nogil:
        """Add up the weight that shows each code of a test."""
        cdef:
            intp_t first = self.problem.first[test]
            intp_t code, i, n = self.problem.first[test + 1] - first
            const float64_t* chance
            float64_t total
        for code in range(n):
            chance = &self.problem.chance[first + code, 0]
            total = 0.0
            if state.n == self.problem.n_cases:
                for i in range(state.n):
                    total += state.weight[i] * chance[i]
            else:
                for i in range(state.n):
                    total += state.weight[i] * chance[state.cases[i]]
            self.by_code[code] = total

    cdef float64_t told_bits(self, const Belief* state, intp_t test) noexcept nogil:
        """Return the bits that a test whose codes are counted tells about the case."""
        cdef:
            intp_t n = self.problem.first[test + 1] - self.problem.first[test]
            const float64_t* doubt = &self.problem.doubt[test, 0]
            float64_t told = times_log(state.total)
            intp_t i
        for i in range(n):
            told -= times_log(self.by_code[i])
        for i in range(state.n):
            told -= state.weight[i] * doubt[state.cases[i]]
        # Rounding may hide a little, never show more than there is.
        return max(0.0, told) + ROUNDING * state.total

    cdef void lower_lines(
        self, const Belief* state, intp_t test, float64_t share_now
    ) noexcept nogil:
        """Lower the lines above a test by one mixture.

        The mixture has this share of what the test is expected to show now, the rest of
        what it would show if cases were as likely as tells most.
        """
        cdef:
            intp_t first = self.problem.first[test], i, s, code
            intp_t n_codes = self.problem.first[test + 1] - first
            intp_t n_slopes = self.problem.slope.shape[0]
            const float64_t* doubt = &self.problem.doubt[test, 0]
            float64_t mixed, divergence, capacity = self.problem.capacity[test]
            float64_t lines[8]
        for code in range(n_codes):
            mixed = (
                share_now * self.by_code[code] / state.total
                + (1 - share_now) * self.problem.mixture[first + code]
            )
            self.logs[code] = log2(mixed) if mixed > 0 else -1000.0
        for s in range(1, n_slopes):
            lines[s] = 0.0
        for i in range(state.n):
            divergence = -doubt[state.cases[i]]
            for code in range(n_codes):
                divergence -= (
                    self.problem.chance[first + code, state.cases[i]]
                    * self.logs[code]
                )
            for s in range(1, n_slopes):
                lines[s] += state.weight[i] * max(
                    0.0, divergence - capacity * self.problem.slope[s]
                )
        for s in range(1, n_slopes):
            self.height[s] = min(self.height[s], lines[s])

    cdef void cut_bits(self, const Belief* state, intp_t test) noexcept nogil:
        cdef:
            intp_t s, later, best, n_slopes = self.problem.slope.shape[0]
            float64_t capacity = self.problem.capacity[test]
            float64_t told = self.told_bits(state, test), x = 0.0, q = 0.0
            float64_t meets, first_meets, slope, other
        self.bits[test] = told
        for s in range(n_slopes):
            self.parts[test, s] = 0.0
            self.height[s] = 1e300 if s > 0 else 0.0
        if n_slopes > 1 and capacity > 0:
            self.lower_lines(state, test, 1.0)
            self.lower_lines(state, test, 0.5)
            self.lower_lines(state, test, 0.0)
        s = 0
        while True:
            # Follow a line until the first one below it.
            slope = capacity * self.problem.slope[s]
            first_meets = (told - self.height[s]) / slope if slope > 0 else 1e300
            best = -1
            for later in range(s + 1, n_slopes):
                other = capacity * self.problem.slope[later]
                if other >= slope:
                    continue
                meets = (self.height[later] - self.height[s]) / (slope - other)
                if meets < first_meets:
                    first_meets = meets
                    best = later
            first_meets = max(first_meets, q)
            self.parts[test, s] = max(0.0, slope * (first_meets - q))
            x += self.parts[test, s]
            q = first_meets
            if best < 0:
                break
            s = best
        # Rounding may hide a little.
        self.parts[test, s] += max(0.0, told - x)

    cdef float64_t open_bits(self, const Belief* state, intp_t* n_classes) noexcept nogil:
        """Return the bits of the class that are open, and count the classes."""
        cdef:
            intp_t i, c, n = 0
            float64_t bits = times_log(state.total)
        for c in range(self.problem.n_classes):
            self.by_class[c] = 0.0
        for i in range(state.n):
            self.by_class[self.problem.class_id[state.cases[i]]] += state.weight[i]
        for c in range(self.problem.n_classes):
            if self.by_class[c] > 0:
                n += 1
                bits -= times_log(self.by_class[c])
        n_classes[0] = n
        return max(0.0, bits)

    cdef float64_t mean_charge(
        self, const Belief* state, intp_t test, const uint8_t* is_open
    ) noexcept nogil:
        """Return what a test whose codes are counted charges, by weight."""
        cdef:
            intp_t n = self.problem.first[test + 1] - self.problem.first[test]
            float64_t charged = 0.0
            intp_t code
        if not self.problem.prices.has_outcome_prices:
            return state.total * self.charge(test, -1, is_open)
        for code in range(n):
            charged += self.by_code[code] * self.charge(test, code, is_open)
        return charged

    cdef void join(self, const Belief* state, intp_t n_segments) noexcept nogil:
        cdef:
            intp_t s, i, n_codes, begin = 0, n_leaves = 1
            float64_t together = 0.0, used = 0.0
            Segment* segment
        for i in range(state.n):
            self.leaves[0, i] = state.weight[i]
        for i in range(self.problem.n_tests):
            self.is_met[i] = 0
        for s in range(n_segments):
            segment = &self.segments[s]
            if not self.is_met[segment.test]:
                self.is_met[segment.test] = 1
                together += self.told_by_leaves(state, segment.test, n_leaves, begin)
                n_codes = (
                    self.problem.first[segment.test + 1]
                    - self.problem.first[segment.test]
                )
                if n_leaves * n_codes <= self.n_leaves:
                    n_leaves = self.split_leaves(state, segment.test, n_leaves, begin)
                    begin = self.n_leaves - begin
            segment.bits = max(0.0, min(segment.bits, together - used))
            used += segment.bits

    cdef float64_t told_by_leaves(
        self, const Belief* state, intp_t test, intp_t n_leaves, intp_t begin
    ) noexcept nogil:
        """Return the bits that a test tells on average, the part being known."""
        cdef:
            intp_t first = self.problem.first[test]
            intp_t code, i, leaf, n_codes = self.problem.first[test + 1] - first
            float64_t told = 0.0, total, shown
            const float64_t* doubt = &self.problem.doubt[test, 0]
            const float64_t* chance
            const float64_t* weight
        for leaf in range(begin, begin + n_leaves):
            weight = &self.leaves[leaf, 0]
            total = 0.0
            for i in range(state.n):
                total += weight[i]
                told -= weight[i] * doubt[state.cases[i]]
            told += times_log(total)
            for code in range(n_codes):
                chance = &self.problem.chance[first + code, 0]
                shown = 0.0
                for i in range(state.n):
                    shown += weight[i] * chance[state.cases[i]]
                told -= times_log(shown)
        return max(0.0, told) + ROUNDING * state.total

    cdef intp_t split_leaves(
        self, const Belief* state, intp_t test, intp_t n_leaves, intp_t begin
    ) noexcept nogil:
        """Split the parts by a test, into the other half of the room; count them."""
        cdef:
            intp_t first = self.problem.first[test]
            intp_t code, i, leaf, n = 0
            intp_t n_codes = self.problem.first[test + 1] - first
            intp_t target = self.n_leaves - begin
            const float64_t* chance
        for leaf in range(begin, begin + n_leaves):
            for code in range(n_codes):
                chance = &self.problem.chance[first + code, 0]
                for i in range(state.n):
                    self.leaves[target + n, i] = (
                        self.leaves[leaf, i] * chance[state.cases[i]]
                    )
                n += 1
        return n

    cdef intp_t expand(
        self, const Belief* state, const uint8_t* is_useful, const uint8_t* is_done,
        const uint8_t* is_open, Candidate* candidates, float64_t* bound,
    ) noexcept nogil:
        cdef:
            intp_t i, test, n = 0, n_segments = 0, n_classes = 0, n_delayed = 0
            int32_t earlier, number
            intp_t n_slopes = self.problem.slope.shape[0]
            float64_t open_bits = self.open_bits(state, &n_classes)
            float64_t least = 1e300, base = 0.0, together
            Candidate* candidate
            Segment* segment
        for i in range(self.problem.n_classes):
            base += self.by_class[i] * self.problem.least_loss[i]
        for test in range(self.problem.n_tests):
            if not is_useful[test]:
                continue
            self.count_codes(state, test)
            self.cut_bits(state, test)
            earlier = self.problem.earlier[test]
            if earlier >= 0 and not is_done[earlier]:
                continue
            if self.problem.prices.delayed[test]:
                # It comes with all that follows it; see `_batch`.
                n_delayed += 1
                continue
            if self.most_charged(test, is_open) > state.left * (1 + SPENT) + SPENT:
                continue
            candidate = &candidates[n]
            candidate.test = <int32_t> test
            candidate.bits = self.bits[test]
            candidate.price = self.problem.cost_weight * self.mean_charge(
                state, test, is_open
            )
            n += 1
        for i in range(self.problem.order.shape[0]):
            number = self.problem.order[i]
            test = number // n_slopes
            if not is_useful[test] or self.parts[test, number % n_slopes] <= 0:
                continue
            segment = &self.segments[n_segments]
            segment.bits = self.parts[test, number % n_slopes]
            segment.number = number
            segment.test = <int32_t> test
            n_segments += 1
        if self.use_information and self.n_leaves > 1:
            self.join(state, n_segments)
        for i in range(n):
            candidate = &candidates[i]
            candidate.lower = candidate.price + base
            if self.use_information:
                candidate.lower += bound_loss(
                    self.problem, state, n_classes, open_bits - candidate.bits,
                    self.segments, n_segments, candidate.test, state.left,
                )
            candidate.lower *= 1 - ROUNDING
            least = min(least, candidate.lower)
        if n_delayed > 0:
            together = base
            if self.use_information:
                together += bound_loss(
                    self.problem, state, n_classes, open_bits, self.segments,
                    n_segments, -1, state.left,
                )
            least = min(least, together * (1 - ROUNDING))
        bound[0] = least
        return n
