import numpy as np
from numpy.typing import NDArray

class OutOfBag:
    n_trees: int
    def __init__(
        self,
        codes: NDArray[np.uint16],
        n_levels: NDArray[np.int32],
        is_ordered: NDArray[np.uint8],
        class_ids: NDArray[np.int32],
        weights: NDArray[np.float64],
        class_scale: NDArray[np.float64],
        min_leaf: float,
        n_tried: int,
        seed: int,
    ) -> None: ...
    def add_trees(self, n_more: int, n_jobs: int = 1) -> int: ...
    def shares(self) -> NDArray[np.float64]: ...
