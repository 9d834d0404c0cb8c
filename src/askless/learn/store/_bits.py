"""The tests of two outcomes of a store a second time, eight to a byte.

Forests hold them so. All processes map the one file, and none makes it for itself. This
module must not know how a store is written otherwise.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.bagging._samples import Bundles, pack_bits
from askless.problem._tests import CodeArray

__all__ = ["check_bits", "map_bits", "write_bits"]

# Rows that are packed at a time, and bytes that are checked at a time.
CHUNK = 1 << 18


def write_bits(codes: CodeArray, path: Path) -> dict[str, Any]:
    r"""Write tests whose codes are 0 and 1 to a file; return what tells them apart.

    Examples
    --------
    >>> import tempfile
    >>> codes = np.array([[0, 1, 1], [0, 2, 1]], dtype=np.uint8)
    >>> path = Path(tempfile.mkdtemp(), "bits.bin")
    >>> write_bits(codes, path)["tests"], path.read_bytes()
    ([0], b'\x00\x01\x01')
    """
    n_rows = codes.shape[1]
    bits = [test for test, column in enumerate(codes) if _is_bit(column)]
    checksums = [0] * (-(-len(bits) // 8))
    with open(path, "wb") as file:
        os.ftruncate(file.fileno(), len(checksums) * n_rows)
        for first in range(0, n_rows, CHUNK):
            part: Any = np.ascontiguousarray(codes[bits, first : first + CHUNK])
            columns = np.arange(len(bits), dtype=np.int64)
            packed = pack_bits(part, columns, np.ones(len(bits), dtype=np.uint8))
            for bundle, column in enumerate(packed):
                data = column.tobytes()
                os.pwrite(file.fileno(), data, bundle * n_rows + first)
                checksums[bundle] = zlib.crc32(data, checksums[bundle])
        os.fsync(file.fileno())
    return {"tests": bits, "checksums": checksums}


def map_bits(header: dict[str, Any], path: Path, n_tests: int, n_rows: int) -> Bundles:
    """Return the tests of a file that was written, mapped read-only."""
    shape = (len(header["checksums"]), n_rows)
    codes: NDArray[np.uint8] = np.zeros(shape, dtype=np.uint8)
    if codes.size:
        codes = np.memmap(path, np.uint8, "r", shape=shape)
    return Bundles(codes, np.array(header["tests"], dtype=np.int64), n_tests)


def check_bits(header: dict[str, Any], path: Path, n_rows: int) -> bool:
    """Return whether a file is as it was written."""
    with open(path, "rb") as file:
        for expected in header["checksums"]:
            found = 0
            for part in _read(file, n_rows):
                found = zlib.crc32(part, found)
            if found != expected:
                return False
        return not file.read(1)


def _read(file: Any, n_bytes: int) -> Iterator[bytes]:
    while n_bytes and (part := file.read(min(n_bytes, CHUNK))):
        yield part
        n_bytes -= len(part)


def _is_bit(column: NDArray[Any]) -> bool:
    parts = range(0, len(column), CHUNK)
    return column.dtype == np.uint8 and all(
        column[first : first + CHUNK].max() <= 1 for first in parts
    )
