"""Walk rows through a policy that chooses test by test, one row after another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.policy._base import Policy, raw_columns
from askless.policy._decide import decide_classes
from askless.problem._jobs import count_threads

__all__ = ["OnlinePolicy"]


class OnlinePolicy(Policy):
    """A policy whose rows are walked by its states; see :class:`Policy`."""

    def _walk(
        self, X: Any, n_jobs: int | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the class weights where each row ends, and what it pays."""
        count_threads(n_jobs)
        used = self.used_tests
        place = {test: i for i, test in enumerate(used)}
        columns, n_rows = raw_columns(X, self.coding, used)
        codes = self.coding.encode(columns, used)
        belief = np.zeros((n_rows, len(self.classes)))
        cost = np.zeros(n_rows)
        for row in range(n_rows):
            state, bill = self.initial_state(), self.prices.open_bill()
            while (test := self.next_test(state)) is not None:
                code = int(codes[place[test], row])
                if self.prices.delayed[test] and not bill.has_paid(test):
                    bill.charge_together(self.tests_ahead(state))
                else:
                    bill.charge(test, code)
                state = self.advance(state, code)
            belief[row] = self._belief(state)
            cost[row] = bill.spent
        return belief, cost

    def predict_and_cost(
        self, X: Any, *, n_jobs: int | None = None
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the decision for each row and what it pays, from one run."""
        belief, cost = self._walk(X, n_jobs)
        return self._class_array[decide_classes(belief, self.mistakes)], cost

    def predict(self, X: Any, *, n_jobs: int | None = None) -> NDArray[Any]:
        """Return the decision for each row; see :meth:`Policy.predict`."""
        return self.predict_and_cost(X, n_jobs=n_jobs)[0]

    def predict_proba(
        self, X: Any, *, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """Return the share of each class among the cases left for each row."""
        belief = self._walk(X, n_jobs)[0]
        return np.asarray(belief / belief.sum(axis=1, keepdims=True))

    def cost(self, X: Any, *, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return what each row pays."""
        return self._walk(X, n_jobs)[1]
