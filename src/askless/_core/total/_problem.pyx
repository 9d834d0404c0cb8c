"""State a problem of least total cost as arrays."""

from libc.math cimport exp2

from askless._core.base._types cimport float64_t, int32_t, int64_t, intp_t
from askless._core.price._prices cimport Prices


cdef float64_t UNIT = 1099511627776.0  # parts of a bit in a surprisal: 2 ** 40


cdef class TotalProblem:
    """A table whose tests may err, with the prices of tests and of mistakes.

    Parameters
    ----------
    parts : object
        The arrays of the contract, as attributes of the same names.
    prices : Prices
    cost_weight : float
        What a unit of price counts; 0: only mistakes do.
    """

    def __init__(self, parts, Prices prices not None, float64_t cost_weight):
        self.prices = prices
        self.cost_weight = cost_weight
        self.first = parts.first
        self.chance = parts.chance
        self.surprisal = parts.surprisal
        self.kind = parts.kind
        self.doubt = parts.doubt
        self.prior = parts.prior
        self.class_id = parts.class_id
        self.mistakes = parts.mistakes
        self.earlier = parts.earlier
        self.capacity = parts.capacity
        self.mixture = parts.mixture
        self.slope = parts.slope
        self.order = parts.order
        self.rate = parts.rate
        self.least_loss = parts.least_loss
        self.wrong = parts.wrong
        self.enough = parts.enough
        self.slack = parts.slack
        self.n_cases = self.prior.shape[0]
        self.n_tests = self.kind.shape[0]
        self.n_classes = self.mistakes.shape[0]

    cdef float64_t decide(self, const Belief* state, float64_t* by_class) noexcept nogil:
        cdef:
            intp_t i, c, decision
            float64_t loss, best = 0.0
        for c in range(self.n_classes):
            by_class[c] = 0.0
        for i in range(state.n):
            by_class[self.class_id[state.cases[i]]] += state.weight[i]
        for decision in range(self.n_classes):
            loss = 0.0
            for c in range(self.n_classes):
                if by_class[c] > 0:
                    loss += by_class[c] * self.mistakes[c, decision]
            if decision == 0 or loss < best:
                best = loss
        return best

    cdef bint varies(self, const Belief* state, intp_t test) noexcept nogil:
        cdef:
            const int32_t* kinds = &self.kind[test, 0]
            int32_t kind = kinds[state.cases[0]]
            intp_t i
        for i in range(1, state.n):
            if kinds[state.cases[i]] != kind:
                return True
        return False

    cdef intp_t advance(
        self, const Belief* state, intp_t row, Belief* after
    ) noexcept nogil:
        cdef:
            const int64_t* surprisal = &self.surprisal[row, 0]
            intp_t i, n = 0
            int64_t least = 0, own
            float64_t total = 0.0
        for i in range(state.n):
            own = surprisal[state.cases[i]]
            if own < 0:
                continue
            own += state.surprisal[i]
            after.cases[n] = state.cases[i]
            after.surprisal[n] = own
            least = own if n == 0 else min(least, own)
            n += 1
        for i in range(n):
            after.surprisal[i] -= least
            after.weight[i] = self.prior[after.cases[i]]
            if after.surprisal[i]:
                after.weight[i] *= exp2(-<float64_t> after.surprisal[i] / UNIT)
            total += after.weight[i]
        after.n = n
        after.total = total
        after.scale = exp2(-<float64_t> least / UNIT)
        after.share = state.share * after.scale
        after.left = state.left
        return n
