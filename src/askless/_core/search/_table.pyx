"""A table as the search wants it: codes, classes, weights and prices, all whole."""

import numpy as np

from askless._core.base._types cimport (
    int32_t, int64_t, intp_t, uint16_t, uint64_t,
)


cdef class KnownTable:
    """A table for the search.

    Parameters
    ----------
    codes : ndarray of uint16 of shape (n_tests, n_cases)
        No two cases are the same.
    n_codes : ndarray of int32 of shape (n_tests,)
    class_id : ndarray of int32 of shape (n_cases,)
    weight : ndarray of int64 of shape (n_cases,)
        Heaviest first.
    full : ndarray of int64 of shape (n_tests, most codes)
        The price of each test by its outcome.
    discounted : ndarray of int64 of shape (n_tests,)
    group : ndarray of int32 of shape (n_tests,)
        -1 for a test in no group.
    """

    def __init__(
        self,
        const uint16_t[:, ::1] codes not None,
        const int32_t[::1] n_codes not None,
        const int32_t[::1] class_id not None,
        const int64_t[::1] weight not None,
        const int64_t[:, ::1] full not None,
        const int64_t[::1] discounted not None,
        const int32_t[::1] group not None,
    ):
        self.codes = codes
        self.n_codes = n_codes
        self.class_id = class_id
        self.weight = weight
        self.full = full
        self.discounted = discounted
        self.group = group
        self.n_tests = codes.shape[0]
        self.n_cases = codes.shape[1]
        self.n_classes = np.max(class_id) + 1
        self.most_codes = max(1, int(np.max(n_codes)))
        self.has_groups = np.any(np.asarray(group) >= 0)
        self.least = find_least_prices(full, n_codes, discounted, group)
        self.hash = np.random.default_rng(20150101).integers(
            0, 2**64, self.n_cases, dtype=np.uint64
        )

    cdef uint64_t useful_groups(
        self, const uint16_t* cases, intp_t n, uint64_t open_groups
    ) noexcept nogil:
        cdef:
            intp_t test
            uint64_t useful = 0
        if not self.has_groups or open_groups == 0:
            return 0
        for test in range(self.n_tests):
            if self.group[test] < 0 or not (open_groups >> self.group[test]) & 1:
                continue
            if splits(self, test, cases, n):
                useful |= (<uint64_t> 1) << self.group[test]
        return useful

    cdef bint may_open(self, intp_t test, const State* state) noexcept nogil:
        cdef intp_t other
        cdef int32_t group = self.group[test]
        if group < 0 or (state.open_groups >> group) & 1:
            return False
        for other in range(self.n_tests):
            if other == test or self.group[other] != group:
                continue
            if self.full[other, 0] - self.discounted[other] <= self.full[test, 0]:
                continue
            if splits(self, other, state.cases, state.n):
                return True
        return False


def find_least_prices(full, n_codes, discounted, group):
    """Return the least that each test charges, whatever it shows and goes with."""
    full = np.asarray(full)
    is_met = np.arange(full.shape[1]) < np.maximum(n_codes, 1)[:, None]
    least = np.where(is_met, full, np.iinfo(np.int64).max).min(axis=1)
    is_grouped = np.asarray(group) >= 0
    return np.where(is_grouped, np.minimum(least, discounted), least)
