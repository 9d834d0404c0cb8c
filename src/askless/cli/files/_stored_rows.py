"""Learn from a file too large for memory: codes on disk, figures of its first rows.

This module must not know how stores are written, nor how any learner works.
"""

from __future__ import annotations

import os
import tempfile
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askless.cli.files._reading import check_roles
from askless.exceptions import InvalidOptionError
from askless.problem._files import FileColumns, load_batches

if TYPE_CHECKING:
    from askless.learn import Learner

__all__ = ["StoredRows", "wants_store"]

# A file that is larger than this share of the memory is coded on disk: read, its rows
# take several times as much.
SHARE = 1 / 16
# Rows that the policy is tried on.
N_TRIED = 100_000


def wants_store(asked: bool | None, data: Path, learner: Learner) -> bool:
    """Return whether rows are coded on disk: if asked, or if a file is large.

    Parameters
    ----------
    asked : bool or None
        What the user said; None to go by the size of the file.
    data : Path
        The file.
    learner : Learner
        Who learns; not all can read codes.
    """
    can = learner.estimator._reads_codes
    if asked and not can:
        raise InvalidOptionError(
            f"A learner from a store must read codes. Got {learner.name!r}. Use "
            "--method forest, greedy or boost, or leave --store out."
        )
    if asked is not None or not can or not data.is_file():
        return bool(asked)
    return data.stat().st_size > SHARE * _memory_bytes()


def _memory_bytes() -> float:
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return float("inf")


class StoredRows:
    """The rows of a file, coded in a folder that is removed afterwards.

    Parameters
    ----------
    data : Path
        The file.
    target : str
        The column of the classes.
    drop : tuple of str
        Columns that are no tests.
    reading : dict
        How the file is read.
    """

    def __init__(
        self, data: Path, target: str, drop: tuple[str, ...], reading: dict[str, Any]
    ) -> None:
        self.data, self.target, self.drop = data, target, drop
        self.reading = reading
        self._folder = tempfile.TemporaryDirectory(prefix="askless-")

    def __enter__(self) -> StoredRows:
        from askless.learn import CodeStore
        from askless.learn.store._sources import open_source

        source = open_source(self.data, 125_000, self.drop, **self.reading)
        place = Path(self._folder.name, "store")
        self.store = CodeStore.write(source, self.target, place)
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def first_rows(self) -> tuple[FileColumns, Any]:
        """Return the first rows of the file and their classes, to try a policy on."""
        names = {*self.store.names, self.target}
        batches = load_batches(self.data, N_TRIED, only=names, **self.reading)
        columns = next(islice(batches, 1))
        check_roles(columns, self.data, target=self.target)
        for name in set(columns) - names:
            columns.pop(name)
        return columns, columns.pop(self.target)
