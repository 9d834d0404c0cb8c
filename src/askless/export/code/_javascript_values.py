"""Values in JavaScript: how they are written, and how what is given is read.

This module does not know policies.
"""

from __future__ import annotations

import json
from typing import Any

from askless.exceptions import InvalidOptionError
from askless.problem import Outcome
from askless.problem._column import EXACT_WHOLE

__all__ = ["VALUES", "js_value"]

VALUES = """
function toNumber(value, test) {
  const number = typeof value === "string" && value.trim() === "" ? NaN : Number(value);
  if (Number.isNaN(number)) {
    const word = String(value).trim().toLowerCase().replace(/^\\+/, "");
    if (word === "nan" || word === "-nan") return null;
    if (word === "inf" || word === "infinity") return Infinity;
    if (word === "-inf" || word === "-infinity") return -Infinity;
    throw new TypeError(`The test ${test} shows a number. Got ${value}.`);
  }
  return number;
}

// True is the same outcome as 1, and false as 0.
function find(entries, value) {
  const found = entries.get(value);
  if (found !== undefined) return found;
  if (typeof value === "boolean") return entries.get(Number(value));
  return value === 0 || value === 1 ? entries.get(value === 1) : undefined;
}

// A function of the name of a test, whatever was given.
function asking(given) {
  return typeof given === "function" ? given : (test) =>
    Object.prototype.hasOwnProperty.call(given, test) ? given[test] : null;
}
"""


def _map(entries: dict[Any, Any]) -> str:
    pairs = [pair for entry in entries.items() for pair in _pairs(*entry)]
    return f"new Map([{', '.join(pairs)}])"


def _pairs(key: Outcome, value: Any) -> list[str]:
    """Return an entry; twice for a number that only a BigInt holds in JavaScript."""
    keys = [js_value(key)]
    if isinstance(key, int) and abs(key) > EXACT_WHOLE:
        keys.append(f"{key}n")
    return [f"[{key}, {js_value(value)}]" for key in keys]


def js_value(value: Any) -> str:
    """Return a value as JavaScript writes it."""
    if isinstance(value, dict):
        # An object of JavaScript takes text for a key and nothing else.
        return _map(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(js_value, value))}]"
    if isinstance(value, float) and value in (float("inf"), -float("inf")):
        return "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, str):
        return _text(value)
    return json.dumps(value)


def _text(text: str) -> str:
    """Return a string literal that is safe inside a page as well."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidOptionError(
            "Names in JavaScript must be text in UTF-8. Got half of a surrogate pair "
            f"in {text!r}. Rename it."
        ) from error
    literal = json.dumps(text)
    return literal.replace("</", "<\\/").replace("<!--", "<\\!--")
