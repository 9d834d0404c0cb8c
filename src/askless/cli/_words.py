"""Say what the library says in the words of the command line.

The library names parameters and methods, as in ``unknown='?'``; here they are options,
as in ``--unknown '?'``. It must not know where a text comes from.
"""

from __future__ import annotations

import re

__all__ = ["in_command_words"]

# Parameters that are options of the same name.
OPTIONS = (
    "prior", "case", "unknown", "missing", "separator", "decimal", "levels",
    "thresholds", "budget", "stop", "max_error", "time_limit", "tree",
)  # fmt: skip
PARAMETER = re.compile(
    rf"(?<![\w-])({'|'.join(OPTIONS)})=('[^']*'|\"[^\"]*\"|-?[\w.]*\w)"
)
PHRASES = {
    "drop=[]": "--drop ''",
    "by table.merged()": "with --merge",
    "table.merged()": "--merge",
    "edited=True": "--edited",
    "left out, or named as what it is": "named as such (--case, --drop)",
    "pass download=True": "add --download",
    "Set ASKLESS_DATA or folder= to": "Set ASKLESS_DATA to",
}


def in_command_words(text: str) -> str:
    """Return a message of the library with options in place of parameters.

    Examples
    --------
    >>> in_command_words("leave the cell empty, or set unknown='?'.")
    "leave the cell empty, or set --unknown '?'."
    >>> in_command_words("Merge such cases by table.merged().")
    'Merge such cases with --merge.'
    """
    for phrase, instead in PHRASES.items():
        text = text.replace(phrase, instead)
    return PARAMETER.sub(_as_option, text)


def _as_option(match: re.Match[str]) -> str:
    name, value = match.groups()
    option = f"--{name.replace('_', '-')}"
    return option if value == "True" else f"{option} {value}"
