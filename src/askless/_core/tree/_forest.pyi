from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
