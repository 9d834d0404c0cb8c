import numpy as np
from numpy.typing import NDArray

from askless._core.unknown._walk import RuleWalk

class Pricing:
    def __init__(
        self,
        walk: RuleWalk,
        max_states: int,
        max_bytes: int,
        counts_wrong: bool,
    ) -> None: ...

def price_states(
    walk: RuleWalk,
    cases: NDArray[np.int32],
    max_states: int,
    max_bytes: int,
    counts_wrong: bool = False,
) -> tuple[float, float]: ...
