/* Inner loops of growing a bagged tree: weigh, part, and split small sets of rows.
 *
 * SSE2 is part of every x86-64. Parting a column eight bytes at a time takes a byte
 * shuffle (SSSE3, or NEON on ARM) and counting bits takes POPCNT; both are looked for
 * when the program runs. Without them plain loops do the same work: on the growth of a
 * whole tree they take about twice as long.
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

#if defined(__GNUC__)
#define askless_popcount(bits) __builtin_popcountll(bits)
#else
static inline int askless_popcount(uint64_t bits)
{
    int n = 0;
    for (; bits; bits &= bits - 1)
        n++;
    return n;
}
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
    int64_t halves[2];
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
    _mm_storeu_si128((__m128i *)halves, sums);
    total = halves[0] + halves[1];
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
    int64_t halves[2];
    for (; i + 16 <= n; i += 16)
        sums = _mm_add_epi64(
            sums, _mm_sad_epu8(_mm_loadu_si128((const __m128i *)(weights + i)), zero));
    if (i < n) {
        const __m128i w = _mm_loadu_si128((const __m128i *)(weights + i));
        sums = _mm_add_epi64(
            sums, _mm_sad_epu8(_mm_and_si128(w, first_bytes(n - i)), zero));
    }
    _mm_storeu_si128((__m128i *)halves, sums);
    total = halves[0] + halves[1];
#else
    for (; i < n; i++)
        total += weights[i];
#endif
    return total;
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

/* A small set of rows as sets of bits. A row of weight w takes w of the 128 places. */
enum { BLOCK_PLACES = 128, MOST_BITS = 8 };

typedef struct {
    uint64_t places[2];
} Bits;

typedef struct {
    Bits planes[MOST_BITS]; /* the bits of the codes that differ, high ones first */
    uint8_t bit[MOST_BITS];
    uint8_t n_planes;
    uint8_t base; /* the bits that all codes share */
} CodePlanes;

/* Lay out a column of n codes, one for each place. */
static inline void fill_planes(const uint8_t *codes, ptrdiff_t n, CodePlanes *out)
{
    uint8_t all_or = 0, all_and = 255, differ;
    ptrdiff_t i;
    int bit, word;
    for (i = 0; i < n; i++) {
        all_or |= codes[i];
        all_and &= codes[i];
    }
    differ = all_or & (uint8_t)~all_and;
    out->base = all_and;
    out->n_planes = 0;
    for (bit = 7; bit >= 0; bit--) {
        Bits *plane = &out->planes[out->n_planes];
        if (!(differ >> bit & 1))
            continue;
        out->bit[out->n_planes++] = (uint8_t)bit;
        for (word = 0; word < 2; word++) {
            const ptrdiff_t start = 64 * word;
            const ptrdiff_t end = n < start + 64 ? n : start + 64;
            uint64_t bits = 0;
            i = start;
#if defined(__SSE2__)
            /* The codes have room up to the next multiple of 16. */
            for (; i < end; i += 16) {
                const __m128i c = _mm_loadu_si128((const __m128i *)(codes + i));
                const __m128i up = _mm_sll_epi16(c, _mm_cvtsi32_si128(7 - bit));
                bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(up) << (i - start);
            }
            if (end > start && end < start + 64)
                bits &= ((uint64_t)1 << (end - start)) - 1;
#else
            for (; i < end; i++)
                bits |= (uint64_t)(codes[i] >> bit & 1) << (i - start);
#endif
            plane->places[word] = end > start ? bits : 0;
        }
    }
}

/* The largest code among some places. */
static inline int largest_code(const CodePlanes *codes, Bits among)
{
    int code = codes->base, i;
    for (i = 0; i < codes->n_planes; i++) {
        const Bits high = {{among.places[0] & codes->planes[i].places[0],
                            among.places[1] & codes->planes[i].places[1]}};
        if (high.places[0] | high.places[1]) {
            among = high;
            code |= 1 << codes->bit[i];
        }
    }
    return code;
}

typedef struct {
    double whole; /* impurity of the set */
    double alpha;
    ptrdiff_t n_classes;     /* classes present */
    const Bits *of_class;    /* places of each class, of this set only */
    const int32_t *counts;   /* how many places each class has */
    const double *totals;    /* the same as numbers for the impurity */
    Bits set;
} BlockSet;

typedef struct {
    double value;  /* the larger impurity of the two sides */
    Bits left;
    int can_split; /* 0: one code only */
} BlockCut;

/* How many places of a set of bits a class has. */
#define PLACES_OF(bits, k)                                                               \
    (askless_popcount((bits).places[0] & set->of_class[k].places[0]) +                   \
     askless_popcount((bits).places[1] & set->of_class[k].places[1]))

/* The impurities of both sides: of two classes, of several, and beyond a threshold. Pairs
 * are counted in whole numbers, which are exact in any order. */
#define MIX_TWO                                                                          \
    const int32_t a = PLACES_OF(tried, 0), b = PLACES_OF(tried, 1);                      \
    f_left = (double)(a * b);                                                            \
    f_right = (double)((set->counts[0] - a) * (set->counts[1] - b));

#define MIX_PAIRS                                                                        \
    int32_t n_left = 0, n_right = 0, in_left = 0, in_right = 0;                          \
    ptrdiff_t k;                                                                         \
    for (k = 0; k < set->n_classes; k++) {                                               \
        const int32_t a = PLACES_OF(tried, k), b = set->counts[k] - a;                   \
        n_left += a;                                                                     \
        n_right += b;                                                                    \
        in_left += a * a;                                                                \
        in_right += b * b;                                                               \
    }                                                                                    \
    f_left = (double)((n_left * n_left - in_left) / 2);                                  \
    f_right = (double)((n_right * n_right - in_right) / 2);

#define MIX_BEYOND                                                                       \
    double left[BLOCK_PLACES], right[BLOCK_PLACES];                                      \
    ptrdiff_t k;                                                                         \
    for (k = 0; k < set->n_classes; k++) {                                               \
        left[k] = (double)PLACES_OF(tried, k);                                           \
        right[k] = set->totals[k] - left[k];                                             \
    }                                                                                    \
    f_left = mix_weights(left, set->n_classes, set->alpha);                              \
    f_right = mix_weights(right, set->n_classes, set->alpha);

/* The best cut of one test: a walk down the bits of the codes to the crossing, where the
 * impurity on the left first exceeds the one on the right. Gives up, with a value of at
 * least `give_up`, when no cut can be below that. */
#define BLOCK_CUT(NAME, TARGET, MIX)                                                     \
    TARGET static BlockCut NAME(const BlockSet *set, const CodePlanes *codes,            \
                                double give_up)                                          \
    {                                                                                    \
        BlockCut cut;                                                                    \
        double low_left = 0.0, low_right = set->whole;                                   \
        double high_left = set->whole, high_right = 0.0;                                 \
        Bits open = set->set, low = {{0, 0}}, high = set->set;                           \
        int i;                                                                           \
        cut.can_split = 0;                                                               \
        for (i = 0; i < codes->n_planes; i++) {                                          \
            const Bits plane = codes->planes[i];                                         \
            const uint64_t zero0 = open.places[0] & ~plane.places[0];                    \
            const uint64_t zero1 = open.places[1] & ~plane.places[1];                    \
            const uint64_t one0 = open.places[0] & plane.places[0];                      \
            const uint64_t one1 = open.places[1] & plane.places[1];                      \
            double f_left, f_right;                                                      \
            Bits tried;                                                                  \
            if (!(zero0 | zero1) || !(one0 | one1))                                      \
                continue;                                                                \
            cut.can_split = 1;                                                           \
            tried.places[0] = low.places[0] | zero0;                                     \
            tried.places[1] = low.places[1] | zero1;                                     \
            {                                                                            \
                MIX                                                                      \
            }                                                                            \
            if (f_left <= f_right) {                                                     \
                low = tried;                                                             \
                low_left = f_left;                                                       \
                low_right = f_right;                                                     \
                open.places[0] = one0;                                                   \
                open.places[1] = one1;                                                   \
                if (f_left > give_up)                                                    \
                    break;                                                               \
            } else {                                                                     \
                high = tried;                                                            \
                high_left = f_left;                                                      \
                high_right = f_right;                                                    \
                open.places[0] = zero0;                                                  \
                open.places[1] = zero1;                                                  \
                if (f_right > give_up)                                                   \
                    break;                                                               \
            }                                                                            \
        }                                                                                \
        (void)low_left;                                                                  \
        (void)high_right;                                                                \
        cut.value = low_right <= high_left ? low_right : high_left;                      \
        cut.left = low_right <= high_left ? low : high;                                  \
        return cut;                                                                      \
    }

BLOCK_CUT(cut_two_plain, , MIX_TWO)
BLOCK_CUT(cut_pairs_plain, , MIX_PAIRS)
BLOCK_CUT(cut_beyond_plain, , MIX_BEYOND)

#if defined(ASKLESS_X86_DISPATCH)
#define ASKLESS_POPCNT __attribute__((target("popcnt")))
BLOCK_CUT(cut_two_popcnt, ASKLESS_POPCNT, MIX_TWO)
BLOCK_CUT(cut_pairs_popcnt, ASKLESS_POPCNT, MIX_PAIRS)
BLOCK_CUT(cut_beyond_popcnt, ASKLESS_POPCNT, MIX_BEYOND)
#endif

static inline BlockCut find_block_cut(const BlockSet *set, const CodePlanes *codes,
                                      double give_up, int is_fast)
{
#if defined(ASKLESS_X86_DISPATCH)
    if (is_fast) {
        if (set->alpha != 0)
            return cut_beyond_popcnt(set, codes, give_up);
        return set->n_classes == 2 ? cut_two_popcnt(set, codes, give_up)
                                   : cut_pairs_popcnt(set, codes, give_up);
    }
#endif
    if (set->alpha != 0)
        return cut_beyond_plain(set, codes, give_up);
    return set->n_classes == 2 ? cut_two_plain(set, codes, give_up)
                               : cut_pairs_plain(set, codes, give_up);
}

static inline int count_places(Bits set)
{
    return askless_popcount(set.places[0]) + askless_popcount(set.places[1]);
}

#endif
