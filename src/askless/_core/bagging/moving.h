/* Mark rows of a column of bytes, and move the marked ones to the front.
 *
 * Moving eight bytes at a time takes a byte shuffle (SSSE3, or NEON on ARM) that is looked
 * for when the program runs. Without it plain loops do the same work; together with the
 * counting of bits (see small_sets.h) a whole tree then takes about twice as long.
 *
 * The tables and the switch belong to the module that includes this file, so that only one
 * module should: _rows, which tells the others whether the fast path is on.
 */
#ifndef ASKLESS_MOVING_H
#define ASKLESS_MOVING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#if defined(__x86_64__) && defined(__GNUC__)
#include <tmmintrin.h>
#define ASKLESS_SHUFFLE_X86 1
#endif
#if defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#endif

/* 1 to use what the processor has, 0 to do without: a switch for tests. */
static int askless_use_fast = 1;

/* Whether bytes are shuffled and bits are counted by instructions of the processor. */
static inline int has_fast_bytes(void)
{
#if defined(ASKLESS_SHUFFLE_X86)
    return askless_use_fast && __builtin_cpu_supports("ssse3") &&
           __builtin_cpu_supports("popcnt");
#elif defined(__aarch64__) && defined(__ARM_NEON)
    return askless_use_fast;
#else
    return 0;
#endif
}

static inline void set_fast_bytes(int use) { askless_use_fast = use; }

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
static uint8_t move_order[256][8];
static uint8_t move_count[256];

static inline void fill_move_tables(void)
{
    int byte, bit, n;
    for (byte = 0; byte < 256; byte++) {
        n = 0;
        for (bit = 0; bit < 8; bit++)
            if (byte >> bit & 1)
                move_order[byte][n++] = (uint8_t)bit;
        move_count[byte] = (uint8_t)n;
        for (; n < 8; n++)
            move_order[byte][n] = 0;
    }
}

/* How many of n rows are marked, from the given one on. */
static inline ptrdiff_t count_marks(const uint8_t *marks, ptrdiff_t start, ptrdiff_t n)
{
    const ptrdiff_t end = start + n;
    ptrdiff_t byte = start >> 3, count = 0;
    if (n == 0)
        return 0;
    count -= move_count[marks[byte] & ((1 << (start & 7)) - 1)];
    for (; byte < end >> 3; byte++)
        count += move_count[marks[byte]];
    if (end & 7)
        count += move_count[marks[byte] & ((1 << (end & 7)) - 1)];
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

#if defined(ASKLESS_SHUFFLE_X86)
__attribute__((target("ssse3"))) static ptrdiff_t keep_u8_ssse3(const uint8_t *column,
                                                                const uint8_t *marks,
                                                                ptrdiff_t n,
                                                                uint8_t *kept)
{
    ptrdiff_t i = 0, n_kept = 0;
    for (; i + 8 <= n; i += 8) {
        const uint8_t here = marks[i >> 3];
        const __m128i cells = _mm_loadl_epi64((const __m128i *)(column + i));
        const __m128i order = _mm_loadl_epi64((const __m128i *)move_order[here]);
        _mm_storel_epi64((__m128i *)(kept + n_kept), _mm_shuffle_epi8(cells, order));
        n_kept += move_count[here];
    }
    return keep_u8_plain(column, marks, i, n, kept, n_kept);
}
#endif

/* Copy the cells of marked rows in order. There is room for 8 more. */
static inline ptrdiff_t keep_u8(const uint8_t *column, const uint8_t *marks, ptrdiff_t n,
                                uint8_t *kept, int is_fast)
{
#if defined(ASKLESS_SHUFFLE_X86)
    if (is_fast)
        return keep_u8_ssse3(column, marks, n, kept);
#elif defined(__aarch64__) && defined(__ARM_NEON)
    if (is_fast) {
        ptrdiff_t i = 0, n_kept = 0;
        for (; i + 8 <= n; i += 8) {
            const uint8_t here = marks[i >> 3];
            vst1_u8(kept + n_kept, vtbl1_u8(vld1_u8(column + i),
                                            vld1_u8(move_order[here])));
            n_kept += move_count[here];
        }
        return keep_u8_plain(column, marks, i, n, kept, n_kept);
    }
#endif
    return keep_u8_plain(column, marks, 0, n, kept, 0);
}

static inline void divide_u8_plain(uint8_t *column, const uint8_t *marks, ptrdiff_t i,
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

#if defined(ASKLESS_SHUFFLE_X86)
__attribute__((target("ssse3"))) static void divide_u8_ssse3(uint8_t *column,
                                                           const uint8_t *marks,
                                                           ptrdiff_t n, uint8_t *spare)
{
    ptrdiff_t i = 0, n_left = 0, n_right = 0;
    for (; i + 8 <= n; i += 8) {
        const uint8_t left = marks[i >> 3], right = (uint8_t)~left;
        const __m128i cells = _mm_loadl_epi64((const __m128i *)(column + i));
        const __m128i to_left = _mm_loadl_epi64((const __m128i *)move_order[left]);
        const __m128i to_right = _mm_loadl_epi64((const __m128i *)move_order[right]);
        _mm_storel_epi64((__m128i *)(column + n_left), _mm_shuffle_epi8(cells, to_left));
        _mm_storel_epi64((__m128i *)(spare + n_right), _mm_shuffle_epi8(cells, to_right));
        n_left += move_count[left];
        n_right += move_count[right];
    }
    divide_u8_plain(column, marks, i, n, spare, n_left, n_right);
}
#endif

/* Move the cells of marked rows to the front, the others behind them, both in order.
 * The spare memory has room for n + 8 cells. */
static inline void divide_u8(uint8_t *column, const uint8_t *marks, ptrdiff_t n,
                           uint8_t *spare, int is_fast)
{
#if defined(ASKLESS_SHUFFLE_X86)
    if (is_fast) {
        divide_u8_ssse3(column, marks, n, spare);
        return;
    }
#elif defined(__aarch64__) && defined(__ARM_NEON)
    if (is_fast) {
        ptrdiff_t i = 0, n_left = 0, n_right = 0;
        for (; i + 8 <= n; i += 8) {
            const uint8_t left = marks[i >> 3], right = (uint8_t)~left;
            const uint8x8_t cells = vld1_u8(column + i);
            vst1_u8(column + n_left, vtbl1_u8(cells, vld1_u8(move_order[left])));
            vst1_u8(spare + n_right, vtbl1_u8(cells, vld1_u8(move_order[right])));
            n_left += move_count[left];
            n_right += move_count[right];
        }
        divide_u8_plain(column, marks, i, n, spare, n_left, n_right);
        return;
    }
#endif
    divide_u8_plain(column, marks, 0, n, spare, 0, 0);
}

#endif
