"""The best split of a leaf by one column. This module must not know what rows pay."""

from libc.stdlib cimport qsort

from askless._core.base._types cimport float64_t, int32_t, intp_t, uint8_t

cdef:
    # A leaf whose second derivatives are next to nothing would take any value.
    float64_t LEAST_SECOND = 1e-3
    # With more levels, leaves of categories are shrunk more: their best order is chosen
    # from what it is judged by.
    int32_t FEW_LEVELS = 4
    float64_t CATEGORY_L2 = 10.0

cdef struct Level:
    float64_t ratio
    int32_t code


cdef inline float64_t score(
    const float64_t* part, int32_t n, float64_t l2
) noexcept nogil:
    """Return how much a leaf of some sums lowers the loss, times two."""
    cdef:
        float64_t found = 0.0
        int32_t k
    for k in range(n):
        found += part[k] * part[k] / (part[n + k] + l2 + 1e-12)
    return found


cdef inline float64_t score_both(
    const float64_t* left, const float64_t* total, int32_t n, float64_t l2
) noexcept nogil:
    """Return the same of a leaf and of what is left of the total beside it."""
    cdef:
        float64_t found = 0.0, rest, below, beside
        int32_t k
    for k in range(n):
        rest = total[k] - left[k]
        below = left[n + k] + l2 + 1e-12
        beside = total[n + k] - left[n + k] + l2 + 1e-12
        # One division: they take most of the time.
        found += (left[k] * left[k] * beside + rest * rest * below) / (below * beside)
    return found


cdef inline void add_cell(
    float64_t* left, const float64_t* cell, int32_t width
) noexcept nogil:
    cdef int32_t j
    for j in range(width):
        left[j] += cell[j]


cdef inline bint is_allowed(
    const float64_t* left, const float64_t* total, const Terms* terms
) noexcept nogil:
    """Return whether both sides have rows and second derivatives enough."""
    cdef:
        int32_t k, n = terms.n_outputs
        float64_t before = 0.0, after = 0.0
    if left[2 * n] < terms.least_rows or total[2 * n] - left[2 * n] < terms.least_rows:
        return False
    for k in range(n, 2 * n):
        before += left[k]
        after += total[k] - left[k]
    return before >= LEAST_SECOND and after >= LEAST_SECOND


cdef inline int32_t add_up(
    const float64_t* cells, int32_t n_levels, const float64_t* first,
    const float64_t* total, const Terms* terms, intp_t stride, float64_t* sums,
    int32_t* level,
) noexcept nogil:
    """Write the sums up to each level that leaves rows enough on both sides.

    Those of one kind stand side by side, so that all levels are scored at a time.
    Returns how many levels there are.
    """
    cdef:
        int32_t width = 2 * terms.n_outputs + 1, b, j, n_seen = 0
        int32_t n_rows = width - 1
        const float64_t* cell
        float64_t* running = sums + stride * (width + 2)
    for j in range(width):
        running[j] = first[j]
    for b in range(n_levels):
        cell = cells + <intp_t>b * width
        if cell[n_rows] < 0.5:
            continue
        for j in range(width):
            running[j] += cell[j]
        if total[n_rows] - running[n_rows] < terms.least_rows:
            break
        if running[n_rows] < terms.least_rows:
            continue
        for j in range(width):
            sums[j * stride + n_seen] = running[j]
        level[n_seen] = b
        n_seen += 1
    return n_seen


cdef inline void score_levels(
    const float64_t* total, const Terms* terms, intp_t stride, int32_t n_seen,
    float64_t* sums,
) noexcept nogil:
    """Write how much each level lowers the loss as a cut, and what lies below it."""
    cdef:
        int32_t n = terms.n_outputs, k, i
        float64_t l2 = terms.l2 + 1e-12, whole, seconds, rest, below, beside
        float64_t* gains = sums + stride * (2 * n + 1)
        float64_t* before = gains + stride
        const float64_t* gradient
        const float64_t* second
    for i in range(n_seen):
        gains[i] = before[i] = 0.0
    for k in range(n):
        whole, seconds = total[k], total[n + k]
        gradient, second = sums + stride * k, sums + stride * (n + k)
        for i in range(n_seen):
            rest = whole - gradient[i]
            below = second[i] + l2
            beside = seconds - second[i] + l2
            gains[i] += (
                gradient[i] * gradient[i] * beside + rest * rest * below
            ) / (below * beside)
            before[i] += second[i]


cdef inline void try_levels_of_two(
    const float64_t* cells, int32_t n_levels, const float64_t* first,
    const float64_t* total, const Terms* terms, uint8_t side, Split* best,
) noexcept nogil:
    """Do what `add_up` and `score_levels` do, of one output, in one go.

    Better cuts than the best so far take its place.
    """
    cdef:
        float64_t gradient = first[0], second = first[1], n_left = first[2]
        float64_t l2 = terms.l2 + 1e-12, least = terms.least_rows
        float64_t base = score(total, 1, terms.l2), rest, below, beside, gain
        const float64_t* cell
        int32_t b
    for b in range(n_levels):
        cell = cells + 3 * <intp_t>b
        if cell[2] < 0.5:
            continue
        gradient += cell[0]
        second += cell[1]
        n_left += cell[2]
        if total[2] - n_left < least:
            break
        if n_left < least or second < LEAST_SECOND or total[1] - second < LEAST_SECOND:
            continue
        rest = total[0] - gradient
        below = second + l2
        beside = total[1] - second + l2
        gain = (
            gradient * gradient * beside + rest * rest * below
        ) / (below * beside) - base
        if gain > best.gain:
            best.gain = gain
            best.cut = b
            best.missing_left = side
            if not best.has_missing:
                best.missing_left = 2 * n_left >= total[2]


cdef Split split_number(
    const float64_t* cells, int32_t n_levels, const float64_t* total, const Terms* terms,
    intp_t stride, float64_t* sums, int32_t* level,
) noexcept nogil:
    """Return the best threshold, and where missing values go.

    Of equal splits the first is kept: of the least cut, missing values going right.
    Where none is missing, they would go with most rows.
    """
    cdef:
        int32_t n = terms.n_outputs, width = 2 * n + 1, side, j, i, n_seen
        const float64_t* missing = cells + <intp_t>n_levels * width
        float64_t base = score(total, n, terms.l2), gain, seconds = 0.0
        float64_t* gains = sums + stride * width
        float64_t* before = gains + stride
        # Behind what `add_up` adds up there.
        float64_t* first = before + stride + width
        Split best
    best.gain = -1.0
    best.cut = 0
    best.missing_left = 0
    best.has_missing = missing[2 * n] > 0.5
    for j in range(n, 2 * n):
        seconds += total[j]
    for side in range(2 if best.has_missing else 1):
        for j in range(width):
            first[j] = missing[j] if side else 0.0
        if n == 1:
            try_levels_of_two(cells, n_levels, first, total, terms, side, &best)
            continue
        n_seen = add_up(
            cells, n_levels, first, total, terms, stride, sums, level
        )
        score_levels(total, terms, stride, n_seen, sums)
        for i in range(n_seen):
            if before[i] < LEAST_SECOND or seconds - before[i] < LEAST_SECOND:
                continue
            gain = gains[i] - base
            if gain > best.gain:
                best.gain = gain
                best.cut = level[i]
                best.missing_left = side
                if not best.has_missing:
                    best.missing_left = (
                        2 * sums[2 * n * stride + i] >= total[2 * n]
                    )
    return best


cdef int compare_levels(const void* a, const void* b) noexcept nogil:
    cdef:
        const Level* first = <const Level*>a
        const Level* second = <const Level*>b
    if first.ratio != second.ratio:
        return -1 if first.ratio < second.ratio else 1
    return first.code - second.code


cdef inline int32_t leading_output(
    const float64_t* cells, int32_t n_codes, const Terms* terms
) noexcept nogil:
    """Return the output that the levels tell most about."""
    cdef:
        int32_t n = terms.n_outputs, k, b, best = 0
        const float64_t* cell
        float64_t found, most = -1.0
    for k in range(n):
        found = 0.0
        for b in range(n_codes):
            cell = cells + <intp_t>b * (2 * n + 1)
            found += cell[k] * cell[k] / (cell[n + k] + CATEGORY_L2)
        if found > most:
            most = found
            best = k
    return best


cdef Split split_category(
    const float64_t* cells, int32_t n_levels, const float64_t* total, const Terms* terms,
    float64_t* room, int32_t* order,
) noexcept nogil:
    """Return the best cut of the levels, put in the order of what they tell.

    The first ``cut + 1`` entries of ``order`` go left. A missing value is a level of
    its own; a level that no row of the leaf shows goes right. ``order`` has room for
    five numbers for each level, missing ones counted in, and one more.
    """
    cdef:
        int32_t n = terms.n_outputs, width = 2 * n + 1, b, j, n_seen = 0
        int32_t lead = leading_output(cells, n_levels + 1, terms)
        Level* levels = <Level*>(order + ((n_levels + 2) & ~1))
        const float64_t* cell
        float64_t l2 = terms.l2, base, gain
        Split best
    best.gain = -1.0
    best.cut = 0
    best.missing_left = 0
    best.has_missing = cells[<intp_t>n_levels * width + 2 * n] > 0.5
    for b in range(n_levels + 1):
        cell = cells + <intp_t>b * width
        if cell[2 * n] > 0.5:
            levels[n_seen].ratio = cell[lead] / (cell[n + lead] + CATEGORY_L2)
            levels[n_seen].code = b
            n_seen += 1
    qsort(levels, n_seen, sizeof(Level), compare_levels)
    if n_seen > FEW_LEVELS:
        l2 += CATEGORY_L2
    base = score(total, n, l2)
    for j in range(width):
        room[j] = 0.0
    for b in range(n_seen - 1):
        add_cell(room, cells + <intp_t>levels[b].code * width, width)
        if not is_allowed(room, total, terms):
            continue
        gain = score_both(room, total, n, l2) - base
        if gain > best.gain:
            best.gain = gain
            best.cut = b
    for b in range(n_seen):
        order[b] = levels[b].code
        if levels[b].code == n_levels and b <= best.cut:
            best.missing_left = 1
    return best
