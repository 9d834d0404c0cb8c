"""Walk many rows down the trees of a forest, compiled.

Rows come in whatever form users have them, or as codes. What leaves and votes mean is
the business of the forest.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from askless._core.code._codes import CutIndex
from askless._core.tree._forest import ForestWalker
from askless._core.tree._forest_rows import walk_coded_rows, walk_matrix
from askless.policy._base import raw_columns
from askless.policy._node_policy import is_matrix_of_floats
from askless.policy._nodes import Nodes
from askless.problem import Coding, PriceList

__all__ = ["ForestRows"]


class ForestRows:
    """The trees of a forest, ready for many rows.

    Parameters
    ----------
    nodes : Nodes
        The nodes of all trees, decided.
    coding : Coding
        How values become codes.
    prices : PriceList
        What the tests charge.
    n_classes : int
        How many classes there are.
    """

    def __init__(
        self, nodes: Nodes, coding: Coding, prices: PriceList, n_classes: int
    ) -> None:
        self.coding = coding
        self.used_tests = nodes.used_tests
        self.n_trees = nodes.n_trees
        self.n_classes = n_classes
        self.walker = ForestWalker(
            prices.engine,
            {**nodes.arrays(), "subtree_end": nodes.subtree_end},
            np.array([test.n_levels for test in coding.tests], dtype=np.int32),
            np.array(self.used_tests, dtype=np.int32),
            n_classes,
            _sums_exactly(prices),
        )

    def run(self, X: Any, n_threads: int, *wanted: str) -> dict[str, Any]:
        """Walk rows; return what is wanted of them, by name.

        Parameters
        ----------
        X : frame, mapping of columns, or array-like of shape (n_rows, n_tests)
            Raw values.
        n_threads : int
        *wanted : str
            ``leaf`` in each tree, ``tally`` of the votes, ``weights`` of the leaves by
            class, ``decision`` by votes, ``cost``, and ``path_cost`` after each tree,
            which needs ``cost``.
        """
        is_matrix = self.walker.is_fast and is_matrix_of_floats(X)
        if is_matrix and X.ndim == 2 and X.shape[1] == len(self.coding.tests):
            if X.dtype not in (np.float32, np.float64) or not X.flags.c_contiguous:
                X = np.ascontiguousarray(X, dtype=np.float64)
            outputs = self._make_outputs(len(X), wanted)
            walk_matrix(self.walker, X, self._cuts, n_threads, **outputs)
            return outputs
        columns, n_rows = raw_columns(X, self.coding, self.used_tests)
        codes: Any = np.zeros((0, n_rows), dtype=self.coding.dtype)
        if self.used_tests:
            codes = self.coding.encode(columns, self.used_tests)
        return self._run_used(codes, n_threads, wanted)

    def run_codes(self, codes: Any, n_threads: int, *wanted: str) -> dict[str, Any]:
        """Do what :meth:`run` does, given codes of shape (n_tests, n_rows)."""
        used = np.ascontiguousarray(codes[self.used_tests])
        return self._run_used(used, n_threads, wanted)

    def _run_used(
        self, codes: Any, n_threads: int, wanted: tuple[str, ...]
    ) -> dict[str, Any]:
        n_rows = codes.shape[1]
        outputs = self._make_outputs(n_rows, wanted)
        walk_coded_rows(self.walker, codes, n_rows, n_threads, **outputs)
        return outputs

    def _make_outputs(self, n_rows: int, wanted: tuple[str, ...]) -> dict[str, Any]:
        """Return zeros for what is wanted."""
        shapes: dict[str, tuple[type, tuple[int, ...]]] = {
            "leaf": (np.int32, (n_rows, self.n_trees)),
            "tally": (np.int32, (n_rows, self.n_classes)),
            "weights": (np.float64, (n_rows, self.n_classes)),
            "decision": (np.int32, (n_rows,)),
            "cost": (np.float64, (n_rows,)),
            "path_cost": (np.float64, (self.n_trees, n_rows)),
        }
        return {name: np.zeros(shapes[name][1], shapes[name][0]) for name in wanted}

    @cached_property
    def _cuts(self) -> CutIndex:
        """The cuts of all used tests, in order."""
        listed = [self.coding.tests[test].cut_array for test in self.used_tests]
        starts = np.cumsum([0] + [len(cuts) for cuts in listed]).astype(np.int64)
        return CutIndex(np.concatenate([*listed, np.zeros(1)]), starts)


def _sums_exactly(prices: PriceList) -> bool:
    """Return whether any set of prices adds up to the same in any order.

    So it is if all are multiples of one power of two and few enough digits hold the
    sum, and if what a test charges does not depend on what was bought before.
    """
    if prices.engine.has_groups or prices.engine.has_delays or prices.by_outcome:
        return False
    scaled = prices.full * 2.0**16
    return bool(np.all(scaled == np.floor(scaled)) and scaled.sum() < 2.0**52)
