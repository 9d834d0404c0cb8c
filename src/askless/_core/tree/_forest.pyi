from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.code._codes import Codes, CutIndex, Reals
from askless._core.price._prices import Prices

class ForestWalker:
    prices: Prices
    is_fast: bool
    sums_exactly: bool
    def __init__(
        self,
        prices: Prices,
        arrays: Mapping[str, NDArray[Any]],
        n_levels: NDArray[np.int32],
        used: NDArray[np.int32],
        n_classes: int,
        sums_exactly: bool,
    ) -> None: ...
    def settle(self, known: NDArray[np.int32], at: NDArray[np.int32]) -> int: ...
    def run_codes(
        self,
        codes: Codes,
        n_rows: int,
        n_jobs: int,
        *,
        leaf: NDArray[np.int32] | None = None,
        tally: NDArray[np.int32] | None = None,
        weights: NDArray[np.float64] | None = None,
        decision: NDArray[np.int32] | None = None,
        cost: NDArray[np.float64] | None = None,
        path_cost: NDArray[np.float64] | None = None,
    ) -> None: ...
    def run_matrix(
        self,
        values: Reals,
        index: CutIndex,
        n_jobs: int,
        *,
        leaf: NDArray[np.int32] | None = None,
        tally: NDArray[np.int32] | None = None,
        weights: NDArray[np.float64] | None = None,
        decision: NDArray[np.int32] | None = None,
        cost: NDArray[np.float64] | None = None,
        path_cost: NDArray[np.float64] | None = None,
    ) -> None: ...

def find_subtree_ends(
    branch_start: NDArray[np.int32], branch_child: NDArray[np.int32]
) -> NDArray[np.int32]: ...
def find_misplaced(
    branch_start: NDArray[np.int32],
    branch_child: NDArray[np.int32],
    tree_start: NDArray[np.int32],
) -> tuple[int, int | None]: ...
