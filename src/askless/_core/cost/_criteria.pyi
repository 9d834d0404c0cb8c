from typing import TypedDict

from askless._core.cost._workspace import Workspace

class _Judged(TypedDict):
    test: int
    cut: int
    gain: float
    spread: float
    mistakes: float
    price: float
    score: float
    fits: bool

RULES: dict[str, int]

def judge_all(
    ws: Workspace,
    rule: int,
    w: float = 1.0,
    least_part: float = 0.0,
    with_penalty: bool = False,
    needs_gain: bool = False,
) -> tuple[list[_Judged], int]: ...
