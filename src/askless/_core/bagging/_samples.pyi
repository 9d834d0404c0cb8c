import numpy as np
from numpy.typing import NDArray

class Bundles:
    codes: NDArray[np.uint8]
    bits: NDArray[np.int64]
    column: NDArray[np.int32]
    bit: NDArray[np.uint8]
    whole: NDArray[np.int32]
    is_alone: bool
    def __init__(
        self,
        codes: NDArray[np.uint8],
        bits: NDArray[np.int64],
        n_tests: int,
        *,
        is_alone: bool = False,
    ) -> None: ...
    def by_price(self, price: NDArray[np.float64]) -> Bundles: ...

def draw_bag(n_rows: int, key: int, first: int = 0) -> NDArray[np.uint8]: ...
def draw_rows(rows: NDArray[np.uint32], key: int) -> NDArray[np.uint8]: ...
def pack_bits(
    codes: NDArray[np.uint8], columns: NDArray[np.int64], masks: NDArray[np.uint8]
) -> NDArray[np.uint8]: ...
def bundle_codes(
    codes: NDArray[np.uint8],
    price: NDArray[np.float64],
    *,
    use_bits: bool = True,
) -> Bundles: ...
