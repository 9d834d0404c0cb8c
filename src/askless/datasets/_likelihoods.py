"""Load public tables of tests that can err, from a folder of files.

Askless ships none of them. They were worked out from Bayesian networks: how likely each
outcome of each test is for each case, with tests taken as independent given the case.

Layout of the folder
--------------------
likelihoods/name.likelihoods.csv.gz    case, test, outcome, probability
likelihoods/name.cases.csv             case, prior
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from askless.datasets._public import FOLDER_VARIABLE, data_folder
from askless.exceptions import DatasetNotFoundError, UnknownNameError, suggest_name
from askless.problem import Costs, Table, read_table

__all__ = ["LIKELIHOOD_SETS", "load_likelihoods"]

# What each of them is about.
LIKELIHOOD_SETS = {
    "child": "Congenital heart disease of the newborn: 6 cases, 8 tests.",
    "hepar2": "Disorders of the liver, one at a time: 11 cases, 62 tests.",
    "pathfinder": "Diseases of the lymph node: 63 cases, 108 tests.",
    "win95pts": "A printer does not print: 28 cases, 54 tests.",
}


def load_likelihoods(
    name: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    mistakes: Any = None,
) -> Table:
    """Load a public table of tests that can err.

    Parameters
    ----------
    name : {"child", "hepar2", "pathfinder", "win95pts"}
        Which one. Other sets in the folder that have such files can be loaded too.
    folder : path-like, default=None
        The folder of data sets; None for the one named by ``ASKLESS_DATA``.
    mistakes : number, matrix or mapping, optional
        Cost of a wrong decision; see :class:`Costs`.

    Returns
    -------
    Table
        Each case is a class of its own. The files have no prices: each test costs 1 to
        10, drawn once by ``numpy.random.default_rng(0).integers(1, 11, n_tests)``.

    Raises
    ------
    UnknownNameError
        If there is no such set.
    DatasetNotFoundError
        If the set is known, but not here.

    Examples
    --------
    >>> load_likelihoods("hepar")
    Traceback (most recent call last):
    ...
    askless.exceptions.UnknownNameError: A table of likelihoods must be one of 'child',
    'hepar2', 'pathfinder', 'win95pts'. Got 'hepar'. Did you mean 'hepar2'? Use one of
    these names.
    """
    place = data_folder(folder)
    path = (
        None if place is None else place / "likelihoods" / f"{name}.likelihoods.csv.gz"
    )
    is_here = path is not None and Path(name).name == name and path.is_file()
    if path is None or not is_here:
        raise _not_found(name, place)
    cases = path.with_name(f"{name}.cases.csv")
    table = read_table(path, cases=cases if cases.is_file() else None)
    drawn = np.random.default_rng(0).integers(1, 11, table.n_tests)
    prices = dict(zip(table.test_names, drawn.tolist(), strict=True))
    return table.with_costs(Costs(prices, mistakes=mistakes))


def _not_found(
    name: str, place: Path | None
) -> UnknownNameError | DatasetNotFoundError:
    if name not in LIKELIHOOD_SETS:
        listed = ", ".join(map(repr, LIKELIHOOD_SETS))
        return UnknownNameError(
            f"A table of likelihoods must be one of {listed}. Got {name!r}. "
            f"{suggest_name(name, LIKELIHOOD_SETS)}Use one of these names."
        )
    looked = (
        f"Looked in {place} and found none"
        if place
        else f"Got no folder: {FOLDER_VARIABLE} is not set"
    )
    return DatasetNotFoundError(
        f"The table {name!r} must be a file likelihoods/{name}.likelihoods.csv.gz in a "
        f"data folder. {looked}. Set {FOLDER_VARIABLE} or folder= to the folder that "
        "holds it; Askless cannot download it."
    )
