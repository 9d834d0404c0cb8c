import numpy as np
from numpy.typing import NDArray

from askless._core.greedy._criteria import Criterion
from askless._core.greedy._options import GrowthLimits, GrowthRows, RandomDraws
from askless._core.price._prices import Prices

def grow_greedy(
    rows: GrowthRows,
    criterion: Criterion,
    prices: Prices,
    *,
    limits: GrowthLimits = ...,
    draws: RandomDraws = ...,
    free_reuse: bool = False,
    keeps_counts: bool = False,
    use_crossing: bool = True,
    use_bounds: bool = True,
) -> dict[str, NDArray[np.generic]]: ...
