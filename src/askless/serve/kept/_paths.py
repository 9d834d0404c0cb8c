"""Remember where answers lead, so that a request with all of them costs one step.

States of policies never change, so a session may be shared by all who gave the same
answers. It must not know how requests look.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable

from askless.run import Session

__all__ = ["Paths"]

# Sessions that are remembered; each is some kilobytes at most for usual policies.
MAX_PATHS = 5_000
Path = tuple[Hashable, ...]


class Paths:
    """Sessions by the policy and the answers that led to them.

    Parameters
    ----------
    max_paths : int, default=5000
        How many are remembered; the ones used last stay.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> session = askless.solve(table).policy.start()
    >>> paths = Paths()
    >>> paths.keep("sha256:0", (), session)
    >>> paths.find("sha256:0", ()).test
    'last bit'
    >>> paths.find("sha256:0", (("last bit", 1),)) is None
    True
    """

    def __init__(self, max_paths: int = MAX_PATHS) -> None:
        self.max_paths = max_paths
        self._sessions: OrderedDict[tuple[str, Path], Session] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, digest: str, path: Path) -> Session | None:
        """Return the session at the end of a path; it must not be changed."""
        with self._lock:
            session = self._sessions.get((digest, path))
            if session is not None:
                self._sessions.move_to_end((digest, path))
            return session

    def keep(self, digest: str, path: Path, session: Session) -> None:
        """Remember a session; whoever has it must not change it any more."""
        with self._lock:
            self._sessions[digest, path] = session
            while len(self._sessions) > self.max_paths:
                self._sessions.popitem(last=False)
