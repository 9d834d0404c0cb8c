import numpy as np
from numpy.typing import NDArray

class Cover:
    n_cases: int
    n_tests: int
    n_words: int
    depth: int
    def __init__(
        self,
        codes: NDArray[np.uint16],
        class_id: NDArray[np.int32],
        price: NDArray[np.int64],
        depth: int,
    ) -> None: ...

def bound_cases(
    cover: Cover,
    cases: NDArray[np.uint16],
    depth: int = 0,
    seconds: float = 1e9,
) -> NDArray[np.int64]: ...
