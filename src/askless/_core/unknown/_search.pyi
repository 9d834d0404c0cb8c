from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from askless._core.price._prices import Prices
from askless._core.unknown._table import NoisyTable

class _StateTable:
    n_entries: int
    n_evictions: int

class NoisySearch:
    table: NoisyTable
    n_expanded: int
    is_too_deep: bool
    breadth: int
    mode: int
    is_worst: bool
    by_information: bool
    use_huffman: bool
    use_entropy: bool
    use_children: bool
    use_shares: bool
    states: _StateTable
    def __init__(
        self,
        table: NoisyTable,
        price: NDArray[np.float64],
        *,
        mode: int,
        is_worst: bool,
        max_bytes: int,
        engine: Prices | None = None,
        near: NDArray[np.uint64] | None = None,
        block: NDArray[np.int32] | None = None,
        stops_near: bool = False,
        pair_price: NDArray[np.float64] | None = None,
        rules: NDArray[np.uint64] | None = None,
        breadth: int = 0,
        by_information: bool = False,
        use_huffman: bool = True,
        use_entropy: bool = True,
        use_children: bool = True,
        use_shares: bool = True,
    ) -> None: ...
    def stop(self) -> None: ...
    def resume(self) -> None: ...
    def run_state(
        self,
        cases: NDArray[np.int32],
        noise: NDArray[np.int64],
        theta: float,
        seconds: float,
        done: Iterable[int] = (),
    ) -> tuple[float, bool, int] | None: ...
    def lower_bound(
        self, cases: NDArray[np.int32], noise: NDArray[np.int64]
    ) -> float: ...
