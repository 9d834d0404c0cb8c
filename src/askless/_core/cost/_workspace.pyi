import numpy as np
from numpy.typing import NDArray

from askless._core.code._codes import Codes
from askless._core.price._prices import Path, Prices

class Workspace:
    n_rows: int
    n_tests: int
    n_classes: int
    is_wide: bool
    is_hard: bool
    prices: Prices
    path: Path
    def __init__(
        self,
        codes: Codes,
        n_levels: NDArray[np.int32],
        is_ordered: NDArray[np.uint8],
        entry_start: NDArray[np.int64],
        entry_class: NDArray[np.int32],
        entry_weight: NDArray[np.float64],
        mistakes: NDArray[np.float64],
        prices: Prices,
    ) -> None: ...
    def make_scratch(self) -> None: ...
    def copy(self, prices: Prices | None = None) -> Workspace: ...
