from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.unknown._walk import RuleWalk

class TreeWriter:
    def __init__(self, walk: RuleWalk, max_nodes: int) -> None: ...
    def write(self, cases: NDArray[np.int32]) -> dict[str, NDArray[Any]]: ...

def write_tree(
    walk: RuleWalk, cases: NDArray[np.int32], max_nodes: int
) -> dict[str, NDArray[Any]]: ...
