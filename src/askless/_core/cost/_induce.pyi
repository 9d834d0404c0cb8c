from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.cost._workspace import Workspace

VALUES: dict[str, int]

class Inducer:
    value: float
    was_stopped: bool
    n_nodes: int
    workspace: Workspace
    def __init__(
        self,
        workspace: Workspace,
        *,
        criterion: int,
        w: float = 1.0,
        least_part: float = 0.0,
        with_penalty: bool = False,
        needs_gain: bool = False,
        value: int,
        confidence: float = 0.25,
        prunes: bool = True,
        n_samples: int = 0,
        sample_value: int = 0,
        greedy_first: bool = True,
        prunes_samples: bool = False,
        seed: int = 0,
        n_threads: int = 1,
        use_bounds: bool = True,
        stop: NDArray[np.int32],
    ) -> None: ...
    def grow(self) -> dict[str, NDArray[Any]]: ...
    def price_tests(self) -> list[tuple[int, int, float]]: ...
