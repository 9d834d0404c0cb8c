"""Write files whole or not at all, and never over something else.

This module must not know what the files are for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from askless import _disk
from askless.exceptions import DataFileError

__all__ = [
    "check_policy_path",
    "free_policy_path",
    "is_policy_file",
    "open_whole",
    "write_whole",
]

# The beginning of every policy file, without blanks.
POLICY_MARK = b'{"format":"askless-policy"'


def is_policy_file(path: Path) -> bool:
    """Return whether a file looks like a policy, by its first bytes.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "x.json")
    >>> _ = path.write_text('{"format": "askless-policy", ...}')
    >>> is_policy_file(path)
    True
    """
    try:
        with path.open("rb") as file:
            start = file.read(200)
    except OSError:
        return False
    return b"".join(start.split()).startswith(POLICY_MARK)


def check_policy_path(path: Path) -> None:
    """Refuse to write a policy over a file that is something else.

    Raises
    ------
    DataFileError
        If the path is a folder or a file that is no policy.
    """
    if path.exists() and not is_policy_file(path):
        what = "a folder" if path.is_dir() else "a file that is no policy"
        raise DataFileError(
            "A policy must be written to a new file, or over another policy. Got "
            f"{path}, which is {what}. Choose another name, or remove it first."
        )


def free_policy_path(folder: Path, stem: str) -> Path:
    """Return a path in a folder that is free, or taken by a policy.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "car.json").write_text("{}")
    >>> free_policy_path(folder, "car").name
    'car-2.json'
    """
    path, number = folder / f"{stem}.json", 1
    while path.exists() and not is_policy_file(path):
        number += 1
        path = folder / f"{stem}-{number}.json"
    return path


def write_whole(contents: Mapping[Path, str | bytes]) -> None:
    """Write texts or bytes to files: each of them whole, or none at all.

    Raises
    ------
    DataFileError
        If a file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "lamp.csv")
    >>> write_whole({path: "lamp,cause"})
    >>> path.read_text()
    'lamp,cause'
    """
    try:
        _disk.write_whole(
            {
                path: content.encode() if isinstance(content, str) else content
                for path, content in contents.items()
            }
        )
    except OSError as error:
        raise _not_writable(error) from error


@contextmanager
def open_whole(path: Path) -> Iterator[BinaryIO]:
    """Open a file to write to, that takes its name only if all went well.

    Raises
    ------
    DataFileError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "rows.csv")
    >>> with open_whole(path) as file:
    ...     _ = file.write(b"row")
    >>> path.read_text()
    'row'
    """
    try:
        with _disk.open_whole(path) as file:
            yield file
    except OSError as error:
        raise _not_writable(error) from error


def _not_writable(error: OSError) -> DataFileError:
    return DataFileError(
        f"The folder of a file must be there and writable. Got: {error.strerror} "
        f"for {error.filename}. Choose another path."
    )
