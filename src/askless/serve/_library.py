"""The policies that a service offers, by name and by version.

A policy is loaded from a file and checked before anyone is asked by it. A folder is
looked at again when a request comes and some time has passed: a new file is checked
aside and then takes the place of the old one, whose version stays for sessions that
were begun with it. This module must not know what a request is.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from askless.exceptions import (
    AsklessError,
    InvalidOptionError,
    UnknownNameError,
    suggest_name,
)
from askless.policy import Policy, load
from askless.policy._file import policy_digest

__all__ = ["Library", "Offer"]

# A folder is looked at again after so many seconds.
LOOK_EVERY = 1.0
# Versions of one name that are kept for sessions that began with them.
MAX_VERSIONS = 20
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class Offer:
    """One version of a policy.

    Attributes
    ----------
    name : str
        What it is called in addresses.
    digest : str
        Its version: the digest of its content.
    policy : Policy
    """

    name: str
    digest: str
    policy: Policy = field(repr=False)

    @property
    def is_quick(self) -> bool:
        """Whether a step is sure to take far less than a millisecond."""
        return self.policy.kind in ("tree", "forest", "sequence")


class Library:
    """Policies by name, each with its newest version and those before it.

    Parameters
    ----------
    sources : iterable of str, Path or (str, Policy)
        Policy files, folders of such files, or policies with a name.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> library = Library([("parity", askless.solve(table).policy)])
    >>> library.names()
    ['parity']
    >>> library.find("parity").policy.classes
    ('even', 'odd')
    """

    def __init__(self, sources: Iterable[str | Path | tuple[str, Policy]]) -> None:
        self._versions: dict[str, list[Offer]] = {}
        self._folders: list[Path] = []
        self._stamps: dict[Path, tuple[int, int]] = {}
        self._lock = threading.Lock()
        self._looked = 0.0
        # What is wrong with a file of a folder, by its name.
        self.problems: dict[str, str] = {}
        for source in sources:
            if isinstance(source, tuple):
                self._add(_check_name(source[0]), source[1])
            elif Path(source).is_dir():
                self._folders.append(Path(source))
            else:
                self._add(_name_of(Path(source)), load(source))
        self._look(must_work=True)
        if not self._versions and not self._folders:
            raise InvalidOptionError(
                "There must be a policy to serve. Got none. Pass a policy file or a "
                "folder of them."
            )

    def names(self) -> list[str]:
        """Return the names of all policies, sorted."""
        return sorted(self._versions)

    def offers(self) -> list[Offer]:
        """Return the newest version of each policy."""
        return [self._versions[name][-1] for name in self.names()]

    def find(self, name: str, digest: str | None = None) -> Offer:
        """Return a policy; of the version asked for, else the newest.

        Raises
        ------
        UnknownNameError
            If there is no such policy or version.
        """
        versions = self._versions.get(name)
        if versions is None:
            raise UnknownNameError(
                f"The policy must be one of those that are served. Got {name!r}. "
                f"{suggest_name(name, self.names())}See the list of policies."
            )
        if digest is None:
            return versions[-1]
        for offer in reversed(versions):
            if offer.digest == digest or offer.digest.split(":")[-1].startswith(digest):
                return offer
        raise UnknownNameError(
            f"The version must be one that is still kept. Got {digest!r} of {name!r}. "
            "Leave it out to use the newest."
        )

    def refresh(self) -> None:
        """Look at the folders again, if some time has passed."""
        if self._folders and time.monotonic() - self._looked >= LOOK_EVERY:
            with self._lock:
                self._look()

    def _look(self, *, must_work: bool = False) -> None:
        self._looked = time.monotonic()
        for folder in self._folders:
            for path in sorted(folder.glob("*.json")):
                self._look_at(path, must_work=must_work)

    def _look_at(self, path: Path, *, must_work: bool) -> None:
        try:
            status = path.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            if self._stamps.get(path) == stamp:
                return
            self._stamps[path] = stamp
            self._add(_name_of(path), load(path))
            self.problems.pop(path.name, None)
        except (AsklessError, OSError) as error:
            # The version before stays; the file may be half way on its way here.
            self.problems[path.name] = str(error)
            if must_work and isinstance(error, AsklessError):
                raise

    def _add(self, name: str, policy: Policy) -> None:
        offer = Offer(name, policy_digest(policy), policy)
        versions = self._versions.get(name, [])
        kept = [each for each in versions if each.digest != offer.digest]
        # A new list, so that whoever reads the old one is not disturbed.
        self._versions = {**self._versions, name: [*kept, offer][-MAX_VERSIONS:]}


def _name_of(path: Path) -> str:
    return _check_name(path.name.removesuffix(".json"))


def _check_name(name: str) -> str:
    if not NAME.fullmatch(name):
        raise InvalidOptionError(
            "The name of a served policy must be letters, digits, dots, dashes and "
            f"underscores, 100 at most. Got {name!r}. Rename the file."
        )
    return name
