"""Prove that the worst case of a large table costs more than a limit.

A table costs more than a limit if one of its cases does, told from all its opponents;
or if every first test leaves a part that costs more than the rest of the limit. The
first is compiled (``_core.search._hitting``); here it is decided which cases are tried,
in which order, and how many first tests are unrolled. It must not know how policies are
found.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from askless._core.search._cover import Cover
from askless._core.search._hitting import Hitting
from askless.solve.search._integers import IntegerTable

__all__ = ["WorstProof"]

Cases = NDArray[np.uint16]

# Cases tried in a part before it is given up, and the nodes that each may take.
N_TRIES = 12
MAX_NODES = 20_000


class WorstProof:
    """Proofs that a table costs more than a limit in the worst case.

    Parameters
    ----------
    table : IntegerTable
        Costs and codes in whole numbers.
    cover : Cover
        What parts every two cases.
    seconds_left : callable
        How much time is left; asked between searches.
    """

    def __init__(
        self, table: IntegerTable, cover: Cover, seconds_left: Callable[[], float]
    ) -> None:
        self.table = table
        self.hitting = Hitting(cover)
        self.prices = table.case_prices
        self.seconds_left = seconds_left
        # Cases that gave proofs move to the front, and so do tests that foiled them.
        self.order = list(range(table.n_cases))
        self.tests = list(range(len(table.codes)))

    def rank(self, bounds: NDArray[np.int64]) -> None:
        """Try the cases with the largest known bounds first."""
        self.order = np.argsort(-bounds, kind="stable").tolist()

    def is_above(
        self, cases: Cases, limit: int, level: int, tries: int = N_TRIES
    ) -> bool:
        """Return whether the cases are proved to cost more than the limit.

        `level` tests on a path are unrolled. False proves nothing.
        """
        if limit < 0 or self._some_case_is_above(cases, limit, tries):
            return True
        labels = self.table.class_id[cases]
        if level == 0 or self.seconds_left() <= 0 or (labels == labels[0]).all():
            return False
        codes = self.table.codes[:, cases]
        parts = (codes != codes[:, :1]).any(axis=1)
        if not parts.any():
            return False
        # A copy: the parts move tests to the front too, and none may be passed over.
        for test in self.tests.copy():
            # A test that splits nothing helps nobody: the bound may leave it out.
            if parts[test] and not self._leaves_above(test, cases, limit, level):
                self.tests.remove(test)
                self.tests.insert(0, test)
                return False
        return True

    def _some_case_is_above(self, cases: Cases, limit: int, tries: int) -> bool:
        inside = set(cases.tolist())
        for place, case in enumerate(self.order):
            if case not in inside:
                continue
            seconds = self.seconds_left()
            if tries == 0 or seconds <= 0:
                return False
            tries -= 1
            if self.hitting.costs_more(case, cases, limit, MAX_NODES, seconds):
                self.order.insert(0, self.order.pop(place))
                return True
        return False

    def _leaves_above(self, test: int, cases: Cases, limit: int, level: int) -> bool:
        """Return whether a part that the test leaves is too dear, the largest first."""
        codes = self.table.codes[test][cases]
        found, sizes = np.unique(codes, return_counts=True)
        for code in found[np.argsort(-sizes, kind="stable")]:
            part = cases[codes == code]
            price = int(self.prices[part, test].min())
            if self.is_above(part, limit - price, level - 1):
                return True
        return False
