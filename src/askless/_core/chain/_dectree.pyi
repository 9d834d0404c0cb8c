import numpy as np
from numpy.typing import NDArray

from askless._core.chain._backbone import Backbone

RECORD_FIELDS: tuple[str, ...]

def grow_dectree(
    backbone: Backbone,
) -> tuple[dict[str, NDArray[np.generic]], dict[str, NDArray[np.float64]]]: ...
