from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from askless._core.ensemble._parts import CodeArrays, Scales, TreeArrays
from askless._core.price._prices import Prices

class Machine:
    n_outputs: int
    n_trees: int
    def __init__(
        self, trees: TreeArrays, codes: CodeArrays, scales: Scales
    ) -> None: ...
    def run_rows(
        self,
        prices: Prices,
        values: NDArray[np.float64] | None,
        codes: NDArray[np.int32] | None,
        threshold: float,
        is_complete: bool,
        has_means: bool,
        n_threads: int,
        is_packed: bool = True,
        most: float = ...,
        varies_together: bool = False,
        eagerness: Sequence[float] | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32]]: ...
    def answer_rows(
        self,
        values: NDArray[np.float64] | None,
        codes: NDArray[np.int32] | None,
        n_threads: int,
    ) -> NDArray[np.float64]: ...
    def trace_rows(
        self,
        prices: Prices,
        values: NDArray[np.float64] | None,
        codes: NDArray[np.int32] | None,
        n_threads: int,
        is_packed: bool = True,
        eagerness: Sequence[float] | None = None,
        with_sums: bool = False,
    ) -> tuple[
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.int32],
        NDArray[np.float64],
        NDArray[np.float32] | None,
    ]: ...

def weigh_prices(
    prices: Prices, eagerness: Sequence[float] | None = None
) -> NDArray[np.float64]: ...
