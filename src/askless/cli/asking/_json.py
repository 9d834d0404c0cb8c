"""Interview a program: a line of JSON for each question, answer and decision.

It must not know how the next test is chosen.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from askless.cli.asking._steps import Left, take_step
from askless.exceptions import InvalidAnswerError
from askless.run import Interview, Reply, describe, read_reply

__all__ = ["talk_json"]

# The keys of an object that is read; each stands for what may also be typed.
COMMANDS = ("answer", "what_if", "unsure", "skip", "undo", "quit")


def talk_json(interview: Interview) -> None:
    """Write a line for each state, read a line for each step, until there are no more.

    Raises
    ------
    Left
        If the input ends before the decision.
    """
    _write(describe(interview))
    while line := sys.stdin.readline():
        if not line.strip():
            continue
        try:
            said = _act(interview, line)
        except InvalidAnswerError as error:
            said = {"event": "error", "message": str(error)}
        if said is None:
            break
        _write(said)
    if not interview.is_over:
        raise Left


def _act(interview: Interview, line: str) -> dict[str, Any] | None:
    """Do what a line says; return what came of it, or None to leave."""
    reply = _read(interview, line)
    if reply.kind == "quit":
        return None
    if reply.kind == "what if":
        after = describe(interview.what_if(reply.outcome))
        return {**after, "event": "what if", "if": reply.outcome}
    take_step(interview, reply)
    return describe(interview)


def _read(interview: Interview, line: str) -> Reply:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return read_reply(interview.session, line)
    if not isinstance(said, dict):
        text = said if isinstance(said, str) else line
        return read_reply(interview.session, text)
    named = [name for name in COMMANDS if name in said]
    if len(said) != 1 or not named:
        raise InvalidAnswerError(
            f"A line must have one of {', '.join(COMMANDS)}. Got {sorted(said)}. "
            'Write, for example, {"answer": "yes"} or {"undo": true}.'
        )
    kind: Any = "what if" if named[0] == "what_if" else named[0]
    return Reply(kind, said[named[0]] if kind in ("answer", "what if") else None)


def _write(content: dict[str, Any]) -> None:
    click.echo(json.dumps(content, allow_nan=False))
    sys.stdout.flush()
