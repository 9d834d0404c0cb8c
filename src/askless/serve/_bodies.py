"""What requests may hold, as types: msgspec checks them, and OpenAPI describes them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from askless.exceptions import InvalidOptionError

__all__ = [
    "Answer",
    "AnswerBody",
    "BeginBody",
    "DecideBody",
    "NextBody",
    "StepBody",
    "read_body",
]

MAX_ANSWERS = 2_000
MAX_ROWS = 100_000
Text = Annotated[str, Meta(max_length=2_000)]
Value = Text | bool | int | float | None
Extra = Literal["why", "branches", "decision_now", "left_at_worst", "shares"]
Include = Annotated[list[Extra], Meta(max_length=10)]
Step = Annotated[int, Meta(ge=0, le=1_000_000)]


class Answer(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What a test has shown; or that it was skipped, or run without a clear outcome."""

    test: Text
    outcome: Value | msgspec.UnsetType = msgspec.UNSET
    skipped: bool = False
    unsure: bool = False

    def to_entry(self) -> dict[str, Any]:
        """Return the answer as plain data."""
        entry: dict[str, Any] = {"test": self.test}
        if self.outcome is not msgspec.UNSET:
            entry["outcome"] = self.outcome
        return {**entry, "skipped": self.skipped, "unsure": self.unsure}


class NextBody(msgspec.Struct, forbid_unknown_fields=True):
    """All answers so far, in any order."""

    answers: Annotated[list[Answer], Meta(max_length=MAX_ANSWERS)] = []
    include: Include = []


class BeginBody(msgspec.Struct, forbid_unknown_fields=True):
    """Which policy to begin a session with, as ``name`` or ``name@version``."""

    policy: Text
    include: Include = []


class StepBody(msgspec.Struct, forbid_unknown_fields=True):
    """A step that needs no outcome: skip, unsure, undo."""

    step: Step | None = None
    include: Include = []


class AnswerBody(msgspec.Struct, forbid_unknown_fields=True):
    """What the next test has shown. ``test``, if it is given, must be that test."""

    outcome: Value
    test: Text | None = None
    step: Step | None = None
    include: Include = []


class DecideBody(msgspec.Struct, forbid_unknown_fields=True):
    """Rows to decide at once, each with a value for every test that may be asked."""

    rows: Annotated[list[dict[str, Value]], Meta(max_length=MAX_ROWS)]


def read_body(raw: bytes, kind: type[Any]) -> Any:
    """Return a checked body.

    Raises
    ------
    InvalidOptionError
        If it is not JSON, or not of this kind.

    Examples
    --------
    >>> read_body(b'{"policy": "car"}', BeginBody).policy
    'car'
    """
    try:
        return msgspec.json.decode(raw or b"{}", type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidOptionError(
            "The body of a request must be JSON as /openapi.json describes it. Got: "
            f"{error}. Correct it."
        ) from error
