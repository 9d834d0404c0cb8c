"""Hand a policy up to the layers that run it and draw it.

Users look for ``start``, ``run`` and ``plot`` on the policy they have in hand, and
notebooks for a method on the object that they show. Running and drawing lie above this
layer, so they are looked up by name when they are first asked for: nothing here depends
on them. This is the one place where something below reaches up.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["find_above"]


def find_above(layer: str, name: str) -> Any:
    """Return a public name of a layer above.

    Examples
    --------
    >>> callable(find_above("export", "show"))
    True
    """
    return getattr(import_module(f"askless.{layer}"), name)
