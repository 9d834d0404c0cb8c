import numpy as np
from numpy.typing import NDArray

from askless._core.code._codes import Codes, Reals
from askless._core.price._prices import Prices

def walk_numbers(
    values: Reals,
    threshold: NDArray[np.float64],
    column: NDArray[np.int32],
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    missing: NDArray[np.int32],
    depth: int,
    n_jobs: int,
) -> NDArray[np.int32]: ...
def walk_codes(
    codes: Codes,
    column: NDArray[np.int32],
    child_start: NDArray[np.int64],
    child_of_code: NDArray[np.int32],
    n_jobs: int,
) -> NDArray[np.int32]: ...
def charge_rows(
    prices: Prices,
    codes: Codes,
    column: NDArray[np.int32],
    test: NDArray[np.int32],
    child_start: NDArray[np.int64],
    child_of_code: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.float64]]: ...
