"""A store of codes: what learners need of many rows, in one file that is mapped.

A store is a folder of three files::

    store.json   tests, classes, rows of each class, checksums
    codes.bin    a column of codes for each test, rows sorted by class
    bits.bin     tests of two outcomes a second time, eight to a byte

It must not know which learner reads it.
"""

from __future__ import annotations

import json
import mmap
import zlib
from collections.abc import Iterable
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.bagging._samples import Bundles
from askless.exceptions import DataFileError
from askless.learn._examples import CodedExamples
from askless.learn.store._bits import check_bits, map_bits
from askless.learn.store._header import FORMAT, dump, read_test
from askless.learn.store._sources import open_source
from askless.problem import Outcome
from askless.problem._tests import CodeArray, code_dtype

__all__ = ["CodeStore"]

# Bytes that are checked at a time.
CHUNK = 1 << 24


class CodeStore:
    """Coded rows on disk, for learners to grow on without having them in memory.

    The tests and codes are the same that forests and greedy trees make of the rows in
    memory, so that they learn the same model from a store, to the last bit. Boosters
    use the codes in place of bins of their own, and learn nearly the same. Give a store
    to ``fit`` in place of rows: ``BudgetForestClassifier(...).fit(store)``.

    Attributes
    ----------
    path : Path
        The folder of the store.
    target : str
        The column that the classes were in.
    tests : tuple of Test
        The tests, with the levels that were chosen for them.
    classes : tuple
        The classes, ascending.
    class_rows : ndarray of int64 of shape (n_classes,)
        How many rows each class has.
    codes : ndarray of uint8 or uint16 of shape (n_tests, n_rows)
        The codes, mapped read-only. Rows are sorted by class, and within a class by
        what they hold.
    digest : str
        A digest of all of the above.

    Examples
    --------
    >>> import pandas as pd, tempfile
    >>> from askless.learn import CodeStore, GreedyTreeClassifier
    >>> rows = pd.DataFrame({"x": [1, 2, 8, 9], "y": ["low", "low", "high", "high"]})
    >>> path = Path(tempfile.mkdtemp(), "store")
    >>> store = CodeStore.write([rows[:3], rows[3:]], "y", path)
    >>> store.codes.tolist(), store.classes
    ([[2, 3, 1, 0]], ('high', 'low'))
    >>> GreedyTreeClassifier().fit(CodeStore.open(path)).predict(rows[["x"]])
    array(['low', 'low', 'high', 'high'], dtype='<U4')
    """

    def __init__(self, path: Path, header: dict[str, Any]) -> None:
        self.path = path
        self._header = header
        self.target: str = header["target"]
        self.tests = tuple(read_test(entry) for entry in header["tests"])
        self.classes: tuple[Outcome, ...] = tuple(header["classes"])
        self.class_rows = np.array(header["class_rows"], dtype=np.int64)

    def __repr__(self) -> str:
        return (
            f"CodeStore({str(self.path)!r}: {self.n_rows:,} rows, {len(self.tests)} "
            f"tests, {len(self.classes)} classes)"
        )

    def __reduce__(self) -> Any:
        # What was checked when it was opened is not checked again by each worker.
        return _reopen, (str(self.path), self.digest)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.class_rows.sum())

    @property
    def names(self) -> list[str]:
        """The names of the tests."""
        return [test.name for test in self.tests]

    @property
    def _dtype(self) -> np.dtype[Any]:
        return code_dtype(max(test.n_levels for test in self.tests))

    @cached_property
    def codes(self) -> CodeArray:
        """The codes, mapped read-only."""
        shape = (len(self.tests), self.n_rows)
        return np.memmap(self.path / "codes.bin", self._dtype, "r", shape=shape)

    @cached_property
    def bundles(self) -> Bundles:
        """The tests of two outcomes, eight to a byte, mapped read-only."""
        n_tests = len(self.tests)
        return map_bits(
            self._header["bits"], self.path / "bits.bin", n_tests, self.n_rows
        )

    def release(self) -> None:
        """Give the pages that were mapped so far back to the system.

        They stay in its cache of files; whoever reads them next maps them again.
        """
        for array in (self.codes, self.bundles.codes):
            mapped = getattr(array, "_mmap", None)
            if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
                mapped.madvise(mmap.MADV_DONTNEED)

    @cached_property
    def digest(self) -> str:
        """A digest of tests, classes and codes."""
        return sha256(dump(self._header)).hexdigest()

    @property
    def class_array(self) -> NDArray[Any]:
        """The classes as an array."""
        return np.array(self.classes)

    def code(self) -> CodedExamples:
        """Return the rows as growers want them; their codes must not be written to."""
        return CodedExamples(
            self.tests, self.codes, self.class_rows, None, bundles=self.bundles
        )

    @classmethod
    def open(cls, path: str | Path, *, check: bool = True) -> CodeStore:
        """Open a store.

        Parameters
        ----------
        path : str or Path
            The folder.
        check : bool, default=True
            Read all codes once and compare their checksums.

        Raises
        ------
        DataFileError
            If there is no whole store.
        """
        folder = Path(path)
        try:
            header = json.loads((folder / "store.json").read_bytes())
            if header.get("format") != FORMAT:
                raise DataFileError(
                    f"A store must be of format {FORMAT}. Got "
                    f"{header.get('format')!r} in {folder}. Write it again with this "
                    "version."
                )
            n_bytes, n_packed = (
                (folder / name).stat().st_size for name in ("codes.bin", "bits.bin")
            )
        except (OSError, ValueError) as error:
            raise DataFileError(
                f"A store must be a folder that CodeStore.write made. Got: {error}. "
                "Check the path, or write it again."
            ) from error
        store = cls(folder, header)
        if n_bytes != len(store.tests) * store.n_rows * store._dtype.itemsize:
            raise _damaged(folder, f"{n_bytes:,} bytes of codes")
        if n_packed != len(header["bits"]["checksums"]) * store.n_rows:
            raise _damaged(folder, f"{n_packed:,} bytes of tests of two outcomes")
        if check:
            store.check()
        return store

    def check(self) -> None:
        """Read all codes and compare their checksums with those written down."""
        with open(self.path / "codes.bin", "rb") as file:
            n_bytes = self.n_rows * self._dtype.itemsize
            for test, expected in zip(
                self.tests, self._header["checksums"], strict=True
            ):
                found, left = 0, n_bytes
                while left and (part := file.read(min(left, CHUNK))):
                    found = zlib.crc32(part, found)
                    left -= len(part)
                if found != expected:
                    raise _damaged(self.path, f"other codes of {test.name!r}")
        if not check_bits(self._header["bits"], self.path / "bits.bin", self.n_rows):
            raise _damaged(self.path, "other tests of two outcomes")

    @classmethod
    def write(
        cls,
        source: Any,
        target: str,
        path: str | Path,
        *,
        batch_rows: int = 125_000,
        drop: Iterable[str] = (),
    ) -> CodeStore:
        """Code rows that need not fit in memory, and return the store of them.

        Rows are read twice: once to choose levels, and once to code them. Memory is
        needed for a few batches of `batch_rows` rows and for a sample of 200,000 rows,
        however many rows there are. While the store is written, the codes are on disk
        twice. A store is written completely or not at all; a write that was stopped
        continues when the same store is written again.

        Parameters
        ----------
        source : path, or iterable of frames
            A CSV or Parquet file, a folder of Parquet files, or frames of any library
            that can be iterated over twice.
        target : str
            The column of the classes; all others are tests.
        path : str or Path
            The folder to be made.
        batch_rows : int, default=125_000
            How many rows are coded at a time. The store does not depend on it.
        drop : iterable of str
            Columns that are no tests.

        Raises
        ------
        DataFileError
            If the folder is there, or the source gives other rows the second time.
        InvalidTableError
            If rows or columns cannot be learned from.
        """
        place = Path(path)
        if place.exists():
            raise DataFileError(
                f"A store must be written to a new folder. Got {place}, which is "
                "there. Delete it, or choose another name."
            )
        # Reading a store must not wait for what only writing one needs: scikit-learn,
        # which takes a worker longer to import than all else.
        from askless.learn.store._writing import write_store

        write_store(open_source(source, batch_rows, drop), target, place)
        return cls.open(place, check=False)


@lru_cache(maxsize=4)
def _reopen(path: str, digest: str) -> CodeStore:
    """Open a store that was checked before; once for all tasks of a process."""
    store = CodeStore.open(path, check=False)
    if store.digest != digest:
        raise _damaged(store.path, "another store")
    return store


def _damaged(folder: Path, got: str) -> DataFileError:
    return DataFileError(
        f"A store must be as it was written. Got {got} in {folder}. Write it again."
    )
