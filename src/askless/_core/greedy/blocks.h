/* Growing on a small set of rows, which is a set of bits: find the best cut by counting.
 *
 * POPCNT is looked for when the program runs; without it the same loops are compiled for
 * any processor.
 */
#ifndef ASKLESS_BLOCKS_H
#define ASKLESS_BLOCKS_H

#include <math.h>

#include "bagging.h"

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

/* A small set of rows as sets of bits. A row of weight w takes w of the 128 places. */
enum { BLOCK_PLACES = 128, MOST_BITS = 8 };

typedef struct {
    uint64_t places[2];
} Bits;

typedef struct {
    uint8_t n_planes;
    uint8_t base; /* the bits that all codes share */
    uint8_t bit[MOST_BITS];
    Bits planes[MOST_BITS]; /* the bits of the codes that differ, high ones first */
} CodePlanes;

/* The places of n codes where a bit is set. The codes have room up to the next multiple
 * of 16. */
static inline Bits places_of_bit(const uint8_t *codes, ptrdiff_t n, int bit)
{
    Bits set;
    int word;
    for (word = 0; word < 2; word++) {
        const ptrdiff_t start = 64 * word;
        const ptrdiff_t end = n < start + 64 ? n : start + 64;
        uint64_t bits = 0;
        ptrdiff_t i = start;
#if defined(__SSE2__)
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
        set.places[word] = bits;
    }
    return set;
}

/* Lay out a column of n codes, one for each place. */
static inline void fill_planes(const uint8_t *codes, ptrdiff_t n, CodePlanes *out)
{
    uint8_t all_or = 0, all_and = 255, differ;
    ptrdiff_t i;
    int bit;
    for (i = 0; i < n; i++) {
        all_or |= codes[i];
        all_and &= codes[i];
    }
    differ = all_or & (uint8_t)~all_and;
    out->base = all_and;
    out->n_planes = 0;
    for (bit = 7; bit >= 0; bit--)
        if (differ >> bit & 1) {
            out->bit[out->n_planes] = (uint8_t)bit;
            out->planes[out->n_planes++] = places_of_bit(codes, n, bit);
        }
}

/* Lay out a test of two outcomes that is one bit of its codes. */
static inline void fill_plane(const uint8_t *codes, ptrdiff_t n, int bit, Bits all,
                              CodePlanes *out)
{
    const Bits set = places_of_bit(codes, n, bit);
    const int is_never = !(set.places[0] | set.places[1]);
    const int is_always =
        set.places[0] == all.places[0] && set.places[1] == all.places[1];
    out->base = (uint8_t)is_always;
    out->bit[0] = 0;
    out->planes[0] = set;
    out->n_planes = !is_never && !is_always;
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
    double value; /* the larger impurity of the two sides */
    Bits left;
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
    TARGET static inline int NAME(const BlockSet *set, const CodePlanes *codes,          \
                                  double give_up, BlockCut *cut)                         \
    {                                                                                    \
        double low_right = set->whole, high_left = set->whole, f_left, f_right;          \
        Bits open = set->set, low = {{0, 0}}, high = set->set, tried;                    \
        int i, can_split = 0;                                                            \
        for (i = 0; i < codes->n_planes; i++) {                                          \
            const Bits plane = codes->planes[i];                                         \
            const uint64_t zero0 = open.places[0] & ~plane.places[0];                    \
            const uint64_t zero1 = open.places[1] & ~plane.places[1];                    \
            const uint64_t one0 = open.places[0] & plane.places[0];                      \
            const uint64_t one1 = open.places[1] & plane.places[1];                      \
            if (!(zero0 | zero1) || !(one0 | one1))                                      \
                continue;                                                                \
            can_split = 1;                                                               \
            tried.places[0] = low.places[0] | zero0;                                     \
            tried.places[1] = low.places[1] | zero1;                                     \
            {                                                                            \
                MIX                                                                      \
            }                                                                            \
            if (f_left <= f_right) {                                                     \
                low = tried;                                                             \
                low_right = f_right;                                                     \
                open.places[0] = one0;                                                   \
                open.places[1] = one1;                                                   \
                if (f_left > give_up)                                                    \
                    break;                                                               \
            } else {                                                                     \
                high = tried;                                                            \
                high_left = f_left;                                                      \
                open.places[0] = zero0;                                                  \
                open.places[1] = zero1;                                                  \
                if (f_right > give_up)                                                   \
                    break;                                                               \
            }                                                                            \
        }                                                                                \
        cut->value = low_right <= high_left ? low_right : high_left;                     \
        cut->left = low_right <= high_left ? low : high;                                 \
        return can_split;                                                                \
    }

/* The same for two classes, where a wrong guess at a branch takes longer than to count.
 * A bit that all open places share changes nothing: the cut that is tried is one of the
 * two that bound the crossing, and the comparison comes out as it did for that one. */
#define BLOCK_CUT_TWO(NAME, TARGET)                                                      \
    TARGET static inline int NAME(const BlockSet *set, const CodePlanes *codes,          \
                                  double give_up, BlockCut *cut)                         \
    {                                                                                    \
        const uint64_t a0 = set->of_class[0].places[0], a1 = set->of_class[0].places[1]; \
        const uint64_t b0 = set->of_class[1].places[0], b1 = set->of_class[1].places[1]; \
        const uint64_t set0 = set->set.places[0], set1 = set->set.places[1];             \
        const int32_t all_a = set->counts[0], all_b = set->counts[1];                    \
        /* At least 0, which nothing exceeds before some bit has parted the set. */      \
        const int32_t limit = give_up >= all_a * all_b ? all_a * all_b                   \
                              : give_up > 0            ? (int32_t)give_up                \
                                                       : 0;                              \
        int32_t low_right = all_a * all_b, high_left = low_right;                        \
        uint64_t open0 = set0, open1 = set1, low0 = 0, low1 = 0;                         \
        uint64_t high0 = set0, high1 = set1;                                             \
        int i;                                                                           \
        for (i = 0; i < codes->n_planes; i++) {                                          \
            const uint64_t plane0 = codes->planes[i].places[0];                          \
            const uint64_t plane1 = codes->planes[i].places[1];                          \
            const uint64_t tried0 = low0 | (open0 & ~plane0);                            \
            const uint64_t tried1 = low1 | (open1 & ~plane1);                            \
            const int32_t a = (int32_t)(askless_popcount(tried0 & a0) +                  \
                                        askless_popcount(tried1 & a1));                  \
            const int32_t b = (int32_t)(askless_popcount(tried0 & b0) +                  \
                                        askless_popcount(tried1 & b1));                  \
            const int32_t left = a * b, right = (all_a - a) * (all_b - b);               \
            const uint64_t up = (uint64_t)0 - (uint64_t)(left <= right);                 \
            const int32_t up32 = (int32_t)up;                                            \
            low0 ^= (low0 ^ tried0) & up;                                                \
            low1 ^= (low1 ^ tried1) & up;                                                \
            high0 ^= (high0 ^ tried0) & ~up;                                             \
            high1 ^= (high1 ^ tried1) & ~up;                                             \
            open0 &= ~(plane0 ^ up);                                                     \
            open1 &= ~(plane1 ^ up);                                                     \
            low_right ^= (low_right ^ right) & up32;                                     \
            high_left ^= (high_left ^ left) & ~up32;                                     \
            if ((left < right ? left : right) > limit)                                   \
                break;                                                                   \
        }                                                                                \
        if (low_right <= high_left) {                                                    \
            cut->value = (double)low_right;                                              \
            cut->left.places[0] = low0;                                                  \
            cut->left.places[1] = low1;                                                  \
        } else {                                                                         \
            cut->value = (double)high_left;                                              \
            cut->left.places[0] = high0;                                                 \
            cut->left.places[1] = high1;                                                 \
        }                                                                                \
        return ((low0 | low1) != 0) | (high0 != set0) | (high1 != set1);                 \
    }

/* What is left to try at a set, and what has to be beaten. */
typedef struct {
    const double *price;
    int32_t *tests; /* those that can still split are moved to the front */
    ptrdiff_t n_tests;
    ptrdiff_t next;
    ptrdiff_t n_kept;
    ptrdiff_t n_tried;
    ptrdiff_t most_tried;
    int is_by_price; /* no later test is cheaper */
    double ratio;    /* of the best split so far, or infinity */
    double inverse;
    double slack;
    double tolerance;
} BlockScan;

/* Go on to the next test whose best cut may beat the best one so far: -1 if there is
 * none. Most tests are clearly worse; what is close is left to the rule of ties. */
#define BLOCK_SCAN(NAME, TARGET, CUT, MIX)                                               \
    TARGET static int32_t NAME(const BlockSet *set, const CodePlanes *planes,            \
                               BlockScan *scan, BlockCut *cut)                           \
    {                                                                                    \
        const int has_best = scan->ratio < INFINITY;                                     \
        while (scan->next < scan->n_tests) {                                             \
            const int32_t test = scan->tests[scan->next++];                              \
            const double price = scan->price[test];                                      \
            const CodePlanes *codes = &planes[test];                                     \
            double reduction;                                                            \
            if (scan->n_tried >= scan->most_tried) {                                     \
                scan->tests[scan->n_kept++] = test;                                      \
                continue;                                                                \
            }                                                                            \
            if (has_best && scan->is_by_price &&                                         \
                (set->whole <= 0 || price * scan->slack > scan->ratio * set->whole)) {   \
                for (scan->next--; scan->next < scan->n_tests; scan->next++)             \
                    scan->tests[scan->n_kept++] = scan->tests[scan->next];               \
                return -1;                                                               \
            }                                                                            \
            if (codes->n_planes == 1) {                                                  \
                /* One cut. No branches: which side is empty is hard to foresee, and a   \
                 * split that leaves one empty takes nothing away. */                    \
                const Bits plane = codes->planes[0];                                     \
                const uint64_t one = (set->set.places[0] & plane.places[0]) |            \
                                     (set->set.places[1] & plane.places[1]);             \
                const Bits tried = {{set->set.places[0] & ~plane.places[0],              \
                                     set->set.places[1] & ~plane.places[1]}};            \
                const int can_split =                                                    \
                    (one != 0) & ((tried.places[0] | tried.places[1]) != 0);             \
                double f_left, f_right;                                                  \
                {                                                                        \
                    MIX                                                                  \
                }                                                                        \
                cut->left = tried;                                                       \
                cut->value = f_left > f_right ? f_left : f_right;                        \
                scan->tests[scan->n_kept] = test;                                        \
                scan->n_kept += can_split;                                               \
                scan->n_tried += can_split;                                              \
            } else {                                                                     \
                double give_up = INFINITY;                                               \
                if (has_best && scan->ratio > 0)                                         \
                    give_up = set->whole - price * scan->inverse * scan->slack;          \
                if (!CUT(set, codes, give_up, cut))                                      \
                    continue;                                                            \
                scan->tests[scan->n_kept++] = test;                                      \
                scan->n_tried++;                                                         \
            }                                                                            \
            reduction = set->whole - cut->value;                                         \
            if (reduction <= scan->tolerance * set->whole)                               \
                continue;                                                                \
            if (has_best && price > scan->ratio * (1 + 1e-9) * reduction)                \
                continue;                                                                \
            return test;                                                                 \
        }                                                                                \
        return -1;                                                                       \
    }

/* The classes of a block that a set has rows of; returns how many. */
#define SET_CLASSES(NAME, TARGET)                                                        \
    TARGET static ptrdiff_t NAME(Bits set, const Bits *of_class, ptrdiff_t n_classes,    \
                                 Bits *of_set, int32_t *which, int32_t *counts,          \
                                 double *totals)                                         \
    {                                                                                    \
        ptrdiff_t k, n = 0;                                                              \
        for (k = 0; k < n_classes; k++) {                                                \
            const Bits part = {{set.places[0] & of_class[k].places[0],                   \
                                set.places[1] & of_class[k].places[1]}};                 \
            if (!(part.places[0] | part.places[1]))                                      \
                continue;                                                                \
            of_set[n] = part;                                                            \
            which[n] = (int32_t)k;                                                       \
            counts[n] = (int32_t)(askless_popcount(part.places[0]) +                     \
                                  askless_popcount(part.places[1]));                     \
            totals[n] = (double)counts[n];                                               \
            n++;                                                                         \
        }                                                                                \
        return n;                                                                        \
    }

BLOCK_CUT_TWO(cut_two_plain, )
BLOCK_CUT(cut_pairs_plain, , MIX_PAIRS)
BLOCK_CUT(cut_beyond_plain, , MIX_BEYOND)
BLOCK_SCAN(scan_two_plain, , cut_two_plain, MIX_TWO)
BLOCK_SCAN(scan_pairs_plain, , cut_pairs_plain, MIX_PAIRS)
BLOCK_SCAN(scan_beyond_plain, , cut_beyond_plain, MIX_BEYOND)
SET_CLASSES(set_classes_plain, )

#if defined(ASKLESS_X86_DISPATCH)
#define ASKLESS_POPCNT __attribute__((target("popcnt")))
BLOCK_CUT_TWO(cut_two_popcnt, ASKLESS_POPCNT)
BLOCK_CUT(cut_pairs_popcnt, ASKLESS_POPCNT, MIX_PAIRS)
BLOCK_CUT(cut_beyond_popcnt, ASKLESS_POPCNT, MIX_BEYOND)
BLOCK_SCAN(scan_two_popcnt, ASKLESS_POPCNT, cut_two_popcnt, MIX_TWO)
BLOCK_SCAN(scan_pairs_popcnt, ASKLESS_POPCNT, cut_pairs_popcnt, MIX_PAIRS)
BLOCK_SCAN(scan_beyond_popcnt, ASKLESS_POPCNT, cut_beyond_popcnt, MIX_BEYOND)
SET_CLASSES(set_classes_popcnt, ASKLESS_POPCNT)
#endif

static inline int32_t scan_block(const BlockSet *set, const CodePlanes *planes,
                                 BlockScan *scan, BlockCut *cut, int is_fast)
{
#if defined(ASKLESS_X86_DISPATCH)
    if (is_fast) {
        if (set->alpha != 0)
            return scan_beyond_popcnt(set, planes, scan, cut);
        return set->n_classes == 2 ? scan_two_popcnt(set, planes, scan, cut)
                                   : scan_pairs_popcnt(set, planes, scan, cut);
    }
#endif
    if (set->alpha != 0)
        return scan_beyond_plain(set, planes, scan, cut);
    return set->n_classes == 2 ? scan_two_plain(set, planes, scan, cut)
                               : scan_pairs_plain(set, planes, scan, cut);
}

static inline ptrdiff_t list_set_classes(Bits set, const Bits *of_class,
                                         ptrdiff_t n_classes, Bits *of_set,
                                         int32_t *which, int32_t *counts, double *totals,
                                         int is_fast)
{
#if defined(ASKLESS_X86_DISPATCH)
    if (is_fast)
        return set_classes_popcnt(set, of_class, n_classes, of_set, which, counts,
                                  totals);
#endif
    return set_classes_plain(set, of_class, n_classes, of_set, which, counts, totals);
}

/* How many places there are. Called once a split, so without looking for POPCNT. */
static inline int count_places(Bits set)
{
    return askless_popcount(set.places[0]) + askless_popcount(set.places[1]);
}

#endif
