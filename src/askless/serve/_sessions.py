"""Sessions that outlive their requests: begin, step, undo, read, resume.

Every step is in the store before it is acknowledged. What is kept in memory is only a
shortcut: a session that is not there is replayed from its events. This module must not
know how requests look.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from askless.exceptions import InvalidAnswerError, UnknownNameError
from askless.run import Interview
from askless.serve._library import Library, Offer
from askless.serve._store import Conflict, Store

__all__ = ["Live", "Sessions", "StaleStep"]

# Interviews that are kept in memory between two requests.
MAX_LIVE = 20_000
# Beyond so many events a session is no interview any more.
MAX_EVENTS = 10_000


class StaleStep(Exception):
    """The step was meant for another state of the session."""


class _StoredEvents:
    """Where an interview logs its steps: the events of one session in the store."""

    def __init__(self, store: Store, session: str, n_events: int) -> None:
        self.store, self.session = store, session
        self.n_lines = n_events
        self.is_finished = False
        # Goes with the next event, so that a repeated request is found again.
        self.repeat_key: str | None = None

    def write(self, entry: Mapping[str, Any]) -> None:
        if self.n_lines >= MAX_EVENTS:
            raise InvalidAnswerError(
                f"A session must have at most {MAX_EVENTS} events. Got more. Begin a "
                "new one."
            )
        key, self.repeat_key = self.repeat_key, None
        self.store.add(self.session, self.n_lines, entry, key)
        self.n_lines += 1

    def close(self) -> None:
        """Leave the store open for others."""


class Live(NamedTuple):
    """A session and where it stands."""

    id: str
    offer: Offer
    interview: Interview
    events: _StoredEvents
    lock: threading.Lock

    @property
    def step(self) -> int:
        """How many events there are; goes up with every change."""
        return self.events.n_lines


class Sessions:
    """All sessions of a service.

    Parameters
    ----------
    library : Library
        Where policies come from; a session stays with the version it began with.
    store : Store
        Where events are kept.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> library = Library([("parity", askless.solve(table).policy)])
    >>> sessions = Sessions(library, Store())
    >>> live = sessions.begin(library.find("parity"))
    >>> live = sessions.change(live.id, lambda interview: interview.answer(1))
    >>> live.interview.session.decision, live.step
    ('odd', 1)
    """

    def __init__(
        self, library: Library, store: Store, *, max_live: int = MAX_LIVE
    ) -> None:
        self.library, self.store, self.max_live = library, store, max_live
        self._live: OrderedDict[str, Live] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, offer: Offer, owner: str = "") -> Live:
        """Begin a session; its identifier cannot be guessed."""
        session = secrets.token_urlsafe(24)
        self.store.begin(session, offer.name, offer.digest, owner)
        return self._keep(self._make(session, offer, []))

    def find(self, session: str, owner: str = "") -> Live:
        """Return a session where it stands.

        Raises
        ------
        UnknownNameError
            If there is none of this identifier, or it is somebody else's.
        """
        row = self.store.find(session)
        if row is None or not secrets.compare_digest(row.owner, owner):
            raise UnknownNameError(
                "A session must have been begun here. Got an identifier that is not "
                "known. Begin a new session."
            )
        with self._lock:
            live = self._live.get(session)
            if live is not None:
                self._live.move_to_end(session)
                return live
        offer = self.library.find(row.policy, row.digest)
        return self._keep(self._make(session, offer, self.store.events(session)))

    def change(
        self,
        session: str,
        act: Callable[[Interview], object],
        *,
        owner: str = "",
        step: int | None = None,
        repeat_key: str | None = None,
    ) -> Live:
        """Do something with a session, once.

        Parameters
        ----------
        session : str
        act : callable
            ``act(interview)``: answer, skip, undo.
        owner : str
        step : int, optional
            The step that the caller has seen; another one is a conflict.
        repeat_key : str, optional
            A request that comes twice with the same key is done once.

        Raises
        ------
        StaleStep
            If the session has moved on since.
        """
        live = self.find(session, owner)
        with live.lock:
            if repeat_key is not None and self._was_done(session, repeat_key):
                return live
            if step is not None and step != live.step:
                raise StaleStep(f"step {step} is over; the session is at {live.step}")
            live.events.repeat_key = repeat_key
            try:
                act(live.interview)
            except Conflict as error:
                # Another process has moved it on; what is in memory is old.
                self.forget(session)
                raise StaleStep("another program has moved the session on") from error
            finally:
                live.events.repeat_key = None
        return live

    def _was_done(self, session: str, repeat_key: str) -> bool:
        return self.store.number_of(session, repeat_key) is not None

    def forget(self, session: str) -> None:
        """Drop what is in memory; the next request replays the events."""
        with self._lock:
            self._live.pop(session, None)

    def _make(self, session: str, offer: Offer, events: list[dict[str, Any]]) -> Live:
        stored = _StoredEvents(self.store, session, len(events))
        interview = Interview(offer.policy)
        for entry in events:
            if entry.get("undo"):
                interview.session.undo()
            else:
                interview.session.replay_entry(entry)
        interview.journal = stored
        return Live(session, offer, interview, stored, threading.Lock())

    def _keep(self, live: Live) -> Live:
        with self._lock:
            live = self._live.setdefault(live.id, live)
            self._live.move_to_end(live.id)
            while len(self._live) > self.max_live:
                self._live.popitem(last=False)
        return live
