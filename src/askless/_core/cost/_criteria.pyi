from typing import TypedDict

from askless._core.cost._workspace import Workspace

class _Scored(TypedDict):
    test: int
    cut: int
    gain: float
    spread: float
    mistakes: float
    price: float
    score: float
    fits: bool

CRITERIA: dict[str, int]

class SplitCriterion:
    def __init__(
        self,
        name: str,
        *,
        w: float = 1.0,
        least_part: float = 0.0,
        with_penalty: bool = False,
        needs_gain: bool = False,
    ) -> None: ...

def score_all(
    ws: Workspace, criterion: SplitCriterion
) -> tuple[list[_Scored], int]: ...
