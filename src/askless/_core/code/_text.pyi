from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint8] | NDArray[np.uint16]
Bytes = NDArray[np.uint8]

class TextLevels:
    texts: tuple[bytes, ...]
    codes: tuple[int, ...]
    def __init__(self, texts: tuple[bytes, ...], codes: tuple[int, ...]) -> None: ...

def encode_text(
    levels: TextLevels,
    offsets: NDArray[np.int32] | NDArray[np.int64],
    data: Bytes,
    validity: Bytes,
    first: int,
    missing: int,
    unseen: int,
    codes: Codes,
) -> int: ...
def encode_views(
    levels: TextLevels,
    views: NDArray[np.int32],
    buffers: list[Bytes],
    validity: Bytes,
    first: int,
    missing: int,
    unseen: int,
    codes: Codes,
) -> int: ...
def encode_indices(
    indices: NDArray[Any],
    level_codes: Codes,
    validity: Bytes,
    first: int,
    missing: int,
    codes: Codes,
) -> int: ...
