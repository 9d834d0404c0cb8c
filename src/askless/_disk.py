"""Put files on the disk: each is whole or not there, and stays after a power cut.

It knows bytes and paths. It must not know what a file is for, nor the words for what
went wrong: it raises OSError, and callers say what must hold.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

__all__ = ["open_whole", "sync_folder", "write_whole"]

# What file systems say that cannot sync a folder, and folders that may not be read.
_NO_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EACCES, errno.EPERM}


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, where that can be asked for.

    Examples
    --------
    >>> import tempfile
    >>> sync_folder(Path(tempfile.mkdtemp()))
    """
    if os.name != "posix":
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise


def write_whole(contents: Mapping[Path, bytes]) -> None:
    """Write files, each of them whole or none at all, and wait for the disk.

    A name that is a link stays one: the file that it points to is replaced.

    Raises
    ------
    OSError
        If one cannot be written; its ``filename`` is the path that was asked for.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "lamp.csv")
    >>> write_whole({path: b"lamp,cause"})
    >>> path.read_bytes()
    b'lamp,cause'
    """
    places = {path: Path(os.path.realpath(path)) for path in contents}
    drafts: dict[Path, Path] = {}
    path = Path()
    try:
        for path, place in places.items():
            drafts[path] = place.with_name(f".askless-{secrets.token_hex(8)}")
            with open(drafts[path], "xb") as file:
                file.write(contents[path])
                file.flush()
                # Before it gets its name: a name may reach the disk before content.
                os.fsync(file.fileno())
        for path, place in places.items():
            os.replace(drafts[path], place)
            del drafts[path]
        for folder in {place.parent for place in places.values()}:
            sync_folder(folder)
    except OSError as error:
        error.filename = os.fspath(path)
        raise
    finally:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)


@contextmanager
def open_whole(path: Path) -> Iterator[BinaryIO]:
    """Open a file to write to, which takes its name only if all went well.

    Raises
    ------
    OSError
        See :func:`write_whole`.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "rows.csv")
    >>> with open_whole(path) as file:
    ...     _ = file.write(b"row")
    >>> path.read_bytes()
    b'row'
    """
    place = Path(os.path.realpath(path))
    draft = place.with_name(f".askless-{secrets.token_hex(8)}")
    try:
        with open(draft, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, place)
        sync_folder(place.parent)
    except OSError as error:
        error.filename = os.fspath(path)
        raise
    finally:
        draft.unlink(missing_ok=True)
