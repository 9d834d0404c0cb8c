import numpy as np
from numpy.typing import NDArray

from askless._core.greedy._options import GrowthRows

def child_key(key: int, branch: int) -> int: ...
def route_rows(
    codes: NDArray[np.uint8],
    counts: NDArray[np.uint8],
    test: NDArray[np.int32],
    cut: NDArray[np.int32],
    child: NDArray[np.int32],
    place: NDArray[np.int32],
) -> NDArray[np.int32]: ...
def list_places(
    place: NDArray[np.int32], n_places: int, first: int = 0
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]: ...
def take_columns(
    codes: NDArray[np.uint8], columns: NDArray[np.int32], rows: NDArray[np.uint32]
) -> NDArray[np.uint8]: ...
def count_codes(
    codes: NDArray[np.uint8],
    packed: NDArray[np.uint8],
    bits: NDArray[np.int64],
    whole: NDArray[np.int32],
    counts: NDArray[np.uint8],
    place: NDArray[np.int32],
    class_rows: NDArray[np.int64],
    start: NDArray[np.int64],
    found: NDArray[np.uint32],
) -> None: ...

class CountSearch:
    def __init__(
        self,
        rows: GrowthRows,
        price: NDArray[np.float64],
        *,
        alpha: float,
        max_tests: int,
        start: NDArray[np.int64],
        n_classes: int,
    ) -> None: ...
    def impurity(self, totals: NDArray[np.float64]) -> float: ...
    def find(
        self, counts: NDArray[np.uint32], key: int
    ) -> tuple[int, int, bool] | None: ...
