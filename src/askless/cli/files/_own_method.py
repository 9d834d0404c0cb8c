"""A method of one's own for the command line: ``--method FILE.py:FUNCTION``.

It runs the file that was named, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from askless.exceptions import InvalidOptionError

__all__ = ["find_method"]


def find_method(method: str) -> str | Callable[..., Any]:
    """Return the name of a method, or the function of a file that it names.

    Examples
    --------
    >>> find_method("greedy")
    'greedy'
    """
    path, sign, name = method.rpartition(":")
    if not sign or not path.endswith(".py"):
        return method
    # Only now: other commands need no function of anybody's.
    import runpy

    if not Path(path).is_file():
        raise InvalidOptionError(
            "A method of your own must be a function in a file, FILE.py:FUNCTION. Got "
            f"{method!r}, and there is no file {path}. Check the path."
        )
    found = runpy.run_path(path).get(name)
    if not callable(found):
        raise InvalidOptionError(
            "A method of your own must be a function in a file, FILE.py:FUNCTION. Got "
            f"{method!r}, and {path} has no function {name!r}. Check the name."
        )
    function: Callable[..., Any] = found
    return function
