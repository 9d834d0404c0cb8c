import numpy as np
from numpy.typing import NDArray

from askless._core.code._codes import Reals

def mix_numbers(values: Reals, first: int = 0) -> NDArray[np.uint64]: ...
