"""Judge a ranking of documents by query, as the paper on budgeted forests does."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidTableError

__all__ = ["precision_at"]


def precision_at(relevant: Any, scores: Any, queries: Any = None, k: int = 5) -> float:
    """Return how far down the first places are relevant, averaged over queries.

    A query whose first k documents are all relevant counts 1, any other (j - 1) / k for
    the first irrelevant place j. This is stricter than the usual precision at k, which
    counts relevant documents behind an irrelevant one too.

    Parameters
    ----------
    relevant : array-like of bool of shape (n_rows,)
        Whether each document is relevant to its query.
    scores : array-like of shape (n_rows,)
        What documents are ranked by, largest first; of equal ones the first row leads.
    queries : array-like of shape (n_rows,), optional
        The query of each document; one query by default.
    k : int, default=5
        How many places count.

    Notes
    -----
    A query of fewer than k documents counts 1 if all are relevant, and is divided by k
    otherwise.

    Examples
    --------
    >>> [precision_at(places, [5, 4, 3, 2, 1])
    ...  for places in ([1, 1, 1, 1, 1], [1, 1, 0, 1, 1], [0, 1, 1, 1, 1])]
    [1.0, 0.4, 0.0]
    """
    good = np.asarray(relevant).astype(bool)
    ranked_by = np.asarray(scores, dtype=np.float64)
    asked: NDArray[Any] = (
        np.zeros(len(good), dtype=np.intp) if queries is None else np.asarray(queries)
    )
    if not (good.shape == ranked_by.shape == asked.shape) or good.ndim != 1:
        raise InvalidTableError(
            "relevant, scores and queries must have one entry for each document. Got "
            f"the shapes {good.shape}, {ranked_by.shape} and {asked.shape}. Pass three "
            "columns of the same rows."
        )
    if len(good) == 0 or k < 1:
        raise InvalidTableError(
            f"There must be documents, and a place that counts. Got {len(good)} "
            f"documents and k={k}. Pass at least one of each."
        )
    if np.isnan(ranked_by).any():
        raise InvalidTableError(
            "scores must be numbers. Got NaN. Leave these documents out, or score them "
            "last."
        )
    order = np.lexsort((np.arange(len(good)), -ranked_by, _numbers(asked)))
    starts = np.flatnonzero(np.append(True, np.diff(_numbers(asked)[order]) != 0))
    ends = np.append(starts[1:], len(order))
    return float(
        np.mean(
            [
                _judge(good[order[start:end][:k]], k)
                for start, end in zip(starts, ends, strict=True)
            ]
        )
    )


def _numbers(queries: NDArray[Any]) -> NDArray[np.intp]:
    return np.unique(queries, return_inverse=True)[1]


def _judge(first: NDArray[np.bool_], k: int) -> float:
    wrong = np.flatnonzero(~first)
    return 1.0 if wrong.size == 0 else int(wrong[0]) / k
