"""Hand a policy up to the layer that draws it.

Notebooks look for a method on the object that they show, and users for ``plot`` on the
policy they have in hand. Drawing lies above this layer, so it is looked up by name when
it is first asked for: nothing here depends on it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

__all__ = ["find_drawing"]


def find_drawing(name: str) -> Callable[..., Any]:
    """Return a function of the layer that draws.

    Examples
    --------
    >>> callable(find_drawing("show"))
    True
    """
    drawing: Callable[..., Any] = getattr(import_module("askless.export"), name)
    return drawing
