"""The policies that a service offers, by name and by version.

A policy is loaded from a file and checked before anyone is asked by it. Folders are
looked at again, aside, when a request comes and some time has passed: a new file takes
the place of the old one, whose version stays for sessions that were begun with it. This
module must not know what a request is.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from askless.exceptions import (
    AsklessError,
    InvalidOptionError,
    UnknownNameError,
    suggest_name,
)
from askless.policy import Policy, load
from askless.policy._file import dump, parse, policy_digest

__all__ = ["Archive", "Library", "Offer", "Source"]

Source = str | Path | tuple[str, Policy]

# A folder is looked at again after so many seconds.
LOOK_EVERY = 1.0
# Versions of one name that stay in memory for sessions that began with them.
MAX_VERSIONS = 20
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class Archive(Protocol):
    """Where the files of policies are kept, for sessions that began with them."""

    def has_policy(self, digest: str) -> bool:
        """Return whether a policy is kept."""

    def keep_policy(self, digest: str, content: bytes) -> None:
        """Keep the file of a policy."""

    def policy(self, digest: str) -> bytes | None:
        """Return the file of a policy that was kept."""


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
        return self.policy.kind in ("tree", "forest")


class Library:
    """Policies by name, each with its newest version and those before it.

    Parameters
    ----------
    sources : iterable of str, Path or (str, Policy)
        Policy files, folders of such files, or policies with a name.
    archive : Archive, optional
        Where versions are kept that are no longer served.

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

    def __init__(
        self, sources: Iterable[Source], archive: Archive | None = None
    ) -> None:
        self.archive = archive
        # What is wrong with a file of a folder, by its name.
        self.problems: dict[str, str] = {}
        self._versions: dict[str, tuple[Offer, ...]] = {}
        self._offered: frozenset[str] = frozenset()
        self._files: dict[Path, _File] = {}
        self._folders: list[Path] = []
        self._adding, self._looking = threading.RLock(), threading.Lock()
        self._looked = 0.0
        for source in sources:
            self._open(source)
        if not self._offered and not self._folders:
            raise InvalidOptionError(
                "There must be a policy to serve. Got none. Pass a policy file or a "
                "folder of them."
            )

    def _open(self, source: Source) -> None:
        if isinstance(source, tuple):
            self.add(source[0], source[1], is_new=True)
        elif Path(source).is_dir():
            self._folders.append(Path(source))
            for path in sorted(Path(source).glob("*.json")):
                self._files[path] = file = _File(path)
                self.add(file.name, file.read(), is_new=True)
            self._looked = time.monotonic()
        else:
            self.add(_File(Path(source)).name, load(source), is_new=True)

    # What there is.

    def names(self) -> list[str]:
        """Return the names of all policies, sorted."""
        return sorted(self._offered)

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
        if digest is None:
            if name in self._offered:
                return self._versions[name][-1]
            raise UnknownNameError(
                f"The policy must be one of those that are served. Got {name!r}. "
                f"{suggest_name(name, self.names())}See the list of policies."
            )
        for offer in reversed(self._versions.get(name, ())):
            if offer.digest == digest or offer.digest.split(":")[-1].startswith(digest):
                return offer
        return self._recall(name, digest)

    def _recall(self, name: str, digest: str) -> Offer:
        """Return a version that is no longer in memory."""
        content = None if self.archive is None else self.archive.policy(digest)
        if content is None or not NAME.fullmatch(name):
            raise UnknownNameError(
                f"The version must be one that is still kept. Got {digest!r} of "
                f"{name!r}. Leave it out to use the newest."
            )
        offer = Offer(name, digest, parse(content))
        with self._adding:
            kept = self._versions.get(name, ())
            # Before the others: it is not the newest.
            self._versions = {**self._versions, name: (offer, *kept)}
        return offer

    # What is new.

    def add(self, name: str, policy: Policy, *, is_new: bool = False) -> Offer:
        """Offer a policy, in the place of the one of this name.

        Parameters
        ----------
        name : str
        policy : Policy
        is_new : bool, default=False
            Refuse a name that is taken.
        """
        _check_name(name)
        offer = Offer(name, policy_digest(policy), policy)
        if self.archive is not None and not self.archive.has_policy(offer.digest):
            self.archive.keep_policy(offer.digest, dump(policy))
        with self._adding:
            if is_new and name in self._offered:
                raise InvalidOptionError(
                    f"Each policy must have a name of its own. Got {name!r} twice. "
                    "Rename one."
                )
            before = self._versions.get(name, ())
            kept = [each for each in before if each.digest != offer.digest]
            # New objects, so that whoever reads the old ones is not disturbed.
            versions = (*kept, offer)[-MAX_VERSIONS:]
            self._versions = {**self._versions, name: versions}
            self._offered |= {name}
        return offer

    def save(self, name: str, policy: Policy) -> Offer:
        """Offer a new policy, and write its file if a folder is served."""
        offer = self.add(name, policy, is_new=True)
        if self._folders:
            path = self._folders[0] / f"{name}.json"
            policy.save(path)
            with self._looking:
                self._files[path] = file = _File(path)
                file.mark()
        return offer

    def refresh(self) -> None:
        """Look at the folders again, aside, if some time has passed."""
        if not self._folders or time.monotonic() - self._looked < LOOK_EVERY:
            return
        if self._looking.acquire(blocking=False):
            threading.Thread(target=self._look_aside, daemon=True).start()

    def _look_aside(self) -> None:
        try:
            self._look()
        finally:
            self._looked = time.monotonic()
            self._looking.release()

    def look(self) -> None:
        """Look at the folders again, now."""
        with self._looking:
            self._look()

    def _look(self) -> None:
        found: set[Path] = set()
        for folder in self._folders:
            found.update(folder.glob("*.json"))
        for path in sorted(found):
            self._look_at(path)
        for path in sorted(self._files.keys() - found):
            # Only if it stays away: a file may be put in its place by two steps.
            file = self._files[path]
            file.n_absent += 1
            if file.n_absent > 1:
                del self._files[path]
                self._offered -= {file.name}

    def _look_at(self, path: Path) -> None:
        try:
            is_new = path not in self._files
            file = self._files.get(path) or _File(path)
            file.n_absent = 0
            if file.has_changed():
                self.add(file.name, file.read(), is_new=is_new)
                self._files[path] = file
                self.problems.pop(path.name, None)
        except (AsklessError, OSError) as error:
            # The version before stays; the file may be half way on its way here.
            self.problems[path.name] = str(error)


class _File:
    """A policy file, and how it looked when it was read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name.removesuffix(".json")
        self.n_absent = 0
        self._stamp: tuple[int, int] | None = None

    def _stamp_now(self) -> tuple[int, int]:
        status = self.path.stat()
        return status.st_mtime_ns, status.st_size

    def has_changed(self) -> bool:
        return self._stamp != self._stamp_now()

    def mark(self) -> None:
        """Take the file as it is for read."""
        self._stamp = self._stamp_now()

    def read(self) -> Policy:
        # Taken before reading: what is written meanwhile is read the next time.
        self.mark()
        return load(self.path)


def _check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise InvalidOptionError(
            "The name of a served policy must be letters, digits, dots, dashes and "
            f"underscores, 100 at most. Got {name!r}. Rename the file."
        )
