"""Tables with unknown outcomes: classifiers unsure of near points, sparse tables.

Draws only; it knows no solver.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askless.datasets._rng import RandomState, make_rng
from askless.exceptions import InvalidOptionError
from askless.problem import Table

__all__ = ["make_classifiers", "make_sparse_table"]

_SIDE = 1000.0


def make_classifiers(
    margin: float = 0.0,
    *,
    n_points: int = 100,
    n_drawn: int = 2000,
    widest: float = 30.0,
    most: int | None = None,
    random_state: RandomState = None,
) -> Table:
    """Make a table of linear classifiers in the plane, to find out which one it is.

    Points and lines are drawn in a square of side 2000. A test is a point; it shows on
    which side of the line it lies, and is unknown if it lies closer than `margin`.

    Parameters
    ----------
    margin : float, default=0.0
        How close to its line a classifier is unsure.
    n_points, n_drawn : int
        How many points and lines are drawn; 100 and 2000 by default.
    widest : float, default=30.0
        Lines are dropped, the one that is like most others first, until every two of
        those left are told apart for sure at this margin. So the same seed gives the
        same classifiers for every margin up to this one.
    most : int, optional
        Keep only this many of those left, the first ones; the paper had 234.
    random_state : int, Generator, RandomState or None, default=None
        The same seed gives the same table.

    References
    ----------
    .. [1] S. Jia, V. Nagarajan, F. Navidi, R. Ravi, "Optimal decision tree with noisy
       outcomes", 2019, section 6.

    Examples
    --------
    >>> table = make_classifiers(5, n_points=30, n_drawn=60, random_state=0)
    >>> table.n_tests, table.n_classes == table.n_cases, table.indistinct
    (30, True, [])
    >>> bool(table.is_unknown.any())
    True
    """
    if not 0 <= margin <= widest:
        raise InvalidOptionError(
            f"margin must be from 0 to widest. Got {margin} and {widest}. Take a "
            "smaller margin, or a larger `widest`."
        )
    if n_points < 1 or n_drawn < 1 or (most is not None and most < 1):
        raise InvalidOptionError(
            "n_points, n_drawn and most must be at least 1. Got "
            f"{n_points}, {n_drawn} and {most}. The paper draws 100 and 2000."
        )
    rng = make_rng(random_state)
    points = rng.uniform(-_SIDE, _SIDE, (n_points, 2))
    normals = rng.standard_normal((n_drawn, 2))
    offsets = rng.uniform(-_SIDE, _SIDE, n_drawn)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    distance = normals @ points.T + offsets[:, None]
    kept = _drop_alike(np.where(np.abs(distance) < widest, 0, np.sign(distance)))
    kept = kept[:most]
    signed = distance[kept]
    cells = np.where(signed <= 0, 1, 0).astype(object)
    cells[np.abs(signed) < margin] = None
    names = [f"point {i}" for i in range(n_points)]
    return Table(
        cells,
        [f"line {i}" for i in kept],
        tests=names,
        alphabet={name: [0, 1] for name in names},
    )


def _drop_alike(signs: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return rows of -1, 0 and 1 of which every two have opposite signs somewhere."""
    plus, minus = (signs > 0).astype(np.float32), (signs < 0).astype(np.float32)
    told = plus @ minus.T
    alike = (told + told.T) == 0
    np.fill_diagonal(alike, False)
    degree = alike.sum(axis=1)
    is_left = np.ones(len(signs), dtype=bool)
    while degree.max(initial=0) > 0:
        worst = int(np.argmax(degree))
        is_left[worst] = False
        degree -= alike[worst]
        degree[worst] = 0
        alike[worst] = False
        alike[:, worst] = False
    return np.flatnonzero(is_left)


def make_sparse_table(
    n_cases: int = 64,
    n_tests: int = 600,
    *,
    n_known: int = 8,
    random_state: RandomState = None,
) -> Table:
    """Make a table in which every test knows the outcome of few cases.

    Parameters
    ----------
    n_cases, n_tests : int
        64 and 600 by default.
    n_known : int, default=8
        For how many cases a test is known to show 0, and for how many 1; it is unknown
        for all others.
    random_state : int, Generator, RandomState or None, default=None
        The same seed gives the same table.

    Notes
    -----
    Few tests may leave cases that none is sure to tell apart; see
    :attr:`Table.indistinct`.

    Examples
    --------
    >>> table = make_sparse_table(16, 40, n_known=3, random_state=0)
    >>> int((~table.is_unknown).sum(axis=1).max())
    6
    """
    if n_cases < 2 or n_tests < 1 or not 1 <= n_known <= n_cases // 2:
        raise InvalidOptionError(
            "There must be two cases, a test, and n_known from 1 to half of the cases. "
            f"Got {n_cases}, {n_tests} and {n_known}. Take more cases, or know fewer."
        )
    rng = make_rng(random_state)
    cells = np.full((n_cases, n_tests), None, dtype=object)
    for test in range(n_tests):
        chosen = rng.permutation(n_cases)[: 2 * n_known]
        cells[chosen[:n_known], test] = 0
        cells[chosen[n_known:], test] = 1
    return Table(
        cells,
        [f"case {i}" for i in range(n_cases)],
        tests=[f"t{i}" for i in range(1, n_tests + 1)],
    )
