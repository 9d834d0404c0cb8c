from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from askless._core.ensemble._machine import Machine
from askless._core.price._prices import Prices

class Walk:
    def __init__(
        self,
        machine: Machine,
        prices: Prices,
        eagerness: Sequence[float] | None = None,
    ) -> None: ...
    def restart(self) -> None: ...
    def buy(self, test: int, code: int) -> None: ...
    def stand(
        self,
        threshold: float,
        most: float,
        is_complete: bool,
        varies_together: bool = False,
    ) -> tuple[int, NDArray[np.float64], list[int], bool, int]: ...
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
