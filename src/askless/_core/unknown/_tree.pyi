from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.price._prices import Prices
from askless._core.unknown._table import NoisyTable

class RuleWalk:
    table: NoisyTable
    n_states: int
    def __init__(
        self,
        table: NoisyTable,
        prices: Prices,
        rule: int,
        *,
        order: NDArray[np.int32] | None = None,
        skips: bool = False,
        near: NDArray[np.uint64] | None = None,
        copy_bits: NDArray[np.float64] | None = None,
        keys_all_done: bool = False,
    ) -> None: ...
    def grow(
        self, cases: NDArray[np.int32], max_nodes: int
    ) -> dict[str, NDArray[Any]]: ...
    def price(
        self,
        cases: NDArray[np.int32],
        max_states: int,
        max_bytes: int,
        counts_wrong: bool = False,
    ) -> tuple[float, float]: ...
