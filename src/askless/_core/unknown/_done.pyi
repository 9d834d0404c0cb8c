from collections.abc import Iterable

from askless._core.unknown._problem import UnknownProblem

class DoneTests:
    def __init__(self, problem: UnknownProblem) -> None: ...
    def restart(self, done: Iterable[int]) -> None: ...
