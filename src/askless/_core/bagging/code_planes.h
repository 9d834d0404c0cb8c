/* The codes of at most 128 rows as sets of bits: one set for each bit of the codes.
 *
 * A row of weight w takes w of the 128 places.
 */
#ifndef ASKLESS_CODE_PLANES_H
#define ASKLESS_CODE_PLANES_H

#include <stddef.h>
#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "../base/bits.h"

enum { SET_PLACES = 128, MOST_BITS = 8 };

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

/* How many places there are. Called once a split, so without looking for POPCNT. */
static inline int count_places(Bits set)
{
    return count_bits(set.places[0]) + count_bits(set.places[1]);
}

#endif
