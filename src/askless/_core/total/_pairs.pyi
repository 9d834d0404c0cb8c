import numpy as np
from numpy.typing import NDArray

class PairRoom:
    def __init__(self, n_tests: int, n_places: int) -> None: ...

class PairProblem:
    n_tests: int
    n_places: int
    asked: NDArray[np.float64]
    decided: NDArray[np.float64]
    def __init__(
        self,
        weight: NDArray[np.float64],
        chance: NDArray[np.float64],
        first: NDArray[np.int32],
        free_chance: NDArray[np.float64],
        free_first: NDArray[np.int32],
        *,
        step: float,
        reach: float,
    ) -> None: ...
    def solve(
        self,
        price: NDArray[np.float64],
        loss: NDArray[np.float64],
        room: PairRoom,
    ) -> float: ...
