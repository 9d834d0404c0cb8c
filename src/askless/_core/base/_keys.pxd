"""Keys of 64 bits: for random draws, and for places in tables.

A random key is mixed from a seed and a path, never drawn one after another: a node's
key depends on the seed and on the branches that lead to it, so that what is drawn there
does not depend on which node was grown first, nor by which thread. Another mixer would
be another forest, so these functions must not change.

Keys of tables only say where to look an entry up. Entries are compared, so that another
function would change time and no answer.
"""

from askless._core.base._types cimport uint64_t


cdef inline uint64_t scatter(uint64_t word) noexcept nogil:
    """Return a word times an odd number: neighbours come to lie far apart."""
    return word * <uint64_t> 0x9E3779B97F4A7C15


# Random draws.


cdef inline uint64_t mix(uint64_t key) noexcept nogil:
    """Return a key whose every bit depends on every bit of the given one."""
    key ^= key >> 30
    key *= <uint64_t> 0xBF58476D1CE4E5B9
    key ^= key >> 27
    key *= <uint64_t> 0x94D049BB133111EB
    return key ^ (key >> 31)


cdef inline uint64_t mix_with(uint64_t key, uint64_t part) noexcept nogil:
    """Return the key of a part of what a key stands for."""
    return mix(key + scatter(part + 1))


cdef inline uint64_t draw_below(uint64_t key, uint64_t n) noexcept nogil:
    """Return a number from 0 to n - 1, for n < 2**32, evenly by the key's high half."""
    return ((key >> 32) * n) >> 32


cdef inline double draw_share(uint64_t key) noexcept nogil:
    """Return a number from 0 up to 1."""
    return <double> (key >> 11) * (1.0 / 9007199254740992.0)


# Places in tables.


cdef inline uint64_t spread(uint64_t key) noexcept nogil:
    """Return a key whose low bits depend on all bits, by one multiplication.

    For a slot that is looked up very often, where `mix` would take twice as long.
    """
    key ^= key >> 32
    key *= <uint64_t> 0xD6E8FEB86659FD93
    return key ^ (key >> 32)
