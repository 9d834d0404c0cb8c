"""Records as text that people can read: a line for each test, node, case and tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from askless.policy.codec._records import EnsembleRecord, PolicyRecord, PosteriorRecord

__all__ = ["to_lines"]

encode = msgspec.json.Encoder().encode


def to_lines(record: PolicyRecord) -> bytes:
    """Encode a record with a line for each field, and for each item of long ones."""
    return _fields(record, LAYOUTS, indent=b" ") + b"\n"


def _fields(
    record: msgspec.Struct, layouts: dict[str, Callable[[Any], bytes]], indent: bytes
) -> bytes:
    lines = []
    for field in msgspec.structs.fields(type(record)):
        value = getattr(record, field.name)
        # What msgspec leaves out as well: defaults, and lists that are empty.
        if value is field.default or (field.default_factory is list and not value):
            continue
        layout = layouts.get(field.name, encode)
        lines.append(f'"{field.name}": '.encode() + layout(value))
    return b"{" + (b",\n" + indent).join(lines) + b"}"


def _items(items: Iterable[Any], indent: bytes = b"  ") -> bytes:
    """Encode a list with a line for each item."""
    lines = (b",\n" + indent).join(encode(item) for item in items)
    return b"[\n" + indent + lines + b"\n" + indent[:-1] + b"]"


def _trees(trees: list[list[Any]]) -> bytes:
    return b"[" + b",".join(_items(tree) for tree in trees) + b"]"


def _ensemble(record: EnsembleRecord) -> bytes:
    return _fields(record, {"trees": lambda trees: _items(trees, b"   ")}, b"  ")


def _posterior(record: PosteriorRecord) -> bytes:
    return _fields(record, {"chances": lambda lists: _items(lists, b"   ")}, b"  ")


LAYOUTS: dict[str, Callable[[Any], bytes]] = {
    "tests": _items,
    "nodes": _items,
    "cases": _items,
    "trees": _trees,
    "ensemble": _ensemble,
    "posterior": _posterior,
}
