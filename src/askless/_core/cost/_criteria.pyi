from typing import TypedDict

from askless._core.cost._workspace import Workspace

class Scored(TypedDict):
    test: int
    cut: int
    gain: float
    spread: float
    mistakes: float
    price: float
    score: float
    fits: bool

CRITERIA: dict[str, int]

def score_all(
    workspace: Workspace,
    criterion: int,
    w: float = 1.0,
    least_part: float = 0.0,
    with_penalty: bool = False,
    needs_gain: bool = False,
) -> tuple[list[Scored], int]: ...
