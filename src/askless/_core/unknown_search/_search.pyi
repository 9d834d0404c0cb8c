from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from askless._core.engine._states import StateTable
from askless._core.engine._stoppable import Stoppable
from askless._core.unknown_search._problem import UnknownProblem

class UnknownSearch(Stoppable):
    n_expanded: int
    is_too_deep: bool
    breadth: int
    mode: int
    use_certificate: bool
    use_children: bool
    use_shares: bool
    states: StateTable
    def __init__(
        self,
        problem: UnknownProblem,
        *,
        mode: int,
        max_bytes: int,
        breadth: int = 0,
        by_information: bool = False,
        use_certificate: bool = True,
        use_huffman: bool = True,
        use_entropy: bool = True,
        use_children: bool = True,
        use_shares: bool = True,
    ) -> None: ...
    def run(
        self,
        cases: NDArray[np.int32],
        surprisal: NDArray[np.int64],
        theta: float,
        seconds: float,
        done: Iterable[int] = (),
    ) -> tuple[float, bool, int] | None: ...
    def lower_bound(
        self, cases: NDArray[np.int32], surprisal: NDArray[np.int64]
    ) -> float: ...
