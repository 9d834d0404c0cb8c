import numpy as np
from numpy.typing import NDArray

from askless._core._backbone import Backbone
from askless._core._grow import TreeArrays

CALL_FIELDS: tuple[str, ...]

def grow_dectree(
    backbone: Backbone,
) -> tuple[TreeArrays, dict[str, NDArray[np.float64]]]: ...
