import numpy as np
from numpy.typing import NDArray

def find_subtree_ends(
    branch_start: NDArray[np.int32], branch_child: NDArray[np.int32]
) -> NDArray[np.int32]: ...
def find_depths(parent: NDArray[np.int32]) -> NDArray[np.int32]: ...
def find_misplaced(
    branch_start: NDArray[np.int32],
    branch_child: NDArray[np.int32],
    tree_start: NDArray[np.int32],
) -> tuple[int, int | None]: ...
