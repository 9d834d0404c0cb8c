"""Understand what someone types: an answer, by number, name or value, or a command.

An outcome that is spelled in full is always meant as that outcome. It does not know
what is done with a reply.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from askless._text import is_number_text
from askless.exceptions import InvalidAnswerError, suggest_name
from askless.problem import Outcome, Test
from askless.problem._frames import list_some
from askless.run._session import Session

__all__ = ["COMMANDS", "Kind", "Reply", "numbers_choices", "read_reply"]

Kind = Literal["answer", "unsure", "skip", "undo", "what if", "why", "help", "quit"]

# What may be typed for each command; a colon in front tells it from an outcome.
COMMANDS: dict[str, Kind] = {
    "?": "unsure",
    "d": "unsure",
    "don't know": "unsure",
    "dont know": "unsure",
    "unsure": "unsure",
    "s": "skip",
    "skip": "skip",
    "u": "undo",
    "undo": "undo",
    "w": "what if",
    "what if": "what if",
    "what-if": "what if",
    "y": "why",
    "why": "why",
    "h": "help",
    "help": "help",
    "q": "quit",
    "quit": "quit",
    "exit": "quit",
}


class Reply(NamedTuple):
    """What someone wants: to answer with an outcome, or a command."""

    kind: Kind
    outcome: Outcome | None = None


def read_reply(session: Session, text: str) -> Reply:
    """Return what a text means at the next test of a session.

    Parameters
    ----------
    session : Session
        Where the case stands.
    text : str
        An outcome, by its name, the beginning of it, its number in the list (``2`` or
        ``#2``), or a number that was measured; or a command such as ``skip`` or
        ``what if dead``. ``:skip`` is a command whatever the outcomes are called.

    Raises
    ------
    InvalidAnswerError
        If it is none of these.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([["dark"], ["dim"]], ["bulb", "dimmer"], tests=["lamp"])
    >>> session = askless.solve(table).policy.start()
    >>> for text in ("dark", "2", "DI", "skip", "what if 1"):
    ...     print(read_reply(session, text))
    Reply(kind='answer', outcome='dark')
    Reply(kind='answer', outcome='dim')
    Reply(kind='answer', outcome='dim')
    Reply(kind='skip', outcome=None)
    Reply(kind='what if', outcome='dark')
    """
    typed = " ".join(text.split())
    test = _next_test(session)
    if test is not None and (exact := _spelled(test, typed)) is not None:
        return Reply("answer", exact)
    command = typed.removeprefix(":").strip().casefold().replace("’", "'")
    if command in COMMANDS:
        return Reply(_with_question(COMMANDS[command], test))
    for words in ("what if ", "what-if ", "w "):
        if command.startswith(words):
            rest = typed.removeprefix(":").strip()[len(words) :]
            _with_question("what if", test)
            assert test is not None
            return Reply("what if", find_outcome(test, rest))
    if test is None:
        raise InvalidAnswerError(
            f"There must be a test to answer. Got {typed!r} after the decision. Type "
            "undo to take the last answer back, or quit."
        )
    return Reply("answer", find_outcome(test, typed))


def _next_test(session: Session) -> Test | None:
    return None if session.test is None else session.policy.test_by_name[session.test]


def _with_question(kind: Kind, test: Test | None) -> Kind:
    if test is None and kind in ("unsure", "skip", "what if"):
        raise InvalidAnswerError(
            f"There must be a test to answer. Got {kind!r} after the decision. Type "
            "undo to take the last answer back, or quit."
        )
    return kind


def _spelled(test: Test, typed: str) -> Outcome | None:
    """Return the outcome that a text spells in full."""
    if test.kind == "number" or typed not in test.lookup:
        return None
    return test.outcomes[test.lookup[typed]]


def find_outcome(test: Test, typed: str) -> Outcome:
    """Return the outcome that a text stands for: spelled, numbered or begun."""
    if test.kind == "number":
        return _read_number(test, typed)
    exact = _spelled(test, typed)
    if exact is not None:
        return exact
    texts = [str(outcome) for outcome in test.outcomes]
    folded = typed.casefold()
    same = [i for i, text in enumerate(texts) if text.casefold() == folded]
    if not same and typed.removeprefix("#").isdecimal():
        position = int(typed.removeprefix("#"))
        if typed.startswith("#") or numbers_choices(test):
            same = [position - 1] if 1 <= position <= len(texts) else []
    if not same and folded:
        same = [i for i, text in enumerate(texts) if text.casefold().startswith(folded)]
    if len(same) != 1:
        several = "may be several of them" if same else "is none of them"
        hint = suggest_name(typed, texts)
        raise InvalidAnswerError(
            f"The test {test.name!r} shows one of {list_some(test.outcomes, 12)}. Got "
            f"{typed!r}, which {several}. {hint}Type one of these or its number, or: "
            "don't know, skip, undo."
        )
    return test.outcomes[same[0]]


def numbers_choices(test: Test) -> bool:
    """Return whether a bare number stands for a position: not if outcomes are numbers.

    Examples
    --------
    >>> numbers_choices(Test("lamp", "category", outcomes=("dark", "dim")))
    True
    >>> numbers_choices(Test("dots", "category", outcomes=(1, 2, 3)))
    False
    """
    return not any(is_number_text(str(outcome)) for outcome in test.outcomes)


def _read_number(test: Test, typed: str) -> float:
    try:
        number = float(typed)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InvalidAnswerError(
            f"The test {test.name!r} shows a number. Got {typed!r}. Type a number such "
            "as 4 or 37.5, or: don't know, skip, undo."
        )
    return number
