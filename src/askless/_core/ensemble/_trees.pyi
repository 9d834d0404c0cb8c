import numpy as np
from numpy.typing import NDArray

def list_preorder(
    left: NDArray[np.int32], right: NDArray[np.int32]
) -> NDArray[np.int32]: ...
