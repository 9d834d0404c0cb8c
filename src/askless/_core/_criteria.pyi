import numpy as np
from numpy.typing import NDArray

class Criterion:
    best_cut_at_crossing: bool

class MinimaxPairs(Criterion): ...

def measure_impurity(
    criterion: Criterion, class_weights: NDArray[np.float64]
) -> float: ...
def score_split(
    criterion: Criterion,
    part_weights: NDArray[np.float64],
    prices: NDArray[np.float64],
) -> tuple[float, float]: ...
