/* Find the best cut of a small set of rows, which is a set of bits, by counting bits.
 *
 * POPCNT is looked for when the program runs; without it the same loops are compiled for
 * any processor. So every function here is always inlined into one that is compiled for
 * its processor, with `kind` a constant there.
 */
#ifndef ASKLESS_SMALL_SETS_H
#define ASKLESS_SMALL_SETS_H

#include <math.h>

#include "code_planes.h"
#include "../greedy/impurity.h"

#if defined(__GNUC__)
#define ASKLESS_INLINED static inline __attribute__((always_inline))
#else
#define ASKLESS_INLINED static inline
#endif
#if defined(__x86_64__) && defined(__GNUC__)
#define ASKLESS_POPCNT_X86 1
#endif

/* How the impurity is worked out: pairs of two classes, pairs of several classes, pairs of
 * what is beyond a threshold. Pairs are counted in whole numbers, exact in any order. */
enum { TWO_CLASSES, MORE_CLASSES, BEYOND_ALPHA };

typedef struct {
    double whole; /* impurity of the set */
    double alpha;
    ptrdiff_t n_classes;   /* classes present */
    const Bits *of_class;  /* places of each class, of this set only */
    const int32_t *counts; /* how many places each class has */
    const double *totals;  /* the same as numbers for the impurity */
    Bits set;
} SmallSet;

typedef struct {
    double value; /* the larger impurity of the two sides */
    Bits left;
} SetCut;

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
} SetScan;

/* How many places of some bits a class has. */
ASKLESS_INLINED int32_t count_class(const SmallSet *set, Bits bits, ptrdiff_t k)
{
    return (int32_t)(count_bits(bits.places[0] & set->of_class[k].places[0]) +
                     count_bits(bits.places[1] & set->of_class[k].places[1]));
}

/* The impurities of both sides if some places go left. */
ASKLESS_INLINED void mix_sides(const SmallSet *set, Bits tried, int kind, double *f_left,
                               double *f_right)
{
    ptrdiff_t k;
    if (kind == TWO_CLASSES) {
        const int32_t a = count_class(set, tried, 0), b = count_class(set, tried, 1);
        *f_left = (double)(a * b);
        *f_right = (double)((set->counts[0] - a) * (set->counts[1] - b));
    } else if (kind == MORE_CLASSES) {
        int32_t n_left = 0, n_right = 0, in_left = 0, in_right = 0;
        for (k = 0; k < set->n_classes; k++) {
            const int32_t a = count_class(set, tried, k), b = set->counts[k] - a;
            n_left += a;
            n_right += b;
            in_left += a * a;
            in_right += b * b;
        }
        *f_left = (double)((n_left * n_left - in_left) / 2);
        *f_right = (double)((n_right * n_right - in_right) / 2);
    } else {
        double left[SET_PLACES], right[SET_PLACES];
        for (k = 0; k < set->n_classes; k++) {
            left[k] = (double)count_class(set, tried, k);
            right[k] = set->totals[k] - left[k];
        }
        *f_left = count_pairs_beyond(left, set->n_classes, set->alpha);
        *f_right = count_pairs_beyond(right, set->n_classes, set->alpha);
    }
}

/* The best cut of one test: a walk down the bits of the codes to the crossing, where the
 * impurity on the left first exceeds the one on the right. Gives up, with a value of at
 * least `give_up`, when no cut can be below that. Returns whether the test can split. */
ASKLESS_INLINED int cut_more(const SmallSet *set, const CodePlanes *codes, double give_up,
                             int kind, SetCut *cut)
{
    double low_right = set->whole, high_left = set->whole, f_left, f_right;
    Bits open = set->set, low = {{0, 0}}, high = set->set, tried;
    int i, can_split = 0;
    for (i = 0; i < codes->n_planes; i++) {
        const Bits plane = codes->planes[i];
        const uint64_t zero0 = open.places[0] & ~plane.places[0];
        const uint64_t zero1 = open.places[1] & ~plane.places[1];
        const uint64_t one0 = open.places[0] & plane.places[0];
        const uint64_t one1 = open.places[1] & plane.places[1];
        if (!(zero0 | zero1) || !(one0 | one1))
            continue;
        can_split = 1;
        tried.places[0] = low.places[0] | zero0;
        tried.places[1] = low.places[1] | zero1;
        mix_sides(set, tried, kind, &f_left, &f_right);
        if (f_left <= f_right) {
            low = tried;
            low_right = f_right;
            open.places[0] = one0;
            open.places[1] = one1;
            if (f_left > give_up)
                break;
        } else {
            high = tried;
            high_left = f_left;
            open.places[0] = zero0;
            open.places[1] = zero1;
            if (f_right > give_up)
                break;
        }
    }
    cut->value = low_right <= high_left ? low_right : high_left;
    cut->left = low_right <= high_left ? low : high;
    return can_split;
}

/* The same for two classes, where a wrong guess at a branch takes longer than to count.
 * A bit that all open places share changes nothing: the cut that is tried is one of the
 * two that bound the crossing, and the comparison comes out as it did for that one. */
ASKLESS_INLINED int cut_two(const SmallSet *set, const CodePlanes *codes, double give_up,
                            SetCut *cut)
{
    const uint64_t a0 = set->of_class[0].places[0], a1 = set->of_class[0].places[1];
    const uint64_t b0 = set->of_class[1].places[0], b1 = set->of_class[1].places[1];
    const uint64_t set0 = set->set.places[0], set1 = set->set.places[1];
    const int32_t all_a = set->counts[0], all_b = set->counts[1];
    /* At least 0, which nothing exceeds before some bit has split the set. */
    const int32_t limit = give_up >= all_a * all_b ? all_a * all_b
                          : give_up > 0            ? (int32_t)give_up
                                                   : 0;
    int32_t low_right = all_a * all_b, high_left = low_right;
    uint64_t open0 = set0, open1 = set1, low0 = 0, low1 = 0;
    uint64_t high0 = set0, high1 = set1;
    int i;
    for (i = 0; i < codes->n_planes; i++) {
        const uint64_t plane0 = codes->planes[i].places[0];
        const uint64_t plane1 = codes->planes[i].places[1];
        const uint64_t tried0 = low0 | (open0 & ~plane0);
        const uint64_t tried1 = low1 | (open1 & ~plane1);
        const int32_t a = (int32_t)(count_bits(tried0 & a0) + count_bits(tried1 & a1));
        const int32_t b = (int32_t)(count_bits(tried0 & b0) + count_bits(tried1 & b1));
        const int32_t left = a * b, right = (all_a - a) * (all_b - b);
        const uint64_t up = (uint64_t)0 - (uint64_t)(left <= right);
        const int32_t up32 = (int32_t)up;
        low0 ^= (low0 ^ tried0) & up;
        low1 ^= (low1 ^ tried1) & up;
        high0 ^= (high0 ^ tried0) & ~up;
        high1 ^= (high1 ^ tried1) & ~up;
        open0 &= ~(plane0 ^ up);
        open1 &= ~(plane1 ^ up);
        low_right ^= (low_right ^ right) & up32;
        high_left ^= (high_left ^ left) & ~up32;
        if ((left < right ? left : right) > limit)
            break;
    }
    if (low_right <= high_left) {
        cut->value = (double)low_right;
        cut->left.places[0] = low0;
        cut->left.places[1] = low1;
    } else {
        cut->value = (double)high_left;
        cut->left.places[0] = high0;
        cut->left.places[1] = high1;
    }
    return ((low0 | low1) != 0) | (high0 != set0) | (high1 != set1);
}

/* The only cut of a test whose codes differ in one bit. No branches: which side is empty is
 * hard to foresee, and a split that leaves one empty takes nothing away. */
ASKLESS_INLINED int cut_one_plane(const SmallSet *set, const CodePlanes *codes, int kind,
                                  SetCut *cut)
{
    const Bits plane = codes->planes[0];
    const uint64_t one = (set->set.places[0] & plane.places[0]) |
                         (set->set.places[1] & plane.places[1]);
    const Bits tried = {{set->set.places[0] & ~plane.places[0],
                         set->set.places[1] & ~plane.places[1]}};
    double f_left, f_right;
    mix_sides(set, tried, kind, &f_left, &f_right);
    cut->left = tried;
    cut->value = f_left > f_right ? f_left : f_right;
    return (one != 0) & ((tried.places[0] | tried.places[1]) != 0);
}

/* Go on to the next test whose best cut may beat the best one so far: -1 if there is
 * none. Most tests are clearly worse; what is close is left to the rule of ties. */
ASKLESS_INLINED int32_t scan_tests(const SmallSet *set, const CodePlanes *planes,
                                   SetScan *scan, SetCut *cut, int kind)
{
    const int has_best = scan->ratio < INFINITY;
    while (scan->next < scan->n_tests) {
        const int32_t test = scan->tests[scan->next++];
        const double price = scan->price[test];
        const CodePlanes *codes = &planes[test];
        double reduction;
        if (scan->n_tried >= scan->most_tried) {
            scan->tests[scan->n_kept++] = test;
            continue;
        }
        if (has_best && scan->is_by_price &&
            (set->whole <= 0 || price * BOUND_SLACK > scan->ratio * set->whole)) {
            for (scan->next--; scan->next < scan->n_tests; scan->next++)
                scan->tests[scan->n_kept++] = scan->tests[scan->next];
            return -1;
        }
        if (codes->n_planes == 1) {
            const int can_split = cut_one_plane(set, codes, kind, cut);
            scan->tests[scan->n_kept] = test;
            scan->n_kept += can_split;
            scan->n_tried += can_split;
        } else {
            double give_up = INFINITY;
            if (has_best && scan->ratio > 0)
                give_up = set->whole - price * scan->inverse * BOUND_SLACK;
            if (!(kind == TWO_CLASSES ? cut_two(set, codes, give_up, cut)
                                      : cut_more(set, codes, give_up, kind, cut)))
                continue;
            scan->tests[scan->n_kept++] = test;
            scan->n_tried++;
        }
        reduction = set->whole - cut->value;
        if (reduction <= SCORE_TOLERANCE * set->whole)
            continue;
        if (has_best && price > scan->ratio * (1 + 1e-9) * reduction)
            continue;
        return test;
    }
    return -1;
}

/* The classes of a larger set that a set has rows of; returns how many. */
ASKLESS_INLINED ptrdiff_t list_classes_of(Bits set, const Bits *of_class,
                                          ptrdiff_t n_classes, Bits *of_set,
                                          int32_t *which, int32_t *counts,
                                          double *totals)
{
    ptrdiff_t k, n = 0;
    for (k = 0; k < n_classes; k++) {
        const Bits both = {{set.places[0] & of_class[k].places[0],
                            set.places[1] & of_class[k].places[1]}};
        if (!(both.places[0] | both.places[1]))
            continue;
        of_set[n] = both;
        which[n] = (int32_t)k;
        counts[n] = (int32_t)(count_bits(both.places[0]) + count_bits(both.places[1]));
        totals[n] = (double)counts[n];
        n++;
    }
    return n;
}

/* Compiled for any processor, and for one that counts bits: a function for each kind, so
 * that none pays for the memory of another. */
#define ASKLESS_COMPILE_SCAN(TARGET, NAME, KIND)                                         \
    TARGET static int32_t NAME(const SmallSet *set, const CodePlanes *planes,            \
                               SetScan *scan, SetCut *cut)                               \
    {                                                                                    \
        return scan_tests(set, planes, scan, cut, KIND);                                 \
    }
#define ASKLESS_COMPILE_LIST(TARGET, NAME)                                               \
    TARGET static ptrdiff_t NAME(Bits set, const Bits *of_class, ptrdiff_t n_classes,    \
                                 Bits *of_set, int32_t *which, int32_t *counts,          \
                                 double *totals)                                         \
    {                                                                                    \
        return list_classes_of(set, of_class, n_classes, of_set, which, counts, totals); \
    }

ASKLESS_COMPILE_SCAN(, scan_two_plain, TWO_CLASSES)
ASKLESS_COMPILE_SCAN(, scan_more_plain, MORE_CLASSES)
ASKLESS_COMPILE_SCAN(, scan_beyond_plain, BEYOND_ALPHA)
ASKLESS_COMPILE_LIST(, list_classes_plain)
#if defined(ASKLESS_POPCNT_X86)
#define ASKLESS_POPCNT __attribute__((target("popcnt")))
ASKLESS_COMPILE_SCAN(ASKLESS_POPCNT, scan_two_popcnt, TWO_CLASSES)
ASKLESS_COMPILE_SCAN(ASKLESS_POPCNT, scan_more_popcnt, MORE_CLASSES)
ASKLESS_COMPILE_SCAN(ASKLESS_POPCNT, scan_beyond_popcnt, BEYOND_ALPHA)
ASKLESS_COMPILE_LIST(ASKLESS_POPCNT, list_classes_popcnt)
#else
#define scan_two_popcnt scan_two_plain
#define scan_more_popcnt scan_more_plain
#define scan_beyond_popcnt scan_beyond_plain
#define list_classes_popcnt list_classes_plain
#endif

static inline int32_t scan_set(const SmallSet *set, const CodePlanes *planes,
                               SetScan *scan, SetCut *cut, int is_fast)
{
    if (set->alpha != 0)
        return is_fast ? scan_beyond_popcnt(set, planes, scan, cut)
                       : scan_beyond_plain(set, planes, scan, cut);
    if (set->n_classes == 2)
        return is_fast ? scan_two_popcnt(set, planes, scan, cut)
                       : scan_two_plain(set, planes, scan, cut);
    return is_fast ? scan_more_popcnt(set, planes, scan, cut)
                   : scan_more_plain(set, planes, scan, cut);
}

static inline ptrdiff_t list_set_classes(Bits set, const Bits *of_class,
                                         ptrdiff_t n_classes, Bits *of_set,
                                         int32_t *which, int32_t *counts, double *totals,
                                         int is_fast)
{
    return is_fast ? list_classes_popcnt(set, of_class, n_classes, of_set, which, counts,
                                         totals)
                   : list_classes_plain(set, of_class, n_classes, of_set, which, counts,
                                        totals);
}

#endif
