"""Search for the cheapest policy of a table with unknown outcomes.

The sibling of ``_search`` for states that carry noise: the cases left, and how unlikely
the answers so far made each of them. A test of price c leads to

    expected:  V(S, w) = min over tests of  c w(S) + sum over outcomes  V(S_o, w_o)
    worst:     V(S)    = min over tests of  c + max over outcomes  V(S_o)

where an unknown case goes into every S_o that its coin allows, lighter by its chance.
Values scale with the weights, so a state is kept with its noise counted from the least.

An outcome that was seen once is seen again. Which tests were done is not part of the
state, since a test that is sure to tell two cases left apart cannot have been done. The
others may have been, and there are three ways to deal with that:

* SURE: buy only tests that are sure to tell something. What is found is a policy.
* RELAXED: throw a fresh coin every time. What is proved is a lower bound; if the best
  policy repeats no test on any path, it is the best policy in truth.
* TRACKED: keep the tests done that matter as a part of the state. Exact, and slower.

Values are real numbers; whether a value is one of a policy or a bound is told by a flag
and never by a comparison.
"""

from libc.math cimport log2
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memcpy, memset

import numpy as np

from askless._core.base._bits cimport count_bits, lowest_bit
from askless._core.base._clock cimport seconds_now
from askless._core.base._huffman cimport huffman
from askless._core.unknown._table cimport (
    NoisyTable, Scratch, close_scratch, open_scratch, power_of_half,
    ELIMINATION, INFORMATION, ONE_SIDED, TWO_SIDED, USELESS,
)
from askless._core.price._prices cimport Prices
from askless._core.search._states cimport Entry, StateTable
from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t, uint64_t,
)


cdef enum:
    SURE = 0
    RELAXED = 1
    TRACKED = 2

cdef float64_t TOO_DEAR = 1e300
# What rounding may take from a bound, relatively. Bounds are lowered by it, so that a
# policy is never cut for a rounding error.
cdef float64_t ROUNDING = 1e-12
# Small sets are searched in full even by a restricted search.
cdef intp_t SMALL = 6
# Sets of at most so many tests are tried to certify a case, in at most so many steps,
# and only for cases that weigh more than one in so many.
cdef intp_t MOST_COVER = 6
cdef intp_t COVER_STEPS = 400
cdef float64_t HEAVY = 12.0
# Deeper than this, the stack of a thread may end.
cdef intp_t MOST_DEPTH = 3000


cdef struct Candidate:
    float64_t base   # what the test itself charges, at least
    float64_t lower
    float64_t score
    int32_t test
    uint8_t kind


# An outcome of the test that is being tried, if it leaves anything open.
cdef struct Child:
    intp_t first     # of its cases in the buffer
    intp_t n
    float64_t scale  # weights in the child are these times those of its own state
    float64_t lower  # of its own state
    float64_t mass
    float64_t price  # of the worst case: what the test charges on the way here
    bint is_certified


# What one outcome of a test amounts to, for bounds.
cdef struct Sum:
    int64_t n
    float64_t mass
    float64_t logs   # sum of m log2 m over labels
    int32_t n_labels


cdef void swap_children(Child* a, Child* b) noexcept nogil:
    cdef Child kept = a[0]
    a[0] = b[0]
    b[0] = kept


cdef int compare_lower(const void* a, const void* b) noexcept nogil:
    """Order by lower bound, then sure tests first, then by test."""
    cdef const Candidate* x = <const Candidate*> a
    cdef const Candidate* y = <const Candidate*> b
    if x.lower != y.lower:
        return -1 if x.lower < y.lower else 1
    if x.kind != y.kind:
        return -1 if x.kind > y.kind else 1
    return x.test - y.test


cdef int compare_score(const void* a, const void* b) noexcept nogil:
    cdef const Candidate* x = <const Candidate*> a
    cdef const Candidate* y = <const Candidate*> b
    if x.score != y.score:
        return -1 if x.score > y.score else 1
    return x.test - y.test


cdef int compare_reals(const void* a, const void* b) noexcept nogil:
    """Order numbers, the largest first."""
    cdef float64_t x = (<const float64_t*> a)[0]
    cdef float64_t y = (<const float64_t*> b)[0]
    return (x < y) - (x > y)


cdef inline float64_t real_of(int64_t bits) noexcept nogil:
    cdef float64_t value
    memcpy(&value, &bits, sizeof(float64_t))
    return value


cdef inline int64_t bits_of(float64_t value) noexcept nogil:
    cdef int64_t bits
    memcpy(&bits, &value, sizeof(float64_t))
    return bits


cdef inline float64_t plogp(float64_t p) noexcept nogil:
    return p * log2(p) if p > 0 else 0.0


cdef class NoisySearch:
    """One search over one noisy table, for one objective.

    Parameters
    ----------
    table : NoisyTable
        Cases of one label must stand together.
    price : ndarray of shape (n_tests,)
        The least that each test may charge.
    engine : Prices, optional
        What tests charge by their outcome and once their group is open, if they do.
    mode : {0, 1, 2}
        Sure tests only, relaxed, or tracked; see above.
    near : ndarray of uint64 of shape (n_cases, n_words), optional
        Bits of the cases that each need not be told from.
    block : ndarray of int32 of shape (n_cases,), optional
        Cases that a policy may leave together are of one block, and stand together; the
        labels by default. Only bounds look at it.
    stops_near : bool
        Whether a set inside the neighbourhood of one case is settled; else, one in
        which every two cases are near.
    breadth : int
        Look only at so many of the best-scored tests of a state; 0: at all.
    """

    cdef readonly NoisyTable table
    cdef const float64_t[::1] price
    cdef Prices engine
    cdef bint has_context
    cdef uint8_t[::1] is_open   # groups
    cdef uint8_t[::1] is_paid   # no test: none is bought twice
    cdef readonly int mode
    cdef readonly bint is_worst
    cdef readonly intp_t breadth
    cdef readonly bint by_information
    cdef const uint64_t[:, ::1] near
    cdef bint has_near
    cdef const int32_t[::1] block
    cdef bint has_single_blocks
    cdef bint stops_near
    cdef readonly StateTable states
    cdef uint64_t[::1] hash
    cdef uint64_t[::1] case_hash
    cdef Scratch scratch
    cdef uint64_t[::1] alive_bits
    cdef uint8_t[::1] is_done
    cdef const float64_t[:, ::1] pair_price  # least price that parts two cases
    cdef bint has_pairs
    # Bits of the tests that may rule out y if x is true: (n_cases, n_cases, n_words).
    cdef const uint64_t[:, :, ::1] rules
    cdef bint use_certificate
    cdef int32_t[::1] rest          # (MOST_COVER + 1, n_cases)
    cdef intp_t n_covers
    cdef int32_t[::1] heap
    cdef float64_t cheapest_of_all
    cdef uint16_t[::1] words
    cdef Sum* sums
    cdef Sum* run
    cdef float64_t[::1] buffer

    # Switches: they change time, never the answer.
    cdef readonly bint use_huffman
    cdef readonly bint use_entropy
    cdef readonly bint use_children
    cdef readonly bint use_shares

    cdef readonly intp_t n_expanded
    # Whether a relaxed search has given up, lost in throws of one coin after another.
    cdef readonly bint is_too_deep
    cdef intp_t depth
    cdef float64_t dearest
    cdef float64_t deadline
    cdef volatile bint is_stopped
    cdef bint is_out

    def __init__(
        self,
        NoisyTable table not None,
        const float64_t[::1] price not None,
        *,
        int mode,
        bint is_worst,
        intp_t max_bytes,
        Prices engine=None,
        const uint64_t[:, ::1] near=None,
        const int32_t[::1] block=None,
        bint stops_near=False,
        const float64_t[:, ::1] pair_price=None,
        const uint64_t[:, :, ::1] rules=None,
        intp_t breadth=0,
        bint by_information=False,
        bint use_huffman=True,
        bint use_entropy=True,
        bint use_children=True,
        bint use_shares=True,
    ):
        cdef intp_t n = table.n_cases
        self.table = table
        self.price = price
        self.mode = mode
        self.is_worst = is_worst
        self.breadth = breadth
        self.by_information = by_information
        self.has_near = near is not None
        if near is not None:
            self.near = near
            self.alive_bits = np.zeros(near.shape[1], dtype=np.uint64)
        self.stops_near = stops_near
        self.block = table.label if block is None else block
        self.has_single_blocks = len(np.unique(self.block)) == n
        self.engine = engine
        self.has_context = engine is not None
        self.is_open = np.zeros(1 if engine is None else engine.n_groups + 1, np.uint8)
        self.is_paid = np.zeros(table.n_tests + 1, dtype=np.uint8)
        self.has_pairs = (
            pair_price is not None and near is None and not self.has_context
        )
        if pair_price is not None:
            self.pair_price = pair_price
        self.use_certificate = (
            rules is not None and near is None and not is_worst
            and table.has_single_labels
        )
        if rules is not None:
            self.rules = rules
        self.rest = np.zeros((MOST_COVER + 2) * n, dtype=np.int32)
        self.states = StateTable(max_bytes)
        rng = np.random.default_rng(20190101)
        self.hash = rng.integers(0, 2**64, 1 << 16, dtype=np.uint64)
        self.case_hash = rng.integers(0, 2**64, n, dtype=np.uint64)
        self.is_done = np.zeros(table.n_tests + 1, dtype=np.uint8)
        self.words = np.zeros(
            5 * n + table.n_tests + self.is_open.shape[0] + 8, dtype=np.uint16
        )
        self.heap = np.zeros(n + 1, dtype=np.int32)
        self.buffer = np.zeros(4 * n + 8)
        self.cheapest_of_all = np.min(price)
        self.dearest = np.max(price)
        self.use_huffman = use_huffman
        self.use_entropy = use_entropy
        self.use_children = use_children
        self.use_shares = use_shares
        open_scratch(&self.scratch, table.most_codes)
        self.sums = <Sum*> malloc((table.most_codes + 1) * sizeof(Sum))
        self.run = <Sum*> malloc((table.most_codes + 1) * sizeof(Sum))
        if self.sums == NULL or self.run == NULL:
            raise MemoryError("no memory left for a search")

    def __dealloc__(self):
        close_scratch(&self.scratch)
        free(self.sums)
        free(self.run)

    def stop(self):
        """Make a running search return soon, and later ones at once."""
        self.is_stopped = True

    def resume(self):
        """Take a stop back."""
        self.is_stopped = False

    def run_state(
        self,
        const int32_t[::1] cases not None,
        const int64_t[::1] noise not None,
        float64_t theta,
        float64_t seconds,
        done=(),
    ):
        """Solve a state up to a threshold within some seconds.

        Returns (value, is_exact, test): the value with the first test of its policy if
        it is exact, else a lower bound and -1; or None if it was stopped. A test of -1
        in an exact answer means that the state is settled.
        """
        cdef:
            intp_t n = cases.shape[0], i, test = -1
            int64_t[::1] own = np.zeros(n, dtype=np.int64)
            int64_t least
            float64_t value, scale
            bint is_exact = False
        least = min(np.asarray(noise)) if n else 0
        if not self.is_worst:
            for i in range(n):
                own[i] = noise[i] - least
        scale = 1.0 if self.is_worst else power_of_half(least)
        self.is_done[:] = 0
        self.is_open[:] = 0
        for i in done:
            self.is_done[i] = 1
            if self.has_context and self.engine.group[i] >= 0:
                self.is_open[self.engine.group[i]] = 1
        self.is_out = False
        self.depth = 0
        self.deadline = seconds_now() + seconds
        with nogil:
            value = self.solve_state(
                &cases[0], &own[0], n, theta / scale, &is_exact, &test
            )
        if self.is_out and not is_exact:
            return None
        return value * scale, bool(is_exact), int(test) if is_exact else -1

    def lower_bound(
        self, const int32_t[::1] cases not None, const int64_t[::1] noise not None
    ):
        """Return what is proved so far of a state that has no done tests."""
        cdef:
            intp_t n_words = 0
            uint64_t key
            Entry* entry
            int64_t[::1] own = np.asarray(noise) - np.min(noise)
        self.is_done[:] = 0
        self.is_open[:] = 0
        key = self.spell(&cases[0], &own[0], cases.shape[0], &n_words)
        entry = self.states.find(key, &self.words[0], n_words, 0, 0)
        if entry == NULL:
            return 0.0
        return real_of(entry.lower) * power_of_half(np.min(noise))

    cdef float64_t price_now(self, intp_t test, intp_t code) noexcept nogil:
        """Return what a test charges if it shows a code, as things stand."""
        if not self.has_context:
            return self.price[test]
        return self.engine.price(test, code, &self.is_paid[0], &self.is_open[0])

    cdef bint may_open(self, intp_t test) noexcept nogil:
        """Return whether buying a test would open its group."""
        if not self.has_context or self.table.n_levels[test] == 0:
            return False
        return self.engine.group[test] >= 0 and not self.is_open[
            self.engine.group[test]
        ]

    cdef bint is_late(self) noexcept nogil:
        if not self.is_out:
            self.is_out = self.is_stopped or seconds_now() > self.deadline
        return self.is_out

    cdef bint is_settled(self, const int32_t* cases, intp_t n) noexcept nogil:
        cdef:
            intp_t i, x
            bint answer
        if n == 0 or self.table.label[cases[0]] == self.table.label[cases[n - 1]]:
            return True
        if not self.has_near:
            return False
        for i in range(n):
            self.alive_bits[cases[i] >> 6] |= (<uint64_t> 1) << (cases[i] & 63)
        if self.stops_near:
            answer = False
            for x in range(self.table.n_cases):
                if self.is_inside(x):
                    answer = True
                    break
        else:
            answer = True
            for i in range(n):
                if not self.is_inside(cases[i]):
                    answer = False
                    break
        for i in range(n):
            self.alive_bits[cases[i] >> 6] = 0
        return answer

    cdef bint is_inside(self, intp_t x) noexcept nogil:
        cdef intp_t word
        for word in range(self.near.shape[1]):
            if self.alive_bits[word] & ~self.near[x, word]:
                return False
        return True

    cdef uint64_t spell(
        self, const int32_t* cases, const int64_t* noise, intp_t n, intp_t* n_words
    ) noexcept nogil:
        """Write a state as words; return its key."""
        cdef:
            intp_t i, k, at = 1, test
            uint64_t key = 0
            uint8_t kind
            bint has_noise = False
            uint16_t* words = &self.words[0]
        for i in range(n):
            words[at] = <uint16_t> cases[i]
            at += 1
            if noise[i]:
                has_noise = True
                key += (self.case_hash[cases[i]] ^ <uint64_t> noise[i]) * (
                    <uint64_t> 0x9E3779B97F4A7C15
                )
            else:
                key += self.case_hash[cases[i]]
        words[0] = 2 if has_noise else 0
        if has_noise:
            for i in range(n):
                if self.table.has_whole_bits:
                    words[at] = <uint16_t> (noise[i] >> 40)
                    at += 1
                else:
                    for k in range(4):
                        words[at] = <uint16_t> ((noise[i] >> (16 * k)) & 0xFFFF)
                        at += 1
        if self.mode == TRACKED:
            for test in range(self.table.n_tests):
                if not self.is_done[test]:
                    continue
                self.measure(test, cases, NULL, n, &kind)
                if kind == ONE_SIDED:
                    words[at] = <uint16_t> test
                    at += 1
                    key ^= self.hash[test & 0xFFFF] * (
                        <uint64_t> 0xC2B2AE3D27D4EB4F
                    )
        if self.has_context and self.engine.has_groups:
            for k in range(self.engine.n_groups):
                if self.is_open[k]:
                    # Numbered after the tests.
                    words[at] = <uint16_t> (self.table.n_tests + k)
                    at += 1
                    key ^= self.hash[(self.table.n_tests + k) & 0xFFFF] * (
                        <uint64_t> 0xD6E8FEB86659FD93
                    )
        n_words[0] = at
        return key

    cdef bint measure(
        self, intp_t test, const int32_t* cases, const float64_t* weight, intp_t n,
        uint8_t* kind,
    ) noexcept nogil:
        """Fill ``sums`` with what each outcome of a test amounts to; tell its kind.

        Without weights only the kind is told. Sums of levels beyond the last that
        occurs are filled too, since coins may show them.
        """
        cdef:
            intp_t i, code, n_codes = self.table.n_levels[test] + 1
            intp_t unknown = n_codes, end, n_seen = 0
            const uint8_t* narrow = self.table.narrow
            const uint16_t* wide = self.table.wide
            Sum* sums = self.sums
            Sum* run = self.run
            float64_t c, m
            int64_t gone
            bint is_two = False
        if self.table.n_levels[test] == 0:
            kind[0] = USELESS
            return False
        if wide != NULL:
            wide += test * self.table.n_cases
        else:
            narrow += test * self.table.n_cases
        memset(sums, 0, (n_codes + 1) * sizeof(Sum))
        if self.has_single_blocks:
            for i in range(n):
                code = wide[cases[i]] if wide != NULL else narrow[cases[i]]
                sums[code].n += 1
                if weight != NULL:
                    sums[code].mass += weight[i]
                    sums[code].logs += weight[n + i]
            for code in range(n_codes):
                sums[code].n_labels = <int32_t> min(sums[code].n, 2)
        else:
            i = 0
            memset(run, 0, (n_codes + 1) * sizeof(Sum))
            while i < n:
                end = i
                while end < n and (
                    self.block[cases[end]] == self.block[cases[i]]
                ):
                    code = wide[cases[end]] if wide != NULL else narrow[cases[end]]
                    run[code].n += 1
                    if weight != NULL:
                        run[code].mass += weight[end]
                    end += 1
                for code in range(n_codes + 1):
                    sums[code].n += run[code].n
                    sums[code].mass += run[code].mass
                    if code == unknown:
                        continue
                    c = self.table.chance(test, code)
                    if run[code].n > 0 or (run[unknown].n > 0 and c > 0):
                        sums[code].n_labels += 1
                        if weight != NULL:
                            m = run[code].mass + c * run[unknown].mass
                            sums[code].logs += plogp(m)
                memset(run, 0, (n_codes + 1) * sizeof(Sum))
                i = end
        # What kind of test it is.
        kind[0] = USELESS
        for code in range(n_codes):
            if sums[code].n > 0:
                n_seen += 1
                c = self.table.chance(test, code)
                gone = n - sums[code].n - (sums[unknown].n if c > 0 else 0)
                if gone > 0:
                    is_two = True
        if is_two:
            kind[0] = TWO_SIDED
        elif sums[unknown].n > 0 and n_seen > 0 and self.table.n_support[test] > 1:
            kind[0] = ONE_SIDED
        if kind[0] == USELESS or weight == NULL:
            return kind[0] != USELESS
        # Unknown cases go everywhere that their coin allows.
        if sums[unknown].n > 0:
            for code in range(n_codes):
                c = self.table.chance(test, code)
                if c <= 0:
                    continue
                sums[code].n += sums[unknown].n
                sums[code].mass += c * sums[unknown].mass
                if self.has_single_blocks:
                    sums[code].n_labels = <int32_t> min(sums[code].n, 2)
                    sums[code].logs += c * (
                        sums[unknown].logs + log2(c) * sums[unknown].mass
                    )
        return True

    cdef float64_t bound_words(
        self, const int32_t* cases, const float64_t* weight, intp_t n,
        float64_t cheapest, float64_t rate, intp_t arity,
    ) noexcept nogil:
        """Bound a state that is not settled by the code words that its blocks need.

        Take each case's luckiest throw of the coins: the outcomes that it shows until
        its block is known are code words, none the beginning of another.
        """
        cdef:
            intp_t i, k = 0
            float64_t total = 0.0, logs = 0.0, m = 0.0, bound = 0.0
            int64_t n_words
            float64_t* buffer = &self.buffer[0]
        for i in range(n):
            m += weight[i]
            if i + 1 == n or self.block[cases[i]] != self.block[cases[i + 1]]:
                buffer[k] = m
                total += m
                logs += plogp(m)
                k += 1
                m = 0.0
        if k < 2:
            # One block, and yet not settled: at least one test more.
            if not self.has_near:
                return 0.0
            return cheapest if self.is_worst else cheapest * total * (1 - ROUNDING)
        if self.is_worst:
            n_words = 1
            bound = 0.0
            while n_words < k:
                n_words *= arity
                bound += cheapest
            return max(bound, rate * log2(<float64_t> k) * (1 - ROUNDING))
        bound = cheapest * total
        if self.use_entropy:
            bound = max(bound, rate * (plogp(total) - logs))
        if self.use_huffman and k > 2:
            qsort(buffer, k, sizeof(float64_t), compare_reals)
            bound = max(bound, cheapest * huffman(buffer, k, arity))
        return bound * (1 - ROUNDING)

    cdef float64_t solve_state(
        self, const int32_t* cases, const int64_t* noise, intp_t n, float64_t theta,
        bint* is_exact, intp_t* first_test,
    ) except -1 nogil:
        """Return the value if `is_exact`, else a lower bound, of at least theta unless
        the search is out of time.
        """
        cdef:
            Entry* entry
            uint64_t key
            intp_t n_words = 0, n_candidates = 0
            uint16_t* words = NULL
            float64_t* weight = NULL
            Candidate* candidates = NULL
            float64_t lower = 0.0, found
        is_exact[0] = False
        first_test[0] = -1
        if self.is_settled(cases, n):
            is_exact[0] = True
            return 0.0
        if n == 2 and self.has_pairs and (
            self.pair_price[cases[0], cases[1]] <= self.cheapest_of_all
        ):
            # No test is cheaper than one that parts the two for sure.
            is_exact[0] = True
            first_test[0] = self.find_parting(cases[0], cases[1])
            found = self.cheapest_of_all
            if self.is_worst:
                return found
            return found * (
                self.table.prior[cases[0]] * power_of_half(noise[0])
                + self.table.prior[cases[1]] * power_of_half(noise[1])
            )
        key = self.spell(cases, noise, n, &n_words)
        entry = self.states.find(key, &self.words[0], n_words, 0, 0)
        if entry != NULL:
            lower = real_of(entry.lower)
            if entry.is_exact:
                is_exact[0] = True
                first_test[0] = entry.test
                return lower
            if lower >= theta:
                return lower
        if self.depth > MOST_DEPTH:
            self.is_too_deep = True
            self.is_out = True
        if self.is_late():
            return lower
        if self.mode == RELAXED:
            # A sure test always takes a case away, so no best policy needs more of them
            # than cases. Without this, a relaxed search might throw coins for ever.
            found = (n - 1) * self.dearest
            if not self.is_worst:
                found *= self.weigh_all(cases, noise, n)
            theta = min(theta, found * (1 + 1e-9) + 1e-300)
            if lower >= theta:
                return lower
        words = <uint16_t*> malloc((n_words + 1) * sizeof(uint16_t))
        weight = <float64_t*> malloc((2 * n + 3) * sizeof(float64_t))
        candidates = <Candidate*> malloc(
            (self.table.n_tests + 1) * sizeof(Candidate)
        )
        try:
            if words == NULL or weight == NULL or candidates == NULL:
                with gil:
                    raise MemoryError("no memory left to expand a state")
            memcpy(words, &self.words[0], n_words * sizeof(uint16_t))
            found = self.expand(cases, noise, n, weight, candidates, &n_candidates)
            lower = max(lower, found)
            if n_candidates == 0 or lower >= theta:
                found = lower
                if n_candidates == 0 and found < theta:
                    # Nothing is sure to tell these apart any more.
                    is_exact[0] = True
                    found = 0.0
            else:
                self.n_expanded += 1
                found = self.try_candidates(
                    cases, noise, n, weight, theta, lower, candidates, n_candidates,
                    is_exact, first_test,
                )
                if self.is_out and not is_exact[0]:
                    return lower
            entry = self.states.insert(key, words, n_words, 0, 0)
            if is_exact[0]:
                entry.lower = bits_of(found)
                entry.is_exact = True
                entry.test = <int32_t> first_test[0]
            elif found > real_of(entry.lower):
                entry.lower = bits_of(found)
        finally:
            free(words)
            free(weight)
            free(candidates)
        return found

    cdef float64_t certify(
        self, const int32_t* cases, const float64_t* weight, intp_t n,
        float64_t cheapest, intp_t arity,
    ) noexcept nogil:
        """Bound a state by code words that are long enough to be told apart.

        The word of a case is at least as long as the fewest tests that may rule out
        all others. Starting from these lengths, words are made longer, always where it
        costs least for the room that it makes, until all of them fit.
        """
        cdef:
            intp_t i, k, most, top
            float64_t total = 0.0, cost = 0.0, room = -1.0, share, gained
            float64_t base = <float64_t> arity
            int32_t* heap = &self.heap[0]
            float64_t* ratio = &self.buffer[0]
            float64_t* length = ratio + n
        for i in range(n):
            total += weight[i]
        if total <= 0:
            return 0.0
        for i in range(n):
            k = 1
            if weight[i] * HEAVY >= total:
                # Words of light cases are long enough without it.
                most = min(MOST_COVER, <intp_t> (log2(total / weight[i])) + 3)
                while k < most:
                    self.n_covers = 0
                    if self.may_cover(cases, n, cases[i], k):
                        break
                    k += 1
            length[i] = <float64_t> k
            cost += weight[i] * k
            share = base ** (-<float64_t> k)
            room += share
            # What a longer word costs for the room that it makes.
            ratio[i] = weight[i] / (share * (1 - 1 / base))
            heap[i] = <int32_t> i
        i = n // 2
        while i > 0:
            i -= 1
            self.sift(heap, ratio, i, n)
        while room > 1e-12:
            top = heap[0]
            share = base ** (-length[top])
            gained = share * (1 - 1 / base)
            if gained >= room:
                cost += weight[top] * room / gained
                break
            room -= gained
            cost += weight[top]
            length[top] += 1
            ratio[top] *= base
            self.sift(heap, ratio, 0, n)
        return cheapest * cost * (1 - 1e-9)

    cdef void sift(
        self, int32_t* heap, const float64_t* ratio, intp_t at, intp_t n
    ) noexcept nogil:
        """Put the item of a heap where it belongs, least ratio on top."""
        cdef:
            intp_t child
            int32_t item = heap[at]
        while 2 * at + 1 < n:
            child = 2 * at + 1
            if child + 1 < n and ratio[heap[child + 1]] < ratio[heap[child]]:
                child += 1
            if ratio[heap[child]] >= ratio[item]:
                break
            heap[at] = heap[child]
            at = child
        heap[at] = item

    cdef bint may_cover(
        self, const int32_t* others, intp_t n, intp_t case, intp_t k
    ) noexcept nogil:
        """Return whether k tests may rule out all others; True if it takes too long."""
        cdef:
            intp_t i, w, n_words = self.rules.shape[2], fewest = 1 << 30, n_bits
            intp_t hardest = -1, test, n_after
            uint64_t word, still
            const uint64_t* row
            int32_t* after = &self.rest[(k - 1) * self.table.n_cases]
        self.n_covers += 1
        if self.n_covers > COVER_STEPS:
            return True
        # One test for all.
        for w in range(n_words):
            word = ~(<uint64_t> 0)
            for i in range(n):
                if others[i] != case:
                    word &= self.rules[case, others[i], w]
                    if word == 0:
                        break
            if word:
                return True
        if k == 1:
            return False
        for i in range(n):
            if others[i] == case:
                continue
            n_bits = 0
            for w in range(n_words):
                n_bits += count_bits(self.rules[case, others[i], w])
            if n_bits < fewest:
                fewest = n_bits
                hardest = others[i]
        for w in range(n_words):
            still = self.rules[case, hardest, w]
            while still:
                test = lowest_bit(still)
                still &= still - 1
                n_after = 0
                for i in range(n):
                    row = &self.rules[case, others[i], 0]
                    after[n_after] = others[i]
                    n_after += others[i] != case and not (row[w] >> test) & 1
                if n_after == 0 or self.may_cover(after, n_after, case, k - 1):
                    return True
        return False

    cdef float64_t weigh_all(
        self, const int32_t* cases, const int64_t* noise, intp_t n
    ) noexcept nogil:
        cdef:
            intp_t i
            float64_t total = 0.0
        for i in range(n):
            total += self.table.prior[cases[i]] * power_of_half(noise[i])
        return total

    cdef intp_t find_parting(self, intp_t x, intp_t y) noexcept nogil:
        """Return the first of the cheapest tests that is sure to part two cases."""
        cdef intp_t test, a, b, unknown
        for test in range(self.table.n_tests):
            if self.price[test] > self.cheapest_of_all:
                continue
            a = self.table.code(test, x)
            b = self.table.code(test, y)
            unknown = self.table.n_levels[test] + 1
            if a == b:
                continue
            if a != unknown and b != unknown:
                return test
            if self.table.chance(test, a if b == unknown else b) <= 0:
                return test
        return -1

    cdef float64_t expand(
        self, const int32_t* cases, const int64_t* noise, intp_t n, float64_t* weight,
        Candidate* candidates, intp_t* n_candidates,
    ) noexcept nogil:
        """List the tests worth trying with their bounds; return a bound of the state.

        `weight` gets the weights, behind them w log2 w of each, and then what holds for
        all sets inside this one: the cheapest price, the least price of a bit, and the
        most outcomes of a test.
        """
        cdef:
            intp_t i, test, code, n_codes, n_out, arity = 2
            float64_t total = 0.0, cheapest = TOO_DEAR, rate = TOO_DEAR
            float64_t base, part, state_bound = 0.0, least = TOO_DEAR
            uint8_t kind = 0
            Candidate* candidate
            bint is_surely_told = False
        for i in range(n):
            weight[i] = self.table.prior[cases[i]]
            if noise[i]:
                weight[i] *= power_of_half(noise[i])
            weight[n + i] = plogp(weight[i])
            total += weight[i]
        # First pass: the tests that may be bought, and the cheapest of them.
        for test in range(self.table.n_tests):
            if not self.measure(test, cases, weight, n, &kind):
                if self.may_open(test):
                    # It tells nothing, and makes others of its group cheaper.
                    candidate = &candidates[n_candidates[0]]
                    candidate.test = <int32_t> test
                    candidate.kind = kind
                    candidate.score = 0.0
                    candidate.base = self.price_now(test, -1)
                    if not self.is_worst:
                        candidate.base *= total
                    candidate.lower = 0.0
                    n_candidates[0] += 1
                continue
            if kind == TWO_SIDED:
                is_surely_told = True
            elif self.mode == SURE or (self.mode == TRACKED and self.is_done[test]):
                # A test that is not sure may still lower costs below this state for a
                # relaxed search only.
                continue
            candidate = &candidates[n_candidates[0]]
            candidate.test = <int32_t> test
            candidate.kind = kind
            candidate.score = 0.0
            n_out = 0
            base = 0.0
            part = 0.0
            n_codes = self.table.n_levels[test] + 1
            for code in range(n_codes):
                if self.sums[code].n == 0:
                    continue
                n_out += 1
                if self.is_worst:
                    base = max(base, self.price_now(test, code))
                elif self.has_context:
                    base += self.price_now(test, code) * self.sums[code].mass
                if not self.is_worst and self.use_entropy and (
                    self.sums[code].n_labels > 1
                ):
                    # In bits; the price of a bit comes later.
                    part += plogp(self.sums[code].mass) - self.sums[code].logs
            if not self.is_worst and not self.has_context:
                base = self.price[test] * total
            candidate.base = base
            candidate.lower = part
            n_candidates[0] += 1
            cheapest = min(cheapest, self.price[test])
            if n_out > 1:
                rate = min(rate, self.price[test] / log2(<float64_t> n_out))
                arity = max(arity, n_out)
            if self.breadth > 0:
                candidate.score = self.table.score(
                    test, cases, n, weight, NULL,
                    INFORMATION if self.by_information else ELIMINATION,
                    &self.scratch, &kind,
                ) / max(base if self.is_worst else base / max(total, 1e-300), 1e-300)
        if not is_surely_told:
            # Nothing is sure to tell the cases apart: the policy decides here.
            n_candidates[0] = 0
            return 0.0
        state_bound = self.bound_words(cases, weight, n, cheapest, rate, arity)
        for i in range(n_candidates[0]):
            candidate = &candidates[i]
            candidate.lower = (
                candidate.base + max(0.0, rate * candidate.lower)
            ) * (1 - ROUNDING)
            least = min(least, candidate.lower)
        if self.breadth == 0:
            state_bound = max(state_bound, least)
        weight[2 * n] = cheapest
        weight[2 * n + 1] = rate
        weight[2 * n + 2] = <float64_t> arity
        return state_bound

    cdef float64_t try_candidates(
        self, const int32_t* cases, const int64_t* noise, intp_t n,
        const float64_t* weight, float64_t theta, float64_t lower,
        Candidate* candidates, intp_t n_candidates, bint* is_exact,
        intp_t* first_test,
    ) except -1 nogil:
        cdef:
            intp_t i, breadth
            float64_t best = TOO_DEAR, rest = TOO_DEAR, enough, value
            bint is_value = False
        if self.breadth > 0 and n > SMALL:
            breadth = 2 * self.breadth if n <= 14 else self.breadth
            if breadth < n_candidates:
                qsort(candidates, n_candidates, sizeof(Candidate), compare_score)
                n_candidates = breadth
        qsort(candidates, n_candidates, sizeof(Candidate), compare_lower)
        for i in range(n_candidates):
            enough = min(theta, best)
            if candidates[i].lower >= enough * (1 - ROUNDING):
                rest = min(rest, candidates[i].lower)
                break
            value = self.try_test(
                cases, noise, n, weight, enough, &candidates[i], &is_value
            )
            if self.is_out and not is_value:
                return lower
            if is_value and value < enough:
                best = value
                first_test[0] = candidates[i].test
            else:
                rest = min(rest, value)
        if best < theta:
            is_exact[0] = True
            return best
        first_test[0] = -1
        if self.breadth > 0:
            # Tests were left out, so nothing is proved but that it is not cheaper here.
            return max(lower, theta)
        return max(lower, rest)

    cdef float64_t try_test(
        self, const int32_t* cases, const int64_t* noise, intp_t n,
        const float64_t* weight, float64_t enough, Candidate* candidate,
        bint* is_value,
    ) except -1 nogil:
        """Return what starting with a test costs if `is_value`, else a lower bound."""
        cdef:
            intp_t test = candidate.test, code, n_codes, n_out = 0, i, j
            intp_t n_children = 0, at = 0, n_words = 0, left
            int32_t* parts = NULL
            int64_t* noises = NULL
            float64_t* own = NULL
            Child* children = NULL
            Child* child
            int64_t least
            float64_t total, value, flat, base = 0.0
            bint was_done, was_open = True
            int32_t group = self.engine.group[test] if self.has_context else -1
            Entry* entry
            uint64_t key
            uint8_t kind
            float64_t cheapest = weight[2 * n], rate = weight[2 * n + 1]
            intp_t arity = <intp_t> weight[2 * n + 2]
        is_value[0] = False
        n_codes = self.table.n_levels[test] + 1
        self.measure(test, cases, NULL, n, &kind)
        for code in range(n_codes):
            if self.sums[code].n > 0 or (
                self.sums[n_codes].n > 0 and self.table.chance(test, code) > 0
            ):
                n_out += 1
        if not self.is_worst and not self.has_context:
            for i in range(n):
                base += weight[i]
            base *= self.price[test]
        parts = <int32_t*> malloc((n_out * n + 1) * sizeof(int32_t))
        noises = <int64_t*> malloc((n_out * n + 1) * sizeof(int64_t))
        own = <float64_t*> malloc((n + 1) * sizeof(float64_t))
        children = <Child*> malloc((n_out + 1) * sizeof(Child))
        was_done = self.is_done[test]
        try:
            if parts == NULL or noises == NULL or own == NULL or children == NULL:
                with gil:
                    raise MemoryError("no memory left to expand a state")
            self.is_done[test] = 1
            # A test of a group has one price for all outcomes.
            flat = self.price_now(test, -1)
            if group >= 0:
                was_open = self.is_open[group]
                self.is_open[group] = 1
            total = base
            for code in range(n_codes):
                child = &children[n_children]
                child.first = at
                child.n = self.table.list_part(
                    test, code, cases, noise, n, parts + at, noises + at
                )
                if child.n == 0:
                    continue
                child.price = flat if group >= 0 else self.price_now(test, code)
                if self.is_worst:
                    total = max(total, child.price)
                elif self.has_context:
                    total += child.price * self.weigh_all(
                        parts + at, noises + at, child.n
                    )
                if self.is_settled(parts + at, child.n):
                    continue
                least = noises[at]
                for i in range(1, child.n):
                    least = min(least, noises[at + i])
                child.scale = 1.0
                if self.is_worst:
                    memset(noises + at, 0, child.n * sizeof(int64_t))
                else:
                    child.scale = power_of_half(least)
                    for i in range(child.n):
                        noises[at + i] -= least
                child.lower = 0.0
                child.is_certified = False
                for i in range(child.n):
                    own[i] = self.table.prior[parts[at + i]]
                    if noises[at + i]:
                        own[i] *= power_of_half(noises[at + i])
                child.lower = self.bound_words(
                    parts + at, own, child.n, cheapest, rate, arity
                )
                if self.use_children and (child.n > 2 or not self.has_pairs):
                    key = self.spell(parts + at, noises + at, child.n, &n_words)
                    entry = self.states.find(key, &self.words[0], n_words, 0, 0)
                    if entry != NULL:
                        child.lower = max(child.lower, real_of(entry.lower))
                        child.is_certified = entry.is_certified or entry.is_exact
                if self.is_worst:
                    total = max(total, child.price + child.lower)
                else:
                    total += child.scale * child.lower
                at += child.n
                n_children += 1
            candidate.lower = max(candidate.lower, total)
            if total >= enough * (1 - ROUNDING):
                return total
            if self.use_certificate:
                for j in range(n_children):
                    child = &children[j]
                    if child.is_certified or child.n < 3:
                        continue
                    for i in range(child.n):
                        own[i] = self.table.prior[parts[child.first + i]]
                        if noises[child.first + i]:
                            own[i] *= power_of_half(noises[child.first + i])
                    value = self.certify(
                        parts + child.first, own, child.n, cheapest, arity
                    )
                    key = self.spell(
                        parts + child.first, noises + child.first, child.n, &n_words
                    )
                    entry = self.states.insert(key, &self.words[0], n_words, 0, 0)
                    entry.is_certified = True
                    if value > child.lower:
                        total += child.scale * (value - child.lower)
                        child.lower = value
                    if not entry.is_exact and child.lower > real_of(entry.lower):
                        entry.lower = bits_of(child.lower)
                    if total >= enough * (1 - ROUNDING):
                        return total
            if self.is_worst or not self.use_shares:
                left = self.solve_in_turn(
                    children, n_children, parts, noises, enough, &total
                )
            else:
                left = self.solve_by_shares(
                    children, n_children, parts, noises, enough, &total
                )
            if left > 0:
                return total
            is_value[0] = True
            return total
        finally:
            self.is_done[test] = was_done
            if group >= 0:
                self.is_open[group] = was_open
            free(parts)
            free(noises)
            free(own)
            free(children)

    cdef intp_t solve_in_turn(
        self, Child* children, intp_t n_children, int32_t* parts, int64_t* noises,
        float64_t enough, float64_t* total,
    ) except -1 nogil:
        """Solve what a test may leave, one after another; return how many are open.

        None is open if the test costs less than `enough`.
        """
        cdef:
            intp_t left = n_children, hardest, j, _first = -1
            float64_t value, allowed
            bint is_child_exact = False
            Child child
        # The hardest child first: it is the likeliest to end the trial.
        while left > 0:
            hardest = 0
            for j in range(1, left):
                if children[j].scale * children[j].lower > (
                    children[hardest].scale * children[hardest].lower
                ):
                    hardest = j
            child = children[hardest]
            children[hardest] = children[left - 1]
            if self.is_worst:
                allowed = enough - child.price
            else:
                allowed = (
                    enough - (total[0] - child.scale * child.lower)
                ) / child.scale
            self.depth += 1
            value = self.solve_state(
                parts + child.first, noises + child.first, child.n, allowed,
                &is_child_exact, &_first,
            )
            self.depth -= 1
            if self.is_out and not is_child_exact:
                return left
            if self.is_worst:
                total[0] = max(total[0], child.price + value)
            else:
                total[0] += child.scale * (value - child.lower)
            if not is_child_exact:
                # It costs at least what was allowed, whatever rounding says.
                total[0] = max(total[0], enough)
                return left
            if total[0] >= enough:
                return left
            left -= 1
        return 0

    cdef intp_t solve_by_shares(
        self, Child* children, intp_t n_children, int32_t* parts, int64_t* noises,
        float64_t enough, float64_t* total,
    ) except -1 nogil:
        """Raise what a test may leave together; return how many are open.

        What is missing to `enough` is shared out by weight. To raise two bounds a
        little is far cheaper than to raise one by as much as both, since the effort
        grows exponentially. After each round either enough is reached or one child more
        is solved.
        """
        cdef:
            intp_t left = n_children, j, i, _first = -1
            float64_t value, allowed, missing, open_mass
            bint is_child_exact = False
            Child* child
        for j in range(n_children):
            child = &children[j]
            child.mass = child.scale * self.weigh_all(
                parts + child.first, noises + child.first, child.n
            )
        while left > 0:
            j = 0
            while j < left:
                missing = enough - total[0]
                if missing <= 0:
                    return left
                open_mass = 0.0
                for i in range(j, left):
                    open_mass += children[i].mass
                child = &children[j]
                if left == 1 or child.mass <= 0:
                    allowed = (missing + child.scale * child.lower) / child.scale
                else:
                    allowed = child.lower + (
                        missing * child.mass / open_mass / child.scale
                    )
                    # Never the same bound again, whatever rounding does.
                    allowed *= 1 + ROUNDING
                self.depth += 1
                value = self.solve_state(
                    parts + child.first, noises + child.first, child.n, allowed,
                    &is_child_exact, &_first,
                )
                self.depth -= 1
                if self.is_out and not is_child_exact:
                    return left
                value = max(value, child.lower)
                total[0] += child.scale * (value - child.lower)
                child.lower = value
                if not is_child_exact:
                    if left == 1:
                        # At least what was allowed, whatever rounding says.
                        total[0] = max(total[0], enough)
                        return left
                    j += 1
                    continue
                left -= 1
                swap_children(child, &children[left])
        return 0 if total[0] < enough else 1
