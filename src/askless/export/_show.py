"""The formats that a policy can be shown in, by name. A new one is one line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from askless.exceptions import UnknownNameError, suggest_name
from askless.export._json import to_json
from askless.export._text import to_text
from askless.policy import Policy

__all__ = ["FORMATS", "show"]

FORMATS: dict[str, Callable[..., str]] = {
    "json": to_json,
    "text": to_text,
}


def show(policy: Policy, format: str = "text", **options: Any) -> str:
    """Return a policy in one of the formats.

    Parameters
    ----------
    policy : Policy
        What to show.
    format : {"text", "json"}, default="text"
        How to show it.
    **options
        Options of the format.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> print(askless.show(askless.solve(table).policy))
    last bit?  1
    ├─ 0  [50 %, spent 1]  => even
    └─ 1  [50 %, spent 1]  => odd
    """
    if format not in FORMATS:
        raise UnknownNameError(
            f"The format must be one of {', '.join(sorted(FORMATS))}. Got {format!r}. "
            f"{suggest_name(format, FORMATS)}Choose one of them."
        )
    return FORMATS[format](policy, **options)
