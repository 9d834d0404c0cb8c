import numpy as np
from numpy.typing import NDArray

from askless._core.search._cover import Cover

class _StateTable:
    n_entries: int
    n_evictions: int

class Search:
    n_cases: int
    n_tests: int
    n_labels: int
    n_expanded: int
    breadth: int
    is_worst: bool
    has_groups: bool
    rank_by_entropy: bool
    use_certificate: bool
    use_entropy: bool
    use_children: bool
    use_additivity: bool
    table: _StateTable
    def __init__(
        self,
        codes: NDArray[np.uint16],
        n_codes: NDArray[np.int32],
        label: NDArray[np.int32],
        weight: NDArray[np.int64],
        full: NDArray[np.int64],
        discounted: NDArray[np.int64],
        group: NDArray[np.int32],
        *,
        is_worst: bool,
        cover: Cover | None = None,
        max_bytes: int,
        breadth: int = 0,
        rank_by_entropy: bool = False,
        use_certificate: bool = True,
        use_entropy: bool = True,
        use_children: bool = True,
        use_additivity: bool = True,
    ) -> None: ...
    def stop(self) -> None: ...
    def resume(self) -> None: ...
    def run(
        self,
        cases: NDArray[np.uint16],
        theta: int,
        seconds: float,
        open_groups: int = 0,
        limit: int = ...,
    ) -> tuple[int, int, int] | None: ...
    def lower_bound(self, cases: NDArray[np.uint16]) -> int: ...
