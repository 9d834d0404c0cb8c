"""Contract of leaves as bits of a word: what each outcome leaves, and what bounds it."""

from askless._core.base._bits cimport highest_bit, lowest_bit
from askless._core.ensemble._trees cimport Model
from askless._core.base._types cimport int64_t, intp_t, uint64_t


# Write which leaves each outcome leaves, if no tree has more than a word has; return the
# arrays to keep.
cdef list lay_out_leaves(Model* m)


# The least and the largest value of some leaves of a tree, at least one.
cdef inline int64_t low_of(
    const Model* m, intp_t tree, uint64_t leaves
) noexcept nogil:
    return m.leaf_bound[m.leaf_start[tree] + lowest_bit(leaves)] >> 1


cdef inline int64_t high_of(
    const Model* m, intp_t tree, uint64_t leaves
) noexcept nogil:
    cdef int64_t bound = m.leaf_bound[m.leaf_start[tree] + highest_bit(leaves)]
    return (bound >> 1) + (bound & 1)


# The leaves that a code of a test leaves in each tree that asks it: a word each.
cdef inline const char* words_of(
    const Model* m, intp_t test, intp_t code
) noexcept nogil:
    cdef intp_t n_users = m.user_start[test + 1] - m.user_start[test]
    return m.leaf_words + m.word_start[test] + code * n_users * m.word_bytes


cdef inline uint64_t all_leaves(const Model* m, intp_t tree) noexcept nogil:
    cdef int n = <int> (m.leaf_start[tree + 1] - m.leaf_start[tree])
    return ~(<uint64_t> 0) >> (64 - n)
