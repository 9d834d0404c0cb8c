import numpy as np
from numpy.typing import NDArray

def write_derivatives(
    sums: NDArray[np.float64],
    class_ids: NDArray[np.int32],
    weights: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...
def write_charges(
    derivatives: NDArray[np.float64],
    weights: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...
def log_loss(
    sums: NDArray[np.float64],
    class_ids: NDArray[np.int32],
    weights: NDArray[np.float64],
) -> float: ...
