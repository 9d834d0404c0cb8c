"""Write costs as TOML, so that read_costs gives the same costs again.

This module must not know which problem the costs are of.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from askless.problem import Costs

__all__ = ["costs_to_toml"]


def costs_to_toml(costs: Costs, tests: Sequence[str]) -> str:
    """Return costs as the content of a TOML file, by the names of the tests.

    Parameters
    ----------
    costs : Costs
        What to write.
    tests : sequence of str
        Names of all tests, for costs that are given by position.

    Examples
    --------
    >>> costs = Costs([1, 2.5], groups={"bonnet": [0, 1]})
    >>> print(costs_to_toml(costs, ["fuses", "oil"]))
    [costs]
    fuses = 1
    oil = 2.5
    <BLANKLINE>
    [groups]
    bonnet = ["fuses", "oil"]
    <BLANKLINE>
    """
    named = costs.subset(list(tests), all_names=list(tests))
    # A value of the file itself must stand before the first table.
    lines = _mistake_values(named.mistakes)
    if named.delayed:
        lines.append(f"delayed = {_value(named.delayed)}")
    tables: dict[str, Mapping[Any, Any]] = {
        "costs": named.costs,
        "groups": named.groups,
        "discounted": named.discounted,
        **{f"by_outcome.{_key(t)}": named.by_outcome[t] for t in named.by_outcome},
        **_mistake_tables(named.mistakes),
    }
    for name, table in tables.items():
        if table:
            lines += ["", f"[{name}]"]
            lines += [f"{_key(key)} = {_value(value)}" for key, value in table.items()]
    return "\n".join(lines).lstrip("\n") + "\n"


def _mistake_values(mistakes: Any) -> list[str]:
    if isinstance(mistakes, float):
        return [f"mistakes = {_value(mistakes)}"]
    if isinstance(mistakes, np.ndarray):
        rows = [f"  {_value(row)}," for row in mistakes.tolist()]
        return ["mistakes = [", *rows, "]"]
    return []


def _mistake_tables(mistakes: Any) -> dict[str, Mapping[Any, Any]]:
    if not isinstance(mistakes, Mapping):
        return {}
    return {f"mistakes.{_key(true)}": row for true, row in mistakes.items()}


def _key(key: object) -> str:
    text = str(key)
    return text if re.fullmatch(r"[A-Za-z0-9_-]+", text) else _text(text)


def _text(text: str) -> str:
    # TOML's escapes are those of JSON, but for one control character more.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_value(item) for item in value)}]"
    number = float(value)
    is_whole = number.is_integer() and abs(number) < 2**53
    return str(int(number)) if is_whole else repr(number)
