import numpy as np
from numpy.typing import NDArray

class TreeGrower:
    bought: memoryview

    def __init__(
        self,
        codes: NDArray[np.uint16],
        n_levels: NDArray[np.int32],
        is_category: NDArray[np.uint8],
        weights: NDArray[np.float64],
        *,
        n_outputs: int,
        n_leaves: int,
        l2: float,
        least_rows: int,
        n_threads: int = 1,
    ) -> None: ...
    def grow(
        self,
        derivatives: NDArray[np.float64],
        prices: NDArray[np.float64],
        charged: NDArray[np.float64],
        rows: NDArray[np.int32],
        columns: NDArray[np.uint8],
        n_drawn: int = 0,
        seed: int = 0,
    ) -> int: ...
    def add_grown(self, sums: NDArray[np.float64], rate: float) -> None: ...
    def add_walked(
        self,
        codes: NDArray[np.uint16],
        sums: NDArray[np.float64],
        rate: float,
    ) -> None: ...
    def tree(
        self,
        by_rows: float = 1.0,
    ) -> tuple[
        NDArray[np.int32],
        NDArray[np.int32],
        NDArray[np.int32],
        NDArray[np.int32],
        NDArray[np.uint8],
        NDArray[np.uint8],
        NDArray[np.float64],
        NDArray[np.float64],
    ]: ...
