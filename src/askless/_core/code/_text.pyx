"""Code text as it lies in Arrow's buffers, without making a Python object of a cell.

This module knows bytes, offsets and levels. It must not know names, frames or who made
the buffers.
"""

from libc.stdint cimport int8_t, int16_t
from libc.stdlib cimport calloc, free, malloc

from askless._core.base._types cimport (
    code_t, int32_t, int64_t, intp_t, uint8_t, uint16_t, uint32_t, uint64_t,
)


ctypedef fused offset_t:
    int32_t
    int64_t


ctypedef fused index_t:
    int8_t
    int16_t
    int32_t
    int64_t
    uint8_t
    uint16_t
    uint32_t
    uint64_t


cdef enum:
    # Slots of a table that is small.
    ROOMY = 4096


cdef extern from "askless/_core/code/text_slots.h" nogil:
    ctypedef struct TextWords:
        pass

    ctypedef struct TextSlot:
        TextWords words
        const uint8_t* text
        int32_t n_bytes
        int32_t code

    TextWords first_words(const uint8_t* text, intp_t n, intp_t room) noexcept
    uint64_t hash_text(TextWords words, const uint8_t* text, intp_t n) noexcept
    int32_t find_text(
        const TextSlot* slots, uint64_t mask, const uint8_t* text, intp_t n,
        intp_t room, int32_t unseen,
    ) noexcept


cdef class TextLevels:
    """Levels that are text, ready to be found by their bytes.

    ``texts`` are different texts in UTF-8, ``codes`` the code of each.
    """

    cdef:
        TextSlot* slots
        uint64_t mask
        readonly tuple texts
        readonly tuple codes

    def __cinit__(self):
        self.slots = NULL

    def __dealloc__(self):
        free(self.slots)

    def __init__(self, tuple texts not None, tuple codes not None):
        cdef:
            uint64_t n_slots = 4, n_texts = len(texts), at
            const uint8_t* text
            intp_t n_bytes, i
            bytes level
            TextSlot* slot
        # The slots point into these texts.
        self.texts, self.codes = texts, codes
        # At most a quarter of the slots is taken, of small tables less: most searches
        # end where they begin, and no branch is guessed wrong.
        while n_slots < 4 * n_texts or (n_slots < 32 * n_texts and n_slots < ROOMY):
            n_slots *= 2
        self.mask = n_slots - 1
        self.slots = <TextSlot*> malloc(n_slots * sizeof(TextSlot))
        if self.slots == NULL:
            raise MemoryError("no memory left for the levels of a test")
        for at in range(n_slots):
            self.slots[at].code = -1
        for i in range(len(texts)):
            level = texts[i]
            text, n_bytes = level, len(level)
            at = hash_text(first_words(text, n_bytes, n_bytes), text, n_bytes) & self.mask
            while self.slots[at].code >= 0:
                at = (at + 1) & self.mask
            slot = self.slots + at
            slot.words = first_words(text, n_bytes, n_bytes)
            slot.text = text
            slot.n_bytes = <int32_t> n_bytes
            slot.code = codes[i]

    def __reduce__(self):
        return TextLevels, (self.texts, self.codes)


cdef inline bint is_there(const uint8_t* validity, intp_t i) noexcept nogil:
    """Return whether a cell has a value, by its bit; without bits, all have."""
    return validity == NULL or (validity[i >> 3] >> (i & 7)) & 1


cdef inline const uint8_t* start_of(const uint8_t[::1] bytes_) noexcept nogil:
    return &bytes_[0] if bytes_.shape[0] else NULL


def encode_text(
    TextLevels levels not None,
    const offset_t[::1] offsets not None,   # IN   (n + 1,) into data
    const uint8_t[::1] data not None,       # IN   the bytes of all cells
    const uint8_t[::1] validity not None,   # IN   a bit for each cell, or empty
    intp_t first,                           # IN   the bit of the first cell
    intp_t missing,                         # IN   the code of a cell without a value
    intp_t unseen,                          # IN   the code of what is no level
    code_t[::1] codes not None,             # OUT  (n,)
):
    """Code text that lies end to end; return the first cell that leaves the data.

    -1 if there is none. Codes from that cell on are not set.
    """
    cdef:
        intp_t n = codes.shape[0], n_data = data.shape[0], i, bad = -1
        const uint8_t* text = start_of(data)
        const uint8_t* bits = start_of(validity)
        offset_t start, end
    with nogil:
        for i in range(n):
            if not is_there(bits, first + i):
                codes[i] = <code_t> missing
                continue
            start, end = offsets[i], offsets[i + 1]
            if start < 0 or end < start or end > n_data:
                bad = i
                break
            codes[i] = <code_t> find_text(
                levels.slots, levels.mask, text + start, end - start, n_data - start,
                <int32_t> unseen,
            )
    return bad


def encode_views(
    TextLevels levels not None,
    const int32_t[:, ::1] views not None,   # IN   (n, 4) length, then text or its place
    list buffers not None,                  # IN   the bytes of the longer cells
    const uint8_t[::1] validity not None,   # IN   a bit for each cell, or empty
    intp_t first,                           # IN   the bit of the first cell
    intp_t missing,                         # IN   the code of a cell without a value
    intp_t unseen,                          # IN   the code of what is no level
    code_t[::1] codes not None,             # OUT  (n,)
):
    """Code text that views point at; return the first cell that leaves its buffer.

    At most twelve bytes lie in the view itself, after the length. Of a longer text it
    has four bytes, the number of the buffer and the place in it. -1 if all are well.
    """
    cdef:
        intp_t n = codes.shape[0], n_buffers = len(buffers), i, bad = -1
        const uint8_t* bits = start_of(validity)
        const uint8_t** starts = <const uint8_t**> calloc(n_buffers + 1, sizeof(void*))
        intp_t* sizes = <intp_t*> calloc(n_buffers + 1, sizeof(intp_t))
        const uint8_t[::1] buffer
        bint is_long
        intp_t length, where, place, ones
    try:
        if starts == NULL or sizes == NULL:
            raise MemoryError("no memory left for the buffers of a column")
        for i in range(n_buffers):
            buffer = buffers[i]
            starts[i], sizes[i] = start_of(buffer), buffer.shape[0]
        # Behind the buffers, the views themselves: where a text lies is then no branch,
        # which would be guessed wrong half the time.
        if n:
            starts[n_buffers], sizes[n_buffers] = <const uint8_t*> &views[0, 0], 16 * n
        with nogil:
            for i in range(n):
                if not is_there(bits, first + i):
                    codes[i] = <code_t> missing
                    continue
                length = views[i, 0]
                is_long = length > 12
                ones = -<intp_t> is_long
                where = (views[i, 2] & ones) | (n_buffers & ~ones)
                place = (views[i, 3] & ones) | ((16 * i + 4) & ~ones)
                if (length | place | where) < 0 or where > n_buffers - is_long or (
                    place + length > sizes[where]
                ):
                    bad = i
                    break
                codes[i] = <code_t> find_text(
                    levels.slots, levels.mask, starts[where] + place, length,
                    sizes[where] - place, <int32_t> unseen,
                )
    finally:
        free(starts)
        free(sizes)
    return bad


def encode_indices(
    const index_t[::1] indices not None,    # IN   (n,) into level_codes
    const code_t[::1] level_codes not None,  # IN   the code of each entry
    const uint8_t[::1] validity not None,   # IN   a bit for each cell, or empty
    intp_t first,                           # IN   the bit of the first cell
    intp_t missing,                         # IN   the code of a cell without a value
    code_t[::1] codes not None,             # OUT  (n,)
):
    """Code cells that point at entries; return the first that points at none, or -1."""
    cdef:
        intp_t n = codes.shape[0], i, bad = -1
        uint64_t n_entries = level_codes.shape[0], index
        const uint8_t* bits = start_of(validity)
    with nogil:
        for i in range(n):
            if not is_there(bits, first + i):
                codes[i] = <code_t> missing
                continue
            # What is negative becomes very large.
            index = <uint64_t> indices[i]
            if index >= n_entries:
                bad = i
                break
            codes[i] = level_codes[index]
    return bad
