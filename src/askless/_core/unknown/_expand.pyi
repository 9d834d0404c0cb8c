from askless._core.unknown._code_words import CodeWords
from askless._core.unknown._done import DoneTests
from askless._core.unknown._measure import Measure
from askless._core.unknown._problem import UnknownProblem

class Mode:
    SURE_ONLY: int
    FRESH_DRAWS: int
    TRACKED: int

class Expander:
    mode: int
    breadth: int
    by_information: bool
    def __init__(
        self,
        problem: UnknownProblem,
        done: DoneTests,
        measure: Measure,
        code_words: CodeWords,
        *,
        mode: int,
        breadth: int,
        by_information: bool,
    ) -> None: ...
