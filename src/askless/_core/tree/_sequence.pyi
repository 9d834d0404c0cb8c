import numpy as np
from numpy.typing import NDArray

from askless._core.code._codes import Codes
from askless._core.price._prices import Prices

def walk_sequence(
    codes: Codes,
    case_codes: Codes,
    unknown_code: NDArray[np.int32],
    case_class: NDArray[np.int32],
    case_weights: NDArray[np.float64],
    stops_early: bool,
    class_weights: NDArray[np.float64],
) -> NDArray[np.int32]: ...
def charge_prefixes(
    prices: Prices,
    tests: NDArray[np.int32],
    codes: Codes,
    n_taken: NDArray[np.int32],
) -> NDArray[np.float64]: ...
