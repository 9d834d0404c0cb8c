import numpy as np
from numpy.typing import NDArray

from askless._core.code._codes import Reals

def describe_columns(
    values: Reals, rows: NDArray[np.int64] | None = None
) -> tuple[
    NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]
]: ...
def count_whole(
    values: Reals,
    column: int,
    low: float,
    counts: NDArray[np.int64],
    rows: NDArray[np.int64] | None = None,
) -> None: ...
