import numpy as np
from numpy.typing import NDArray

from askless._core.cost._workspace import Workspace

class Rollouts:
    def __init__(
        self,
        workspace: Workspace,
        leaf_cost: float,
        exponent: float,
        n_jobs: int = 1,
        use_floors: bool = True,
    ) -> None: ...
    def count_classes(
        self, rows: NDArray[np.int32]
    ) -> tuple[NDArray[np.float64], float]: ...
    @property
    def least_to_split(self) -> float: ...
    def divide_rows(
        self, rows: NDArray[np.int32], test: int, cut: int, missing_right: bool
    ) -> tuple[
        list[int], list[NDArray[np.int32]], list[NDArray[np.float64]], list[float]
    ]: ...
    def price(
        self,
        rows: NDArray[np.int32],
        paid: NDArray[np.uint8],
        is_open: NDArray[np.uint8],
        due: float,
        criterion: int,
        key: int = 0,
    ) -> float: ...
    def choose(
        self,
        rows: NDArray[np.int32],
        paid: NDArray[np.uint8],
        is_open: NDArray[np.uint8],
        due: float,
        criterion: int,
        n_samples: int,
        n_cuts: int,
        key: int,
        stop: NDArray[np.int32],
        screen: NDArray[np.int32] | None = None,
        n_kept: int = 0,
    ) -> tuple[int, int, bool, float]: ...

def key_of_child(key: int, test: int, cut: int, branch: int) -> int: ...
