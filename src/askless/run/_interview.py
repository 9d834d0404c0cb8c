"""An interview: a session whose every step is logged, and that asks nothing twice.

It does not know how questions are shown or answers typed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from askless.policy import Policy
from askless.run._journal import Journal
from askless.run._session import Session, Step

__all__ = ["Interview", "StepLog"]


class StepLog(Protocol):
    """Where an interview logs its steps: a :class:`Journal`, or anything like it."""

    # How many entries were written, and whether the last is the decision.
    n_lines: int
    is_finished: bool

    def write(self, entry: dict[str, Any], /) -> None:
        """Keep an entry for good, or raise."""

    def close(self) -> None:
        """Give the log back."""


class Interview:
    """One case, asked of someone who may not know, or change their mind.

    A number that is compared with several thresholds is asked for once.

    Parameters
    ----------
    policy : Policy
        What to ask and what to decide.
    journal : Journal or another StepLog, optional
        Where to log every step.
    session : Session, optional
        Where to go on from; a new session by default.

    Attributes
    ----------
    session : Session
        Where the case stands.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([["dark", "dead"], ["dark", "live"], ["dim", "live"]],
    ...                       ["fuse", "bulb", "dimmer"], tests=["lamp", "socket"],
    ...                       costs={"lamp": 1, "socket": 5})
    >>> interview = Interview(askless.solve(table).policy)
    >>> interview.answer("dark")
    >>> interview.what_if("dead").session.decision
    'fuse'
    >>> interview.unsure()
    >>> interview.session.decision, interview.certainty
    ('fuse', 0.5)
    """

    def __init__(
        self,
        policy: Policy,
        journal: StepLog | None = None,
        *,
        session: Session | None = None,
    ) -> None:
        self.session = Session(policy) if session is None else session
        self.journal = journal
        # A step whose line may be in the log already, though the session has not moved.
        self._pending: tuple[Step, int] | None = None

    @classmethod
    def resume(cls, policy: Policy, path: str | Path) -> Interview:
        """Go on with the interview that a log was left at."""
        journal, session = Journal.resume(path, policy)
        interview = cls(policy, journal, session=session)
        interview._catch_up()
        return interview

    @property
    def is_over(self) -> bool:
        """Whether the policy has decided."""
        return self.session.test is None

    @property
    def certainty(self) -> float:
        """Share of the decision, or of what would be decided now.

        Among the cases that fit the answers; those that no case shows are left out.
        """
        return self.session.certainty

    @property
    def n_unanswered(self) -> int:
        """How many tests were asked and not answered."""
        skipped = {e["test"] for e in self.session.log if e.get("skipped")}
        return len(skipped)

    def answer(self, outcome: object) -> None:
        """Pay for the next test and go on with what it has shown.

        The answer is checked first, then logged, and only then the session moves: where
        one of these fails, everything is as it was before.
        """
        self._finish_pending()
        self._make(self.session.plan_answer(outcome))

    def unsure(self) -> None:
        """Go on without an outcome of a test that was run, and is paid for."""
        self._finish_pending()
        self._make(self.session.plan_skip(paid=True))

    def skip(self) -> None:
        """Go on without running the next test."""
        self._finish_pending()
        self._make(self.session.plan_skip())

    def undo(self) -> None:
        """Take back the last answer that was given."""
        self._finish_pending()
        repeated = True
        while repeated:
            log = self.session.log
            earlier = {entry["test"] for entry in log[:-1]}
            repeated = bool(log) and log[-1]["test"] in earlier
            if log:
                self._write({"undo": True})
            self.session.undo()

    def what_if(self, outcome: object) -> Interview:
        """Return how the interview would go on after an answer; nothing is logged."""
        other = Interview(self.session.policy, session=self.session.copy())
        other.answer(outcome)
        return other

    def close(self) -> None:
        """Log the decision, if there is one, and close the log."""
        if self.journal is None:
            return
        try:
            self._finish_pending()
            if self.is_over and not self.journal.is_finished:
                session = self.session
                self._write({"decision": session.decision, "spent": session.spent})
        finally:
            self.journal.close()

    def _make(self, step: Step) -> None:
        """Log a step, make it, and answer again what was answered before."""
        self._log_and_take(step)
        self._catch_up()

    def _log_and_take(self, step: Step) -> None:
        if self.journal is not None:
            self._pending = (step, self.journal.n_lines)
            self.journal.write(step.entry)
        self.session.take(step)
        self._pending = None

    def _finish_pending(self) -> None:
        """Take the step whose line was written when Ctrl-C came before the session."""
        if self._pending is None or self.journal is None:
            return
        step, n_lines = self._pending
        self._pending = None
        if self.journal.n_lines > n_lines and step.before is self.session._moment:
            self.session.take(step)
            self._catch_up()

    def _catch_up(self) -> None:
        """Answer again, as before, what was asked before."""
        while (known := self._known_entry()) is not None:
            self._log_and_take(self.session.plan_entry(known))

    def _known_entry(self) -> dict[str, Any] | None:
        same = [e for e in self.session.log if e["test"] == self.session.test]
        return same[-1] if same else None

    def _write(self, entry: dict[str, Any]) -> None:
        if self.journal is not None:
            self.journal.write(entry)
