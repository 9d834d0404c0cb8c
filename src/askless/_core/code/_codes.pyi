from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint8] | NDArray[np.uint16]
Reals = NDArray[np.float32] | NDArray[np.float64]

class CutIndex:
    n_columns: int
    def __init__(
        self, cuts: NDArray[np.float64], cut_start: NDArray[np.int64]
    ) -> None: ...

def encode_numbers(values: Reals, cuts: NDArray[np.float64], codes: Codes) -> None: ...
def encode_matrix(
    values: Reals,
    cuts: NDArray[np.float64],
    cut_start: NDArray[np.int64],
    position: NDArray[np.uint32],
    codes: Codes,
    n_jobs: int,
) -> None: ...
def encode_objects(
    values: Iterable[Any],
    lookup: Mapping[Any, int],
    missing: int,
    unseen: int,
    codes: Codes,
) -> None: ...
