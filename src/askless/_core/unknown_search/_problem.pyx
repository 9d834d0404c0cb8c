"""What is searched: a table with unknown outcomes, its prices, and when to stop."""

import numpy as np

from askless._core.base._types cimport float64_t, int32_t, uint64_t
from askless._core.price._prices cimport Prices
from askless._core.unknown._table cimport UnknownTable


class Mode:
    """How tests that may have been done are dealt with, as declared for the kernels."""

    SURE_ONLY = 0
    FRESH_DRAWS = 1
    TRACKED = 2


cdef class UnknownProblem:
    """What all searches over one task share.

    Parameters
    ----------
    table : UnknownTable
    price : ndarray of shape (n_tests,)
        The least that each test may charge.
    is_worst : bool
        Whether values are of the worst case.
    prices : Prices, optional
        What tests charge by their outcome and once their group is open, if they do.
    near : ndarray of uint64 of shape (n_cases, n_words), optional
        Bits of the cases that each need not be told from, if these are not just the
        cases of its class.
    stops_near : bool
        Whether a set inside the neighbourhood of one case is settled; else, one in
        which every two cases are near.
    block : ndarray of int32 of shape (n_cases,), optional
        Cases that a policy may leave together are of one block, and stand together; the
        classes by default. Only bounds look at it.
    pair_price : ndarray of shape (n_cases, n_cases), optional
        The least price of a test that is sure to tell two cases apart.
    rules : ndarray of uint64 of shape (n_cases, n_cases, n_words), optional
        Bits of the tests that may rule out the second case if the first is true.
    """

    def __init__(
        self,
        UnknownTable table not None,
        const float64_t[::1] price not None,
        *,
        bint is_worst,
        Prices prices=None,
        const uint64_t[:, ::1] near=None,
        bint stops_near=False,
        const int32_t[::1] block=None,
        const float64_t[:, ::1] pair_price=None,
        const uint64_t[:, :, ::1] rules=None,
    ):
        self.table = table
        self.is_worst = is_worst
        self.price = price
        self.cheapest = np.min(price)
        self.dearest = np.max(price)
        self.prices = prices
        self.has_context = prices is not None
        self.has_near = near is not None
        if near is not None:
            self.near = near
        self.stops_near = stops_near
        self.block = table.class_id if block is None else block
        self.has_own_blocks = len(np.unique(self.block)) == table.n_cases
        self.has_pairs = (
            pair_price is not None and near is None and not self.has_context
        )
        if pair_price is not None:
            self.pair_price = pair_price
        self.can_certify = (
            rules is not None and near is None and not is_worst
            and table.has_own_classes
        )
        if rules is not None:
            self.rules = rules
