import numpy as np
from numpy.typing import NDArray

def score_tests(
    chance: NDArray[np.float64],
    first: NDArray[np.int64],
    doubt: NDArray[np.float64],
    cases: NDArray[np.int32],
    weight: NDArray[np.float64],
    class_start: NDArray[np.int64],
    n_several: int,
    mistakes: NDArray[np.float64],
    mistake: float,
    by_value: bool,
) -> NDArray[np.float64]: ...
