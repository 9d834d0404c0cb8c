"""Load public data sets from a folder of files, or through scikit-learn.

Askless ships none of them. This module knows where to look and what to say when there
is nothing; it knows no learner.

Layout of the folder
--------------------
name.csv.gz                 a header; one row a case; the class last; empty = missing
name.costs.csv              prices of the tests (optional)
name.instance_costs.csv.gz  more columns of the cases, no tests (optional)
name_priors.csv             priors of the cases (optional)
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.datasets._download import (
    BUNDLED,
    DOWNLOADABLE,
    fetch_bundled,
    fetch_download,
)
from askless.datasets._examples import Examples
from askless.datasets._facts import PUBLIC_SETS, PublicSet
from askless.datasets._price_files import check_level, read_mistakes, read_prices
from askless.exceptions import (
    DatasetNotFoundError,
    InvalidProblemError,
    UnknownNameError,
    suggest_name,
)
from askless.problem import Costs, read_columns

__all__ = ["data_folder", "find_file", "load_public"]

FOLDER_VARIABLE = "ASKLESS_DATA"


def data_folder(folder: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the folder of data sets: the one given, else that of ``ASKLESS_DATA``.

    Parameters
    ----------
    folder : path-like, default=None
        Where to look instead.

    Returns
    -------
    Path or None
        None if neither is set.

    Examples
    --------
    >>> data_folder("sets").name
    'sets'
    """
    named = folder if folder is not None else os.environ.get(FOLDER_VARIABLE)
    return Path(named).expanduser() if named else None


def _facts_of(name: str) -> PublicSet | None:
    """Return the facts of a set, by its name here or by the name of its file."""
    by_file = {facts.file: facts for facts in PUBLIC_SETS.values() if facts.file}
    return PUBLIC_SETS.get(name) or by_file.get(name)


def find_file(name: str, folder: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the file of a data set, or None if there is none.

    Parameters
    ----------
    name : str
        The name of the set. It need not be a known one.
    folder : path-like, default=None
        Where to look; None for the folder of ``ASKLESS_DATA``.

    Returns
    -------
    Path or None
        An existing file.

    Examples
    --------
    >>> find_file("iris", "no/such/folder") is None
    True
    """
    place = data_folder(folder)
    # A name is not a path: it must not lead out of the folder.
    if place is None or Path(name).name != name:
        return None
    facts = _facts_of(name)
    path = place / (facts.file_name if facts else f"{name}.csv.gz")
    return path if path.is_file() else None


def load_public(
    name: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    download: bool = False,
    level: str | None = None,
    unpriced: float | None = None,
) -> Examples:
    """Load a public data set.

    Looks for a file in the folder; then into scikit-learn's package, which brings
    iris, wine and wdbc; then, with `download`, asks scikit-learn to fetch it.

    Parameters
    ----------
    name : str
        One of the names of :func:`list_datasets`, or of any file ``name.csv.gz`` in the
        folder.
    folder : path-like, default=None
        The folder of data sets; None for the one named by ``ASKLESS_DATA``.
    download : bool, default=False
        Whether the network may be used, for the few sets that scikit-learn can fetch.
        The names of columns and classes are then those of the source.
    level : {"low", "middle", "high"} or None, default=None
        For the ``streed_`` sets: how much mistakes cost. None for no mistakes.
    unpriced : float, default=None
        The cost of a test to which the file of costs gives none. If None, such a test
        is moved to ``extra``: a test without a price cannot be bought.

    Returns
    -------
    examples : Examples
        If no file of costs lies beside the data, every test costs 1. Columns that are
        no tests (ids, parts of a split, priors) are in ``extra``.

    Raises
    ------
    UnknownNameError
        If there is no such set.
    DatasetNotFoundError
        If the set is known, but not here.

    Notes
    -----
    Sets with a particular file of costs: ``aslib_*`` has the mean measured seconds of
    the step that computes a test; the first test of a step pays for it, the others cost
    0, and that some steps need others first is left aside. ``ann_thyroid`` has no price
    for FTI (it is computed from two others), ``nhanes1_mortality10y`` none for 8 of
    its tests: see `unpriced`. The UCI set of cars lies in ``car.csv.gz`` and is called
    ``car_evaluation``, because ``car`` is a table of our own.

    Examples
    --------
    >>> iris = load_public("iris")
    >>> iris
    Examples('iris': 150 cases, 4 tests, 3 classes)
    """
    if level is not None:
        check_level(name, level)
    path = find_file(name, folder)
    facts = _facts_of(name)
    if path is not None:
        return _read_set(path, name, facts, level=level, unpriced=unpriced)
    if facts is None:
        raise UnknownNameError(
            "A public data set must be one of list_datasets(), or a file in the data "
            f"folder. Got {name!r}. {suggest_name(name, PUBLIC_SETS)}"
            f"The folder is {_describe_folder(folder)}."
        )
    if facts.name in BUNDLED:
        return _from_sklearn(facts, *fetch_bundled(facts.name))
    if download and facts.name in DOWNLOADABLE:
        return _from_sklearn(facts, *fetch_download(facts.name))
    raise _not_found(facts, folder)


def _describe_folder(folder: str | os.PathLike[str] | None) -> str:
    place = data_folder(folder)
    return f"{place}" if place else f"not set ({FOLDER_VARIABLE} is empty)"


def _not_found(
    facts: PublicSet, folder: str | os.PathLike[str] | None
) -> DatasetNotFoundError:
    place = data_folder(folder)
    looked = (
        f"Looked in {place} and found none"
        if place
        else f"Got no folder: {FOLDER_VARIABLE} is not set"
    )
    remedy = (
        "or pass download=True"
        if facts.name in DOWNLOADABLE
        else "Askless cannot download this set"
    )
    return DatasetNotFoundError(
        f"The data set {facts.name!r} must be a file {facts.file_name} in a data "
        f"folder. {looked}. Set {FOLDER_VARIABLE} or folder= to the folder that holds "
        f"it; {remedy}."
    )


def _read_set(
    path: Path,
    name: str,
    facts: PublicSet | None,
    *,
    level: str | None,
    unpriced: float | None,
) -> Examples:
    columns = read_columns(path)
    if len(columns) < 2:
        raise InvalidProblemError(
            "A data set must have a column for a test and, last, one for the class. "
            f"Got {len(columns)} columns in {path}. Add what is missing."
        )
    target = list(columns)[-1]
    y = columns.pop(target)
    ids = facts.ids if facts else ()
    extra = {test: columns.pop(test) for test in ids if test in columns}
    stem = path.name.removesuffix(".csv.gz")
    extra |= _read_extra(path.parent, stem, len(y))
    costs: Costs | None = None
    priced_as = facts.priced_as if facts and facts.priced_as else stem
    price_file = path.parent / f"{priced_as}.costs.csv"
    if price_file.is_file():
        costs, left_out = read_prices(price_file, list(columns), unpriced=unpriced)
        if costs is not None:
            extra |= {test: columns.pop(test) for test in left_out}
    if costs is None:
        costs = _unit_costs(columns)
    if level is not None:
        costs = costs.with_mistakes(read_mistakes(path.parent, stem, level))
    return Examples(
        columns=columns,
        y=y,
        costs=costs,
        name=facts.name if facts else name,
        description=facts.description if facts else f"From {path}.",
        extra=extra,
    )


def _read_extra(folder: Path, stem: str, n_cases: int) -> dict[str, NDArray[Any]]:
    """Return the columns of the files beside the data that are no tests."""
    extra: dict[str, NDArray[Any]] = {}
    for path in (
        folder / f"{stem}.instance_costs.csv.gz",
        folder / f"{stem}_priors.csv",
    ):
        if path.is_file():
            extra |= {
                name: column
                for name, column in read_columns(path).items()
                if len(column) == n_cases
            }
    return extra


def _unit_costs(columns: dict[str, NDArray[Any]]) -> Costs:
    return Costs(dict.fromkeys(columns, 1.0))


def _from_sklearn(
    facts: PublicSet, columns: dict[str, NDArray[Any]], y: NDArray[Any]
) -> Examples:
    if (len(y), len(columns)) != (facts.n_cases, facts.n_tests):
        raise DatasetNotFoundError(
            f"The data set {facts.name!r} must have {facts.n_cases} cases and "
            f"{facts.n_tests} tests. Got {len(y)} and {len(columns)} from "
            "scikit-learn. "
            f"The source has changed; put a file into {FOLDER_VARIABLE} instead."
        )
    return Examples(
        columns=columns,
        y=np.asarray(y),
        costs=_unit_costs(columns),
        name=facts.name,
        description=facts.description,
    )
