import numpy as np
from numpy.typing import NDArray

from askless._core.price._prices import Prices
from askless._core.unknown._table import UnknownTable

class Mode:
    SURE_ONLY: int
    FRESH_DRAWS: int
    TRACKED: int

class UnknownProblem:
    table: UnknownTable
    is_worst: bool
    def __init__(
        self,
        table: UnknownTable,
        price: NDArray[np.float64],
        *,
        is_worst: bool,
        prices: Prices | None = None,
        near: NDArray[np.uint64] | None = None,
        stops_near: bool = False,
        block: NDArray[np.int32] | None = None,
        pair_price: NDArray[np.float64] | None = None,
        rules: NDArray[np.uint64] | None = None,
    ) -> None: ...
