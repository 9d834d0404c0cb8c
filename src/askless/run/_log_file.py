"""The file under a log: one writer, whole lines, on the disk before anyone goes on.

It knows bytes and paths. It must not know what a line says.
"""

from __future__ import annotations

import os
from pathlib import Path

from askless._disk import sync_folder
from askless.exceptions import DataFileError, LogInUseError, LogWriteError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
    import msvcrt

__all__ = ["LogFile"]


class LogFile:
    r"""A file that only this object appends to.

    Examples
    --------
    >>> import tempfile
    >>> file = LogFile.create(Path(tempfile.mkdtemp(), "a.jsonl"))
    >>> file.append(b"{}\n")
    >>> file.read(10)
    b'{}\n'
    >>> file.close()
    """

    def __init__(self, path: Path, flags: int) -> None:
        self.path = path
        # A half-written line that could not be cut off again; nothing may follow it.
        self._is_broken = False
        try:
            binary = getattr(os, "O_BINARY", 0)
            self._descriptor = os.open(path, os.O_RDWR | binary | flags, 0o666)
        except FileExistsError as error:
            raise DataFileError(
                f"A log must be written to a new file. Got {path}, which is there. "
                "Resume it, or choose another name."
            ) from error
        except OSError as error:
            what = "The folder of a log" if flags else "A log"
            raise DataFileError(
                f"{what} must be there and writable. Got: {error.strerror} for {path}. "
                "Choose another path."
            ) from error
        self._is_open = True
        try:
            _lock(self._descriptor, path)
            self._size = os.fstat(self._descriptor).st_size
        except BaseException:
            os.close(self._descriptor)
            self._is_open = False
            raise

    @classmethod
    def create(cls, path: Path) -> LogFile:
        """Make a new file."""
        return cls(path, os.O_CREAT | os.O_EXCL)

    @classmethod
    def open(cls, path: Path) -> LogFile:
        """Open a file that is there."""
        return cls(path, 0)

    def read(self, n_bytes: int) -> bytes:
        """Return the first bytes of the file."""
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        parts, left = [], n_bytes
        while left > 0 and (part := os.read(self._descriptor, left)):
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def append(self, content: bytes) -> None:
        """Add bytes, all of them or none, and wait until they are on the disk."""
        self._check_writable()
        try:
            os.lseek(self._descriptor, self._size, os.SEEK_SET)
            rest = memoryview(content)
            while rest:
                # A disk that fills up takes a part first and complains afterwards.
                rest = rest[os.write(self._descriptor, rest) :]
            os.fsync(self._descriptor)
        except BaseException as error:
            self._cut_back()
            if not isinstance(error, OSError):
                raise
            raise LogWriteError(
                f"A line must be written to the log whole. Got: {error.strerror} for "
                f"{self.path}. Nothing of it was kept, and the log is as it was before"
                f"{'; resume it to go on' if self._is_broken else ''}. Make room, then "
                "answer again."
            ) from error
        self._size += len(content)

    def cut(self, n_bytes: int) -> None:
        """Drop everything after the first bytes."""
        if n_bytes != self._size:
            os.ftruncate(self._descriptor, n_bytes)
            os.fsync(self._descriptor)
            self._size = n_bytes

    def sync_folder(self) -> None:
        """Wait until the file's name is on the disk too."""
        sync_folder(self.path.parent)

    def close(self) -> None:
        """Close the file, and let others write it; closing twice is fine."""
        if self._is_open:
            self._is_open = False
            os.close(self._descriptor)

    def _check_writable(self) -> None:
        if not self._is_open or self._is_broken:
            raise LogWriteError(
                f"A log must be open to be written. Got {self.path}, which "
                f"{'could not be written' if self._is_open else 'was closed'}. Resume "
                "it to go on."
            )
        if os.fstat(self._descriptor).st_size != self._size:
            self._is_broken = True
            raise LogInUseError(
                f"Only one program may write a log. Got other bytes in {self.path} "
                "than this one wrote. End the other, then resume the log."
            )

    def _cut_back(self) -> None:
        """Take back what an append that failed has left."""
        try:
            os.ftruncate(self._descriptor, self._size)
            os.fsync(self._descriptor)
        except OSError:
            # Resuming drops a last line that is not whole.
            self._is_broken = True


def _lock(descriptor: int, path: Path) -> None:
    """Take the file for this writer alone; closing it gives it back."""
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:  # pragma: no cover
            # Locked far behind the end, so that others can still read.
            os.lseek(descriptor, 2**40, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except (BlockingIOError, PermissionError) as error:
        raise LogInUseError(
            f"Only one program may write a log. Got {path}, which another one, or "
            "another interview of this one, has open. Close it there first."
        ) from error
    except OSError:
        # A file system without locks. Other writers are then found by the size of the
        # file before every line.
        pass
