"""Bound states of a table with unknown outcomes by the code words that they need."""

from libc.math cimport log2
from libc.stdlib cimport qsort

import numpy as np

from askless._core.base._huffman cimport huffman
from askless._core.base._types cimport float64_t, int32_t, intp_t
from askless._core.search._code_words cimport count_levels
from askless._core.unknown_search._problem cimport UnknownProblem
from askless._core.unknown._table cimport plogp


cdef int compare_reals(const void* a, const void* b) noexcept nogil:
    """Order numbers, the largest first."""
    cdef float64_t x = (<const float64_t*> a)[0]
    cdef float64_t y = (<const float64_t*> b)[0]
    return (x < y) - (x > y)


cdef class CodeWords:
    """Bounds by code words, with scratch of their own.

    Parameters
    ----------
    problem : UnknownProblem
    use_huffman, use_entropy : bool
        Switches of the bounds; they change time, never the answer.
    """

    def __init__(
        self, UnknownProblem problem not None, bint use_huffman, bint use_entropy
    ):
        self.problem = problem
        self.use_huffman = use_huffman
        self.use_entropy = use_entropy
        self.words = np.zeros(4 * problem.table.n_cases + 8)

    cdef float64_t bound(
        self, const int32_t* cases, const float64_t* weights, intp_t n,
        const Inside* inside,
    ) noexcept nogil:
        cdef:
            intp_t i, k = 0
            float64_t total = 0.0, logs = 0.0, m = 0.0, bound
            const int32_t* block = &self.problem.block[0]
            float64_t* words = &self.words[0]
        for i in range(n):
            m += weights[i]
            if i + 1 == n or block[cases[i]] != block[cases[i + 1]]:
                words[k] = m
                total += m
                logs += plogp(m)
                k += 1
                m = 0.0
        if k < 2:
            # One block, and yet not settled: at least one test more.
            if not self.problem.has_near:
                return 0.0
            if self.problem.is_worst:
                return inside.cheapest
            return inside.cheapest * total * (1 - ROUNDING)
        if self.problem.is_worst:
            return max(
                inside.cheapest * count_levels(k, inside.arity),
                inside.rate * log2(<float64_t> k) * (1 - ROUNDING),
            )
        bound = inside.cheapest * total
        if self.use_entropy:
            bound = max(bound, inside.rate * (plogp(total) - logs))
        if self.use_huffman and k > 2:
            qsort(words, k, sizeof(float64_t), compare_reals)
            bound = max(bound, inside.cheapest * huffman(words, k, inside.arity))
        return bound * (1 - ROUNDING)
