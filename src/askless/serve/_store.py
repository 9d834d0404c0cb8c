"""Events of sessions in SQLite: what happened is the state, and the audit log.

An event is committed before anyone hears of it, and never changed. Two writers of one
session cannot both add the same event number. This module knows rows; it must not know
what an event means.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from askless.exceptions import DataFileError

__all__ = ["Conflict", "SessionRow", "Store"]

VERSION = 1
SCHEMA = """
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
    at REAL NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, number)
) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS once
    ON events (session, repeat_key) WHERE repeat_key IS NOT NULL;
"""


class Conflict(Exception):
    """Somebody else has added an event in the meantime."""


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
    >>> store.add("s1", 0, {"test": "lamp", "outcome": "dim"})
    >>> store.events("s1")
    [{'test': 'lamp', 'outcome': 'dim'}]
    """

    def __init__(
        self, path: str | Path | None = None, *, durable: bool = False
    ) -> None:
        self.path = None if path is None else Path(path)
        self._lock = threading.Lock()
        try:
            self._db = sqlite3.connect(
                ":memory:" if path is None else path,
                isolation_level=None,
                check_same_thread=False,
                timeout=5.0,
            )
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
            self._check_version(version)
            self._db.executescript(SCHEMA)
            self._db.execute(f"PRAGMA user_version={VERSION}")
        except sqlite3.Error as error:
            raise DataFileError(
                "The file of sessions must be a writable SQLite file. Got: "
                f"{error} for {path}. Choose another path."
            ) from error

    def _check_version(self, version: int) -> None:
        if version > VERSION:
            raise DataFileError(
                f"A file of sessions must be of version {VERSION} at most. Got "
                f"{version} in {self.path}. Update to the newer Askless that wrote it."
            )

    def begin(self, session: str, policy: str, digest: str, owner: str) -> None:
        """Keep a new session."""
        with self._lock:
            self._db.execute(
                "INSERT INTO sessions VALUES (?, ?, ?, ?, ?)",
                (session, policy, digest, owner, time.time()),
            )

    def find(self, session: str) -> SessionRow | None:
        """Return a session, or None if there is none of this name."""
        with self._lock:
            row = self._db.execute(
                "SELECT id, policy, digest, owner, created FROM sessions WHERE id = ?",
                (session,),
            ).fetchone()
        return None if row is None else SessionRow(*row)

    def add(
        self,
        session: str,
        number: int,
        body: Mapping[str, Any],
        repeat_key: str | None = None,
    ) -> None:
        """Add an event.

        Raises
        ------
        Conflict
            If there is an event of this number, or of this repeat key.
        """
        text = json.dumps(body, ensure_ascii=False, allow_nan=False)
        try:
            with self._lock:
                self._db.execute(
                    "INSERT INTO events VALUES (?, ?, ?, ?, ?)",
                    (session, number, repeat_key, time.time(), text),
                )
        except sqlite3.IntegrityError as error:
            raise Conflict(str(error)) from error

    def events(self, session: str) -> list[dict[str, Any]]:
        """Return the events of a session in order."""
        with self._lock:
            rows = self._db.execute(
                "SELECT body FROM events WHERE session = ? ORDER BY number", (session,)
            ).fetchall()
        return [json.loads(row[0]) for row in rows]

    def log(self, session: str) -> list[dict[str, Any]]:
        """Return the events of a session with their times."""
        with self._lock:
            rows = self._db.execute(
                "SELECT at, body FROM events WHERE session = ? ORDER BY number",
                (session,),
            ).fetchall()
        return [{"at": row[0], **json.loads(row[1])} for row in rows]

    def number_of(self, session: str, repeat_key: str) -> int | None:
        """Return the number of the event that came with a repeat key."""
        with self._lock:
            row = self._db.execute(
                "SELECT number FROM events WHERE session = ? AND repeat_key = ?",
                (session, repeat_key),
            ).fetchone()
        return None if row is None else int(row[0])

    def count(self) -> int:
        """Return how many sessions are kept."""
        with self._lock:
            return int(self._db.execute("SELECT count(*) FROM sessions").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()
