"""Lower bounds on what any error-free policy costs, each valid by itself."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askless.problem import Table
from askless.solve._task import Task

__all__ = ["pair_bound"]

# Cells looked at before the bound settles for fewer cases and opponents.
MOST_CELLS = 100_000_000


def pair_bound(task: Task) -> float:
    """Bound the cost from below by the dearest opponent of each case.

    On its way down any error-free tree, a case must be told from each case of another
    class, so it pays at least the cheapest test that may do so. The bound of a case is
    the largest of these over its opponents; in a group the discounted price counts, and
    for a test priced by outcome the price of the case's own outcome.

    Valid for all cost rules and for unknown outcomes. For large tables some cases are
    compared with some opponents only, and the rest are bounded by the cheapest test
    that tells anything.
    """
    table = task.table
    lows = np.minimum(table.prices.full, table.prices.discounted)
    for test, by_outcome in table.prices.by_outcome.items():
        lows[test] = min(lows[test], float(by_outcome.min()))
    tells = (table.codes != table.codes[:, :1]).any(axis=1)
    n = table.n_cases
    if not tells.any() or np.all(task.label_ids == task.label_ids[0]):
        return 0.0
    # The first test is the same for every case. Only if some cases cannot be told apart
    # may a tree stop before it.
    bounds = np.full(n, float(lows[tells].min()) if not table.indistinct else 0.0)
    n_opponents = max(1, min(n, MOST_CELLS // (table.n_tests * min(n, 1000))))
    opponents = _spread(n, n_opponents)
    for case in _spread(n, min(n, 1000 if n > 1000 else n)):
        bounds[case] = max(bounds[case], _case_bound(task, table, case, opponents, lows))
    if task.objective == "worst":
        return float(bounds.max())
    return float(bounds @ table.prior)


def _case_bound(
    task: Task,
    table: Table,
    case: int,
    opponents: NDArray[np.int64],
    lows: NDArray[np.float64],
) -> float:
    rivals = opponents[task.label_ids[opponents] != task.label_ids[case]]
    prices = lows.copy()
    for test, by_outcome in table.prices.by_outcome.items():
        code = table.codes[test, case]
        if code < len(by_outcome):
            prices[test] = by_outcome[code]
    may_part = (table.codes[:, rivals] != table.codes[:, [case]]) | table.is_unknown[
        :, rivals
    ]
    may_part |= table.is_unknown[:, [case]]
    cheapest = np.where(may_part, prices[:, None], np.inf).min(axis=0, initial=np.inf)
    finite = cheapest[np.isfinite(cheapest)]
    return float(finite.max(initial=0.0))


def _spread(n: int, count: int) -> NDArray[np.int64]:
    """Return ``count`` of the numbers below n, evenly spread."""
    return np.unique(np.linspace(0, n - 1, count).astype(np.int64))
