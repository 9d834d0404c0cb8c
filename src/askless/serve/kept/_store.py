"""Events of sessions in SQLite: what happened is the state, and the audit log.

Events are committed before anyone hears of them, and never changed. Two writers of one
session cannot both add the same event number. Policies are kept beside them, so that a
session finds its own version again. This module knows rows; it must not know what an
event means.
"""

from __future__ import annotations

import sqlite3
import threading
import time
import zlib
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from askless.exceptions import DataFileError

__all__ = ["Conflict", "Repeat", "SessionRow", "Store", "StoreError"]

VERSION = 1
# The log is looked at so often, in seconds; moved if it has so many bytes; and emptied,
# while everybody waits, if it has so many.
MOVE_EVERY = 1.0
LEAST_MOVED = 1_000_000
MOST_LOGGED = 64_000_000
# What SQLite says of a file that it cannot use; words from the file may be in it.
FAILURES = (sqlite3.Error, UnicodeDecodeError)
# Larger files, in bytes, are not looked through when they are opened.
MOST_CHECKED = 64_000_000
SCHEMA = """
CREATE TABLE IF NOT EXISTS policies (
    digest TEXT PRIMARY KEY,
    content BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY,
    policy TEXT NOT NULL,
    digest TEXT NOT NULL,
    owner TEXT NOT NULL,
    created REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS events (
    session TEXT NOT NULL,
    number INTEGER NOT NULL,
    repeat_key TEXT,
    request TEXT,
    at REAL NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, number)
) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS once
    ON events (session, repeat_key) WHERE repeat_key IS NOT NULL;
"""


class Conflict(Exception):
    """Somebody else has added an event in the meantime."""


class StoreError(DataFileError):
    """The file of sessions cannot be read or written, or holds what nobody wrote."""


class Repeat(NamedTuple):
    """How a request that comes twice is known: by its key, and what it asked for."""

    key: str
    request: str


class SessionRow(NamedTuple):
    """A session as it was begun."""

    id: str
    policy: str
    digest: str
    owner: str
    created: float


class Store:
    """A file of sessions; in memory if there is no path.

    Parameters
    ----------
    path : str or Path, optional
        The file; made if it is not there.
    durable : bool, default=False
        Wait for the disk at every event, so that a power cut loses nothing either.
        Without it, a killed process loses nothing, and a power cut may lose the last
        moments.

    Examples
    --------
    >>> store = Store()
    >>> store.begin("s1", "car", "sha256:0", "")
    >>> store.add("s1", 0, [{"test": "lamp", "outcome": "dim"}])
    >>> store.events("s1")
    [{'test': 'lamp', 'outcome': 'dim'}]
    """

    def __init__(
        self, path: str | Path | None = None, *, durable: bool = False
    ) -> None:
        self.path = None if path is None else Path(path)
        self._lock = threading.Lock()
        try:
            self._open(durable)
        except FAILURES as error:
            raise StoreError(
                "The file of sessions must be a writable SQLite file. Got: "
                f"{error} for {path}. Choose another path."
            ) from error
        self._is_closed = threading.Event()
        self._mover: threading.Thread | None = None
        if self.path is not None:
            # Events go from the log into the file aside: here, a step now and then
            # would wait for it, some ten milliseconds.
            self._db.execute("PRAGMA wal_autocheckpoint=0")
            self._mover = threading.Thread(target=self._move_events, daemon=True)
            self._mover.start()

    def _open(self, durable: bool) -> None:
        self._db = sqlite3.connect(
            ":memory:" if self.path is None else self.path,
            isolation_level=None,
            check_same_thread=False,
            timeout=5.0,
        )
        try:
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
            self._check_version(version)
            self._db.executescript(SCHEMA)
            self._check_whole()
            self._db.execute(f"PRAGMA user_version={VERSION}")
            self._n_sessions = int(self._one("SELECT count(*) FROM sessions")[0])
        except BaseException:
            self._db.close()
            raise

    def _check_version(self, version: int) -> None:
        if version > VERSION:
            raise DataFileError(
                f"A file of sessions must be of version {VERSION} at most. Got "
                f"{version} in {self.path}. Update to the newer Askless that wrote it."
            )

    def _check_whole(self) -> None:
        """Look whether tables are those of a new file, and rows where they belong."""
        query = "SELECT name, sql FROM sqlite_master ORDER BY name"
        with closing(sqlite3.connect(":memory:")) as new:
            new.executescript(SCHEMA)
            if new.execute(query).fetchall() != self._db.execute(query).fetchall():
                raise self._failed("tables that are not those of sessions")
        if self.path is not None and self.path.stat().st_size <= MOST_CHECKED:
            # Where rows lie in a wrong order, what is added may not be found again.
            said = self._db.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if said != "ok":
                raise self._failed(said)

    def _failed(self, error: Exception | str) -> StoreError:
        return StoreError(
            f"The file of sessions must be whole. Got: {error} for {self.path}. Make "
            "room for it, or put back a copy of it that is whole."
        )

    def _one(self, query: str, *values: object) -> Any:
        with self._lock:
            try:
                return self._db.execute(query, values).fetchone()
            except FAILURES as error:
                raise self._failed(error) from error

    def _all(self, query: str, *values: object) -> list[Any]:
        with self._lock:
            try:
                return self._db.execute(query, values).fetchall()
            except FAILURES as error:
                raise self._failed(error) from error

    def _body(self, text: Any) -> dict[str, Any]:
        """Return an event; its row may have been damaged."""
        try:
            return msgspec.json.decode(text, type=dict[str, Any])
        except (msgspec.MsgspecError, TypeError, UnicodeError) as error:
            raise self._failed(f"{error} in an event") from error

    # Sessions and their events.

    def begin(self, session: str, policy: str, digest: str, owner: str) -> None:
        """Add a session."""
        row = (session, policy, digest, owner, time.time())
        with self._lock:
            try:
                self._db.execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?)", row)
            except FAILURES as error:
                raise self._failed(error) from error
            self._n_sessions += 1

    def find(self, session: str) -> SessionRow | None:
        """Return a session, or None if there is none of this name."""
        row = self._one(
            "SELECT id, policy, digest, owner, created FROM sessions WHERE id = ?",
            session,
        )
        if row is None:
            return None
        if not all(isinstance(cell, str) for cell in row[:4]):
            raise self._failed("a cell that is not a text")
        return SessionRow(*row)

    def add(
        self,
        session: str,
        number: int,
        bodies: Sequence[Mapping[str, Any]],
        repeat: Repeat | None = None,
    ) -> None:
        """Add events from a number on: all of them, or none.

        Raises
        ------
        Conflict
            If there is an event of this number, or of this repeat key.
        """
        now = time.time()
        rows: list[tuple[Any, ...]] = [
            (session, number + i, None, None, now, _to_text(body))
            for i, body in enumerate(bodies)
        ]
        if repeat is not None:
            rows[0] = (*rows[0][:2], repeat.key, repeat.request, *rows[0][4:])
        with self._lock:
            try:
                self._insert(rows)
            except sqlite3.IntegrityError as error:
                raise Conflict(str(error)) from error
            except FAILURES as error:
                raise self._failed(error) from error

    def _insert(self, rows: list[tuple[Any, ...]]) -> None:
        query = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)"
        if len(rows) == 1:
            self._db.execute(query, rows[0])
            return
        self._db.execute("BEGIN IMMEDIATE")
        try:
            self._db.executemany(query, rows)
            self._db.execute("COMMIT")
        except BaseException:
            self._db.execute("ROLLBACK")
            raise

    def events(self, session: str) -> list[dict[str, Any]]:
        """Return the events of a session in order."""
        rows = self._all(
            "SELECT number, body FROM events WHERE session = ? ORDER BY number", session
        )
        if [row[0] for row in rows] != list(range(len(rows))):
            raise self._failed("a session that lacks an event")
        return [self._body(row[1]) for row in rows]

    def log(self, session: str) -> list[dict[str, Any]]:
        """Return the events of a session with their times."""
        rows = self._all(
            "SELECT at, body FROM events WHERE session = ? ORDER BY number", session
        )
        return [{"at": row[0], **self._body(row[1])} for row in rows]

    def n_events(self, session: str) -> int:
        """Return how many events a session has."""
        row = self._one("SELECT max(number) FROM events WHERE session = ?", session)
        if not isinstance(row[0], int | None):
            raise self._failed("an event whose number is not whole")
        return 0 if row[0] is None else row[0] + 1

    def request_of(self, session: str, repeat_key: str) -> str | None:
        """Return what was asked for with a repeat key; None if it did not come yet."""
        row = self._one(
            "SELECT request FROM events WHERE session = ? AND repeat_key = ?",
            session,
            repeat_key,
        )
        return None if row is None else str(row[0])

    @property
    def n_sessions(self) -> int:
        """How many sessions are kept, as far as this process knows."""
        return self._n_sessions

    # Policies.

    def keep_policy(self, digest: str, content: bytes) -> None:
        """Keep the file of a policy, once."""
        packed = zlib.compress(content, 1)
        self._all("INSERT OR IGNORE INTO policies VALUES (?, ?)", digest, packed)

    def has_policy(self, digest: str) -> bool:
        """Return whether the file of a policy is kept."""
        found = self._one("SELECT 1 FROM policies WHERE digest = ?", digest)
        return found is not None

    def policy(self, digest: str) -> bytes | None:
        """Return the file of a policy that was kept."""
        row = self._one("SELECT content FROM policies WHERE digest = ?", digest)
        try:
            return None if row is None else zlib.decompress(row[0])
        except (zlib.error, TypeError) as error:
            raise self._failed(f"{error} in a policy") from error

    def _move_events(self) -> None:
        """Move events from the write-ahead log into the file, now and then."""
        assert self.path is not None
        log = self.path.with_name(f"{self.path.name}-wal")
        db = sqlite3.connect(self.path, isolation_level=None, timeout=5.0)
        try:
            while not self._is_closed.wait(MOVE_EVERY):
                size = log.stat().st_size if log.exists() else 0
                if size >= LEAST_MOVED:
                    # Nobody waits for a passive one, but under load it never empties
                    # the log.
                    way = "PASSIVE" if size < MOST_LOGGED else "TRUNCATE"
                    with suppress(sqlite3.Error, OSError):
                        db.execute(f"PRAGMA wal_checkpoint({way})")
        finally:
            db.close()

    def close(self) -> None:
        """Close the file."""
        self._is_closed.set()
        if self._mover is not None:
            self._mover.join()
        with self._lock:
            self._db.close()


def _to_text(body: Mapping[str, Any]) -> str:
    return msgspec.json.encode(body).decode()
