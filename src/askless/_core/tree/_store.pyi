from typing import Any

from numpy.typing import NDArray

class TreeBuffer:
    n_nodes: int
    n_branches: int
    n_weights: int
    def to_arrays(self) -> dict[str, NDArray[Any]]: ...

def join_trees(trees: list[TreeBuffer]) -> dict[str, NDArray[Any]]: ...
