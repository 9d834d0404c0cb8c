"""Spark as an engine: jobs over lists of tasks; no barrier, no data frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from askless._extras import import_extra
from askless.learn import BudgetForestClassifier, CodeStore
from askless.scale._counts import add_two
from askless.scale._train import fit_on

__all__ = ["fit"]

SLICES_PER_CORE = 4


class SparkEngine:
    """Runs functions by a Spark context."""

    def __init__(self, context: Any) -> None:
        self.context = context

    def map(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Return what a function makes of each item, in their order."""
        found: list[Any] = self._parallel(items).map(function).collect()
        return found

    def sum(self, function: Callable[[Any], Any], items: Sequence[Any]) -> Any:
        """Return the sum of what a function makes of each item."""
        # A few parts for each core; those of one are added up before they are sent.
        n_slices = min(len(items), SLICES_PER_CORE * self.context.defaultParallelism)
        counted = self._parallel(items, n_slices).map(function)
        return counted.treeReduce(add_two)

    def _parallel(self, items: Sequence[Any], n_slices: int | None = None) -> Any:
        return self.context.parallelize(list(items), max(1, n_slices or len(items)))


def fit(
    estimator: BudgetForestClassifier,
    store: CodeStore,
    *,
    split: str = "trees",
    n_parts: int | None = None,
    session: Any = None,
) -> BudgetForestClassifier:
    """Fit a forest from a store, its trees grown by the executors of Spark.

    The forest is the same as that of ``estimator.fit(store)``, to the last bit.
    Executors need Askless installed.

    Parameters
    ----------
    estimator, store, split, n_parts
        See :func:`askless.scale.dask.fit`.
    session : pyspark.sql.SparkSession, optional
        Where to run; the active session by default.

    Examples
    --------
    >>> store = askless.learn.CodeStore.open("rows.store")         # doctest: +SKIP
    >>> forest = askless.BudgetForestClassifier(budget=5)          # doctest: +SKIP
    >>> askless.scale.spark.fit(forest, store, split="rows")       # doctest: +SKIP
    """
    if session is None:
        sql = import_extra("pyspark.sql", "spark", "Fitting on Spark")
        session = sql.SparkSession.builder.getOrCreate()
    engine = SparkEngine(session.sparkContext)
    return fit_on(engine, estimator, store, split=split, n_parts=n_parts)
