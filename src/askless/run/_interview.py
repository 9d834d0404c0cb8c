"""An interview: a session whose every step is logged, and that asks nothing twice.

It does not know how questions are shown or answers typed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from askless.policy import Policy
from askless.run._journal import Journal
from askless.run._session import Session

__all__ = ["Interview"]


class Interview:
    """One case, asked of someone who may not know, or change their mind.

    A number that is compared with several thresholds is asked for once.

    Parameters
    ----------
    policy : Policy
        What to ask and what to decide.
    journal : Journal, optional
        Where to log every step.

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

    def __init__(self, policy: Policy, journal: Journal | None = None) -> None:
        self.session = Session(policy)
        self.journal = journal

    @classmethod
    def resume(cls, policy: Policy, path: str | Path) -> Interview:
        """Go on with the interview that a log was left at."""
        journal, session = Journal.resume(path, policy)
        interview = cls(policy, journal)
        interview.session = session
        interview._catch_up()
        return interview

    @property
    def is_over(self) -> bool:
        """Whether the policy has decided."""
        return self.session.test is None

    @property
    def certainty(self) -> float:
        """Share of the decision, or of what would be decided now."""
        return self.session.probabilities[self.session.decision_now]

    @property
    def n_unanswered(self) -> int:
        """How many tests were asked and not answered."""
        skipped = {e["test"] for e in self.session.log if e.get("skipped")}
        return len(skipped)

    def answer(self, outcome: object) -> None:
        """Pay for the next test and go on with what it has shown."""
        self.session.answer(outcome)
        self._keep()

    def unsure(self) -> None:
        """Go on without an outcome of a test that was run, and is paid for."""
        self.session.skip(paid=True)
        self._keep()

    def skip(self) -> None:
        """Go on without running the next test."""
        self.session.skip()
        self._keep()

    def undo(self) -> None:
        """Take back the last answer that was given."""
        repeated = True
        while repeated:
            log = self.session.log
            earlier = {entry["test"] for entry in log[:-1]}
            repeated = bool(log) and log[-1]["test"] in earlier
            self.session.undo()
            self._write({"undo": True})

    def what_if(self, outcome: object) -> Interview:
        """Return how the interview would go on after an answer; nothing is logged."""
        other = Interview(self.session.policy)
        other.session = self.session.copy()
        other.answer(outcome)
        return other

    def close(self) -> None:
        """Log the decision, if there is one, and close the log."""
        if self.journal is None:
            return
        if self.is_over and not self.journal.is_finished:
            session = self.session
            self._write({"decision": session.decision, "spent": session.spent})
        self.journal.close()

    def _keep(self) -> None:
        self._write(self.session.log[-1])
        self._catch_up()

    def _catch_up(self) -> None:
        """Answer again, as before, what was asked before."""
        while (known := self._known_entry()) is not None:
            self.session.replay_entry(known)
            self._write(self.session.log[-1])

    def _known_entry(self) -> dict[str, Any] | None:
        same = [e for e in self.session.log if e["test"] == self.session.test]
        return same[-1] if same else None

    def _write(self, entry: dict[str, Any]) -> None:
        if self.journal is not None:
            self.journal.write(entry)
