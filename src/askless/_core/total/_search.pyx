"""Search for the policy of least total cost, by branch and bound over states.

    V(S) = min( loss of deciding now,
                min over tests of  price + sum over outcomes  V(S_o) )

where weights carry the chances: a case goes on in every outcome that it may show,
lighter by its chance. Values scale with the weights, so a state is kept with its
surprisals counted from the least. A path may be given a limit of what it spends.

Values are real numbers; whether a value is one of a policy or a bound is told by a flag
and never by a comparison.
"""

from libc.stdlib cimport free, malloc, qsort

import numpy as np

from askless._core.base._types cimport float64_t, int32_t, int64_t, intp_t, uint8_t
from askless._core.engine._states cimport Entry
from askless._core.engine._stoppable cimport Stoppable
from askless._core.total._batch cimport Batches
from askless._core.total._expand cimport Candidate, Expander
from askless._core.total._last cimport LastTests
from askless._core.total._memo cimport TotalMemo, Words
from askless._core.total._problem cimport Belief, TotalProblem
from askless._core.unknown._memo cimport bits_of, real_of


cdef float64_t TOO_DEAR = 1e300
cdef float64_t ROUNDING = 1e-12
# Below this share of all weight a restricted search looks at one test fewer; a tenth
# of it, at two fewer; and so on.
cdef float64_t NARROW_SHARE = 0.03
cdef float64_t UNLIMITED = 1e299


cdef struct Found:
    float64_t value
    bint is_exact
    int32_t test


# An outcome of the test that is being tried.
cdef struct Child:
    Belief state
    float64_t lower   # of its own state


# A test that is being tried.
cdef struct Trial:
    intp_t test
    float64_t enough
    float64_t total
    intp_t n_children
    Child* children
    char* room


cdef int compare_lower(const void* a, const void* b) noexcept nogil:
    cdef const Candidate* x = <const Candidate*> a
    cdef const Candidate* y = <const Candidate*> b
    if x.lower != y.lower:
        return -1 if x.lower < y.lower else 1
    return x.test - y.test


cdef int compare_bits(const void* a, const void* b) noexcept nogil:
    """Order by bits for the price, most first."""
    cdef const Candidate* x = <const Candidate*> a
    cdef const Candidate* y = <const Candidate*> b
    cdef float64_t one = x.bits * y.price, other = y.bits * x.price
    if one != other:
        return -1 if one > other else 1
    return x.test - y.test


cdef void place_state(Belief* state, char* room, intp_t n) noexcept nogil:
    """Give a state its arrays, in room for n cases."""
    state.surprisal = <int64_t*> room
    state.weight = <float64_t*> (room + 8 * n)
    state.cases = <int32_t*> (room + 16 * n)


cdef class TotalSearch(Stoppable):
    """One search over one problem.

    Parameters
    ----------
    problem : TotalProblem
    max_bytes : int
        What remembering states may take.
    breadth : int
        Look only at so many tests of a state, those of the least bounds; 0: at all.
    by_bits : bool
        Look at those that tell most bits for their price instead.
    least_share : float
        Decide at once in a state of less than this share of all weight.
    use_information, use_shares : bool
        Switches; they change time, never the answer.
    n_leaves : int
        How many parts of a state bounds look at; it changes time, never the answer.
    """

    cdef TotalProblem problem
    cdef TotalMemo memo
    cdef Expander expander
    cdef Batches batches
    cdef LastTests last
    cdef readonly intp_t breadth
    cdef readonly intp_t n_expanded
    cdef bint use_shares
    cdef readonly bint by_bits
    cdef readonly float64_t least_share
    cdef uint8_t[::1] is_done      # (n_tests + 1,)
    cdef uint8_t[::1] is_open      # (n_groups + 1,)
    cdef uint8_t[::1] useful_open  # (n_groups + 1,) of groups with a useful test
    cdef float64_t[::1] by_class
    cdef float64_t all_weight

    def __init__(
        self,
        TotalProblem problem not None,
        *,
        intp_t max_bytes,
        intp_t breadth=0,
        bint by_bits=False,
        float64_t least_share=0.0,
        bint use_information=True,
        bint use_shares=True,
        intp_t n_leaves=1,
    ):
        self.problem = problem
        self.memo = TotalMemo(problem, max_bytes)
        self.expander = Expander(problem, use_information, n_leaves)
        self.batches = Batches(problem, self.expander, self)
        self.last = LastTests(problem, self.expander)
        self.breadth = breadth
        self.use_shares = use_shares
        self.by_bits = by_bits
        self.least_share = least_share
        self.is_done = np.zeros(problem.n_tests + 1, dtype=np.uint8)
        self.is_open = np.zeros(problem.prices.n_groups + 1, dtype=np.uint8)
        self.useful_open = np.zeros(problem.prices.n_groups + 1, dtype=np.uint8)
        self.by_class = np.zeros(problem.n_classes + 1)
        self.all_weight = np.sum(problem.prior)

    def run(
        self,
        const int32_t[::1] cases not None,
        const int64_t[::1] surprisal not None,
        float64_t left,
        float64_t theta,
        float64_t seconds,
        done=(),
    ):
        """Solve a state up to a threshold within some seconds.

        Parameters
        ----------
        cases : ndarray of int32
            The cases that are left, ascending.
        surprisal : ndarray of int64
            How unlikely the answers made each of them, from the least.
        left : float
            What a path may still spend.
        theta : float
            Values of at least this much need not be told apart.
        seconds : float
        done : tuple of int
            The tests that were asked.

        Returns
        -------
        (value, is_exact, test) or None
            None if time was out or it was stopped. If not exact, the value is a lower
            bound of at least theta. The test is -1 where deciding is best.
        """
        cdef:
            Belief state
            Found found
            char* room = <char*> malloc(20 * max(1, cases.shape[0]))
        if room == NULL:
            raise MemoryError("no memory left for a state")
        try:
            self.take_state(&state, room, cases, surprisal, left, done)
            with nogil:
                self.begin(seconds)
                self.solve_state(&state, theta, &found)
            if self.is_out and not (found.is_exact or found.value >= theta):
                return None
            return found.value, bool(found.is_exact), int(found.test)
        finally:
            free(room)

    def batch(
        self,
        const int32_t[::1] cases not None,
        const int64_t[::1] surprisal not None,
        float64_t left,
        done=(),
    ):
        """Return the best tests to order at once in a state, the first one first."""
        cdef:
            Belief state
            uint8_t[::1] is_useful = np.zeros(self.problem.n_tests + 1, dtype=np.uint8)
            char* room = <char*> malloc(20 * max(1, cases.shape[0]))
        if room == NULL:
            raise MemoryError("no memory left for a state")
        try:
            self.take_state(&state, room, cases, surprisal, left, done)
            self.begin(1e9)
            self.expander.mark_useful(
                &state, &self.is_done[0], &self.is_open[0], &is_useful[0]
            )
            # A policy is read to its end, though the race may be over meanwhile.
            self.batches.is_patient = True
            self.batches.find(&state, &is_useful[0], &self.is_open[0], TOO_DEAR)
        finally:
            self.batches.is_patient = False
            free(room)
        first = self.batches.best_first
        # The tests that are least dearer in full open their groups.
        extra = np.asarray(self.problem.prices.full) - np.asarray(
            self.problem.prices.discounted
        )
        rest = [t for t in np.flatnonzero(self.batches.best_in).tolist() if t != first]
        return [first, *sorted(rest, key=lambda test: (extra[test], test))]

    def lower_bound(
        self,
        const int32_t[::1] cases not None,
        const int64_t[::1] surprisal not None,
        float64_t left,
    ):
        """Return what is proved of a state so far."""
        cdef:
            Belief state
            float64_t bound
            char* room = <char*> malloc(20 * max(1, cases.shape[0]))
        if room == NULL:
            raise MemoryError("no memory left for a state")
        try:
            self.take_state(&state, room, cases, surprisal, left, ())
            with nogil:
                self.begin(1e9)
                bound = self.bound_state(&state)
            return bound
        finally:
            free(room)

    cdef int take_state(
        self, Belief* state, char* room, const int32_t[::1] cases,
        const int64_t[::1] surprisal, float64_t left, done,
    ) except -1:
        """Begin with a state that comes from outside."""
        cdef:
            intp_t i, n = cases.shape[0], group, test
            int64_t[::1] shown = np.array(surprisal, dtype=np.int64)
            float64_t[::1] weight = np.array(self.problem.prior)[np.asarray(cases)]
        place_state(state, room, n)
        state.n = n
        state.total = 0.0
        weight = weight * np.exp2(-np.asarray(shown) / 2.0**40)
        for i in range(n):
            state.cases[i] = cases[i]
            state.surprisal[i] = shown[i]
            state.weight[i] = weight[i]
            state.total += weight[i]
        state.scale = state.share = 1.0
        state.left = left
        self.is_done[:] = 0
        self.is_open[:] = 0
        for test in done:
            self.is_done[test] = 1
            group = self.problem.prices.group[test]
            if group >= 0:
                self.is_open[group] = 1
        return 0

    cdef Words spell(self, const Belief* state, uint8_t* is_useful) noexcept nogil:
        """Spell a state, and mark its useful tests."""
        cdef:
            intp_t test, group, n_groups = self.problem.prices.n_groups
        self.expander.mark_useful(
            state, &self.is_done[0], &self.is_open[0], is_useful
        )
        for group in range(n_groups):
            self.useful_open[group] = 0
        for test in range(self.problem.n_tests):
            if not is_useful[test]:
                continue
            group = self.problem.prices.group[test]
            if group >= 0 and self.is_open[group]:
                self.useful_open[group] = 1
        return self.memo.spell(
            state, is_useful, self.problem.n_tests, &self.useful_open[0], n_groups,
            state.left < UNLIMITED,
        )

    cdef float64_t bound_state(self, const Belief* state) except -1 nogil:
        """Return a lower bound of a state, and remember it."""
        cdef:
            float64_t stop = self.problem.decide(state, &self.by_class[0])
            float64_t bound = 0.0
            intp_t n_left = self.last.count(state)
            int32_t test = -1
            uint8_t* is_useful
            Candidate* candidates
            Words words
            Entry* entry
        if state.n < 2 or stop <= 0 or n_left == 0:
            return stop
        is_useful = <uint8_t*> malloc(
            self.problem.n_tests * (1 + sizeof(Candidate)) + 32
        )
        if is_useful == NULL:
            with gil:
                raise MemoryError("no memory left for a state")
        candidates = <Candidate*> (is_useful + ((self.problem.n_tests + 15) // 16) * 16)
        words = self.spell(state, is_useful)
        entry = self.memo.find(&words)
        if entry != NULL:
            bound = real_of(entry.lower)
        else:
            self.n_expanded += 1
            if n_left == 1:
                bound = self.last.find(
                    state, is_useful, &self.is_done[0], &self.is_open[0], stop, &test
                )
            else:
                self.expander.expand(
                    state, is_useful, &self.is_done[0], &self.is_open[0], candidates,
                    &bound,
                )
            bound = min(bound, stop)
            try:
                entry = self.memo.insert(&words)
                entry.lower = bits_of(bound)
                if n_left == 1:
                    entry.is_exact = True
                    entry.test = test
            finally:
                free(is_useful)
            return bound
        free(is_useful)
        return bound

    cdef int solve_state(
        self, const Belief* state, float64_t theta, Found* found
    ) except -1 nogil:
        """Solve a state, or prove that it costs at least theta."""
        cdef:
            float64_t stop = self.problem.decide(state, &self.by_class[0])
            float64_t lower = 0.0
            intp_t n_tests = self.problem.n_tests, n_left = self.last.count(state)
            uint8_t* is_useful
            Candidate* candidates
            Words words
            Entry* entry
        found.value = stop
        found.is_exact = True
        found.test = -1
        if state.n < 2 or stop <= 0 or n_left == 0:
            return 0
        is_useful = <uint8_t*> malloc(n_tests * (1 + sizeof(Candidate)) + 32)
        if is_useful == NULL:
            with gil:
                raise MemoryError("no memory left for a state")
        candidates = <Candidate*> (is_useful + ((n_tests + 15) // 16) * 16)
        words = self.spell(state, is_useful)
        entry = self.memo.find(&words)
        if entry != NULL:
            lower = real_of(entry.lower)
            found.value = lower
            found.is_exact = entry.is_exact
            found.test = entry.test
            if entry.is_exact or lower >= theta:
                free(is_useful)
                return 0
        if self.is_late():
            found.value = lower
            found.is_exact = False
            free(is_useful)
            return 0
        self.n_expanded += 1
        try:
            if n_left == 1:
                found.value = self.last.find(
                    state, is_useful, &self.is_done[0], &self.is_open[0], stop,
                    &found.test,
                )
                found.is_exact = True
                self.remember(&words, found)
            else:
                found.value = lower
                self.expand_state(
                    state, theta, stop, is_useful, candidates, &words, found
                )
        finally:
            free(is_useful)
        return 0

    cdef int expand_state(
        self, const Belief* state, float64_t theta, float64_t stop, uint8_t* is_useful,
        Candidate* candidates, Words* words, Found* found,
    ) except -1 nogil:
        """Solve a state that was not solved before; `found.value` is a bound of it."""
        cdef:
            float64_t bound = 0.0
            intp_t n = self.expander.expand(
                state, is_useful, &self.is_done[0], &self.is_open[0], candidates, &bound
            )
        self.memo.keep(words)
        try:
            found.value = max(found.value, min(stop, bound))
            found.is_exact = False
            if found.value < theta:
                self.try_all(state, theta, stop, candidates, n, is_useful, found)
            self.remember(words, found)
        finally:
            free(words.words)
        return 0

    cdef int remember(self, const Words* words, const Found* found) except -1 nogil:
        cdef Entry* entry = self.memo.insert(words)
        entry.lower = bits_of(found.value)
        entry.is_exact = found.is_exact
        entry.test = found.test
        return 0

    cdef bint is_rare(self, const Belief* state) noexcept nogil:
        """Return whether a restricted search decides at once in a state."""
        return state.share * state.total < self.least_share * self.all_weight

    cdef intp_t count_tried(self, const Belief* state, intp_t n) noexcept nogil:
        """Return how many of n tests a restricted search looks at in a state."""
        cdef:
            intp_t breadth = self.breadth
            float64_t share = state.share * state.total / self.all_weight
        if breadth == 0:
            return n
        if self.is_rare(state):
            return 0
        while breadth > 1 and share < NARROW_SHARE:
            share *= 10
            breadth -= 1
        return min(n, breadth)

    cdef int try_all(
        self, const Belief* state, float64_t theta, float64_t stop,
        Candidate* candidates, intp_t n, const uint8_t* is_useful, Found* found,
    ) except -1 nogil:
        """Try the tests of a state, the most promising first."""
        cdef:
            float64_t best = stop, rest = TOO_DEAR, enough, together
            float64_t lower = found.value
            int32_t best_test = -1
            intp_t i
            Found tried
        if self.by_bits:
            qsort(candidates, n, sizeof(Candidate), compare_bits)
        else:
            qsort(candidates, n, sizeof(Candidate), compare_lower)
        n = self.count_tried(state, n)
        for i in range(n):
            enough = min(theta, best)
            if candidates[i].lower >= enough:
                rest = min(rest, candidates[i].lower)
                continue
            self.try_test(state, &candidates[i], enough, &tried)
            if self.is_out and not tried.is_exact and tried.value < enough:
                found.value = lower
                found.is_exact = False
                found.test = -1
                return 0
            if tried.is_exact and tried.value < best:
                best = tried.value
                best_test = candidates[i].test
            else:
                rest = min(rest, tried.value)
        if self.problem.prices.has_delays and not self.is_rare(state):
            enough = min(theta, best)
            together = self.batches.find(state, is_useful, &self.is_open[0], enough)
            if self.is_out:
                found.value = lower
                found.is_exact = False
                found.test = -1
                return 0
            if self.batches.best_first >= 0:
                best = together
                best_test = self.batches.best_first
            else:
                rest = min(rest, enough)
        if best < theta:
            found.value = best
            found.is_exact = True
            found.test = best_test
        else:
            found.value = max(lower, min(rest, best))
            found.is_exact = False
            found.test = -1
        return 0

    cdef int try_test(
        self, const Belief* state, const Candidate* candidate, float64_t enough,
        Found* tried,
    ) except -1 nogil:
        """Try one test: price, then what each outcome leaves."""
        cdef:
            intp_t test = candidate.test
            intp_t group = self.problem.prices.group[test]
            uint8_t was_open = 0
            Trial trial
            intp_t left
        trial.test = test
        trial.enough = enough
        trial.total = candidate.price
        trial.n_children = 0
        self.open_trial(state, &trial)
        self.is_done[test] = 1
        if group >= 0:
            was_open = self.is_open[group]
            self.is_open[group] = 1
        try:
            self.bound_children(&trial)
            left = self.solve_children(&trial)
        finally:
            self.is_done[test] = 0
            if group >= 0:
                self.is_open[group] = was_open
            free(trial.room)
            free(trial.children)
        tried.value = trial.total
        tried.is_exact = left == 0
        tried.test = -1
        return 0

    cdef int open_trial(self, const Belief* state, Trial* trial) except -1 nogil:
        """Work out the states that the outcomes of a test leave."""
        cdef:
            intp_t first = self.problem.first[trial.test]
            intp_t code, n_codes = self.problem.first[trial.test + 1] - first
            intp_t n = state.n
            Child* child
        # Eight bytes more than needed, so that every state begins at a whole word.
        trial.room = <char*> malloc(n_codes * (20 * n + 8))
        trial.children = <Child*> malloc(n_codes * sizeof(Child))
        if trial.room == NULL or trial.children == NULL:
            free(trial.room)
            free(trial.children)
            with gil:
                raise MemoryError("no memory left to try a test")
        for code in range(n_codes):
            child = &trial.children[trial.n_children]
            place_state(
                &child.state, trial.room + trial.n_children * ((20 * n + 7) // 8 * 8), n
            )
            if self.problem.advance(state, first + code, &child.state) == 0:
                continue
            if state.left < UNLIMITED:
                child.state.left = max(
                    0.0,
                    state.left
                    - self.expander.charge(trial.test, code, &self.is_open[0]),
                )
            child.lower = 0.0
            trial.n_children += 1
        return 0

    cdef int bound_children(self, Trial* trial) except -1 nogil:
        """Add up the bounds of what a test leaves, until there is enough."""
        cdef:
            intp_t j
            Child* child
        for j in range(trial.n_children):
            child = &trial.children[j]
            child.lower = self.bound_state(&child.state)
            trial.total += child.state.scale * child.lower
        return 0

    cdef intp_t solve_children(self, Trial* trial) except -1 nogil:
        """Raise what a test leaves together; return how many outcomes stay open.

        What is missing to `enough` is shared out by weight: to raise two bounds a
        little is far cheaper than to raise one by as much as both. After each round
        either enough is reached or one child more is solved.
        """
        cdef:
            intp_t left = trial.n_children, j
            float64_t allowed
            Found found
            Child* child
        while left > 0:
            j = 0
            while j < left:
                if trial.total >= trial.enough:
                    return left
                child = &trial.children[j]
                allowed = self.allow(trial, j, left)
                self.solve_state(&child.state, allowed, &found)
                if self.is_out and not found.is_exact and found.value < allowed:
                    return left
                found.value = max(found.value, child.lower)
                trial.total += child.state.scale * (found.value - child.lower)
                child.lower = found.value
                if found.is_exact:
                    left -= 1
                    swap(child, &trial.children[left])
                elif left == 1:
                    # At least what was allowed, whatever rounding says.
                    trial.total = max(trial.total, trial.enough)
                    return left
                else:
                    j += 1
        return 0 if trial.total < trial.enough else 1

    cdef float64_t allow(
        self, const Trial* trial, intp_t which, intp_t n
    ) noexcept nogil:
        """Return up to where a child is raised, as its share of what is missing."""
        cdef:
            const Child* child = &trial.children[which]
            float64_t missing = trial.enough - trial.total, weight = 0.0
            float64_t own = child.state.scale * child.state.total
            intp_t i
        for i in range(which, n):
            weight += trial.children[i].state.scale * trial.children[i].state.total
        if n == 1 or not self.use_shares:
            return child.lower + missing / child.state.scale
        # Never the same bound again, whatever rounding does.
        return (
            child.lower + missing * own / weight / child.state.scale
        ) * (1 + ROUNDING)


cdef void swap(Child* a, Child* b) noexcept nogil:
    cdef Child kept = a[0]
    a[0] = b[0]
    b[0] = kept
