import numpy as np
from numpy.typing import NDArray

class Backbone:
    is_guarded: bool
    keep_all: bool
    use_laziness: bool
    alpha: float
    n_steps: int
    pairs: float
    budget: float
    spent_on_weight: float
    spent_on_pairs: float
    n_gains: int
    def __init__(
        self,
        codes: NDArray[np.uint8] | NDArray[np.uint16],
        class_of: NDArray[np.int32],
        weights: NDArray[np.float64],
        prior: NDArray[np.float64],
        prices: NDArray[np.float64],
        *,
        alpha: float,
        is_guarded: bool,
        keep_all: bool,
        use_laziness: bool = True,
    ) -> None: ...
    def measure(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]: ...
    def choose_adapted(self, budget: float) -> tuple[list[int], float]: ...
    def search_budget(self) -> float: ...
