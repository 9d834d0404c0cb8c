import numpy as np
from numpy.typing import NDArray

from askless._core.greedy._criteria import Criterion
from askless._core.price._prices import Prices

def grow_greedy(
    codes: NDArray[np.uint8] | NDArray[np.uint16],
    class_rows: NDArray[np.int64],
    criterion: Criterion,
    prices: Prices,
    n_levels: NDArray[np.int32],
    is_ordered: NDArray[np.uint8],
    *,
    weights: NDArray[np.float64] | None = None,
    mass: NDArray[np.float64] | None = None,
    chances: NDArray[np.float64] | None = None,
    chance_start: NDArray[np.int64] | None = None,
    max_depth: int,
    max_impurity: float,
    min_weight: float,
    max_nodes: int,
    free_reuse: bool,
    budget: float = ...,
    keeps_counts: bool = False,
    use_crossing: bool = True,
    use_bounds: bool = True,
    max_tests: int = 0,
    cut_values: NDArray[np.float64] | None = None,
    cut_value_start: NDArray[np.int64] | None = None,
    key: int = 0,
) -> dict[str, NDArray[np.generic]]: ...
def scratch_bytes(
    n_rows: int, code_size: int, has_outcome_splits: bool, has_weights: bool
) -> int: ...
