import numpy as np
from numpy.typing import NDArray

def exp_each(
    scores: NDArray[np.float64], is_single: bool = False
) -> NDArray[np.float64]: ...
def log_each(
    values: NDArray[np.float64], is_single: bool = False
) -> NDArray[np.float64]: ...
def sigmoid_each(
    scores: NDArray[np.float64], slope: float = 1.0, is_single: bool = False
) -> NDArray[np.float64]: ...
def softmax_rows(
    scores: NDArray[np.float64], is_single: bool = False
) -> NDArray[np.float64]: ...
