/* Words of 64 bits as sets. */
#ifndef ASKLESS_BITS_H
#define ASKLESS_BITS_H

static inline int count_bits(unsigned long long word)
{
#if defined(__GNUC__)
    return __builtin_popcountll(word);
#else
    int n = 0;
    for (; word; word &= word - 1) n++;
    return n;
#endif
}

static inline int lowest_bit(unsigned long long word)
{
#if defined(__GNUC__)
    return __builtin_ctzll(word);
#else
    int n = 0;
    while (!(word & 1)) { word >>= 1; n++; }
    return n;
#endif
}

static inline int highest_bit(unsigned long long word)
{
#if defined(__GNUC__)
    return 63 - __builtin_clzll(word);
#else
    int n = 0;
    while (word >>= 1) n++;
    return n;
#endif
}

#endif
