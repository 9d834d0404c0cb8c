import numpy as np
from numpy.typing import NDArray

from askless._core.code._codes import Codes
from askless._core.cost._induce import Inducer
from askless._core.cost._workspace import Workspace
from askless._core.price._prices import Prices

class RowPricer:
    def __init__(self, prices: Prices, mistakes: NDArray[np.float64]) -> None: ...
    def cost_rows(self, inducer: Inducer, rows: NDArray[np.int32]) -> float: ...

class Trials:
    def __init__(
        self,
        workspace: Workspace,
        row_keys: NDArray[np.uint64],
        least_part: float,
    ) -> None: ...
    def fitness(
        self,
        costs: NDArray[np.float64],
        w: float,
        confidence: float,
        key: int,
        train_share: float,
    ) -> float: ...

def key_rows(codes: Codes, class_ids: NDArray[np.int32]) -> NDArray[np.uint64]: ...
