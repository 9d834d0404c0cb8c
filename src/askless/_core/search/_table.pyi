import numpy as np
from numpy.typing import NDArray

class KnownTable:
    n_cases: int
    n_tests: int
    n_classes: int
    most_codes: int
    has_groups: bool
    def __init__(
        self,
        codes: NDArray[np.uint16],
        n_codes: NDArray[np.int32],
        class_id: NDArray[np.int32],
        weight: NDArray[np.int64],
        full: NDArray[np.int64],
        discounted: NDArray[np.int64],
        group: NDArray[np.int32],
    ) -> None: ...

def find_least_prices(
    full: NDArray[np.int64],
    n_codes: NDArray[np.int32],
    discounted: NDArray[np.int64],
    group: NDArray[np.int32],
) -> NDArray[np.int64]: ...
