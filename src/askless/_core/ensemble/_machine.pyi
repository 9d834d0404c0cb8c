import numpy as np
from numpy.typing import NDArray

from askless._core.price._prices import Prices

class Machine:
    n_outputs: int
    n_trees: int
    def __init__(
        self,
        test: NDArray[np.int32],
        cut: NDArray[np.int32],
        right: NDArray[np.int32],
        flags: NDArray[np.int32],
        words: NDArray[np.uint64],
        n_levels: NDArray[np.int32],
        tree_start: NDArray[np.int64],
        output: NDArray[np.int32],
        weight: NDArray[np.float64],
        value: NDArray[np.float64],
        offset: NDArray[np.float64],
        cuts: NDArray[np.float64],
        cut_start: NDArray[np.int64],
        users: NDArray[np.int64],
        user_start: NDArray[np.int64],
        *,
        mode: int,
        is_joint: bool,
        rule: int,
        ties_are_exact: bool,
        is_single: bool,
        slack: float,
        tolerance: float,
        unit: float,
        spread_unit: float,
        score_unit: float,
    ) -> None: ...
    def run_case(
        self,
        prices: Prices,
        tests: NDArray[np.int32],
        codes: NDArray[np.int32],
        threshold: float,
        is_complete: bool,
    ) -> tuple[
        int,
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.float64],
        list[int],
        bool,
        int,
    ]: ...
    def run_rows(
        self,
        prices: Prices,
        values: NDArray[np.float64] | None,
        codes: NDArray[np.int32] | None,
        threshold: float,
        is_complete: bool,
        has_means: bool,
        n_jobs: int,
        is_packed: bool = True,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32]]: ...
    def trace_rows(
        self,
        prices: Prices,
        values: NDArray[np.float64] | None,
        codes: NDArray[np.int32] | None,
        n_jobs: int,
    ) -> tuple[
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.int32],
    ]: ...

def inverse_prices(prices: Prices) -> NDArray[np.float64]: ...
