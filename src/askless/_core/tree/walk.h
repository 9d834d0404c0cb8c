/* Walk eight rows down a tree that only compares bytes, side by side.
 *
 * Each step waits for the memory, so eight walks that do not wait for one another take
 * little longer than one. A node is one word; codes of eight rows are interleaved, so
 * that all lanes read from one address and a constant.
 */
#ifndef ASKLESS_WALK_H
#define ASKLESS_WALK_H

#include <stddef.h>
#include <stdint.h>

enum { N_LANES = 8 };

/* right child | column << 32 | bound << 48 | shift << 56. The left child is the next node.
 * Codes below the bound go left. A leaf leads to itself: its bound is 0. */
static inline uint64_t pack_node(uint32_t right, uint16_t column, uint8_t bound,
                                 uint8_t shift)
{
    return (uint64_t)right | (uint64_t)column << 32 | (uint64_t)bound << 48 |
           (uint64_t)shift << 56;
}

#define NODE_COLUMN(node) ((node) >> 32 & 0xffff)
#define NODE_BOUND(node) ((uint8_t)((node) >> 48))
#define NODE_SHIFT(node) ((uint8_t)((node) >> 56))

/* Where a code that is not missing leads. Chosen by a mask: a branch, which compilers
 * make of a conditional expression here, would be mispredicted. */
static inline uint32_t next_node(uint64_t node, uint32_t at, uint8_t code)
{
    const uint32_t is_left = 0u - (uint32_t)(code < NODE_BOUND(node));
    const uint32_t right = (uint32_t)node;
    return right ^ ((right ^ (at + 1)) & is_left);
}

/* Where any code leads. "Missing" is 255: a shift of 1 wraps it around to the left. */
static inline uint32_t next_node_missing(uint64_t node, uint32_t at, uint8_t code)
{
    const uint8_t bound = NODE_BOUND(node);
    const uint8_t shift = NODE_SHIFT(node) & (uint8_t)(0u - (bound != 0));
    const uint32_t is_left =
        0u - (uint32_t)((uint8_t)(code + shift) < (uint8_t)(bound + shift));
    const uint32_t right = (uint32_t)node;
    return right ^ ((right ^ (at + 1)) & is_left);
}

/* The code of a lane in a column of a group of rows. */
#define CODE_OF(group, column, lane) ((group)[(column)*N_LANES + (lane)])

#define STEP(LANE, NEXT)                                                                 \
    {                                                                                    \
        const uint64_t node = nodes[at##LANE];                                           \
        at##LANE = NEXT(node, at##LANE, CODE_OF(group, NODE_COLUMN(node), LANE));        \
    }
#define STEP_ALL(NEXT)                                                                   \
    STEP(0, NEXT)                                                                        \
    STEP(1, NEXT)                                                                        \
    STEP(2, NEXT)                                                                        \
    STEP(3, NEXT)                                                                        \
    STEP(4, NEXT)                                                                        \
    STEP(5, NEXT)                                                                        \
    STEP(6, NEXT)                                                                        \
    STEP(7, NEXT)

/* A round in which no row moves is the last one. A sum changes if and only if some lane
 * moves, since nodes are only ever left for later ones. */
#define WALK_EIGHT(NAME, NEXT)                                                           \
    static inline void NAME(const uint64_t *nodes, const uint8_t *group, uint32_t root,  \
                            int32_t *leaf)                                               \
    {                                                                                    \
        uint32_t at0 = root, at1 = root, at2 = root, at3 = root;                         \
        uint32_t at4 = root, at5 = root, at6 = root, at7 = root;                         \
        uint32_t was;                                                                    \
        do {                                                                             \
            STEP_ALL(NEXT)                                                               \
            STEP_ALL(NEXT)                                                               \
            was = at0 + at1 + at2 + at3 + at4 + at5 + at6 + at7;                         \
            STEP_ALL(NEXT)                                                               \
        } while (at0 + at1 + at2 + at3 + at4 + at5 + at6 + at7 != was);                  \
        leaf[0] = (int32_t)at0;                                                          \
        leaf[1] = (int32_t)at1;                                                          \
        leaf[2] = (int32_t)at2;                                                          \
        leaf[3] = (int32_t)at3;                                                          \
        leaf[4] = (int32_t)at4;                                                          \
        leaf[5] = (int32_t)at5;                                                          \
        leaf[6] = (int32_t)at6;                                                          \
        leaf[7] = (int32_t)at7;                                                          \
    }

WALK_EIGHT(walk_eight_known, next_node)
WALK_EIGHT(walk_eight_missing, next_node_missing)

static inline void walk_eight(const uint64_t *nodes, const uint8_t *group, uint32_t root,
                              int32_t *leaf, int has_missing)
{
    if (has_missing)
        walk_eight_missing(nodes, group, root, leaf);
    else
        walk_eight_known(nodes, group, root, leaf);
}

/* The same, adding the columns that each row reads to its set, of some words each. */
static inline void walk_eight_sets(const uint64_t *nodes, const uint8_t *group,
                                   uint32_t root, int32_t *leaf, uint64_t *sets,
                                   ptrdiff_t n_words)
{
    uint32_t at[N_LANES], moved;
    int lane;
    for (lane = 0; lane < N_LANES; lane++)
        at[lane] = root;
    do {
        moved = 0;
        for (lane = 0; lane < N_LANES; lane++) {
            const uint64_t node = nodes[at[lane]], column = NODE_COLUMN(node);
            const uint32_t next =
                next_node_missing(node, at[lane], CODE_OF(group, column, lane));
            sets[lane * n_words + (ptrdiff_t)(column >> 6)] |= (uint64_t)1
                                                               << (column & 63);
            moved |= next ^ at[lane];
            at[lane] = next;
        }
    } while (moved);
    for (lane = 0; lane < N_LANES; lane++)
        leaf[lane] = (int32_t)at[lane];
}

#endif
