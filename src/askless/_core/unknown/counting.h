/* Count cases and sum their weights by code, for tests of few codes.
 *
 * Four tables of sums are filled by turns, so that two cases of the same code do not wait
 * for each other's addition. Measured on 100,000 cases: see benchmarks/bench_unknown.py.
 * Of few cases one table is filled: clearing four would take longer than counting.
 */
#ifndef ASKLESS_UNKNOWN_COUNTING_H
#define ASKLESS_UNKNOWN_COUNTING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ASKLESS_FEW_CASES 24

typedef struct {
    double weight;
    int64_t count;
} askless_sum;

static inline void count_few_codes(const uint8_t *column, const int32_t *cases,
                                   ptrdiff_t n, const double *own, int n_codes,
                                   int64_t *counts, double *weights)
{
    askless_sum sums[4][8];
    ptrdiff_t i = 0;
    int code;
    if (n < ASKLESS_FEW_CASES) {
        for (code = 0; code < n_codes; code++) {
            counts[code] = 0;
            weights[code] = 0.0;
        }
        for (; i < n; i++) {
            code = column[cases == NULL ? i : cases[i]] & 7;
            counts[code] += 1;
            weights[code] += own[i];
        }
        return;
    }
    memset(sums, 0, sizeof sums);
    if (cases == NULL) {
        for (; i + 4 <= n; i += 4) {
            int j;
            for (j = 0; j < 4; j++) {
                askless_sum *sum = &sums[j][column[i + j] & 7];
                sum->weight += own[i + j];
                sum->count += 1;
            }
        }
        for (; i < n; i++) {
            sums[0][column[i] & 7].weight += own[i];
            sums[0][column[i] & 7].count += 1;
        }
    } else {
        for (; i + 4 <= n; i += 4) {
            int j;
            for (j = 0; j < 4; j++) {
                askless_sum *sum = &sums[j][column[cases[i + j]] & 7];
                sum->weight += own[i + j];
                sum->count += 1;
            }
        }
        for (; i < n; i++) {
            sums[0][column[cases[i]] & 7].weight += own[i];
            sums[0][column[cases[i]] & 7].count += 1;
        }
    }
    for (code = 0; code < n_codes; code++) {
        counts[code] = sums[0][code].count + sums[1][code].count
                       + sums[2][code].count + sums[3][code].count;
        weights[code] = (sums[0][code].weight + sums[1][code].weight)
                       + (sums[2][code].weight + sums[3][code].weight);
    }
}

#endif
