import numpy as np
from numpy.typing import NDArray

from askless._core.code._codes import Codes, CutIndex, Reals
from askless._core.tree._forest import ForestWalker

def walk_coded_rows(
    walker: ForestWalker,
    codes: Codes,
    n_rows: int,
    n_jobs: int,
    *,
    leaf: NDArray[np.int32] | None = None,
    tally: NDArray[np.int32] | None = None,
    weights: NDArray[np.float64] | None = None,
    decision: NDArray[np.int32] | None = None,
    cost: NDArray[np.float64] | None = None,
    path_cost: NDArray[np.float64] | None = None,
) -> None: ...
def walk_matrix(
    walker: ForestWalker,
    values: Reals,
    index: CutIndex,
    n_jobs: int,
    *,
    leaf: NDArray[np.int32] | None = None,
    tally: NDArray[np.int32] | None = None,
    weights: NDArray[np.float64] | None = None,
    decision: NDArray[np.int32] | None = None,
    cost: NDArray[np.float64] | None = None,
    path_cost: NDArray[np.float64] | None = None,
) -> None: ...
