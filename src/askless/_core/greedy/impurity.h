/* How mixed class weights are, and when scores are equal. One implementation for the
 * criteria and for bagged trees, so that both come to the same trees to the last bit.
 */
#ifndef ASKLESS_IMPURITY_H
#define ASKLESS_IMPURITY_H

#include <stddef.h>

/* Scores closer than this, relatively, are a tie: rounding must not decide. */
#define SCORE_TOLERANCE 1e-12
/* What a lower bound of a score is multiplied by, so that a tie is never cut off. */
#define BOUND_SLACK (1 - 4 * SCORE_TOLERANCE)

/* Pairs of different class, given the sum of the class weights and of their squares. With
 * weights that are not whole a set of one class may leave a rounding error: no pairs. */
static inline double pairs_from_sums(double total, double squares)
{
    const double pairs = (total * total - squares) / 2;
    return pairs > 0 ? pairs : 0.0;
}

/* Pairs of different class: the sum of w_i * w_j over i < j. */
static inline double count_pairs(const double *weights, ptrdiff_t n)
{
    double total = 0.0, squares = 0.0;
    ptrdiff_t i;
    if (n == 2)
        return weights[0] * weights[1];
    for (i = 0; i < n; i++) {
        total += weights[i];
        squares += weights[i] * weights[i];
    }
    return pairs_from_sums(total, squares);
}

/* Pairs of what each class has beyond alpha, each less alpha * alpha and none below 0. */
static inline double count_pairs_beyond(const double *weights, ptrdiff_t n, double alpha)
{
    double total = 0.0;
    ptrdiff_t i, j;
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

/* The same for any alpha. Of whole weights only: of others the criterion Hinged rounds
 * differently for two classes and an alpha of 0. */
static inline double mix_whole_weights(const double *weights, ptrdiff_t n, double alpha)
{
    return alpha == 0 ? count_pairs(weights, n) : count_pairs_beyond(weights, n, alpha);
}

#endif
