/* Find a text among levels by its bytes.
 *
 * The first 32 bytes of a text are four words, zeros after its end: most texts are no
 * longer, so that no branch depends on their length. Everything is inlined into the loop
 * over cells; a call for each would take a third longer.
 */
#ifndef ASKLESS_TEXT_SLOTS_H
#define ASKLESS_TEXT_SLOTS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define ASKLESS_IN_LOOP static inline __attribute__((always_inline))
#else
#define ASKLESS_IN_LOOP static inline
#endif

enum { TEXT_WORDS = 4, SHORT_TEXT = 8 * TEXT_WORDS };

typedef struct {
    uint64_t part[TEXT_WORDS];
} TextWords;

/* `code` is -1 in a slot that is free. */
typedef struct {
    TextWords words;
    const uint8_t *text;
    int32_t n_bytes;
    int32_t code;
} TextSlot;

/* Ones, then zeros: from 32 - n on, a mask of the first n bytes. */
static const uint8_t TEXT_MASK[2 * SHORT_TEXT] = {
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
};

ASKLESS_IN_LOOP uint64_t read_word(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, 8);
    return word;
}

/* The first words of a text of n bytes. `room` says how many bytes may be read; where
 * there are enough, a mask takes away what follows the text. */
ASKLESS_IN_LOOP TextWords first_words(const uint8_t *text, ptrdiff_t n, ptrdiff_t room)
{
    const ptrdiff_t some = n < SHORT_TEXT ? n : SHORT_TEXT;
    TextWords words = {{0, 0, 0, 0}};
    if (room >= SHORT_TEXT) {
        const uint8_t *mask = TEXT_MASK + SHORT_TEXT - some;
        int i;
        for (i = 0; i < TEXT_WORDS; i++)
            words.part[i] = read_word(text + 8 * i) & read_word(mask + 8 * i);
    } else if (some > 0) {
        memcpy(&words, text, (size_t)some);
    }
    return words;
}

ASKLESS_IN_LOOP uint64_t turn(uint64_t word, int n)
{
    return word << n | word >> (64 - n);
}

/* A product carries upwards only: its high half is folded down. */
ASKLESS_IN_LOOP uint64_t mix_word(uint64_t word)
{
    word *= UINT64_C(0x9E3779B97F4A7C15);
    return word ^ word >> 32;
}

ASKLESS_IN_LOOP uint64_t hash_text(TextWords words, const uint8_t *text, ptrdiff_t n)
{
    uint64_t found = mix_word(words.part[0] ^ turn(words.part[1], 23) ^
                              turn(words.part[2], 41) ^ turn(words.part[3], 11) ^
                              (uint64_t)n);
    ptrdiff_t i;
    /* The last word ends with the text, and may repeat bytes of the one before. */
    for (i = SHORT_TEXT; i < n; i += 8)
        found = mix_word(found ^ read_word(text + (i + 8 <= n ? i : n - 8)));
    return found;
}

/* The code of a text. Equal hashes are not enough: its bytes are compared. */
ASKLESS_IN_LOOP int32_t find_text(const TextSlot *slots, uint64_t mask,
                                  const uint8_t *text, ptrdiff_t n, ptrdiff_t room,
                                  int32_t unseen)
{
    const TextWords words = first_words(text, n, room);
    uint64_t at = hash_text(words, text, n) & mask;
    for (; slots[at].code >= 0; at = (at + 1) & mask) {
        const TextSlot *slot = slots + at;
        uint64_t differ = (uint64_t)(slot->n_bytes ^ n);
        int i;
        for (i = 0; i < TEXT_WORDS; i++)
            differ |= slot->words.part[i] ^ words.part[i];
        if (differ == 0 && (n <= SHORT_TEXT || memcmp(slot->text + SHORT_TEXT,
                                                      text + SHORT_TEXT,
                                                      (size_t)(n - SHORT_TEXT)) == 0))
            return slot->code;
    }
    return unseen;
}

#endif
