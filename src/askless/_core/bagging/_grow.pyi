import numpy as np
from numpy.typing import NDArray

from askless._core.bagging._samples import Bundles
from askless._core.greedy._options import GrowthLimits, GrowthRows, RandomDraws
from askless._core.tree._store import TreeBuffer

def grow_bagged(
    rows: GrowthRows,
    price: NDArray[np.float64],
    *,
    alpha: float,
    counts: NDArray[np.uint8] | None = None,
    bundles: Bundles | None = None,
    limits: GrowthLimits = ...,
    draws: RandomDraws = ...,
    use_sets: bool = True,
) -> TreeBuffer: ...
