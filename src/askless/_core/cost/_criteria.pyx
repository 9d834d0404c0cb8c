"""Judge tests by how much they tell and what they charge: the rules of the papers.

A rule sees class weights and a price in context. It must not know how the tree around
the node is grown, nor whether the test is really bought.
"""

from libc.math cimport INFINITY, exp2, log2, pow, rint

from askless._core.base._types cimport float64_t, int32_t, intp_t
from askless._core.cost._workspace cimport Workspace, least_mistakes, times_log

# Gains are whole multiples of this.
cdef float64_t GRAIN = 1.0 / 68719476736.0
# Scores closer than this, relatively, tie: rounding must not decide.
cdef float64_t TIE = 1e-9

# Rules by the name of their method.
RULES = {
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


cdef float64_t node_bits(Workspace ws) noexcept nogil:
    """Return the entropy of the node times its weight."""
    cdef:
        float64_t bits = times_log(ws, ws.weight)
        intp_t s
    for s in range(ws.n_present):
        bits -= times_log(ws, ws.totals[s])
    return bits


cdef float64_t part_bits(
    Workspace ws, const float64_t* counts, float64_t weight
) noexcept nogil:
    cdef:
        float64_t bits = times_log(ws, weight)
        intp_t s
    for s in range(ws.n_present):
        bits -= times_log(ws, counts[s])
    return bits


cdef void judge_parts(
    Workspace ws, intp_t test, const Taste* taste, Choice* choice
) noexcept nogil:
    """Judge a test with a child for every code met."""
    cdef:
        float64_t bits = node_bits(ws), spread = times_log(ws, ws.weight)
        float64_t part, mistakes = 0.0
        intp_t m, code, n_large = 0
        const float64_t* counts
    for m in range(ws.n_met):
        code = ws.met[m]
        part = ws.code_weight[code]
        counts = &ws.counts[code * ws.n_present]
        bits -= part_bits(ws, counts, part)
        spread -= times_log(ws, part)
        n_large += part >= taste.least_part
        if taste.rule == BY_DTMC:
            mistakes += least_mistakes(ws, counts)
    choice.test = test
    choice.cut = -1
    choice.gain = round_gain(bits, ws.weight)
    choice.spread = spread / ws.weight
    choice.mistakes = mistakes
    choice.fits = n_large >= 2


cdef inline float64_t fast_log(
    Workspace ws, const float64_t* table, bint is_whole, float64_t x
) noexcept nogil:
    """Return x log2 x; `is_whole` says that x is surely in the table."""
    return table[<intp_t> x] if is_whole else times_log(ws, x)


cdef void finish_cut(
    Workspace ws, float64_t weight, float64_t other, Choice* choice
) noexcept nogil:
    """Work out what only a cut that is kept needs to know."""
    choice.spread = (
        times_log(ws, ws.weight) - times_log(ws, weight) - times_log(ws, other)
    ) / ws.weight
    choice.fits = True


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


cdef intp_t judge_cuts(
    Workspace ws, intp_t start, intp_t n, intp_t test, const Taste* taste,
    float64_t ordering, intp_t most, Choice* choices,
) noexcept nogil:
    cdef:
        float64_t whole_bits, bits, weight, other, penalty = 0.0, enough = -INFINITY
        float64_t least_part = taste.least_part
        intp_t m, s, at, n_kept = 0, n_present = ws.n_present
        const float64_t* counts
        const float64_t* table = &ws.x_log_x[0]
        const float64_t* totals = &ws.totals[0]
        float64_t* left = &ws.left[0]
        Choice choice
        bint is_less, is_whole = ws.is_whole, by_mistakes = taste.rule == BY_DTMC
    ws.count(start, n, test)
    if ws.n_met < 2:
        return 0
    whole_bits = node_bits(ws)
    if taste.with_penalty:
        penalty = log2(<float64_t> (ws.n_met - 1))
    choice.test = test
    choice.price = ws.price(test, ordering)
    choice.score = choice.mistakes = choice.gain = 0.0
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
        bits = whole_bits - fast_log(ws, table, is_whole, weight) - fast_log(
            ws, table, is_whole, other
        )
        for s in range(n_present):
            bits += fast_log(ws, table, is_whole, left[s]) + fast_log(
                ws, table, is_whole, totals[s] - left[s]
            )
        # A cut whose gain is no higher than that of the last one kept is not kept, and
        # most are so much lower that rounding need not be looked at.
        if bits - penalty < enough and not by_mistakes:
            continue
        choice.gain = round_gain(bits - penalty, ws.weight)
        if by_mistakes:
            choice.mistakes = cut_mistakes(ws)
        # Insert behind all that are no worse.
        at = n_kept
        while at > 0:
            if by_mistakes:
                is_less = choice.mistakes < choices[at - 1].mistakes * (1.0 - TIE)
            else:
                is_less = choice.gain > choices[at - 1].gain
            if not is_less:
                break
            if at < most:
                choices[at] = choices[at - 1]
            at -= 1
        if at >= most:
            continue
        choice.cut = ws.met[m]
        finish_cut(ws, weight, other, &choice)
        choices[at] = choice
        if n_kept < most:
            n_kept += 1
        if n_kept == most:
            enough = (choices[most - 1].gain - 2.0 * GRAIN) * ws.weight
    return n_kept


cdef bint judge(
    Workspace ws, intp_t start, intp_t n, intp_t test, const Taste* taste,
    float64_t ordering, Choice* choice,
) noexcept nogil:
    choice.test = test
    choice.cut = -1
    choice.gain = choice.spread = choice.mistakes = choice.price = 0.0
    choice.fits = False
    if ws.is_ordered[test]:
        choice.fits = judge_cuts(ws, start, n, test, taste, ordering, 1, choice) > 0
        if ws.n_met < 2:
            return False
    else:
        ws.count(start, n, test)
        if ws.n_met < 2:
            return False
        judge_parts(ws, test, taste, choice)
        choice.price = ws.price(test, ordering)
    choice.score = score_choice(choice, taste, ws.weight)
    return True


cdef float64_t score_choice(
    const Choice* choice, const Taste* taste, float64_t weight
) noexcept nogil:
    cdef float64_t price = choice.price / weight
    if taste.rule == BY_GAIN:
        return choice.gain
    if taste.rule == BY_GAIN_RATIO:
        return choice.gain / choice.spread if choice.spread > 0 else 0.0
    if taste.rule == BY_EG2:
        return (exp2(choice.gain) - 1.0) / pow(price + 1.0, taste.w)
    if taste.rule == BY_DTMC:
        return -(choice.price + choice.mistakes)
    if choice.gain <= 0:
        return 0.0
    if price <= 0:
        return INFINITY
    if taste.rule == BY_IDX:
        return choice.gain / price
    return choice.gain * choice.gain / price


cdef bint beats(const Choice* choice, const Choice* best) noexcept nogil:
    if best.test < 0:
        return True
    if choice.score == INFINITY and best.score == INFINITY:
        return choice.gain > best.gain
    if best.score >= 0:
        return choice.score > best.score * (1.0 + TIE)
    return choice.score > best.score * (1.0 - TIE)


cdef Choice choose(
    Workspace ws, intp_t start, intp_t n, intp_t active, intp_t n_active,
    const Taste* taste, float64_t ordering, intp_t* kept, intp_t* n_kept,
) noexcept nogil:
    cdef:
        intp_t i, test, n_told = 0
        float64_t average = 0.0
        Choice best, choice
    best.test = -1
    best.cut = -1
    best.gain = best.spread = best.mistakes = best.price = best.score = 0.0
    best.fits = False
    n_kept[0] = 0
    kept[0] = ws.take(n_active)
    if kept[0] < 0:
        return best
    if taste.rule == BY_GAIN_RATIO:
        for i in range(n_active):
            if not judge(
                ws, start, n, ws.stack[active + i], taste, ordering, &choice
            ):
                continue
            if choice.fits and choice.gain > 0:
                average += choice.gain
                n_told += 1
        if n_told:
            average /= n_told
    for i in range(n_active):
        test = ws.stack[active + i]
        if not judge(ws, start, n, test, taste, ordering, &choice):
            continue
        ws.stack[kept[0] + n_kept[0]] = <int32_t> test
        n_kept[0] += 1
        if not choice.fits or (taste.needs_gain and choice.gain <= 0):
            continue
        if taste.rule == BY_GAIN_RATIO and choice.gain < average - GRAIN:
            continue
        if beats(&choice, &best):
            best = choice
    return best


def judge_all(
    Workspace ws not None,
    int rule,
    float64_t w=1.0,
    float64_t least_part=0.0,
    bint with_penalty=False,
    bint needs_gain=False,
):
    """Judge every test over all rows. Returns what each is worth, and the choice."""
    cdef:
        Taste taste
        Choice choice
        intp_t test, active, kept, n_kept
        intp_t top = ws.top
    taste.rule = <Rule> rule
    taste.w = w
    taste.least_part = least_part
    taste.with_penalty = with_penalty
    taste.needs_gain = needs_gain
    ws.weigh(0, ws.n_rows)
    judged = []
    for test in range(ws.n_tests):
        if judge(ws, 0, ws.n_rows, test, &taste, 0.0, &choice):
            judged.append(choice)
    active = ws.take(ws.n_tests)
    for test in range(ws.n_tests):
        ws.stack[active + test] = <int32_t> test
    choice = choose(
        ws, 0, ws.n_rows, active, ws.n_tests, &taste, 0.0, &kept, &n_kept
    )
    ws.top = top
    return judged, choice.test
