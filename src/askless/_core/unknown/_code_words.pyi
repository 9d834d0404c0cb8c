from askless._core.unknown._problem import UnknownProblem

class CodeWords:
    def __init__(
        self, problem: UnknownProblem, use_huffman: bool, use_entropy: bool
    ) -> None: ...
