"""Score tests by how much they tell and what they charge: the criteria of the papers.

A criterion sees class weights and a price in context. It must not know how the tree
around the node is grown, nor whether the test is really bought.
"""

from libc.math cimport INFINITY, exp2, log2, pow, rint

from askless._core.base._types cimport float64_t, int32_t, intp_t
from askless._core.cost._workspace cimport Node, Workspace, least_mistakes, times_log

# Gains are whole multiples of this.
cdef float64_t GRAIN = 1.0 / 68719476736.0
# Scores closer than this, relatively, tie: rounding must not decide.
cdef float64_t TIE = 1e-9

# Criteria by name.
CRITERIA = {
    "gain": <int> BY_GAIN,
    "gain-ratio": <int> BY_GAIN_RATIO,
    "eg2": <int> BY_EG2,
    "idx": <int> BY_IDX,
    "csid3": <int> BY_CSID3,
    "dtmc": <int> BY_DTMC,
}


cdef inline float64_t round_gain(float64_t bits, float64_t weight) noexcept nogil:
    cdef float64_t gain = rint(bits / weight / GRAIN) * GRAIN
    return gain if gain > 0 else 0.0


cdef inline void clear_choice(Choice* choice, intp_t test) noexcept nogil:
    choice.test = test
    choice.cut = -1
    choice.gain = choice.spread = choice.mistakes = 0.0
    choice.price = choice.score = 0.0
    choice.fits = False


# One test.

cdef inline float64_t part_bits(
    Workspace ws, const float64_t* counts, float64_t weight
) noexcept nogil:
    """Return the entropy of a part of the node times its weight."""
    cdef:
        float64_t bits = times_log(ws, weight)
        intp_t s
    for s in range(ws.n_present):
        bits -= times_log(ws, counts[s])
    return bits


cdef inline float64_t node_bits(Workspace ws) noexcept nogil:
    """Return the entropy of the node times its weight."""
    return part_bits(ws, &ws.totals[0], ws.weight)


cdef void score_branches(
    Workspace ws, const Criterion* criterion, Choice* choice
) noexcept nogil:
    """Score the test that was counted last, with a child for every code met."""
    cdef:
        float64_t bits = node_bits(ws), spread = times_log(ws, ws.weight)
        float64_t part
        intp_t m, code, n_large = 0
        const float64_t* counts
    for m in range(ws.n_met):
        code = ws.met[m]
        part = ws.code_weight[code]
        counts = &ws.counts[code * ws.n_present]
        bits -= part_bits(ws, counts, part)
        spread -= times_log(ws, part)
        n_large += part >= criterion.least_part
        if criterion.kind == BY_DTMC:
            choice.mistakes += least_mistakes(ws, counts)
    choice.gain = round_gain(bits, ws.weight)
    choice.spread = spread / ws.weight
    choice.fits = n_large >= 2


cdef inline float64_t fast_log(
    Workspace ws, const float64_t* table, bint is_whole, float64_t x
) noexcept nogil:
    """Return x log2 x; `is_whole` says that x is surely in the table."""
    return table[<intp_t> x] if is_whole else times_log(ws, x)


cdef inline float64_t cut_bits(
    Workspace ws, float64_t whole_bits, const float64_t* left, float64_t weight,
    float64_t other,
) noexcept nogil:
    """Return what a cut takes off the entropy of the node times its weight."""
    cdef:
        const float64_t* table = &ws.x_log_x[0]
        const float64_t* totals = &ws.totals[0]
        bint is_whole = ws.is_whole
        float64_t bits
        intp_t s
    bits = whole_bits - fast_log(ws, table, is_whole, weight) - fast_log(
        ws, table, is_whole, other
    )
    for s in range(ws.n_present):
        bits += fast_log(ws, table, is_whole, left[s]) + fast_log(
            ws, table, is_whole, totals[s] - left[s]
        )
    return bits


cdef float64_t cut_mistakes(Workspace ws) noexcept nogil:
    """Return the least mistakes of the two sides of a cut; the left is in `left`."""
    cdef:
        float64_t* left = &ws.left[0]
        float64_t mistakes = least_mistakes(ws, left)
        intp_t s
    for s in range(ws.n_present):
        left[s] = ws.totals[s] - left[s]
    mistakes += least_mistakes(ws, left)
    for s in range(ws.n_present):
        left[s] = ws.totals[s] - left[s]
    return mistakes


cdef inline bint is_before(
    const Choice* choice, const Choice* other, bint by_mistakes
) noexcept nogil:
    """Return whether a cut is better than one with a smaller code."""
    if by_mistakes:
        return choice.mistakes < other.mistakes * (1.0 - TIE)
    return choice.gain > other.gain


cdef inline intp_t make_place(
    Choice* choices, intp_t n_kept, intp_t most, const Choice* choice, bint by_mistakes
) noexcept nogil:
    """Return where a cut belongs, behind all that are no worse; move others back."""
    cdef intp_t at = n_kept
    while at > 0 and is_before(choice, &choices[at - 1], by_mistakes):
        if at < most:
            choices[at] = choices[at - 1]
        at -= 1
    return at


cdef intp_t score_cuts(
    Workspace ws, const Node* node, intp_t test, const Criterion* criterion,
    intp_t most, Choice* choices,
) noexcept nogil:
    cdef:
        float64_t whole_bits, bits, weight, other, penalty = 0.0, enough = -INFINITY
        float64_t least_part = criterion.least_part
        intp_t m, s, at, n_kept = 0, n_present = ws.n_present
        const float64_t* counts
        float64_t* left = &ws.left[0]
        Choice choice
        bint by_mistakes = criterion.kind == BY_DTMC
    ws.count(node.start, node.n, test)
    if ws.n_met < 2:
        return 0
    whole_bits = node_bits(ws)
    if criterion.with_penalty:
        penalty = log2(<float64_t> (ws.n_met - 1))
    clear_choice(&choice, test)
    choice.price = ws.price(test, node.due)
    choice.fits = True
    for s in range(n_present):
        left[s] = 0.0
    for m in range(ws.n_met - 1):
        counts = &ws.counts[ws.met[m] * n_present]
        weight = 0.0
        for s in range(n_present):
            left[s] += counts[s]
            weight += left[s]
        other = ws.weight - weight
        if weight < least_part or other < least_part:
            continue
        bits = cut_bits(ws, whole_bits, left, weight, other)
        # A cut whose gain is no higher than that of the last one kept is not kept, and
        # most are so much lower that rounding need not be looked at.
        if bits - penalty < enough and not by_mistakes:
            continue
        choice.gain = round_gain(bits - penalty, ws.weight)
        if by_mistakes:
            choice.mistakes = cut_mistakes(ws)
        at = make_place(choices, n_kept, most, &choice, by_mistakes)
        if at >= most:
            continue
        choice.cut = ws.met[m]
        # What only a cut that is kept needs to know.
        choice.spread = (
            times_log(ws, ws.weight) - times_log(ws, weight) - times_log(ws, other)
        ) / ws.weight
        choices[at] = choice
        n_kept = min(n_kept + 1, most)
        if n_kept == most:
            enough = (choices[most - 1].gain - 2.0 * GRAIN) * ws.weight
    return n_kept


cdef bint score_test(
    Workspace ws, const Node* node, intp_t test, const Criterion* criterion,
    Choice* choice,
) noexcept nogil:
    clear_choice(choice, test)
    if ws.is_ordered[test]:
        score_cuts(ws, node, test, criterion, 1, choice)
        if ws.n_met < 2:
            return False
    else:
        ws.count(node.start, node.n, test)
        if ws.n_met < 2:
            return False
        score_branches(ws, criterion, choice)
        choice.price = ws.price(test, node.due)
    choice.score = score_choice(choice, criterion, ws.weight)
    return True


cdef float64_t score_choice(
    const Choice* choice, const Criterion* criterion, float64_t weight
) noexcept nogil:
    """Return how good a test is, by its gain, mistakes and price."""
    cdef float64_t price = choice.price / weight
    if criterion.kind == BY_GAIN:
        return choice.gain
    if criterion.kind == BY_GAIN_RATIO:
        return choice.gain / choice.spread if choice.spread > 0 else 0.0
    if criterion.kind == BY_EG2:
        return (exp2(choice.gain) - 1.0) / pow(price + 1.0, criterion.w)
    if criterion.kind == BY_DTMC:
        return -(choice.price + choice.mistakes)
    if choice.gain <= 0:
        return 0.0
    if price <= 0:
        return INFINITY
    if criterion.kind == BY_IDX:
        return choice.gain / price
    return choice.gain * choice.gain / price


# All tests of a node.

cdef bint beats(const Choice* choice, const Choice* best) noexcept nogil:
    """Return whether a choice is better than the best of those before it."""
    if best.test < 0:
        return True
    if choice.score == INFINITY and best.score == INFINITY:
        return choice.gain > best.gain
    if best.score >= 0:
        return choice.score > best.score * (1.0 + TIE)
    return choice.score > best.score * (1.0 - TIE)


cdef float64_t average_gain(
    Workspace ws, const Node* node, const Criterion* criterion
) noexcept nogil:
    """Return the mean gain of the active tests that tell anything."""
    cdef:
        float64_t total = 0.0
        intp_t i, n_told = 0
        Choice choice
    for i in range(node.n_active):
        if not score_test(ws, node, ws.stack[node.active + i], criterion, &choice):
            continue
        if choice.fits and choice.gain > 0:
            total += choice.gain
            n_told += 1
    return total / n_told if n_told else 0.0


cdef Choice choose(
    Workspace ws, const Node* node, const Criterion* criterion, intp_t* kept,
    intp_t* n_kept,
) noexcept nogil:
    cdef:
        intp_t i, test
        float64_t average = 0.0
        Choice best, choice
    clear_choice(&best, -1)
    n_kept[0] = 0
    kept[0] = ws.take(node.n_active)
    if kept[0] < 0:
        return best
    if criterion.kind == BY_GAIN_RATIO:
        average = average_gain(ws, node, criterion)
    for i in range(node.n_active):
        test = ws.stack[node.active + i]
        if not score_test(ws, node, test, criterion, &choice):
            continue
        ws.stack[kept[0] + n_kept[0]] = <int32_t> test
        n_kept[0] += 1
        if not choice.fits or (criterion.needs_gain and choice.gain <= 0):
            continue
        if criterion.kind == BY_GAIN_RATIO and choice.gain < average - GRAIN:
            continue
        if beats(&choice, &best):
            best = choice
    return best


cdef intp_t find_decisive(
    Workspace ws, const Choice* choices, intp_t n
) noexcept nogil:
    cdef:
        float64_t bits = node_bits(ws) / ws.weight
        intp_t i
    for i in range(n):
        if choices[i].gain >= bits - GRAIN:
            return i
    return -1


cdef class SplitCriterion:
    """How a test is judged at a node, and which tests are not chosen."""

    def __init__(
        self, str name not None, *, float64_t w=1.0, float64_t least_part=0.0,
        bint with_penalty=False, bint needs_gain=False,
    ):
        self.settings = Criterion(
            <CriterionKind> <int> CRITERIA[name], w, least_part, with_penalty,
            needs_gain,
        )


def score_all(Workspace ws not None, SplitCriterion criterion not None):
    """Score every test over all rows. Returns what each is worth, and the choice."""
    cdef:
        Choice choice
        Node root
        intp_t test, kept, n_kept
    root = ws.start_root(ws.n_rows, 0)
    ws.weigh(0, ws.n_rows)
    scored = []
    for test in range(ws.n_tests):
        if score_test(ws, &root, test, &criterion.settings, &choice):
            scored.append(choice)
    choice = choose(ws, &root, &criterion.settings, &kept, &n_kept)
    return scored, choice.test
