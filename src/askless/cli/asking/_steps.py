"""What an interview with a person and one with a program share: taking a step.

It must not know how a question is shown or an answer is typed.
"""

from __future__ import annotations

from askless.run import Interview, Reply

__all__ = ["Left", "take_step"]


class Left(Exception):
    """The interview was left before its end."""


def take_step(interview: Interview, reply: Reply) -> bool:
    """Move the interview on as a reply says; return whether it says so."""
    if reply.kind == "answer":
        interview.answer(reply.outcome)
    elif reply.kind == "unsure":
        interview.unsure()
    elif reply.kind == "skip":
        interview.skip()
    elif reply.kind == "undo":
        interview.undo()
    else:
        return False
    return True
