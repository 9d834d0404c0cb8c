import numpy as np
from numpy.typing import NDArray

from askless._core._prices import Prices

class VoteRows:
    @staticmethod
    def takes(n_tests: int, n_trees: int, n_classes: int, most_levels: int) -> bool: ...
    @staticmethod
    def takes_node(score: int, ahead: int) -> bool: ...
    def __init__(
        self,
        test: NDArray[np.int32],
        cut: NDArray[np.int32],
        right: NDArray[np.int32],
        missing_left: NDArray[np.uint8],
        classes: NDArray[np.uint64],
        score: NDArray[np.int64],
        tree_start: NDArray[np.int64],
        *,
        n_tests: int,
        n_classes: int,
        depth: int,
    ) -> None: ...
    def run(
        self,
        prices: Prices,
        inverse: NDArray[np.float64],
        values: NDArray[np.float64] | None,
        codes: NDArray[np.int32] | None,
        cuts: NDArray[np.float64],
        cut_start: NDArray[np.int64],
        n_jobs: int,
        raw: NDArray[np.float64],
        cost: NDArray[np.float64],
        n_bought: NDArray[np.int32],
    ) -> None: ...
