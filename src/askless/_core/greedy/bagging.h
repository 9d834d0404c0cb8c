/* Inner loops of growing a bagged tree: weigh and part the rows of a column.
 *
 * SSE2 is part of every x86-64. Parting a column eight bytes at a time takes a byte
 * shuffle (SSSE3, or NEON on ARM) and counting bits takes POPCNT (see blocks.h); both are
 * looked for when the program runs. Without them plain loops do the same work: on the
 * growth of a whole tree they take about twice as long.
 */
#ifndef ASKLESS_BAGGING_H
#define ASKLESS_BAGGING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#if defined(__x86_64__) && defined(__GNUC__)
#include <tmmintrin.h>
#define ASKLESS_X86_DISPATCH 1
#endif
#if defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#endif

/* 1 to use what the processor has, 0 to do without: a switch for tests. */
static int askless_use_fast = 1;

static inline int has_fast_bytes(void)
{
#if defined(ASKLESS_X86_DISPATCH)
    return askless_use_fast && __builtin_cpu_supports("ssse3") &&
           __builtin_cpu_supports("popcnt");
#elif defined(__aarch64__) && defined(__ARM_NEON)
    return askless_use_fast;
#else
    return 0;
#endif
}

static inline void set_fast_bytes(int use) { askless_use_fast = use; }

#if defined(__SSE2__)
/* All ones in the first n of sixteen bytes. Runs of a class are short, so that the rest
 * beyond the last whole sixteen is most of the work: it is read whole and masked. Columns
 * have room for it behind their end. */
static inline __m128i first_bytes(ptrdiff_t n)
{
    const __m128i places =
        _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm_cmpgt_epi8(_mm_set1_epi8((char)n), places);
}

/* The sum of two numbers. Stays in registers: runs are short. */
static inline int64_t add_halves(__m128i sums)
{
    int64_t low, high;
    _mm_storel_epi64((__m128i *)&low, sums);
    _mm_storel_epi64((__m128i *)&high, _mm_unpackhi_epi64(sums, sums));
    return low + high;
}
#endif

/* The weight of the rows whose code is at most the limit. */
static inline int64_t weigh_at_most_u8(const uint8_t *codes, const uint8_t *weights,
                                       ptrdiff_t n, uint8_t limit)
{
    int64_t total = 0;
    ptrdiff_t i = 0;
#if defined(__SSE2__)
    const __m128i limits = _mm_set1_epi8((char)limit), zero = _mm_setzero_si128();
    __m128i sums = zero;
    for (; i + 16 <= n; i += 16) {
        const __m128i c = _mm_loadu_si128((const __m128i *)(codes + i));
        const __m128i w = _mm_loadu_si128((const __m128i *)(weights + i));
        const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(c, limits), c);
        sums = _mm_add_epi64(sums, _mm_sad_epu8(_mm_and_si128(low, w), zero));
    }
    if (i < n) {
        const __m128i c = _mm_loadu_si128((const __m128i *)(codes + i));
        const __m128i w = _mm_loadu_si128((const __m128i *)(weights + i));
        const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(c, limits), c);
        const __m128i kept = _mm_and_si128(low, first_bytes(n - i));
        sums = _mm_add_epi64(sums, _mm_sad_epu8(_mm_and_si128(kept, w), zero));
    }
    total = add_halves(sums);
#else
    for (; i < n; i++)
        total += codes[i] <= limit ? weights[i] : 0;
#endif
    return total;
}

static inline int64_t sum_u8(const uint8_t *weights, ptrdiff_t n)
{
    int64_t total = 0;
    ptrdiff_t i = 0;
#if defined(__SSE2__)
    const __m128i zero = _mm_setzero_si128();
    __m128i sums = zero;
    for (; i + 16 <= n; i += 16)
        sums = _mm_add_epi64(
            sums, _mm_sad_epu8(_mm_loadu_si128((const __m128i *)(weights + i)), zero));
    if (i < n) {
        const __m128i w = _mm_loadu_si128((const __m128i *)(weights + i));
        sums = _mm_add_epi64(
            sums, _mm_sad_epu8(_mm_and_si128(w, first_bytes(n - i)), zero));
    }
    total = add_halves(sums);
#else
    for (; i < n; i++)
        total += weights[i];
#endif
    return total;
}

/* Tests of two outcomes are kept eight to a byte, a bit for each. For some bits of a byte,
 * the weight of the rows where they are set; `n_bits` is a constant where it is called. */
static inline void weigh_some_bits(const uint8_t *codes, const uint8_t *weights,
                                   ptrdiff_t n, const uint8_t *bits, int n_bits,
                                   int64_t *out)
{
    ptrdiff_t i = 0;
    int j;
#if defined(__SSE2__)
    const __m128i zero = _mm_setzero_si128();
    __m128i sums[4], bit[4];
    for (j = 0; j < n_bits; j++) {
        sums[j] = zero;
        bit[j] = _mm_set1_epi8((char)bits[j]);
    }
    for (; i < n; i += 16) {
        const __m128i c = _mm_loadu_si128((const __m128i *)(codes + i));
        __m128i w = _mm_loadu_si128((const __m128i *)(weights + i));
        if (n - i < 16)
            w = _mm_and_si128(w, first_bytes(n - i));
        for (j = 0; j < n_bits; j++) {
            const __m128i is_set = _mm_cmpeq_epi8(_mm_and_si128(c, bit[j]), bit[j]);
            sums[j] = _mm_add_epi64(sums[j],
                                    _mm_sad_epu8(_mm_and_si128(is_set, w), zero));
        }
    }
    for (j = 0; j < n_bits; j++)
        out[j] = add_halves(sums[j]);
#else
    for (j = 0; j < n_bits; j++)
        out[j] = 0;
    for (; i < n; i++)
        for (j = 0; j < n_bits; j++)
            out[j] += codes[i] & bits[j] ? weights[i] : 0;
#endif
}

/* The same for one to four bits; there are four of `bits` and of `out`. */
static inline void weigh_bits_u8(const uint8_t *codes, const uint8_t *weights,
                                 ptrdiff_t n, const uint8_t *bits, int n_bits,
                                 int64_t *out)
{
    if (n_bits == 1)
        weigh_some_bits(codes, weights, n, bits, 1, out);
    else if (n_bits == 2)
        weigh_some_bits(codes, weights, n, bits, 2, out);
    else
        weigh_some_bits(codes, weights, n, bits, 4, out);
}

/* One bit a row, set where a bit of the code is not, eight rows a byte. */
static inline void mark_unset_u8(const uint8_t *codes, ptrdiff_t n, uint8_t bit,
                                 uint8_t *marks)
{
    ptrdiff_t i = 0;
    int j;
#if defined(__SSE2__)
    const __m128i bits = _mm_set1_epi8((char)bit), zero = _mm_setzero_si128();
    for (; i + 16 <= n; i += 16) {
        const __m128i c = _mm_loadu_si128((const __m128i *)(codes + i));
        const int unset =
            _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_and_si128(c, bits), zero));
        marks[i >> 3] = (uint8_t)unset;
        marks[(i >> 3) + 1] = (uint8_t)(unset >> 8);
    }
#endif
    for (; i < n; i += 8) {
        uint8_t unset = 0;
        for (j = 0; j < 8 && i + j < n; j++)
            unset |= (uint8_t)(!(codes[i + j] & bit) << j);
        marks[i >> 3] = unset;
    }
}

/* One bit a row, set where the code is at most the cut, eight rows a byte. */
static inline void mark_at_most_u8(const uint8_t *codes, ptrdiff_t n, uint8_t cut,
                                   uint8_t *marks)
{
    ptrdiff_t i = 0;
    int j;
#if defined(__SSE2__)
    const __m128i cuts = _mm_set1_epi8((char)cut);
    for (; i + 16 <= n; i += 16) {
        const __m128i c = _mm_loadu_si128((const __m128i *)(codes + i));
        const int bits = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(c, cuts), c));
        marks[i >> 3] = (uint8_t)bits;
        marks[(i >> 3) + 1] = (uint8_t)(bits >> 8);
    }
#endif
    for (; i < n; i += 8) {
        uint8_t bits = 0;
        for (j = 0; j < 8 && i + j < n; j++)
            bits |= (uint8_t)((codes[i + j] <= cut) << j);
        marks[i >> 3] = bits;
    }
}

/* For each byte of marks: where its set bits are, then how many there are. */
static uint8_t part_order[256][8];
static uint8_t part_count[256];

static inline void fill_part_tables(void)
{
    int byte, bit, n;
    for (byte = 0; byte < 256; byte++) {
        n = 0;
        for (bit = 0; bit < 8; bit++)
            if (byte >> bit & 1)
                part_order[byte][n++] = (uint8_t)bit;
        part_count[byte] = (uint8_t)n;
        for (; n < 8; n++)
            part_order[byte][n] = 0;
    }
}

/* How many of n rows are marked, from the given one on. */
static inline ptrdiff_t count_marks(const uint8_t *marks, ptrdiff_t start, ptrdiff_t n)
{
    const ptrdiff_t end = start + n;
    ptrdiff_t byte = start >> 3, count = 0;
    if (n == 0)
        return 0;
    count -= part_count[marks[byte] & ((1 << (start & 7)) - 1)];
    for (; byte < end >> 3; byte++)
        count += part_count[marks[byte]];
    if (end & 7)
        count += part_count[marks[byte] & ((1 << (end & 7)) - 1)];
    return count;
}

static inline ptrdiff_t keep_u8_plain(const uint8_t *column, const uint8_t *marks,
                                      ptrdiff_t i, ptrdiff_t n, uint8_t *kept,
                                      ptrdiff_t n_kept)
{
    for (; i < n; i++) {
        kept[n_kept] = column[i];
        n_kept += marks[i >> 3] >> (i & 7) & 1;
    }
    return n_kept;
}

#if defined(ASKLESS_X86_DISPATCH)
__attribute__((target("ssse3"))) static ptrdiff_t keep_u8_ssse3(const uint8_t *column,
                                                                const uint8_t *marks,
                                                                ptrdiff_t n,
                                                                uint8_t *kept)
{
    ptrdiff_t i = 0, n_kept = 0;
    for (; i + 8 <= n; i += 8) {
        const uint8_t here = marks[i >> 3];
        const __m128i cells = _mm_loadl_epi64((const __m128i *)(column + i));
        const __m128i order = _mm_loadl_epi64((const __m128i *)part_order[here]);
        _mm_storel_epi64((__m128i *)(kept + n_kept), _mm_shuffle_epi8(cells, order));
        n_kept += part_count[here];
    }
    return keep_u8_plain(column, marks, i, n, kept, n_kept);
}
#endif

/* Copy the cells of marked rows in order. There is room for 8 more. */
static inline ptrdiff_t keep_u8(const uint8_t *column, const uint8_t *marks, ptrdiff_t n,
                                uint8_t *kept, int is_fast)
{
#if defined(ASKLESS_X86_DISPATCH)
    if (is_fast)
        return keep_u8_ssse3(column, marks, n, kept);
#elif defined(__aarch64__) && defined(__ARM_NEON)
    if (is_fast) {
        ptrdiff_t i = 0, n_kept = 0;
        for (; i + 8 <= n; i += 8) {
            const uint8_t here = marks[i >> 3];
            vst1_u8(kept + n_kept, vtbl1_u8(vld1_u8(column + i),
                                            vld1_u8(part_order[here])));
            n_kept += part_count[here];
        }
        return keep_u8_plain(column, marks, i, n, kept, n_kept);
    }
#endif
    return keep_u8_plain(column, marks, 0, n, kept, 0);
}

static inline void part_u8_plain(uint8_t *column, const uint8_t *marks, ptrdiff_t i,
                                 ptrdiff_t n, uint8_t *spare, ptrdiff_t n_left,
                                 ptrdiff_t n_right)
{
    for (; i < n; i++) {
        const uint8_t cell = column[i];
        const int is_left = marks[i >> 3] >> (i & 7) & 1;
        column[n_left] = cell;
        spare[n_right] = cell;
        n_left += is_left;
        n_right += 1 - is_left;
    }
    memcpy(column + n_left, spare, (size_t)n_right);
}

#if defined(ASKLESS_X86_DISPATCH)
__attribute__((target("ssse3"))) static void part_u8_ssse3(uint8_t *column,
                                                           const uint8_t *marks,
                                                           ptrdiff_t n, uint8_t *spare)
{
    ptrdiff_t i = 0, n_left = 0, n_right = 0;
    for (; i + 8 <= n; i += 8) {
        const uint8_t left = marks[i >> 3], right = (uint8_t)~left;
        const __m128i cells = _mm_loadl_epi64((const __m128i *)(column + i));
        const __m128i to_left = _mm_loadl_epi64((const __m128i *)part_order[left]);
        const __m128i to_right = _mm_loadl_epi64((const __m128i *)part_order[right]);
        _mm_storel_epi64((__m128i *)(column + n_left), _mm_shuffle_epi8(cells, to_left));
        _mm_storel_epi64((__m128i *)(spare + n_right), _mm_shuffle_epi8(cells, to_right));
        n_left += part_count[left];
        n_right += part_count[right];
    }
    part_u8_plain(column, marks, i, n, spare, n_left, n_right);
}
#endif

/* Move the cells of marked rows to the front, the others behind them, both in order.
 * The spare memory has room for n + 8 cells. */
static inline void part_u8(uint8_t *column, const uint8_t *marks, ptrdiff_t n,
                           uint8_t *spare, int is_fast)
{
#if defined(ASKLESS_X86_DISPATCH)
    if (is_fast) {
        part_u8_ssse3(column, marks, n, spare);
        return;
    }
#elif defined(__aarch64__) && defined(__ARM_NEON)
    if (is_fast) {
        ptrdiff_t i = 0, n_left = 0, n_right = 0;
        for (; i + 8 <= n; i += 8) {
            const uint8_t left = marks[i >> 3], right = (uint8_t)~left;
            const uint8x8_t cells = vld1_u8(column + i);
            vst1_u8(column + n_left, vtbl1_u8(cells, vld1_u8(part_order[left])));
            vst1_u8(spare + n_right, vtbl1_u8(cells, vld1_u8(part_order[right])));
            n_left += part_count[left];
            n_right += part_count[right];
        }
        part_u8_plain(column, marks, i, n, spare, n_left, n_right);
        return;
    }
#endif
    part_u8_plain(column, marks, 0, n, spare, 0, 0);
}

/* How mixed class weights are: pairs of what each class has beyond alpha. The same
 * operations in the same order as the criteria Pairs and Hinged, to the last bit. */
static inline double mix_weights(const double *weights, ptrdiff_t n, double alpha)
{
    double total = 0.0, squares = 0.0;
    ptrdiff_t i, j;
    if (alpha == 0) {
        if (n == 2)
            return weights[0] * weights[1];
        for (i = 0; i < n; i++) {
            total += weights[i];
            squares += weights[i] * weights[i];
        }
        total = (total * total - squares) / 2;
        return total > 0 ? total : 0.0;
    }
    for (i = 0; i < n; i++) {
        const double beyond = weights[i] - alpha;
        if (beyond <= 0)
            continue;
        for (j = 0; j < i; j++) {
            const double other = weights[j] - alpha > 0 ? weights[j] - alpha : 0.0;
            const double term = beyond * other - alpha * alpha;
            total += term > 0 ? term : 0.0;
        }
    }
    return total;
}

#endif
