from askless._core.cost._workspace import Workspace
from askless._core.price._prices import Path

CRITERIA: dict[str, int]

class SplitFinder:
    def __init__(self, sets: object, path: Path, exponent: float) -> None: ...

def use_wide_registers(use: bool) -> None: ...
def score_cuts(
    workspace: Workspace, leaf_cost: float, test: int
) -> list[tuple[int, bool, float, float, float]]: ...
