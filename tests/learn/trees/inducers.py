"""Make a compiled grower from the flat options that its plain twin takes."""

import numpy as np

from askless._core.cost._criteria import SplitCriterion
from askless._core.cost._induce import Inducer
from askless._core.cost._samples import Sampling

OF_CRITERION = ("w", "least_part", "with_penalty", "needs_gain")
# The names of the plain twin, and those of `Sampling`.
OF_SAMPLING = {
    "sample_value": "value",
    "greedy_first": "greedy_first",
    "prunes_samples": "prunes",
    "seed": "seed",
    "n_threads": "n_threads",
}


def make_inducer(workspace, *, criterion, n_samples=0, **options) -> Inducer:
    judging = {name: options.pop(name) for name in OF_CRITERION if name in options}
    sampling = {
        theirs: options.pop(name)
        for name, theirs in OF_SAMPLING.items()
        if name in options
    }
    return Inducer(
        workspace,
        SplitCriterion(criterion, **judging),
        Sampling(n_samples, **sampling),
        stop=np.zeros(1, np.int32),
        **options,
    )
