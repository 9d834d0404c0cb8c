"""Keys that let a program or a person in: kept as hashes, compared in constant time."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from pathlib import Path

from askless.exceptions import DataFileError

__all__ = ["Keys", "make_key"]

PREFIX = "sha256:"
LINE = re.compile(PREFIX + "[0-9a-f]{64}")


def make_key() -> tuple[str, str]:
    """Return a new key, and the line for the file of keys.

    Examples
    --------
    >>> key, line = make_key()
    >>> Keys([line]).owner_of(key) is not None
    True
    """
    key = secrets.token_urlsafe(32)
    return key, _hash(key)


def _hash(key: str) -> str:
    return PREFIX + hashlib.sha256(key.encode()).hexdigest()


class Keys:
    """The keys that are let in.

    Parameters
    ----------
    lines : list of str
        A line ``sha256:<hex>`` for each key, as :func:`make_key` gives it.

    Examples
    --------
    >>> Keys(["sha256:" + "0" * 64]).owner_of("guess") is None
    True
    """

    def __init__(self, lines: list[str]) -> None:
        self._hashes = []
        for number, line in enumerate(lines, 1):
            text = line.split("#")[0].strip()
            if not text:
                continue
            if not LINE.fullmatch(text):
                raise DataFileError(
                    f"Each line of the file of keys must be {PREFIX} and 64 hex "
                    f"digits. Got another in line {number}. Make keys by `askless "
                    "serve --new-key`."
                )
            self._hashes.append(text)
        if not self._hashes:
            raise DataFileError(
                "The file of keys must hold one key at least. Got none. Make one by "
                "`askless serve --new-key`."
            )

    @classmethod
    def read(cls, path: str | Path) -> Keys:
        """Read a file of keys."""
        try:
            return cls(Path(path).read_text(encoding="utf-8").splitlines())
        except (OSError, UnicodeDecodeError) as error:
            raise DataFileError(
                f"The file of keys must be there and readable. Got: {error}. Check "
                "the path."
            ) from error

    def owner_of(self, key: str) -> str | None:
        """Return whose key it is, or None; every hash is compared, found or not."""
        given, found = _hash(key), None
        for each in self._hashes:
            if hmac.compare_digest(given, each):
                found = each
        return found
