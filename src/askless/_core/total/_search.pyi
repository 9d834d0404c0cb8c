import numpy as np
from numpy.typing import NDArray

from askless._core.engine._stoppable import Stoppable
from askless._core.total._problem import TotalProblem

class TotalSearch(Stoppable):
    breadth: int
    by_bits: bool
    least_share: float
    n_expanded: int
    def __init__(
        self,
        problem: TotalProblem,
        *,
        max_bytes: int,
        breadth: int = 0,
        by_bits: bool = False,
        least_share: float = 0.0,
        use_information: bool = True,
        use_shares: bool = True,
        n_leaves: int = 1,
    ) -> None: ...
    def run(
        self,
        cases: NDArray[np.int32],
        surprisal: NDArray[np.int64],
        left: float,
        theta: float,
        seconds: float,
        done: tuple[int, ...] = (),
    ) -> tuple[float, bool, int] | None: ...
    def batch(
        self,
        cases: NDArray[np.int32],
        surprisal: NDArray[np.int64],
        left: float,
        done: tuple[int, ...] = (),
    ) -> list[int]: ...
    def lower_bound(
        self, cases: NDArray[np.int32], surprisal: NDArray[np.int64], left: float
    ) -> float: ...
