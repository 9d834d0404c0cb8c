from askless._core.cost._workspace import Workspace

CRITERIA: dict[str, int]

def use_wide_registers(use: bool) -> None: ...
def score_cuts(
    workspace: Workspace, leaf_cost: float, test: int
) -> list[tuple[int, bool, float, float, float]]: ...
