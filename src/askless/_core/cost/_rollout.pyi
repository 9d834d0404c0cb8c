import numpy as np
from numpy.typing import NDArray

from askless._core.price._prices import Prices

class Rollouts:
    def __init__(
        self,
        codes: NDArray[np.uint16],
        n_levels: NDArray[np.int32],
        is_ordered: NDArray[np.uint8],
        entry_start: NDArray[np.int64],
        entry_class: NDArray[np.int32],
        entry_weight: NDArray[np.float64],
        mistakes: NDArray[np.float64],
        leaf_cost: float,
        exponent: float,
        prices: Prices,
        n_jobs: int = 1,
        use_floors: bool = True,
    ) -> None: ...
    def count_classes(self, rows: NDArray[np.int32]) -> NDArray[np.float64]: ...
    def price_leaf(self, weights: NDArray[np.float64]) -> float: ...
    @property
    def least_to_split(self) -> float: ...
    def part_rows(
        self, rows: NDArray[np.int32], test: int, cut: int, missing_right: bool
    ) -> tuple[
        list[int], list[NDArray[np.int32]], list[NDArray[np.float64]], list[float]
    ]: ...
    def price(
        self,
        rows: NDArray[np.int32],
        paid: NDArray[np.uint8],
        is_open: NDArray[np.uint8],
        order: float,
        rule: int,
        key: int = 0,
    ) -> float: ...
    def choose(
        self,
        rows: NDArray[np.int32],
        paid: NDArray[np.uint8],
        is_open: NDArray[np.uint8],
        order: float,
        rule: int,
        n_samples: int,
        n_cuts: int,
        key: int,
        stop: NDArray[np.int32],
    ) -> tuple[int, int, bool, float]: ...
