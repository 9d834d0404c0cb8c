import numpy as np
from numpy.typing import NDArray

from askless._core.engine._states import StateTable
from askless._core.engine._stoppable import Stoppable
from askless._core.search._cover import Cover
from askless._core.search._table import KnownTable

class Search(Stoppable):
    n_expanded: int
    breadth: int
    is_worst: bool
    use_certificate: bool
    states: StateTable
    def __init__(
        self,
        table: KnownTable,
        *,
        is_worst: bool,
        max_bytes: int,
        cover: Cover | None = None,
        breadth: int = 0,
        rank_by_entropy: bool = False,
        use_certificate: bool = True,
        use_entropy: bool = True,
        use_children: bool = True,
        use_additivity: bool = True,
    ) -> None: ...
    def run(
        self,
        cases: NDArray[np.uint16],
        theta: int,
        seconds: float,
        open_groups: int = 0,
        limit: int = ...,
    ) -> tuple[int, int, int] | None: ...
    def lower_bound(self, cases: NDArray[np.uint16]) -> int: ...
