"""Text of Arrow as it lies in its buffers, coded without making Python objects.

It knows arrays of pyarrow by what they offer and imports nothing, so that the package
does not need pyarrow. It must not know frames, nor what a code means.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.code._text import (
    TextLevels,
    encode_indices,
    encode_text,
    encode_views,
)
from askless.exceptions import InvalidTableError

__all__ = ["ArrowText", "find_arrow_text"]

# The types of text by the names that Arrow gives them, with that of their offsets.
OFFSETS = {"string": np.int32, "large_string": np.int64, "string_view": None}
NO_BYTES = np.zeros(0, dtype=np.uint8)


class ArrowText:
    """A column of text of Arrow, plain or by a dictionary.

    Parameters
    ----------
    chunks : list of pyarrow.Array
        Its parts, one after another.

    Examples
    --------
    >>> import pyarrow as pa
    >>> column = ArrowText([pa.array(["dark", None]), pa.array(["dim"])])
    >>> len(column), column.tolist()
    (3, ['dark', None, 'dim'])
    """

    def __init__(self, chunks: list[Any]) -> None:
        self.chunks = chunks

    def __len__(self) -> int:
        return sum(map(len, self.chunks))

    def tolist(self) -> list[str | None]:
        """Return the cells as Python objects."""
        return [cell for chunk in self.chunks for cell in chunk.to_pylist()]

    def encode(
        self, levels: TextLevels, missing: int, unseen: int, codes: Any, name: str = ""
    ) -> None:
        """Code the cells.

        Parameters
        ----------
        levels : TextLevels
            The levels of a test.
        missing, unseen : int
            The codes of a cell without a value, and of text that is no level.
        codes : ndarray of uint8 or uint16
            Where the codes go.
        name : str
            What the column is called.
        """
        start = 0
        for chunk in self.chunks:
            part = codes[start : start + len(chunk)]
            if len(chunk):
                bad = _encode_chunk(chunk, levels, missing, unseen, part)
                if bad >= 0:
                    raise InvalidTableError(
                        "Arrow text must lie within its buffers. Got a cell of column "
                        f"{name!r} in row {start + bad} that does not. Write the data "
                        "again."
                    ).at(start + bad)
            start += len(chunk)


def find_arrow_text(values: Any) -> ArrowText | None:
    """Return a column of Arrow as text, or None if it is no such column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> find_arrow_text(pa.array([1, 2])) is None, find_arrow_text(["a"]) is None
    (True, True)
    >>> len(find_arrow_text(pa.array(["dark", "dim"]).dictionary_encode()))
    2
    """
    if not type(values).__module__.startswith("pyarrow"):
        return None
    kind = getattr(values, "type", None)
    if str(kind) not in OFFSETS and str(getattr(kind, "value_type", "")) not in OFFSETS:
        return None
    if str(kind).startswith(("dictionary", *OFFSETS)):
        return ArrowText(list(getattr(values, "chunks", [values])))
    return None


def _encode_chunk(
    chunk: Any, levels: TextLevels, missing: int, unseen: int, codes: Any
) -> int:
    """Code one array; return the first cell that is broken, or -1."""
    validity = _bytes_of(chunk.buffers()[0])
    kind = str(chunk.type)
    if kind not in OFFSETS:
        entries = np.empty(len(chunk.dictionary), dtype=codes.dtype)
        if len(entries):
            bad = _encode_chunk(chunk.dictionary, levels, missing, unseen, entries)
            if bad >= 0:
                return 0
        # The width of an index by the name of its type: int8, uint32 ...
        indices = np.frombuffer(chunk.buffers()[1], dtype=str(chunk.type.index_type))
        some = indices[chunk.offset : chunk.offset + len(chunk)]
        return encode_indices(some, entries, validity, chunk.offset, missing, codes)
    _, places, *data = chunk.buffers()
    if kind == "string_view":
        views = np.frombuffer(places, dtype=np.int32).reshape(-1, 4)
        some = views[chunk.offset : chunk.offset + len(chunk)]
        parts = [_bytes_of(buffer) for buffer in data]
        return encode_views(
            levels, some, parts, validity, chunk.offset, missing, unseen, codes
        )
    offsets: Any = np.frombuffer(places, dtype=OFFSETS[kind])
    some = offsets[chunk.offset : chunk.offset + len(chunk) + 1]
    text = _bytes_of(data[0])
    return encode_text(
        levels, some, text, validity, chunk.offset, missing, unseen, codes
    )


def _bytes_of(buffer: Any) -> NDArray[np.uint8]:
    """Return a buffer as bytes; there may be none."""
    if buffer is None or not buffer.size:
        return NO_BYTES
    return np.frombuffer(buffer, dtype=np.uint8)
