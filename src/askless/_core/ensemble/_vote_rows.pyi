import numpy as np
from numpy.typing import NDArray

from askless._core.ensemble._vote_trees import Layout
from askless._core.price._prices import Prices

class VoteRows:
    @staticmethod
    def takes(n_tests: int, n_trees: int, n_classes: int, most_levels: int) -> bool: ...
    def __init__(self, layout: Layout, *, n_tests: int, n_classes: int) -> None: ...
    def run(
        self,
        prices: Prices,
        inverse: NDArray[np.float64],
        values: NDArray[np.float64] | None,
        codes: NDArray[np.int32] | None,
        cuts: NDArray[np.float64],
        cut_start: NDArray[np.int64],
        n_jobs: int,
        raw: NDArray[np.float64],
        cost: NDArray[np.float64],
        n_bought: NDArray[np.int32],
    ) -> None: ...
