import numpy as np
from numpy.typing import NDArray

from askless._core.unknown._table import UnknownTable

def score_tests(
    table: UnknownTable,
    cases: NDArray[np.int32],
    weights: NDArray[np.float64],
    rule: int,
    copies: NDArray[np.float64] | None = None,
    n_threads: int = 1,
) -> tuple[NDArray[np.float64], NDArray[np.uint8]]: ...
def choose_test(
    scores: NDArray[np.float64],
    prices: NDArray[np.float64],
    effects: NDArray[np.uint8],
    is_done: NDArray[np.uint8],
) -> int: ...
