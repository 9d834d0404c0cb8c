"""Step through one case: buy a test, look where that leads, and so on.

What has been bought stays worked out, so that a step costs what it moves and no more. A
walk belongs to one caller at a time.

This module must not know why a test was bought, nor what the sums mean.
"""

import numpy as np

from askless._core.base._types cimport float64_t, intp_t
from askless._core.ensemble._bounds cimport buy
from askless._core.ensemble._case cimport (
    Case, SKIPPED, copy_deep, free_case, make_case, reset,
)
from askless._core.ensemble._choice cimport (
    INDEPENDENT, TOGETHER, View, choose, finish, is_over, is_wanted, look,
    most_charged, pay,
)
from askless._core.ensemble._joint cimport (
    largest_sum, least_lead, least_sum, refresh_runs,
)
from askless._core.ensemble._machine cimport Machine
from askless._core.ensemble.settle._lead cimport lift
from askless._core.ensemble._trees cimport Model, VOTE
from askless._core.price._prices cimport Prices

from askless._core.ensemble._machine import weigh_prices


# The code of a test that was run and showed nothing; -1 is that of one never run.
cdef enum:
    PAID_SKIP = -2


cdef class Walk:
    """Where one case stands, ready to go on.

    Parameters
    ----------
    machine : Machine
    prices : Prices
        What tests charge.
    eagerness : sequence of float, optional
        Factors of what waits for each test; 1 each by default.
    """

    cdef Machine machine
    cdef Prices prices
    cdef Case* case
    cdef float64_t[::1] inverse
    cdef float64_t spent

    def __cinit__(self):
        self.case = NULL

    def __dealloc__(self):
        free_case(self.case)

    def __init__(
        self, Machine machine not None, Prices prices not None, eagerness=None
    ):
        self.machine = machine
        self.prices = prices
        self.inverse = weigh_prices(prices, eagerness)
        self.case = make_case(&machine.model, prices.n_groups)
        if self.case == NULL:
            raise MemoryError("no memory left to run a case")
        self.case.has_means = True
        copy_deep(&machine.model, self.case, machine.root)
        self.restart()

    def restart(self):
        """Go back to where nothing was bought."""
        self.spent = 0.0
        reset(
            &self.machine.model, self.case, self.machine.root, self.prices.n_groups
        )

    def buy(self, intp_t test, intp_t code):
        """Note what a test has shown; a code below 0 if it was skipped."""
        cdef const Model* m = &self.machine.model
        if code >= 0:
            self.spent += pay(m, self.case, self.prices, test, code)
            buy(m, self.case, test, code)
            return
        if code == PAID_SKIP:
            self.spent += pay(m, self.case, self.prices, test, -1)
        self.case.state[test] = SKIPPED

    def stand(
        self, float64_t threshold, float64_t most, bint is_complete,
        bint varies_together=False,
    ):
        """Return where the case stands.

        Returns
        -------
        test : int
            The next test to buy, -1 if the case is over.
        raw : ndarray of shape (n_outputs,)
            The expected sums, or the source's own if every tree has ended.
        ahead : list of int
            Tests that may still be asked.
        is_settled : bool
            Whether the decision can no longer change.
        n_waiting : int
            Trees that have not ended.
        """
        cdef:
            const Model* m = &self.machine.model
            Case* c = self.case
            intp_t test = -1
            intp_t i
            View view
            float64_t[::1] raw = np.empty(m.n_outputs)
        look(m, c, TOGETHER if varies_together else INDEPENDENT, &view)
        if not is_over(c, &view, threshold, is_complete):
            test = choose(m, c, self.prices, &self.inverse[0], &view)
            if test >= 0 and (
                self.spent + most_charged(m, c, self.prices, test) > most
            ):
                test = -1
        finish(m, c, &raw[0])
        if m.by_leaves and view.is_settled and c.n_waiting > 0:
            lift(m, c, c.total, view.winner, &raw[0])
        ahead = []
        if test >= 0:
            ahead = [i for i in range(m.n_tests) if is_wanted(m, c, i)]
        return test, np.asarray(raw), ahead, bool(view.is_settled), c.n_waiting

    def bounds(self):
        """Return (low, high): the least and the largest sums, each an array."""
        cdef:
            const Model* m = &self.machine.model
            Case* c = self.case
            intp_t q
            float64_t scale = 1.0 if m.mode == VOTE else m.unit
            float64_t[::1] low = np.empty(m.n_outputs)
            float64_t[::1] high = np.empty(m.n_outputs)
        if m.is_joint:
            refresh_runs(m, c)
        for q in range(m.n_outputs):
            if m.by_leaves:
                low[q] = <float64_t> least_lead(m, c, q, -1) / scale
                high[q] = -<float64_t> least_lead(m, c, -1, q) / scale
            elif m.is_joint:
                low[q] = <float64_t> least_sum(m, c, q, -1) / scale
                high[q] = <float64_t> largest_sum(m, c, q) / scale
            else:
                low[q] = <float64_t> c.low[q] / scale
                high[q] = <float64_t> c.high[q] / scale
        return np.asarray(low), np.asarray(high)
