"""Interview a program: a line of JSON for each question, answer and decision.

It must not know how the next test is chosen.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from askless.cli._ask_text import Left
from askless.exceptions import InvalidAnswerError
from askless.run import Interview, Reply, read_reply

__all__ = ["describe", "talk_json"]

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
    if reply.kind == "answer":
        interview.answer(reply.outcome)
    elif reply.kind == "unsure":
        interview.unsure()
    elif reply.kind == "skip":
        interview.skip()
    elif reply.kind == "undo":
        interview.undo()
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


def describe(interview: Interview) -> dict[str, Any]:
    """Return where an interview stands: the next test, or the decision."""
    session = interview.session
    shares = session.probabilities
    money = {"spent": session.spent, "left_at_worst": session.left_at_worst}
    likely = [
        {"decision": label, "share": shares[label]}
        for label in sorted(shares, key=lambda label: -shares[label])
        if shares[label] > 0
    ]
    if interview.is_over:
        return {
            "event": "decision",
            "decision": session.decision,
            "certainty": interview.certainty,
            **money,
            "cost_of_all": session.policy.prices.cost_of_all(),
            "n_unanswered": interview.n_unanswered,
            "path": session.log,
            "likely": likely,
        }
    assert session.test is not None
    test = session.policy.test_by_name[session.test]
    return {
        "event": "question",
        "test": test.name,
        "kind": test.kind,
        "outcomes": list(test.outcomes),
        "price": session.price,
        "price_at_most": session.price_at_most,
        "ordered": list(session.ordered),
        **money,
        "why": session.why(),
        "branches": [
            {
                "label": branch.label,
                "share": branch.share,
                "test": branch.test,
                "decision": branch.decision,
                "n_decisions": branch.n_decisions,
            }
            for branch in session.branches()
        ],
        "decision_now": session.decision_now,
        "likely": likely,
    }


def _write(content: dict[str, Any]) -> None:
    click.echo(json.dumps(content, allow_nan=False))
    sys.stdout.flush()
