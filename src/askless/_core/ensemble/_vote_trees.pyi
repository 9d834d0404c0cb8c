import numpy as np
from numpy.typing import NDArray

class Layout:
    fits: bool
    steps: NDArray[np.uint64]
    root: NDArray[np.int64]
    n_notes: int
    def __init__(
        self,
        test: NDArray[np.int32],
        cut: NDArray[np.int32],
        right: NDArray[np.int32],
        missing_left: NDArray[np.uint8],
        classes: NDArray[np.uint64],
        score: NDArray[np.int64],
        tree_start: NDArray[np.int64],
        n_tests: int,
    ) -> None: ...
