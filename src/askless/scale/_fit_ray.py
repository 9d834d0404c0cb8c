"""Ray as an engine: remote functions, whose results are added up where they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from askless._extras import import_extra
from askless.learn import BudgetForestClassifier, CodeStore
from askless.scale._counts import add_two
from askless.scale._train import fit_on

__all__ = ["fit"]


class RayEngine:
    """Runs functions as remote ones."""

    def __init__(self, ray: Any) -> None:
        self.ray = ray

    def map(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Return what a function makes of each item, in their order."""
        found: list[Any] = self.ray.get(self._submit(function, items))
        return found

    def sum(self, function: Callable[[Any], Any], items: Sequence[Any]) -> Any:
        """Return the sum of what a function makes of each item."""
        waiting = self._submit(function, items)
        add = self.ray.remote(add_two)
        while len(waiting) > 1:
            pairs = zip(waiting[::2], waiting[1::2], strict=False)
            odd = waiting[len(waiting) // 2 * 2 :]
            waiting = [*(add.remote(a, b) for a, b in pairs), *odd]
        return self.ray.get(waiting[0])

    def _submit(self, function: Callable[[Any], Any], items: Sequence[Any]) -> Any:
        remote = self.ray.remote(function)
        return [remote.remote(item) for item in items]


def fit(
    estimator: BudgetForestClassifier,
    store: CodeStore,
    *,
    split: str = "trees",
    n_parts: int | None = None,
) -> BudgetForestClassifier:
    """Fit a forest from a store, its trees grown by the workers of Ray.

    The forest is the same as that of ``estimator.fit(store)``, to the last bit.

    Parameters
    ----------
    estimator, store, split, n_parts
        See :func:`askless.scale.dask.fit`.

    Examples
    --------
    >>> store = askless.learn.CodeStore.open("rows.store")         # doctest: +SKIP
    >>> forest = askless.BudgetForestClassifier(budget=5)          # doctest: +SKIP
    >>> askless.scale.ray.fit(forest, store)                       # doctest: +SKIP
    """
    ray = import_extra("ray", "ray", "Fitting on Ray")
    return fit_on(RayEngine(ray), estimator, store, split=split, n_parts=n_parts)
