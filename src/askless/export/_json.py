"""Show a policy as JSON: the content of its file."""

from __future__ import annotations

from askless.policy import Policy
from askless.policy._file import dump

__all__ = ["to_json"]


def to_json(policy: Policy) -> str:
    """Return the content of the policy's file.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> to_json(askless.solve(table).policy).splitlines()[0]
    '{"format": "askless-policy",'
    """
    return dump(policy).decode()
