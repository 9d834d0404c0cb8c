"""Import what an extra brings, or say how to get it.

It must not know who needs the extra.
"""

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
        What to import: a package of the extra, or a module of Askless that needs it.
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
        # What is missing may be something that the module imports.
        missing = (error.name or module).partition(".")[0]
        raise MissingExtraError(
            f"{purpose} needs {missing}. Got none installed. Run: pip install "
            f"'askless[{extra}]'"
        ) from error
