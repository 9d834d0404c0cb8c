import numpy as np
from numpy.typing import NDArray

from askless._core.greedy._bundles import Bundles
from askless._core.tree._store import TreeBuffer

def use_fast_bytes(use: bool) -> bool: ...
def draw_bag(n_rows: int, key: int) -> NDArray[np.uint8]: ...
def grow_bagged(
    codes: NDArray[np.uint8],
    class_rows: NDArray[np.int64],
    price: NDArray[np.float64],
    n_levels: NDArray[np.int32],
    *,
    counts: NDArray[np.uint8] | None = None,
    bundles: Bundles | None = None,
    alpha: float,
    key: int,
    max_depth: int,
    max_impurity: float,
    min_weight: float,
    max_features: int,
    use_blocks: bool = True,
) -> TreeBuffer: ...
