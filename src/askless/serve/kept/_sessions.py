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
from typing import Any

from askless.exceptions import InvalidAnswerError, InvalidOptionError, UnknownNameError
from askless.run import Interview
from askless.serve.kept._library import Library, Offer
from askless.serve.kept._store import Conflict, Repeat, Store

__all__ = ["Live", "Sessions", "StaleStep", "TooManySessions"]

# Interviews that are kept in memory between two requests.
MAX_LIVE = 20_000
# Beyond so many events a session is no interview any more.
MAX_EVENTS = 10_000
MAX_SESSIONS = 10_000_000


class StaleStep(Exception):
    """The step was meant for another state of the session."""


class TooManySessions(Exception):
    """There is no room for another session."""


class _Draft:
    """What an interview logs during one step; the store gets all of it or nothing."""

    def __init__(self, n_lines: int) -> None:
        self.n_lines = n_lines
        self.is_finished = False
        self.entries: list[dict[str, Any]] = []

    def write(self, entry: dict[str, Any]) -> None:
        if self.n_lines >= MAX_EVENTS:
            raise InvalidAnswerError(
                f"A session must have at most {MAX_EVENTS} events. Got more. Begin a "
                "new one."
            )
        self.entries.append(entry)
        self.n_lines += 1

    def close(self) -> None:
        """Nothing is held."""


class Live:
    """A session and where it stands. Whoever reads or changes it holds its lock.

    Attributes
    ----------
    id, owner : str
    offer : Offer
        The version of the policy that it began with.
    interview : Interview
    step : int
        How many events there are; goes up with every change.
    """

    def __init__(self, id: str, owner: str, offer: Offer) -> None:
        self.id, self.owner, self.offer = id, owner, offer
        self.interview = Interview(offer.policy)
        self.step = 0
        self.lock = threading.RLock()

    def replay(self, events: list[dict[str, Any]]) -> None:
        """Come to where some events lead."""
        interview = Interview(self.offer.policy)
        for entry in events:
            if entry.get("undo"):
                interview.session.undo()
            else:
                interview.session.replay_entry(entry)
        self.interview, self.step = interview, len(events)


class Sessions:
    """All sessions of a service.

    Parameters
    ----------
    library : Library
        Where policies come from; a session stays with the version it began with.
    store : Store
        Where events are kept.
    max_live : int, default=20000
        Sessions that stay in memory.
    max_sessions : int, default=10000000
        Sessions that are kept at all.

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
        self,
        library: Library,
        store: Store,
        *,
        max_live: int = MAX_LIVE,
        max_sessions: int = MAX_SESSIONS,
    ) -> None:
        self.library, self.store = library, store
        self.max_live, self.max_sessions = max_live, max_sessions
        self._live: OrderedDict[str, Live] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, offer: Offer, owner: str = "") -> Live:
        """Begin a session; its identifier cannot be guessed.

        Raises
        ------
        TooManySessions
            If as many as may be kept are kept.
        """
        if self.store.n_sessions >= self.max_sessions:
            raise TooManySessions
        session = secrets.token_urlsafe(24)
        self.store.begin(session, offer.name, offer.digest, owner)
        return self._keep(Live(session, owner, offer))

    def find(self, session: str, owner: str = "", *, is_read: bool = True) -> Live:
        """Return a session where it stands.

        Parameters
        ----------
        session, owner : str
        is_read : bool, default=True
            Look whether another process has moved it on.

        Raises
        ------
        UnknownNameError
            If there is none of this identifier, or it is somebody else's.
        """
        with self._lock:
            live = self._live.get(session)
            if live is not None:
                self._live.move_to_end(session)
        if live is None:
            live = self._load(session)
        if live is None or not secrets.compare_digest(live.owner, owner):
            raise UnknownNameError(
                "A session must have been begun here. Got an identifier that is not "
                "known. Begin a new session."
            )
        if is_read:
            with live.lock:
                self._catch_up(live)
        return live

    def change(
        self,
        session: str,
        act: Callable[[Interview], object],
        *,
        owner: str = "",
        step: int | None = None,
        repeat: Repeat | None = None,
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
        repeat : Repeat, optional
            A request that comes twice with the same key is done once.

        Raises
        ------
        StaleStep
            If the session has moved on since.
        """
        live = self.find(session, owner)
        with live.lock:
            if repeat is not None and self._was_done(live, repeat):
                return live
            if step is not None and step != live.step:
                raise StaleStep(f"step {step} is over; the session is at {live.step}")
            self._act(live, act, repeat)
        return live

    def _act(
        self, live: Live, act: Callable[[Interview], object], repeat: Repeat | None
    ) -> None:
        draft = _Draft(live.step)
        live.interview.journal = draft
        try:
            act(live.interview)
            if draft.entries:
                self.store.add(live.id, live.step, draft.entries, repeat)
            live.step = draft.n_lines
        except Conflict as error:
            # Another process has moved it on.
            live.replay(self.store.events(live.id))
            raise StaleStep("another program has moved the session on") from error
        except BaseException:
            # The interview may have moved although nothing was kept of it.
            if draft.entries:
                live.replay(self.store.events(live.id))
            raise
        finally:
            live.interview.journal = None

    def _was_done(self, live: Live, repeat: Repeat) -> bool:
        before = self.store.request_of(live.id, repeat.key)
        if before is not None and before != repeat.request:
            raise InvalidOptionError(
                "A key against repetition must come with one request only. Got it with "
                "another one. Make a new key for each step."
            )
        return before is not None

    def forget(self, session: str) -> None:
        """Drop what is in memory; the next request replays the events."""
        with self._lock:
            self._live.pop(session, None)

    def _load(self, session: str) -> Live | None:
        row = self.store.find(session)
        if row is None:
            return None
        offer = self.library.find(row.policy, row.digest)
        live = Live(session, row.owner, offer)
        live.replay(self.store.events(session))
        return self._keep(live)

    def _catch_up(self, live: Live) -> None:
        """Replay a session if another process, with the same file, has moved it on."""
        if self.store.path is not None and self.store.n_events(live.id) != live.step:
            live.replay(self.store.events(live.id))

    def _keep(self, live: Live) -> Live:
        with self._lock:
            live = self._live.setdefault(live.id, live)
            self._live.move_to_end(live.id)
            while len(self._live) > self.max_live:
                self._live.popitem(last=False)
        return live


def to_request(act: str, body: Mapping[str, Any]) -> str:
    """Return what a request asks for, as text that is equal for equal requests.

    Examples
    --------
    >>> to_request("answer", {"outcome": "dim"})
    "answer [('outcome', 'dim')]"
    """
    return f"{act} {sorted(body.items())}"
