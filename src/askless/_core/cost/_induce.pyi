from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.cost._criteria import SplitCriterion
from askless._core.cost._samples import Sampling
from askless._core.cost._workspace import Workspace

class Inducer:
    value: float
    was_stopped: bool
    n_nodes: int
    workspace: Workspace
    def __init__(
        self,
        workspace: Workspace,
        criterion: SplitCriterion,
        sampling: Sampling | None = None,
        *,
        value: str,
        confidence: float = 0.25,
        prunes: bool = True,
        use_bounds: bool = True,
        stop: NDArray[np.int32],
    ) -> None: ...
    def grow(self) -> dict[str, NDArray[Any]]: ...
    def price_tests(self) -> list[tuple[int, int, float]]: ...
