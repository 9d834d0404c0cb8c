import numpy as np
from numpy.typing import NDArray

class Prices:
    n_tests: int
    n_groups: int
    has_outcome_prices: bool
    has_delays: bool
    has_groups: bool
    def __init__(
        self,
        full: NDArray[np.float64],
        discounted: NDArray[np.float64],
        group: NDArray[np.int32],
        delayed: NDArray[np.uint8],
        outcome_start: NDArray[np.int64],
        outcome_prices: NDArray[np.float64],
    ) -> None: ...

class Bill:
    prices: Prices
    spent: float
    def __init__(self, prices: Prices) -> None: ...
    def price(self, test: int, code: int = -1) -> float: ...
    def charge(self, test: int, code: int = -1) -> float: ...
    def charge_together(self, tests: list[int]) -> float: ...
    def has_paid(self, test: int) -> bool: ...
    def copy(self) -> Bill: ...

class Path:
    def __init__(self, prices: Prices) -> None: ...

def price_nodes(
    prices: Prices,
    test: NDArray[np.int32],
    parent: NDArray[np.int32],
    parent_code: NDArray[np.int32],
    subtree_end: NDArray[np.int32],
    bill: Bill | None = None,
) -> NDArray[np.float64]: ...
def charge_paths(
    prices: Prices,
    tests: NDArray[np.int32],
    codes: NDArray[np.int32],
    starts: NDArray[np.int64],
) -> NDArray[np.float64]: ...
