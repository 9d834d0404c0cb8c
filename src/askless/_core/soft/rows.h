/* Add up rows that have a share of every class.
 *
 * A row is `stride` numbers, padded to a multiple of four, so that it is added by a few
 * instructions and without a branch. The strides of up to six classes are constants.
 */
#ifndef ASKLESS_SOFT_ROWS_H
#define ASKLESS_SOFT_ROWS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define ASKLESS_ALWAYS_INLINE static inline __attribute__((always_inline))
#else
#define ASKLESS_ALWAYS_INLINE static inline
#endif

#if defined(__GNUC__)
/* Two numbers that are added together, wherever they lie. */
typedef double askless_pair __attribute__((vector_size(16), aligned(8), may_alias));

ASKLESS_ALWAYS_INLINE void add_numbers(double *sums, const double *row, ptrdiff_t stride)
{
    for (ptrdiff_t s = 0; s < stride; s += 2)
        *(askless_pair *)(sums + s) += *(const askless_pair *)(row + s);
}
#else
ASKLESS_ALWAYS_INLINE void add_numbers(double *sums, const double *row, ptrdiff_t stride)
{
    for (ptrdiff_t s = 0; s < stride; s++)
        sums[s] += row[s];
}
#endif

/* Add one row to a set. */
static inline void add_row(double *sums, const double *row, ptrdiff_t stride)
{
    if (stride == 4)
        add_numbers(sums, row, 4);
    else if (stride == 8)
        add_numbers(sums, row, 8);
    else
        add_numbers(sums, row, stride);
}

/* Add each of n rows to the cell of its code; cells must be zero. */
#define ASKLESS_ADD_TO_CELLS(NAME, CODE)                                                 \
    ASKLESS_ALWAYS_INLINE void NAME##_by(const CODE *column, const int32_t *rows,        \
                                         ptrdiff_t n, const double *dense,               \
                                         ptrdiff_t stride, double *cells)                \
    {                                                                                    \
        for (ptrdiff_t i = 0; i < n; i++)                                                \
            add_numbers(cells + column[rows[i]] * stride, dense + rows[i] * stride,      \
                        stride);                                                         \
    }                                                                                    \
    static inline void NAME(const CODE *column, const int32_t *rows, ptrdiff_t n,        \
                            const double *dense, ptrdiff_t stride, double *cells)        \
    {                                                                                    \
        if (stride == 4)                                                                 \
            NAME##_by(column, rows, n, dense, 4, cells);                                 \
        else if (stride == 8)                                                            \
            NAME##_by(column, rows, n, dense, 8, cells);                                 \
        else                                                                             \
            NAME##_by(column, rows, n, dense, stride, cells);                            \
    }

ASKLESS_ADD_TO_CELLS(add_narrow, uint8_t)
ASKLESS_ADD_TO_CELLS(add_wide, uint16_t)

#endif
