"""The synthetic table of 1024 objects on which a few outliers force a deep tree.

Arithmetic only: no drawing, no file, no solver.
"""

from __future__ import annotations

import numpy as np

from askless.problem import Table

__all__ = ["make_synthetic_1024"]

_N_BITS = 10


def make_synthetic_1024() -> Table:
    """Return the table of 1024 cases, 10 binary tests of cost 1 and 4 classes.

    The ten outcomes of a case, read as a binary number with ``t1`` first, are its
    number 0..1023. Each quarter of the numbers is one class, but the first number of
    each quarter (0, 256, 512, 768) belongs to the class of the next quarter.

    Returns
    -------
    Table
        Uniform prior; the classes are 1, 2, 3 and 4, of 256 cases each.

    Notes
    -----
    ``t1`` and ``t2`` alone decide all but the 4 outliers. A tree without error needs
    depth 10: case 0 differs in one bit only from 1, 2, 4, ..., 512, all of which have
    another class.

    References
    ----------
    .. [1] F. Nan, J. Wang, V. Saligrama, "Max-Cost Discrete Function Evaluation
       Problem under a Budget", 2015, section 5.

    Examples
    --------
    >>> table = make_synthetic_1024()
    >>> table.n_cases, table.n_tests, table.classes
    (1024, 10, (1, 2, 3, 4))

    Pairs of cases of different class: 6 pairs of classes, 256 times 256 each.

    >>> 6 * 256 * 256
    393216
    """
    numbers = np.arange(2**_N_BITS)
    # t1 is the most significant bit.
    outcomes = (numbers[:, None] >> np.arange(_N_BITS - 1, -1, -1)) & 1
    quarters = numbers // 256
    is_outlier = numbers % 256 == 0
    classes = np.where(is_outlier, (quarters + 1) % 4, quarters) + 1
    return Table(
        outcomes,
        classes.tolist(),
        tests=[f"t{bit}" for bit in range(1, _N_BITS + 1)],
    )
