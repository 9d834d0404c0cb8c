import numpy as np
from numpy.typing import NDArray

def list_preorders(
    left: NDArray[np.int32], right: NDArray[np.int32], start: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
