"""List every data set and load one by its name.

The one place that knows both our own sets and the public ones.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from askless.datasets._car import load_car
from askless.datasets._clinic import make_clinic
from askless.datasets._download import BUNDLED
from askless.datasets._examples import Examples
from askless.datasets._facts import PUBLIC_SETS
from askless.datasets._public import find_file, load_public
from askless.datasets._questions import load_questions
from askless.datasets._synthetic import make_synthetic_1024
from askless.exceptions import UnknownNameError, suggest_name
from askless.problem import Table

__all__ = ["DatasetInfo", "list_datasets", "load_dataset"]


@dataclass(frozen=True)
class DatasetInfo:
    """What is to be known of a data set before loading it.

    Parameters
    ----------
    name : str
        What :func:`load_dataset` takes.
    kind : {"table", "examples", "public"}
        A known table, invented examples, or public examples.
    n_cases, n_tests, n_classes : int
        Its size.
    available : bool
        Whether it can be loaded here and now, without the network.
    description : str
        One sentence.

    Examples
    --------
    >>> info = list_datasets()[0]
    >>> info.name, info.kind, info.n_cases
    ('car', 'table', 30)
    """

    name: str
    kind: Literal["table", "examples", "public"]
    n_cases: int
    n_tests: int
    n_classes: int
    available: bool
    description: str


# Facts and loader of each set of our own; a test compares the facts with the sets.
_OWN: dict[str, tuple[DatasetInfo, Callable[[], Table | Examples]]] = {
    info.name: (info, load)
    for info, load in (
        (
            DatasetInfo(
                "car", "table", 30, 28, 23, True, "A car does not start: which repair."
            ),
            load_car,
        ),
        (
            DatasetInfo(
                "clinic", "examples", 2000, 14, 4, True, "Invented patients: what ails."
            ),
            lambda: make_clinic(random_state=0),
        ),
        (
            DatasetInfo(
                "questions", "table", 64, 31, 64, True, "Twenty questions: which thing."
            ),
            load_questions,
        ),
        (
            DatasetInfo(
                "synthetic_1024",
                "table",
                1024,
                10,
                4,
                True,
                "Ten bits: four outliers make the tree deep.",
            ),
            make_synthetic_1024,
        ),
    )
}


def list_datasets(*, folder: str | os.PathLike[str] | None = None) -> list[DatasetInfo]:
    """List the data sets: our own first, then the public ones, each by name.

    Parameters
    ----------
    folder : path-like, default=None
        Where to look for public sets; None for the folder of ``ASKLESS_DATA``.

    Returns
    -------
    list of DatasetInfo
        All sets that Askless knows of, with those that are not here marked.

    Examples
    --------
    >>> [info.name for info in list_datasets()][:4]
    ['car', 'clinic', 'questions', 'synthetic_1024']
    """
    public = [
        DatasetInfo(
            facts.name,
            "public",
            facts.n_cases,
            facts.n_tests,
            facts.n_classes,
            facts.name in BUNDLED or find_file(facts.name, folder) is not None,
            facts.description,
        )
        for facts in PUBLIC_SETS.values()
    ]
    return [info for info, _ in _OWN.values()] + public


def load_dataset(
    name: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    download: bool = False,
) -> Table | Examples:
    """Load any data set by its name.

    Parameters
    ----------
    name : str
        One of the names of :func:`list_datasets`.
    folder : path-like, default=None
        Where to look for public sets; None for the folder of ``ASKLESS_DATA``.
    download : bool, default=False
        Whether the network may be used for a public set that is not here.

    Returns
    -------
    Table or Examples
        A table for the sets of kind "table", else examples. ``clinic`` is always the
        same 2000 cases; :func:`make_clinic` makes others.

    Raises
    ------
    UnknownNameError
        If there is no such set.
    DatasetNotFoundError
        If a public set is not here.

    Examples
    --------
    >>> load_dataset("car").n_cases
    30
    >>> load_dataset("clinc")
    Traceback (most recent call last):
    ...
    askless.exceptions.UnknownNameError: A data set must be one of list_datasets(). Got
    'clinc'. Did you mean 'clinic'? Type `askless datasets` to see them all.
    """
    if name in _OWN:
        return _OWN[name][1]()
    if name in PUBLIC_SETS or find_file(name, folder) is not None:
        return load_public(name, folder=folder, download=download)
    raise UnknownNameError(
        f"A data set must be one of list_datasets(). Got {name!r}. "
        f"{suggest_name(name, [*_OWN, *PUBLIC_SETS])}"
        "Type `askless datasets` to see them all."
    )
