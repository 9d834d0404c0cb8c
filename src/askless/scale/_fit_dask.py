"""Dask as an engine: tasks of a client, which are run again if a worker is lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from askless._extras import import_extra
from askless.learn import BudgetForestClassifier, CodeStore
from askless.scale._counts import add_counts, add_some
from askless.scale._train import fit_on

__all__ = ["fit"]

# Counts that one task adds up.
FAN = 8
# Tasks for each thread: a few, so that none waits long for the last one.
TASKS_PER_THREAD = 4


class DaskEngine:
    """Runs functions by a client."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def map(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Return what a function makes of each item, in their order."""
        distributed = import_extra("distributed", "dask", "Work on Dask")
        futures = self._submit(function, items)
        place = {future.key: i for i, future in enumerate(futures)}
        found: list[Any] = [None] * len(items)
        # What is done is fetched at once and kept here: a worker that is lost takes
        # only what it was doing along.
        done = distributed.as_completed(futures, with_results=True)
        for future, result in done:
            found[place[future.key]] = result
            future.release()
        return found

    def sum(self, function: Callable[[Any], Any], items: Sequence[Any]) -> Any:
        """Return the sum of what a function makes of each item."""
        # Parts that one thread counts anyway are added up where they are counted.
        n_threads = sum(self.client.ncores().values())
        size = -(-len(items) // max(1, TASKS_PER_THREAD * n_threads))
        some = [(function, items[i : i + size]) for i in range(0, len(items), size)]
        futures = self._submit(add_some, some)
        while len(futures) > 1:
            groups = [futures[i : i + FAN] for i in range(0, len(futures), FAN)]
            futures = [self.client.submit(add_counts, g, pure=False) for g in groups]
        return futures[0].result()

    def _submit(self, function: Callable[[Any], Any], items: Sequence[Any]) -> Any:
        return self.client.map(function, items, pure=False, retries=2)


def fit(
    estimator: BudgetForestClassifier,
    store: CodeStore,
    *,
    split: str = "trees",
    n_parts: int | None = None,
    client: Any = None,
) -> BudgetForestClassifier:
    """Fit a forest from a store, its trees grown by the workers of Dask.

    The forest is the same as that of ``estimator.fit(store)``, to the last bit, even if
    a worker is lost while it is grown.

    Parameters
    ----------
    estimator : BudgetForestClassifier
        The estimator to fit; it is also returned.
    store : CodeStore
        The rows. Every worker must see its folder under the same path.
    split : {"trees", "rows"}, default="trees"
        "trees": a task for each tree; a worker needs memory for a bootstrap sample.
        "rows": a task for each part of the rows; a worker needs memory for one part,
        and the fit takes longer.
    n_parts : int, optional
        With "rows": how many parts; by default, parts of about 250,000 rows.
    client : distributed.Client, optional
        Where to run; the current client by default.

    Examples
    --------
    >>> from distributed import Client                             # doctest: +SKIP
    >>> store = askless.learn.CodeStore.open("rows.store")         # doctest: +SKIP
    >>> forest = askless.BudgetForestClassifier(budget=5)          # doctest: +SKIP
    >>> with Client("scheduler:8786"):                             # doctest: +SKIP
    ...     askless.scale.dask.fit(forest, store)
    """
    if client is None:
        distributed = import_extra("distributed", "dask", "Fitting on Dask")
        client = distributed.get_client()
    return fit_on(DaskEngine(client), estimator, store, split=split, n_parts=n_parts)
