"""Follow a rule on a table with unknown outcomes along everything that may be seen.

Written out as a tree while that is small; priced state by state, each state once, where
the tree would be too large. A case whose outcome is unknown goes on in every branch
that its coin allows, lighter by its chance.

This module must not know how a rule scores, nor what tests are called.
"""

from libc.math cimport exp2, log2
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

import numpy as np

from askless._core.unknown._table cimport (
    NoisyTable, Scratch, choose_best, close_scratch, open_scratch, power_of_half,
    ODTN_H, ODTN_H_RELEASED, USELESS,
)
from askless._core.price._prices cimport Prices
from askless._core.search._states cimport Entry, StateTable
from askless._core.tree._store cimport TreeBuffer
from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t, uint64_t,
)


# A node still to do: its state, and the branch that leads to it.
cdef struct Pending:
    int32_t* cases
    int64_t* noise
    intp_t n
    intp_t parent
    intp_t branch
    intp_t position  # of the next test, for a fixed order


cdef inline float64_t real_of(int64_t bits) noexcept nogil:
    """Return the real number that is kept in the place of a whole one."""
    cdef float64_t value
    memcpy(&value, &bits, sizeof(float64_t))
    return value


cdef inline int64_t bits_of(float64_t value) noexcept nogil:
    cdef int64_t bits
    memcpy(&bits, &value, sizeof(float64_t))
    return bits


cdef class RuleWalk:
    """A rule on a table: by score, or a fixed order of tests.

    Parameters
    ----------
    table : NoisyTable
    prices : Prices
    rule : int
        One of the rules of ``_noisy``; not looked at with an order.
    order : ndarray of int32, optional
        Tests in a fixed order.
    skips : bool
        Whether tests of the order that can rule out no case are left out.
    near : ndarray of uint64 of shape (n_cases, n_words), optional
        Bits of the cases that each case need not be told from. With it, a set inside
        the neighbourhood of one case is settled.
    """

    cdef readonly NoisyTable table
    cdef Prices prices
    cdef int rule
    cdef const int32_t[::1] order
    cdef bint has_order
    cdef bint skips
    cdef const uint64_t[:, ::1] near
    cdef bint has_near
    cdef uint64_t[::1] alive_bits
    cdef float64_t[::1] copy_bits  # (n_cases,) copies of each case, as a power of two
    cdef bint keys_all_done        # what was done matters beyond what it left

    cdef float64_t[::1] weight
    cdef float64_t[::1] copies
    cdef float64_t[::1] scores
    cdef float64_t[::1] price_now
    cdef uint8_t[::1] kinds
    cdef uint8_t[::1] is_done
    cdef uint8_t[::1] is_open
    cdef int32_t[::1] path         # tests done, in order
    cdef intp_t depth
    cdef uint8_t[::1] present
    cdef Scratch scratch

    cdef TreeBuffer tree
    cdef Pending* stack
    cdef intp_t n_pending
    cdef intp_t room

    cdef StateTable memo
    cdef uint64_t[::1] hash
    cdef uint16_t[::1] words
    cdef readonly intp_t n_states
    cdef bint counts_wrong
    cdef intp_t max_states

    def __init__(
        self,
        NoisyTable table not None,
        Prices prices not None,
        int rule,
        *,
        const int32_t[::1] order=None,
        bint skips=False,
        const uint64_t[:, ::1] near=None,
        copy_bits=None,
        bint keys_all_done=False,
    ):
        self.table = table
        self.prices = prices
        self.rule = rule
        self.has_order = order is not None
        if order is not None:
            self.order = order
        self.skips = skips
        self.has_near = near is not None
        if near is not None:
            self.near = near
            self.alive_bits = np.zeros(near.shape[1], dtype=np.uint64)
        self.keys_all_done = keys_all_done or prices.has_groups
        self.weight = np.zeros(table.n_cases)
        self.copies = np.zeros(table.n_cases)
        if copy_bits is not None:
            self.copy_bits = copy_bits
        self.scores = np.zeros(table.n_tests)
        self.price_now = np.asarray(prices.full).copy()
        self.kinds = np.zeros(table.n_tests, dtype=np.uint8)
        self.is_done = np.zeros(table.n_tests + 1, dtype=np.uint8)
        self.is_open = np.zeros(prices.n_groups + 1, dtype=np.uint8)
        self.path = np.zeros(table.n_tests + 1, dtype=np.int32)
        self.present = np.zeros(table.most_codes, dtype=np.uint8)
        open_scratch(&self.scratch, table.most_codes)

    def __dealloc__(self):
        cdef intp_t i
        for i in range(self.n_pending):
            free(self.stack[i].cases)
            free(self.stack[i].noise)
        free(self.stack)
        close_scratch(&self.scratch)

    # Choosing.

    cdef bint is_settled(self, const int32_t* cases, intp_t n) noexcept nogil:
        cdef:
            intp_t i, x, word
            bint is_inside
        # Cases of one label stand together.
        if self.table.label[cases[0]] == self.table.label[cases[n - 1]]:
            return True
        if not self.has_near:
            return False
        for i in range(n):
            self.alive_bits[cases[i] >> 6] |= (<uint64_t> 1) << (cases[i] & 63)
        is_inside = False
        for x in range(self.table.n_cases):
            is_inside = True
            for word in range(self.near.shape[1]):
                if self.alive_bits[word] & ~self.near[x, word]:
                    is_inside = False
                    break
            if is_inside:
                break
        for i in range(n):
            self.alive_bits[cases[i] >> 6] = 0
        return is_inside

    cdef void measure(
        self, const int32_t* cases, const int64_t* noise, intp_t n
    ) noexcept nogil:
        """Score all tests in a state; ``path`` holds what was done before."""
        cdef:
            intp_t test, i, j
            float64_t most = -1e300, bits
            const float64_t* extra = NULL
            intp_t unknown
        self.table.weigh(cases, noise, n, &self.weight[0])
        if self.rule == ODTN_H or self.rule == ODTN_H_RELEASED:
            for i in range(n):
                self.copies[i] = self.copy_bits[cases[i]]
            for j in range(self.depth):
                test = self.path[j]
                unknown = self.table.n_levels[test] + 1
                if self.table.n_support[test] < 2:
                    continue
                bits = log2(<float64_t> self.table.n_support[test])
                for i in range(n):
                    if self.table.code(test, cases[i]) == unknown:
                        self.copies[i] -= bits
            for i in range(n):
                most = max(most, self.copies[i])
            for i in range(n):
                self.copies[i] = exp2(self.copies[i] - most)
            extra = &self.copies[0]
        for test in range(self.table.n_tests):
            self.scores[test] = self.table.score(
                test, cases, n, &self.weight[0], extra, self.rule, &self.scratch,
                &self.kinds[test],
            )

    cdef intp_t choose(
        self, const int32_t* cases, const int64_t* noise, intp_t n, intp_t* position
    ) noexcept nogil:
        """Return the next test, -1 to decide; cases and kinds are measured first."""
        cdef intp_t test
        if self.has_order:
            while position[0] < self.order.shape[0]:
                test = self.order[position[0]]
                position[0] += 1
                if not self.skips or self.kinds[test] != USELESS:
                    return test
            return -1
        if self.prices.has_groups:
            for test in range(self.table.n_tests):
                self.price_now[test] = self.prices.price(
                    test, -1, &self.is_done[0], &self.is_open[0]
                )
        return choose_best(
            &self.scores[0], &self.price_now[0], &self.kinds[0], &self.is_done[0],
            self.table.n_tests,
        )

    cdef void mark_codes(
        self, intp_t test, const int32_t* cases, intp_t n
    ) noexcept nogil:
        """Mark the codes that a test may show in a state."""
        cdef:
            intp_t i, code, n_levels = self.table.n_levels[test]
        memset(&self.present[0], 0, n_levels + 2)
        for i in range(n):
            self.present[self.table.code(test, cases[i])] = 1
        if self.present[n_levels + 1]:
            for code in range(n_levels):
                if self.table.chance(test, code) > 0:
                    self.present[code] = 1

    cdef void set_path(self, intp_t node) noexcept nogil:
        """Put the tests above a node of the tree into ``path``."""
        cdef intp_t i, test
        for i in range(self.depth):
            self.is_done[self.path[i]] = 0
        memset(&self.is_open[0], 0, self.is_open.shape[0])
        self.depth = 0
        node = self.tree.parent[node]
        while node >= 0:
            test = self.tree.test[node]
            self.path[self.depth] = <int32_t> test
            self.depth += 1
            self.is_done[test] = 1
            if self.prices.group[test] >= 0:
                self.is_open[self.prices.group[test]] = 1
            node = self.tree.parent[node]

    # Writing out.

    def grow(
        self,
        const int32_t[::1] cases not None,
        intp_t max_nodes,
    ):
        """Return the arrays of the tree; OverflowError if it has too many nodes."""
        cdef:
            intp_t n = cases.shape[0]
            int32_t* first = <int32_t*> malloc((n + 1) * sizeof(int32_t))
            int64_t* noise = <int64_t*> malloc((n + 1) * sizeof(int64_t))
            Pending item
        if first == NULL or noise == NULL:
            free(first)
            free(noise)
            raise MemoryError("no memory left to write a rule out")
        memcpy(first, &cases[0], n * sizeof(int32_t))
        memset(noise, 0, n * sizeof(int64_t))
        self.tree = TreeBuffer()
        self.depth = 0
        self.is_done[:] = 0
        self.push(first, noise, n, -1, 0, 0)
        with nogil:
            while self.n_pending > 0:
                self.n_pending -= 1
                item = self.stack[self.n_pending]
                try:
                    if self.tree.n_nodes >= max_nodes:
                        with gil:
                            raise OverflowError(f"more than {max_nodes} nodes")
                    self.grow_node(&item)
                finally:
                    free(item.cases)
                    free(item.noise)
        return self.tree.to_arrays()

    cdef int push(
        self, int32_t* cases, int64_t* noise, intp_t n, intp_t parent, intp_t branch,
        intp_t position,
    ) except -1 nogil:
        cdef Pending* larger
        if self.n_pending == self.room:
            self.room = max(64, 2 * self.room)
            larger = <Pending*> realloc(self.stack, self.room * sizeof(Pending))
            if larger == NULL:
                free(cases)
                free(noise)
                with gil:
                    raise MemoryError("no memory left to write a rule out")
            self.stack = larger
        self.stack[self.n_pending].cases = cases
        self.stack[self.n_pending].noise = noise
        self.stack[self.n_pending].n = n
        self.stack[self.n_pending].parent = parent
        self.stack[self.n_pending].branch = branch
        self.stack[self.n_pending].position = position
        self.n_pending += 1
        return 0

    cdef int grow_node(self, Pending* item) except -1 nogil:
        cdef:
            intp_t node = self.tree.add_node(item.parent, item.branch)
            intp_t i, test, code, n_codes, n_part, first, position = item.position
            intp_t n = item.n, n_branches = 0, at
            int32_t* part
            int64_t* noise
            float64_t mass = 0.0, heaviest = -1.0
            Pending swapped
        for i in range(n):
            mass += self.table.prior[item.cases[i]] * power_of_half(item.noise[i])
            if i + 1 == n or (
                self.table.label[item.cases[i]] != self.table.label[item.cases[i + 1]]
            ):
                self.tree.add_weight(self.table.label[item.cases[i]], mass)
                mass = 0.0
        if self.is_settled(item.cases, n):
            return 0
        self.set_path(node)
        if not self.has_order or self.skips:
            self.measure(item.cases, item.noise, n)
        test = self.choose(item.cases, item.noise, n, &position)
        if test < 0:
            return 0
        self.tree.test[node] = <int32_t> test
        self.mark_codes(test, item.cases, n)
        n_codes = self.table.n_levels[test] + 1
        first = self.n_pending
        for code in range(n_codes):
            if not self.present[code]:
                continue
            part = <int32_t*> malloc((n + 1) * sizeof(int32_t))
            noise = <int64_t*> malloc((n + 1) * sizeof(int64_t))
            if part == NULL or noise == NULL:
                free(part)
                free(noise)
                with gil:
                    raise MemoryError("no memory left to write a rule out")
            n_part = self.table.list_part(
                test, code, item.cases, item.noise, n, part, noise
            )
            self.tree.add_branch(code)
            self.push(part, noise, n_part, node, n_branches, position)
            mass = 0.0
            for i in range(n_part):
                mass += self.table.prior[part[i]] * power_of_half(noise[i])
            if mass > heaviest * (1 + 1e-12):
                heaviest = mass
                self.tree.default_branch[node] = <int32_t> n_branches
            n_branches += 1
        # The first branch must come off the stack first.
        at = self.n_pending - 1
        while first < at:
            swapped = self.stack[first]
            self.stack[first] = self.stack[at]
            self.stack[at] = swapped
            first += 1
            at -= 1
        return 0

    # Pricing state by state.

    def price(
        self,
        const int32_t[::1] cases not None,
        intp_t max_states,
        intp_t max_bytes,
        bint counts_wrong=False,
    ):
        """Return (expected, worst) cost of following the rule, exactly.

        Every state is worked out once. OverflowError if there are too many. If it
        `counts_wrong`, the first is the weight that is decided wrongly instead.
        """
        cdef:
            intp_t n = cases.shape[0]
            int64_t[::1] noise = np.zeros(n, dtype=np.int64)
            float64_t expected, worst = 0.0
        self.counts_wrong = counts_wrong
        self.memo = StateTable(max_bytes)
        self.hash = np.random.default_rng(20190101).integers(
            0, 2**64, 1 << 16, dtype=np.uint64
        )
        self.words = np.zeros(5 * n + self.table.n_tests + 8, dtype=np.uint16)
        self.depth = 0
        self.n_states = 0
        self.max_states = max_states
        self.is_done[:] = 0
        self.is_open[:] = 0
        with nogil:
            expected = self.price_state(&cases[0], &noise[0], n, 0, &worst)
        return expected, worst

    cdef uint64_t spell(
        self, const int32_t* cases, const int64_t* noise, intp_t n, intp_t position,
        intp_t* n_words,
    ) noexcept nogil:
        """Write a state as words, everything that its price depends on; return a key.

        Of the tests done, those that look useful again are told: they would not be
        chosen, since an outcome once seen is seen again.
        """
        cdef:
            intp_t i, k, at = 0, test
            uint64_t key = 0
            int64_t value
        self.words[0] = <uint16_t> n
        self.words[1] = <uint16_t> position
        at = 2
        for i in range(n):
            self.words[at] = <uint16_t> cases[i]
            at += 1
        for i in range(n):
            value = noise[i]
            if self.table.has_whole_bits:
                self.words[at] = <uint16_t> (value >> 40)
                at += 1
            else:
                for k in range(4):
                    self.words[at] = <uint16_t> ((value >> (16 * k)) & 0xFFFF)
                    at += 1
        for test in range(self.table.n_tests):
            if self.is_done[test] and (
                self.keys_all_done or (
                    not self.has_order and self.kinds[test] != USELESS
                )
            ):
                self.words[at] = <uint16_t> test
                at += 1
        for i in range(at):
            key = (key ^ self.hash[self.words[i]]) * <uint64_t> 0x9E3779B97F4A7C15
            key ^= key >> 29
        n_words[0] = at
        return key

    cdef float64_t price_state(
        self, const int32_t* cases, const int64_t* noise, intp_t n, intp_t position,
        float64_t* worst,
    ) except -1 nogil:
        cdef:
            intp_t i, test, code, n_codes, n_part, n_words = 0
            uint64_t key
            Entry* entry
            float64_t mass, total = 0.0, price, below, below_worst = 0.0
            int64_t least
            int32_t* part
            int64_t* part_noise
            uint8_t* present
            uint16_t* words
            bint opens
        worst[0] = 0.0
        if self.is_settled(cases, n):
            return self.weigh_wrong(cases, noise, n) if self.counts_wrong else 0.0
        if not self.has_order or self.skips:
            self.measure(cases, noise, n)
        key = self.spell(cases, noise, n, position, &n_words)
        entry = self.memo.find(key, &self.words[0], n_words, 0, 0)
        if entry != NULL:
            worst[0] = real_of(entry.worst)
            return real_of(entry.lower)
        self.n_states += 1
        if self.n_states > self.max_states:
            with gil:
                raise OverflowError(f"more than {self.max_states} states")
        test = self.choose(cases, noise, n, &position)
        if test < 0:
            return self.weigh_wrong(cases, noise, n) if self.counts_wrong else 0.0
        words = <uint16_t*> malloc((n_words + 1) * sizeof(uint16_t))
        part = <int32_t*> malloc((n + 1) * sizeof(int32_t))
        part_noise = <int64_t*> malloc((n + 1) * sizeof(int64_t))
        n_codes = self.table.n_levels[test] + 1
        present = <uint8_t*> malloc(n_codes + 1)
        if words == NULL or part == NULL or part_noise == NULL or present == NULL:
            free(words)
            free(part)
            free(part_noise)
            free(present)
            with gil:
                raise MemoryError("no memory left to price a rule")
        try:
            memcpy(words, &self.words[0], n_words * sizeof(uint16_t))
            self.mark_codes(test, cases, n)
            memcpy(present, &self.present[0], n_codes)
            opens = self.prices.group[test] >= 0 and not (
                self.is_open[self.prices.group[test]]
            )
            for code in range(n_codes):
                if not present[code]:
                    continue
                n_part = self.table.list_part(
                    test, code, cases, noise, n, part, part_noise
                )
                least = part_noise[0]
                for i in range(1, n_part):
                    least = min(least, part_noise[i])
                mass = 0.0
                for i in range(n_part):
                    mass += self.table.prior[part[i]] * power_of_half(part_noise[i])
                    part_noise[i] -= least
                price = self.prices.price(
                    test, code, &self.is_done[0], &self.is_open[0]
                )
                self.is_done[test] = 1
                if opens:
                    self.is_open[self.prices.group[test]] = 1
                self.path[self.depth] = <int32_t> test
                self.depth += 1
                below = self.price_state(
                    part, part_noise, n_part, position, &below_worst
                )
                self.depth -= 1
                self.is_done[test] = 0
                if opens:
                    self.is_open[self.prices.group[test]] = 0
                total += power_of_half(least) * below
                if not self.counts_wrong:
                    total += price * mass
                worst[0] = max(worst[0], price + below_worst)
            entry = self.memo.insert(key, words, n_words, 0, 0)
            entry.lower = bits_of(total)
            entry.worst = bits_of(worst[0])
            entry.test = <int32_t> test
        finally:
            free(words)
            free(part)
            free(part_noise)
            free(present)
        return total

    cdef float64_t weigh_wrong(
        self, const int32_t* cases, const int64_t* noise, intp_t n
    ) noexcept nogil:
        """Return the weight that a decision for the heaviest label gets wrong."""
        cdef:
            intp_t i
            float64_t mass = 0.0, most = 0.0, total = 0.0
        for i in range(n):
            mass += self.table.prior[cases[i]] * power_of_half(noise[i])
            if i + 1 == n or (
                self.table.label[cases[i]] != self.table.label[cases[i + 1]]
            ):
                total += mass
                most = max(most, mass)
                mass = 0.0
        return total - most
