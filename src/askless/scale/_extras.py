"""Import what an extra brings, or say how to get it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from askless.exceptions import MissingExtraError

__all__ = ["import_extra"]


def import_extra(module: str, extra: str, purpose: str) -> Any:
    """Return a module that an extra of Askless brings.

    Parameters
    ----------
    module : str
        What to import.
    extra : str
        The extra that brings it.
    purpose : str
        What needs it, as the start of a sentence.

    Examples
    --------
    >>> import_extra("no_such_engine", "dask", "Scoring on Dask")
    Traceback (most recent call last):
    askless.exceptions.MissingExtraError: Scoring on Dask needs no_such_engine. Got none
    installed. Run: pip install 'askless[dask]'
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"{purpose} needs {module.partition('.')[0]}. Got none installed. Run: pip "
            f"install 'askless[{extra}]'"
        ) from error
