import numpy as np
from numpy.typing import NDArray

class Bundles:
    codes: NDArray[np.uint8]
    column: NDArray[np.int32]
    bit: NDArray[np.uint8]
    whole: NDArray[np.int32]
    def __init__(
        self,
        codes: NDArray[np.uint8],
        column: NDArray[np.int32],
        bit: NDArray[np.uint8],
        whole: NDArray[np.int32],
    ) -> None: ...

def draw_bag(n_rows: int, key: int, first: int = 0) -> NDArray[np.uint8]: ...
def bundle_codes(
    codes: NDArray[np.uint8],
    price: NDArray[np.float64],
    *,
    use_bits: bool = True,
) -> Bundles: ...
