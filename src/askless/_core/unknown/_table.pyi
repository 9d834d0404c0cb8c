import numpy as np
from numpy.typing import NDArray

class Effect:
    TELLS_NOTHING: int
    MAY_TELL: int
    SURE_TO_TELL: int

class UnknownTable:
    n_cases: int
    n_tests: int
    n_classes: int
    most_codes: int
    has_own_classes: bool
    is_in_order: bool
    has_whole_bits: bool
    def __init__(
        self,
        codes: NDArray[np.uint8] | NDArray[np.uint16],
        n_levels: NDArray[np.int32],
        chances: NDArray[np.float64],
        chance_start: NDArray[np.int64],
        class_id: NDArray[np.int32],
        prior: NDArray[np.float64],
    ) -> None: ...
    def weigh_cases(
        self, cases: NDArray[np.int32], surprisal: NDArray[np.int64]
    ) -> NDArray[np.float64]: ...
    def advance(
        self,
        cases: NDArray[np.int32],
        surprisal: NDArray[np.int64],
        test: int,
        code: int,
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...
