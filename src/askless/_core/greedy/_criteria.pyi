import numpy as np
from numpy.typing import NDArray

class Criterion:
    best_cut_at_crossing: bool

class ImpurityCriterion(Criterion):
    is_expected: bool
    def __init__(self, is_expected: bool = False) -> None: ...

class Pairs(ImpurityCriterion): ...

class Powers(ImpurityCriterion):
    power: int
    def __init__(self, power: int, is_expected: bool = False) -> None: ...

class Hinged(ImpurityCriterion):
    alpha: float
    is_product: bool
    def __init__(
        self, alpha: float, is_product: bool = False, is_expected: bool = False
    ) -> None: ...

class Polynomial(ImpurityCriterion):
    def __init__(
        self,
        coefficients: NDArray[np.float64],
        exponents: NDArray[np.int32],
        is_expected: bool = False,
    ) -> None: ...

class WeightRemoved(Criterion): ...

def measure_impurity(
    criterion: Criterion, class_weights: NDArray[np.float64]
) -> float: ...
def score_split(
    criterion: Criterion,
    part_weights: NDArray[np.float64],
    prices: NDArray[np.float64],
) -> tuple[float, float]: ...
