"""Score every test by what it would tell of the class, given the weights of the cases.

Cases of one class lie together, and classes of a single case come last: what a test
leaves open of such a class depends on the case alone, so that it is worked out once
(`doubt`) and no logarithm is taken here. A test of two outcomes has one row: the second
chance is what is left of 1.
"""

import numpy as np

from libc.math cimport log2
from libc.stdlib cimport free, malloc

from askless._core.base._types cimport float64_t, int32_t, int64_t, intp_t


# The cases that are left and their classes, and room for what a test shows of them.
cdef struct Left:
    const int32_t* cases       # NULL: all of them
    const float64_t* weight    # (n,)
    intp_t n
    const int64_t* start       # (n_classes + 1,) where each class begins
    intp_t n_classes
    intp_t n_several           # so many classes before those of a single case
    float64_t* by_class        # (n_classes,)
    float64_t total            # of the weights
    float64_t most             # of a class
    float64_t class_logs       # sum of w log2(w) over the classes of several cases
    float64_t* parts           # (most codes, n_classes)
    float64_t* row             # (n,) room for the entries of these cases


def score_tests(
    const float64_t[:, ::1] chance not None,    # IN (n_rows, n_cases)
    const int64_t[::1] first not None,          # IN (n_tests + 1,) rows of each test
    const float64_t[:, ::1] doubt not None,     # IN (n_tests or 0, n_cases)
    const int32_t[::1] cases not None,          # IN (n,) ascending
    const float64_t[::1] weight not None,       # IN (n,)
    const int64_t[::1] class_start not None,    # IN (n_classes + 1,) within `cases`
    intp_t n_several,
    const float64_t[:, ::1] mistakes not None,  # IN (n_classes, n_decisions)
    float64_t mistake,
    bint by_value,
):
    """Return the bits of the class that each test tells, or the loss that it saves.

    Parameters
    ----------
    n_several : int
        How many classes come before those of a single case.
    mistake : float
        What every mistake costs, if all cost the same and every class can be decided;
        -1: see `mistakes`.
    by_value : bool
        The loss that is saved, not bits.

    Returns
    -------
    ndarray of shape (n_tests,)
        Sums by weight; rounding may leave them a little below 0.
    """
    cdef:
        intp_t n_tests = first.shape[0] - 1, n = cases.shape[0]
        intp_t n_classes = class_start.shape[0] - 1, most = 2, t
        Left left
    for t in range(n_tests):
        most = max(most, first[t + 1] - first[t])
    scores = np.empty(n_tests)
    cdef:
        float64_t[::1] out = scores
        float64_t* room = <float64_t*> malloc(
            (n + (most + 1) * n_classes) * sizeof(float64_t)
        )
    if room == NULL:
        raise MemoryError
    left.cases = &cases[0] if n < chance.shape[1] else NULL
    left.weight = &weight[0]
    left.n = n
    left.start = &class_start[0]
    left.n_classes = n_classes
    left.n_several = n_several
    left.row = room
    left.by_class = room + n
    left.parts = left.by_class + n_classes
    with nogil:
        weigh_classes(&left)
        for t in range(n_tests):
            if not by_value:
                out[t] = told(chance, first[t], first[t + 1], doubt, t, &left)
            elif mistake < 0:
                out[t] = saved(chance, first[t], first[t + 1], mistakes, &left)
            else:
                out[t] = mistake * decided_more(chance, first[t], first[t + 1], &left)
    free(room)
    return scores


cdef const float64_t* take(const float64_t* row, const Left* left) noexcept nogil:
    """Return the entries of the cases that are left."""
    cdef intp_t i
    if left.cases == NULL:
        return row
    for i in range(left.n):
        left.row[i] = row[left.cases[i]]
    return left.row


cdef float64_t dot(
    const float64_t* a, const float64_t* b, intp_t n
) noexcept nogil:
    """Return a sum of products, in an order that fits the processor's registers."""
    cdef:
        float64_t sums[8]
        intp_t i = 0, k
        float64_t rest = 0.0
    for k in range(8):
        sums[k] = 0.0
    while i + 8 <= n:
        for k in range(8):
            sums[k] += a[i + k] * b[i + k]
        i += 8
    while i < n:
        rest += a[i] * b[i]
        i += 1
    return (
        ((sums[0] + sums[1]) + (sums[2] + sums[3]))
        + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
    ) + rest


cdef void weigh_classes(Left* left) noexcept nogil:
    """Fill what is the same for all tests."""
    cdef intp_t c, i
    left.total = left.most = left.class_logs = 0.0
    for c in range(left.n_classes):
        left.by_class[c] = 0.0
        for i in range(left.start[c], left.start[c + 1]):
            left.by_class[c] += left.weight[i]
        left.total += left.by_class[c]
        left.most = max(left.most, left.by_class[c])
        if c < left.n_several:
            left.class_logs += times_log(left.by_class[c])


cdef void sum_classes(
    const Left* left, const float64_t* row, intp_t n_classes
) noexcept nogil:
    """Fill the weight of each class that shows the code of a row."""
    cdef intp_t c, begin, end
    for c in range(n_classes):
        begin, end = left.start[c], left.start[c + 1]
        left.parts[c] = dot(left.weight + begin, row + begin, end - begin)


cdef float64_t times_log(float64_t value) noexcept nogil:
    return value * log2(value) if value > 0 else 0.0


cdef float64_t told(
    const float64_t[:, ::1] chance, intp_t begin, intp_t end,
    const float64_t[:, ::1] doubt, intp_t test, const Left* left,
) noexcept nogil:
    """Return the bits of the class that a test tells: H(outcome) - H(outcome | class)."""
    cdef:
        intp_t r, c, n_several = left.n_several
        intp_t single = left.start[n_several]
        const float64_t* row
        float64_t seen, all_seen = 0.0, bits, part
    bits = times_log(left.total) - left.class_logs
    for r in range(begin, end):
        row = take(&chance[r, 0], left)
        sum_classes(left, row, n_several)
        seen = dot(left.weight + single, row + single, left.n - single)
        for c in range(n_several):
            part = left.parts[c]
            seen += part
            bits += times_log(part)
            if end - begin == 1:
                bits += times_log(max(left.by_class[c] - part, 0.0))
        bits -= times_log(seen)
        all_seen += seen
    if end - begin == 1:
        bits -= times_log(max(left.total - all_seen, 0.0))
    if single < left.n:
        row = take(&doubt[test, 0], left)
        bits -= dot(left.weight + single, row + single, left.n - single)
    return bits


cdef float64_t saved(
    const float64_t[:, ::1] chance, intp_t begin, intp_t end,
    const float64_t[:, ::1] mistakes, const Left* left,
) noexcept nogil:
    """Return what a test takes off the expected loss of deciding."""
    cdef:
        intp_t r, c
        const float64_t* row
        float64_t* other = left.parts + left.n_classes
        float64_t loss = decide(left.by_class, left.n_classes, mistakes)
    for r in range(begin, end):
        row = take(&chance[r, 0], left)
        sum_classes(left, row, left.n_classes)
        loss -= decide(left.parts, left.n_classes, mistakes)
        if end - begin == 1:
            for c in range(left.n_classes):
                other[c] = left.by_class[c] - left.parts[c]
            loss -= decide(other, left.n_classes, mistakes)
    return loss


cdef float64_t decide(
    const float64_t* parts, intp_t n_classes, const float64_t[:, ::1] mistakes
) noexcept nogil:
    """Return the least expected loss of deciding, given the weight of each class."""
    cdef:
        intp_t c, d
        float64_t loss, best = 0.0
    for d in range(mistakes.shape[1]):
        loss = 0.0
        for c in range(n_classes):
            loss += parts[c] * mistakes[c, d]
        if d == 0 or loss < best:
            best = loss
    return best


cdef float64_t decided_more(
    const float64_t[:, ::1] chance, intp_t begin, intp_t end, const Left* left
) noexcept nogil:
    """Return how much more weight is decided rightly by the likeliest class."""
    cdef:
        intp_t r, c, single = left.start[left.n_several]
        const float64_t* row
        float64_t most[2]
        float64_t gain = -left.most, part
    for r in range(begin, end):
        row = take(&chance[r, 0], left)
        sum_classes(left, row, left.n_several)
        largest(left.weight + single, row + single, left.n - single, most)
        for c in range(left.n_several):
            part = left.parts[c]
            most[0] = max(most[0], part)
            most[1] = max(most[1], left.by_class[c] - part)
        gain += most[0]
        if end - begin == 1:
            gain += most[1]
    return gain


cdef void largest(
    const float64_t* weight, const float64_t* row, intp_t n, float64_t* most
) noexcept nogil:
    """Fill the largest weight times chance, and the largest times what is left of 1."""
    cdef:
        float64_t shown[4]
        float64_t others[4]
        float64_t part, other
        intp_t i = 0, k
    for k in range(4):
        shown[k] = others[k] = 0.0
    while i + 4 <= n:
        for k in range(4):
            part = weight[i + k] * row[i + k]
            other = weight[i + k] - part
            shown[k] = part if part > shown[k] else shown[k]
            others[k] = other if other > others[k] else others[k]
        i += 4
    while i < n:
        part = weight[i] * row[i]
        shown[0] = max(shown[0], part)
        others[0] = max(others[0], weight[i] - part)
        i += 1
    most[0] = max(max(shown[0], shown[1]), max(shown[2], shown[3]))
    most[1] = max(max(others[0], others[1]), max(others[2], others[3]))
