"""Give the features of a model the names that the user has for them.

LightGBM writes spaces in names as underscores. This module must not know what a model
is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from askless.problem import Costs
from askless.problem._frames import column_names, is_frame

__all__ = ["names_of", "respell_names"]


def names_of(*given: Any) -> list[str]:
    """Return the names that costs, frames and mappings have, whatever is given.

    Examples
    --------
    >>> names_of(Costs({"blood iron": 3}), {"age": [1]}, [5], None)
    ['blood iron', 'age']
    """
    found: list[str] = []
    for one in given:
        if isinstance(one, Costs):
            one = one.costs
        if isinstance(one, Mapping):
            found += [key for key in one if isinstance(key, str)]
        elif is_frame(one):
            found += column_names(one)
    return found


def respell_names(names: list[str] | None, known: Iterable[str]) -> list[str] | None:
    """Return the names of features as they are known, where only spaces differ.

    Parameters
    ----------
    names : list of str or None
        What the model calls its features.
    known : iterable of str
        What the user calls columns.

    Examples
    --------
    >>> respell_names(["blood_iron", "age"], ["age", "blood iron"])
    ['blood iron', 'age']
    """
    if names is None:
        return None
    known = list(known)
    spelled: dict[str, str] = {}
    for name in known:
        spelled.setdefault(name.replace(" ", "_"), name)
    found = [name if name in known else spelled.get(name, name) for name in names]
    return found if len(set(found)) == len(found) else names
