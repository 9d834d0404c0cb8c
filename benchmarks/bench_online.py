"""One step of a policy by the posterior: all tests scored, beside numpy.

10,000 cases and 1,000 tests of two outcomes, no case ruled out: the first step, which
is the longest. Both sides run on one core and have all that can be worked out before;
numpy sums classes by a product of matrices, and takes no such product where every case
is a class of its own. A step may take 50 milliseconds.

``python benchmarks/run.py online`` takes ten seconds; with ``--quick`` 2,000 cases.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits
from timing import time_both

from askless.policy.online._model import CaseModel

Floats = NDArray[np.float64]
LIMIT = 50.0
N_TESTS = 1000
MISTAKE = 100.0


def run(quick: bool) -> list[dict[str, object]]:
    """Return a row for each number of classes and criterion."""
    n_cases = 2_000 if quick else 10_000
    rng = np.random.default_rng(0)
    chance = rng.random((N_TESTS, n_cases))
    weight = rng.random(n_cases)
    weight /= weight.sum()
    rows = []
    with threadpool_limits(1):
        for n_classes in (20, 200, n_cases):
            class_id = np.sort(np.arange(n_cases) % n_classes).astype(np.int32)
            even = MISTAKE * (1.0 - np.eye(n_classes))
            model = CaseModel([row[None] for row in chance], class_id, weight, even)
            for criterion in ("information", "value"):
                by_value = criterion == "value"
                theirs = numpy_step(chance, class_id, weight, n_classes, by_value)
                found = model.score(weight, by_value=by_value).gains
                assert np.allclose(found, theirs(), atol=1e-9)
                seconds = time_both(
                    lambda m=model, v=by_value: m.score(weight, by_value=v), theirs, 7
                )
                rows.append(_row(n_cases, n_classes, criterion, *seconds))
    return rows


def numpy_step(
    chance: Floats,
    class_id: NDArray[np.int32],
    weight: Floats,
    n_classes: int,
    by_value: bool,
) -> Callable[[], Floats]:
    """Return a function that scores all tests with numpy."""
    n_cases = len(weight)
    total = np.bincount(class_id, weight)
    if n_classes == n_cases:
        doubt = -times_log(chance) - times_log(1.0 - chance)

        def score() -> Floats:
            if by_value:
                shown = chance * weight
                most = shown.max(axis=1) + (weight - shown).max(axis=1)
                return np.asarray(MISTAKE * (most - weight.max()))
            seen = chance @ weight
            return np.asarray(-times_log(seen) - times_log(1.0 - seen) - doubt @ weight)

        return score
    columns = np.zeros((n_cases, n_classes))
    columns[np.arange(n_cases), class_id] = weight

    def score_classes() -> Floats:
        shown = chance @ columns
        other = total - shown
        if by_value:
            most = shown.max(axis=1) + other.max(axis=1)
            return np.asarray(MISTAKE * (most - total.max()))
        seen = shown.sum(axis=1)
        left = times_log(shown).sum(axis=1) + times_log(other).sum(axis=1)
        return np.asarray(
            left - times_log(seen) - times_log(1.0 - seen) - times_log(total).sum()
        )

    return score_classes


def times_log(values: Floats) -> Floats:
    """Return x log2(x), 0 for 0."""
    return np.asarray(values * np.log2(np.maximum(values, 1e-300)))


def _row(
    n_cases: int, n_classes: int, criterion: str, ours: float, theirs: float
) -> dict[str, object]:
    return {
        "cases": n_cases,
        "classes": n_classes,
        "criterion": criterion,
        "milliseconds": 1000 * ours,
        "numpy": 1000 * theirs,
        "faster by": theirs / ours,
        "met": "yes" if 1000 * ours <= LIMIT else "no",
    }
