"""Read a source of rows in parts, as often as it is asked for.

A source is a file, a folder of Parquet files, or frames that can be gone through twice.
This module must not know what becomes of the rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from askless.exceptions import DataFileError, InvalidOptionError, MissingExtraError
from askless.problem._files import PARQUET, load_batches
from askless.problem._frames import Columns, clean_columns, take_rows

__all__ = ["Source", "open_source"]

# Cells of text take this much more memory than numbers.
TEXT_FACTOR = 6


@dataclass(frozen=True)
class Source:
    """Rows that can be read in parts, again and again.

    Attributes
    ----------
    origin : Path, or iterable of frames
        Where the rows come from.
    batch_rows : int
        The most rows of a part.
    drop : tuple of str
        Columns that are left out.
    reading : dict
        How a CSV file is read: ``separator``, ``decimal``, ``unknown``.
    """

    origin: Any
    batch_rows: int
    drop: tuple[str, ...] = ()
    reading: dict[str, Any] = field(default_factory=dict)

    def describe(self) -> list[Any]:
        """Return what tells a source from another one, as far as that is known."""
        if not isinstance(self.origin, Path):
            return ["frames", self.batch_rows, list(self.drop)]
        paths = [self.origin]
        if self.origin.is_dir():
            paths = sorted(p for p in self.origin.rglob("*") if p.is_file())
        files = [(p.name, p.stat().st_size, p.stat().st_mtime_ns) for p in paths]
        return [*map(list, files), self.batch_rows, list(self.drop)]

    def batches(self, as_text: Collection[str] = ()) -> Iterator[Columns]:
        """Yield the rows in parts, as clean columns.

        Parameters
        ----------
        as_text : collection of str
            Columns of a CSV file to be read as text, though some parts of them look
            like numbers.
        """
        for batch in self._read(as_text):
            for name in self.drop:
                batch.pop(name, None)
            yield batch

    def _read(self, as_text: Collection[str]) -> Iterator[Columns]:
        if not isinstance(self.origin, Path):
            for frame in self.origin:
                yield from _cut(clean_columns(frame), self.batch_rows)
        elif self.origin.is_dir() or self.origin.suffix.lower() in PARQUET:
            yield from _read_parquet(self.origin, self.batch_rows)
        else:
            size = max(1, self.batch_rows // TEXT_FACTOR)
            yield from load_batches(self.origin, size, as_text=as_text, **self.reading)


def open_source(
    source: Any, batch_rows: int, drop: Iterable[str] = (), **reading: Any
) -> Source:
    """Return a source of rows, given what a user says it is."""
    if isinstance(source, Source):
        return source
    if batch_rows < 1:
        raise InvalidOptionError(
            f"batch_rows must be at least 1. Got {batch_rows}. Leave it out."
        )
    if isinstance(source, (str, Path)):
        path = Path(source)
        if not path.exists():
            raise DataFileError(
                f"The file must be there and readable. Got no file at {path}. Check "
                "the path."
            )
        return Source(path, batch_rows, tuple(drop), reading)
    if not isinstance(source, Iterable) or iter(source) is source:
        raise InvalidOptionError(
            "A source must be a path, or frames that can be gone through twice, such "
            f"as a list. Got {type(source).__name__}. Write an __iter__ that begins "
            "again."
        )
    return Source(source, batch_rows, tuple(drop))


def _cut(columns: Columns, size: int) -> Iterator[Columns]:
    n_rows = len(next(iter(columns.values()), ()))
    for start in range(0, n_rows, size):
        yield take_rows(columns, slice(start, start + size))


def _read_parquet(path: Path, size: int) -> Iterator[Columns]:
    try:
        from pyarrow import ArrowException, Table, parquet
    except ImportError as error:
        raise MissingExtraError(
            "Reading Parquet in parts needs pyarrow. Got none installed. Type: pip "
            "install 'askless[parquet]'"
        ) from error
    files = [path]
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if p.suffix.lower() in PARQUET)
    try:
        for file in files:
            # A data set would read ahead of whoever asks: of 10 million rows it held
            # 500 MB more than of one.
            with parquet.ParquetFile(file, pre_buffer=False) as opened:
                for batch in opened.iter_batches(size, use_threads=False):
                    yield clean_columns(Table.from_batches([batch]))
    except (ArrowException, OSError) as error:
        raise DataFileError(
            f"A Parquet file must be whole. Got: {error} in {path}. Write it again."
        ) from error
