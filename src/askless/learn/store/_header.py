"""What a store says about its codes, as JSON: tests, classes and checksums.

This module must not know where codes come from, nor who reads them.
"""

from __future__ import annotations

import json
from typing import Any

from askless.problem import Test

__all__ = ["FORMAT", "dump", "read_test", "write_test"]

FORMAT = 2


def write_test(test: Test) -> dict[str, Any]:
    """Return a test as JSON has it."""
    return {
        "name": test.name,
        "kind": test.kind,
        "outcomes": list(test.outcomes),
        "cuts": list(test.cuts),
    }


def read_test(entry: dict[str, Any]) -> Test:
    """Return the test that was written so."""
    return Test(
        entry["name"], entry["kind"], tuple(entry["outcomes"]), tuple(entry["cuts"])
    )


def dump(content: dict[str, Any]) -> bytes:
    """Return the bytes of a header; digests depend on each of them."""
    return json.dumps(content, indent=1).encode()
