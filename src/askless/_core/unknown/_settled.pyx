"""Say whether a set of cases is settled: of one class, or near enough to each other."""

import numpy as np

from askless._core.base._types cimport int32_t, intp_t, uint64_t


cdef class Settled:
    """When a policy stops.

    Parameters
    ----------
    class_id : ndarray of int32 of shape (n_cases,)
    near : ndarray of uint64 of shape (n_cases, n_words) or None
        Bits of the cases that each need not be told from; None if these are just the
        cases of its class.
    stops_near : bool
        Whether a set inside the neighbourhood of one case is settled; else, one in
        which every two cases are near.
    """

    def __init__(
        self,
        const int32_t[::1] class_id not None,
        const uint64_t[:, ::1] near,
        bint stops_near,
    ):
        self.class_id = class_id
        self.stops_near = stops_near
        self.has_near = near is not None
        if near is not None:
            self.near = near
            self.alive = np.zeros(near.shape[1], dtype=np.uint64)

    cdef bint holds(self, const int32_t* cases, intp_t n) noexcept nogil:
        cdef:
            intp_t i, x
            bint is_settled
        if n == 0 or self.class_id[cases[0]] == self.class_id[cases[n - 1]]:
            return True
        if not self.has_near:
            return False
        for i in range(n):
            self.alive[cases[i] >> 6] |= (<uint64_t> 1) << (cases[i] & 63)
        if self.stops_near:
            is_settled = False
            for x in range(self.near.shape[0]):
                if self.is_inside(x):
                    is_settled = True
                    break
        else:
            is_settled = True
            for i in range(n):
                if not self.is_inside(cases[i]):
                    is_settled = False
                    break
        for i in range(n):
            self.alive[cases[i] >> 6] = 0
        return is_settled

    cdef bint is_inside(self, intp_t x) noexcept nogil:
        """Return whether all cases that are alive are near a case."""
        cdef intp_t word
        for word in range(self.near.shape[1]):
            if self.alive[word] & ~self.near[x, word]:
                return False
        return True
