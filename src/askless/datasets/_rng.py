"""Turn ``random_state`` into a generator of random numbers, one way for all.

Knows numpy only.
"""

from __future__ import annotations

import numpy as np

__all__ = ["RandomState", "make_rng"]

RandomState = int | np.random.Generator | np.random.RandomState | None


def make_rng(random_state: RandomState) -> np.random.Generator:
    """Return a generator: the same seed gives the same numbers.

    Parameters
    ----------
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        A seed; a generator to go on drawing from; or None for fresh numbers.

    Returns
    -------
    numpy.random.Generator
        Where to draw from.

    Examples
    --------
    >>> int(make_rng(7).integers(100)) == int(make_rng(7).integers(100))
    True
    """
    if isinstance(random_state, np.random.RandomState):
        # scikit-learn hands these out; a drawn seed keeps its stream in step.
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)
