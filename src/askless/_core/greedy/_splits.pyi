import numpy as np
from numpy.typing import NDArray

from askless._core.greedy._criteria import Criterion
from askless._core.price._prices import Prices

class SplitSearch:
    criterion: Criterion
    prices: Prices
    is_wide: bool
    use_crossing: bool
    use_bounds: bool
    def __init__(
        self,
        criterion: Criterion,
        prices: Prices,
        n_levels: NDArray[np.int32],
        is_ordered: NDArray[np.uint8],
        chances: NDArray[np.float64],
        chance_start: NDArray[np.int64],
        *,
        n_rows: int,
        n_classes: int,
        is_wide: bool,
        use_crossing: bool = True,
        use_bounds: bool = True,
    ) -> None: ...

def count_draws(weight: float) -> int: ...
