"""Sort coded rows on disk, by class and key: first into buckets, then bucket by bucket.

A bucket is a range of keys of one class that fits in memory. How far the work has come
is written down after every part, so that it goes on after a kill. This module must not
know how rows are coded.
"""

from __future__ import annotations

import json
import os
import shutil
import zlib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import DataFileError
from askless.learn._row_keys import Keys
from askless.problem._tests import CodeArray

__all__ = ["Draft", "Progress"]


@dataclass
class Progress:
    """How far a store has been written.

    Attributes
    ----------
    n_batches : int
        Parts of the source that are in the buckets.
    key_sums : list of int
        The sum of the keys of each of them, to know them again.
    sizes : list of int
        Rows in each bucket.
    n_merged : int
        Buckets that are in the codes.
    checksums : list of int
        Of each column of codes, as far as it is written.
    """

    n_batches: int = 0
    key_sums: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    n_merged: int = 0
    checksums: list[int] = field(default_factory=list)


class Draft:
    """A folder in which a store is made.

    Parameters
    ----------
    folder : Path
        Where to work.
    n_tests : int
        How many columns of codes there are.
    dtype : dtype
        The type of the codes.
    class_rows : sequence of int
        How many rows each class has.
    bucket_rows : int
        About how many rows a bucket has.
    """

    def __init__(
        self,
        folder: Path,
        n_tests: int,
        dtype: np.dtype[Any],
        class_rows: list[int],
        bucket_rows: int,
    ) -> None:
        self.folder = folder
        self.record = np.dtype([("key", "<u8"), ("codes", dtype, (n_tests,))])
        self.class_rows = class_rows
        counts = np.array([max(1, -(-n // bucket_rows)) for n in class_rows])
        self.n_buckets = counts
        self.first_bucket = np.cumsum(counts) - counts
        self.chunk = bucket_rows
        self.progress = Progress(sizes=[0] * int(counts.sum()))

    @property
    def codes_path(self) -> Path:
        """Where the codes are written."""
        return self.folder / "store" / "codes.bin"

    def resume(self) -> None:
        """Go on from what was written down; what came after it is cut off."""
        path = self.folder / "progress.json"
        if not path.is_file():
            return
        found = Progress(**json.loads(path.read_text()))
        for bucket, n_rows in enumerate(found.sizes):
            if bucket < found.n_merged:
                continue
            n_bytes = n_rows * self.record.itemsize
            place = self._bucket(bucket)
            have = place.stat().st_size if place.exists() else 0
            if have < n_bytes:
                return  # lost by a power cut: begin again
            if have > n_bytes:
                os.truncate(place, n_bytes)
        self.progress = found

    def note(self) -> None:
        """Write down how far the work has come."""
        draft = self.folder / "progress.new"
        draft.write_text(json.dumps(asdict(self.progress)))
        draft.replace(self.folder / "progress.json")

    def _bucket(self, bucket: int) -> Path:
        return self.folder / "buckets" / f"{bucket}.bin"

    def clear(self) -> None:
        """Empty the buckets."""
        shutil.rmtree(self.folder / "buckets", ignore_errors=True)
        (self.folder / "buckets").mkdir(parents=True)

    def add(self, keys: Keys, class_ids: NDArray[Any], codes: CodeArray) -> None:
        """Put rows into their buckets and write down that they are there."""
        # The high half of a key says where in its class a row comes.
        share = (keys >> np.uint64(32)) * self.n_buckets[class_ids].astype(np.uint64)
        bucket = self.first_bucket[class_ids] + (share >> np.uint64(32)).astype(
            np.int64
        )
        order = np.argsort(bucket, kind="stable")
        records = np.empty(len(keys), dtype=self.record)
        records["key"] = keys[order]
        records["codes"] = codes.T[order]
        found, starts = np.unique(bucket[order], return_index=True)
        ends = [*starts[1:].tolist(), len(keys)]
        for place, start, end in zip(
            found.tolist(), starts.tolist(), ends, strict=True
        ):
            with open(self._bucket(place), "ab") as file:
                records[start:end].tofile(file)
            self.progress.sizes[place] += end - start
        self.progress.n_batches += 1
        self.progress.key_sums.append(int(keys.sum(dtype=np.uint64)))
        self.note()

    def merge(self) -> list[int]:
        """Write the codes in order; return the checksum of those of each test."""
        progress, n_tests = self.progress, self.record["codes"].shape[0]
        if not progress.checksums:
            progress.checksums = [0] * n_tests
        n_rows = sum(self.class_rows)
        itemsize = self.record["codes"].base.itemsize
        self.codes_path.parent.mkdir(exist_ok=True)
        with open(self.codes_path, "r+b" if progress.n_merged else "wb") as file:
            os.ftruncate(file.fileno(), n_tests * n_rows * itemsize)
            for bucket in range(progress.n_merged, len(progress.sizes)):
                first = sum(progress.sizes[:bucket])
                for codes, at in self._sorted_parts(bucket, first):
                    for test, column in enumerate(codes):
                        data = column.tobytes()
                        os.pwrite(file.fileno(), data, (test * n_rows + at) * itemsize)
                        progress.checksums[test] = zlib.crc32(
                            data, progress.checksums[test]
                        )
                progress.n_merged = bucket + 1
                self.note()
                self._bucket(bucket).unlink(missing_ok=True)
            os.fsync(file.fileno())
        return progress.checksums

    def _sorted_parts(self, bucket: int, first: int) -> Any:
        """Yield the codes of a bucket in the order of keys, and where each part goes.

        A bucket is larger than others if many rows are alike; then only its keys are
        in memory.
        """
        n_rows = self.progress.sizes[bucket]
        if not n_rows:
            return
        records = np.memmap(self._bucket(bucket), self.record, "r", shape=(n_rows,))
        order = np.argsort(records["key"], kind="stable")
        for start in range(0, n_rows, self.chunk):
            part = records["codes"][order[start : start + self.chunk]]
            yield np.ascontiguousarray(part.T), first + start

    def check_rows(self) -> None:
        """Raise an error if the source had other rows than were counted at first."""
        ends = [*self.first_bucket[1:].tolist(), len(self.progress.sizes)]
        for start, end, n_rows in zip(
            self.first_bucket.tolist(), ends, self.class_rows, strict=True
        ):
            if sum(self.progress.sizes[start:end]) != n_rows:
                raise changed_source(self.folder)


def changed_source(folder: Path) -> DataFileError:
    """Return the error of a source that gives other rows than before."""
    return DataFileError(
        "A source must give the same rows each time it is read. Got others than "
        f"before. Delete {folder} and write the store again."
    )
