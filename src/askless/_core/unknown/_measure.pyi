from askless._core.unknown._problem import UnknownProblem

class Measure:
    def __init__(self, problem: UnknownProblem) -> None: ...
