from typing import Any

from askless._core.price._prices import Prices

class TotalProblem:
    n_cases: int
    n_tests: int
    n_classes: int
    cost_weight: float
    def __init__(self, parts: Any, prices: Prices, cost_weight: float) -> None: ...
