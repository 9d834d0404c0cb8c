"""Contract of a packed node: what each bit of its word says, and how rows go down.

From the lowest bit on:

    8 bits   the classes that its tree may still name
    8        its test; at a leaf, the number of tests
    1        whether missing values go left
    1        IS_NEW: no node above asks the same. Never of a leaf
   14        the score: how much waits here
   16        the bound: a code below it goes left; 0 at a leaf
   16        how many nodes ahead its children are, right one first; 0 at a leaf

A step adds the last number to the place of the node, and 1 if it goes left. At a leaf
it adds nothing, so that a walk may go on there without being looked at. The lower half
is what is noted of a node.
"""

from askless._core.base._types cimport intp_t, uint16_t, uint32_t, uint64_t


ctypedef uint64_t Step

cdef enum:
    TEST_AT = 8
    SHIFT_AT = 16
    NEW_AT = 17
    SCORE_AT = 18
    BOUND_AT = 32
    AHEAD_AT = 48
    MOST_SCORE = 16383
    MOST_AHEAD = 65535
    MOST_CLASSES = 8
    # The number of tests stands for "a leaf", so one byte holds one test less.
    MOST_TESTS = 254
    MOST_LEVELS = 65534
    # Rows that go down together, as many as there are registers for, and by how many
    # steps: to ask after each whether a row is down would take longer than the steps
    # at its leaf.
    TOGETHER = 4
    STRIDE = 4


cdef inline uint32_t walk_together(
    const Step* steps, size_t* node, uint32_t** to, const uint16_t** codes,
    bint has_missing,
) noexcept nogil:
    """Take STRIDE steps with TOGETHER rows; return a bit for each that is at a leaf.

    Each row has its node, the place of its next note, and its codes. What has a name of
    its own stays in a register.
    """
    cdef:
        size_t a = node[0]
        size_t b = node[1]
        size_t c = node[2]
        size_t d = node[3]
        uint32_t* to_a = to[0]
        uint32_t* to_b = to[1]
        uint32_t* to_c = to[2]
        uint32_t* to_d = to[3]
        const uint16_t* codes_a = codes[0]
        const uint16_t* codes_b = codes[1]
        const uint16_t* codes_c = codes[2]
        const uint16_t* codes_d = codes[3]
        intp_t _
    for _ in range(STRIDE):
        a = go_down(steps, a, &to_a, codes_a, has_missing)
        b = go_down(steps, b, &to_b, codes_b, has_missing)
        c = go_down(steps, c, &to_c, codes_c, has_missing)
        d = go_down(steps, d, &to_d, codes_d, has_missing)
    node[0] = a
    node[1] = b
    node[2] = c
    node[3] = d
    to[0] = to_a
    to[1] = to_b
    to[2] = to_c
    to[3] = to_d
    return (
        is_leaf(steps[a])
        | is_leaf(steps[b]) << 1
        | is_leaf(steps[c]) << 2
        | is_leaf(steps[d]) << 3
    )


cdef inline uint32_t is_leaf(Step step) noexcept nogil:
    return (step >> AHEAD_AT) == 0


cdef inline size_t go_down(
    const Step* steps, size_t node, uint32_t** to, const uint16_t* codes,
    bint has_missing,
) noexcept nogil:
    """Note a node and return the one that a row goes to from it.

    "Missing" is the code 65535. Where it should go left, 1 more on both sides makes 0
    of it, and changes nothing else.
    """
    cdef:
        Step step = steps[node]
        uint16_t code = codes[(step >> TEST_AT) & 255]
        uint16_t bound = <uint16_t> (step >> BOUND_AT)
        uint16_t shift
    to[0][0] = <uint32_t> step
    to[0] += (step >> NEW_AT) & 1
    if has_missing:
        shift = (step >> SHIFT_AT) & 1
        code += shift
        bound += shift
    return node + (step >> AHEAD_AT) + (code < bound)
