"""Examples made so that greedy buying fails: which tests tell depends on the class.

Draws cases from the published definition of CUBE. It knows nothing of learners.
"""

from __future__ import annotations

import numpy as np

from askless.datasets._examples import Examples
from askless.datasets._rng import RandomState, make_rng
from askless.exceptions import InvalidOptionError
from askless.problem import Costs

__all__ = ["make_cube"]

_N_CLASSES, _N_BITS, _LEAST_TESTS = 8, 3, 10


def make_cube(
    n_cases: int = 2000,
    *,
    n_tests: int = 20,
    noise: float = 0.1,
    random_state: RandomState = None,
) -> Examples:
    """Return cases of eight classes, the corners of a cube that lies elsewhere in each.

    A case of class c shows the three bits of c in the tests ``t<c>``, ``t<c + 1>`` and
    ``t<c + 2>``, with normal noise. All other tests are uniform between 0 and 1, so
    that no test tells anything of a class until it is known which three to trust.

    Parameters
    ----------
    n_cases : int, default=2000
        How many cases.
    n_tests : int, default=20
        How many tests, at least 10; those from ``t10`` on tell nothing.
    noise : float, default=0.1
        The standard deviation of the noise.
    random_state : int, Generator, RandomState or None, default=None
        Draws the cases.

    Returns
    -------
    examples : Examples
        Every test costs 1; the classes are 0 to 7.

    References
    ----------
    .. [1] T. Rueckstiess, C. Osendorfer, P. van der Smagt, "Minimizing data consumption
       with sequential online feature selection", 2013.

    Examples
    --------
    >>> cube = make_cube(500, random_state=0)
    >>> len(cube.columns), sorted(set(cube.y.tolist()))
    (20, [0, 1, 2, 3, 4, 5, 6, 7])
    """
    if n_tests < _LEAST_TESTS:
        raise InvalidOptionError(
            f"n_tests must be at least {_LEAST_TESTS}. Got {n_tests!r}. Leave it out "
            "for 20."
        )
    rng = make_rng(random_state)
    y = rng.integers(0, _N_CLASSES, n_cases)
    X = rng.random((n_cases, n_tests))
    rows = np.arange(n_cases)
    for place in range(_N_BITS):
        bit = (y >> (_N_BITS - 1 - place)) & 1
        X[rows, y + place] = bit + noise * rng.normal(size=n_cases)
    names = [f"t{i}" for i in range(n_tests)]
    return Examples(
        dict(zip(names, X.T.copy(), strict=True)),
        y,
        Costs(dict.fromkeys(names, 1.0)),
        name="cube",
        description="Eight classes, each seen through three tests of its own.",
    )
