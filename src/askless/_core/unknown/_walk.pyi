import numpy as np
from numpy.typing import NDArray

from askless._core.price._prices import Prices
from askless._core.unknown._table import UnknownTable

class RuleWalk:
    table: UnknownTable
    def __init__(
        self,
        table: UnknownTable,
        prices: Prices,
        rule: int,
        *,
        order: NDArray[np.int32] | None = None,
        skips: bool = False,
        near: NDArray[np.uint64] | None = None,
        copy_bits: NDArray[np.float64] | None = None,
        keys_all_done: bool = False,
    ) -> None: ...
