import numpy as np
from numpy.typing import NDArray

class NoisyTable:
    n_cases: int
    n_tests: int
    n_labels: int
    most_codes: int
    has_single_labels: bool
    is_in_order: bool
    has_whole_bits: bool
    def __init__(
        self,
        codes: NDArray[np.uint8] | NDArray[np.uint16],
        n_levels: NDArray[np.int32],
        chances: NDArray[np.float64],
        chance_start: NDArray[np.int64],
        label: NDArray[np.int32],
        prior: NDArray[np.float64],
    ) -> None: ...
    def score_tests(
        self,
        cases: NDArray[np.int32],
        weight: NDArray[np.float64],
        rule: int,
        copies: NDArray[np.float64] | None = None,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.uint8]]: ...
    def weigh_cases(
        self, cases: NDArray[np.int32], noise: NDArray[np.int64]
    ) -> NDArray[np.float64]: ...
    def advance(
        self,
        cases: NDArray[np.int32],
        noise: NDArray[np.int64],
        test: int,
        code: int,
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...

def choose_test(
    scores: NDArray[np.float64],
    prices: NDArray[np.float64],
    kinds: NDArray[np.uint8],
    is_done: NDArray[np.uint8],
) -> int: ...
