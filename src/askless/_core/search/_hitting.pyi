import numpy as np
from numpy.typing import NDArray

from askless._core.engine._stoppable import Stoppable
from askless._core.search._cover import Cover

class Hitting(Stoppable):
    max_tests: int
    n_nodes: int
    def __init__(self, cover: Cover, max_tests: int = 12) -> None: ...
    def costs_more(
        self,
        case: int,
        cases: NDArray[np.uint16],
        limit: int,
        max_nodes: int = 20_000,
        seconds: float = 1e9,
    ) -> bool: ...
