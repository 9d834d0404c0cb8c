"""What a part of the campaign is, and what it brings home.

A part tries something again and again until its time is over. It counts what it tried,
and keeps what broke a promise as a file from which a test can try it again. This module
must not know what any part tries.
"""

from __future__ import annotations

import hashlib
import json
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["FINDINGS", "Budget", "Part", "Tally"]

# Kept in the repository, so that what was found once is tried for ever.
FINDINGS = Path(__file__).parent.parent / "tests" / "findings"


@dataclass
class Budget:
    """How long a part may go on, and where its random numbers start."""

    seconds: float
    seed: int
    started: float = field(default_factory=time.monotonic)

    @property
    def is_over(self) -> bool:
        """Whether the time is used up."""
        return time.monotonic() - self.started >= self.seconds

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return max(0.0, self.seconds - (time.monotonic() - self.started))


@dataclass
class Tally:
    """What a part has tried, and what it has found."""

    part: str
    counts: Counter[str] = field(default_factory=Counter)
    kinds: dict[str, set[str]] = field(default_factory=dict)
    findings: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def note_kind(self, what: str, kind: str) -> None:
        """Count different things: each is counted once, over all runs together."""
        short = hashlib.sha256(kind.encode()).hexdigest()[:16]
        self.kinds.setdefault(what, set()).add(short)

    def find(self, what: str, data: bytes, suffix: str, error: BaseException) -> None:
        """Keep what broke a promise, once for each content."""
        what = what.replace(" ", "-")
        name = f"{what}-{hashlib.sha256(data).hexdigest()[:12]}{suffix}"
        FINDINGS.mkdir(exist_ok=True)
        (FINDINGS / name).write_bytes(data)
        text = "".join(traceback.format_exception(error))
        self.findings.append({"file": name, "error": repr(error), "trace": text})

    def to_json(self) -> str:
        """Return the tally as text for a file."""
        return json.dumps(
            {
                "part": self.part,
                "seconds": round(self.seconds, 1),
                "counts": dict(sorted(self.counts.items())),
                "kinds": {what: sorted(seen) for what, seen in self.kinds.items()},
                "findings": self.findings,
                "notes": self.notes,
            },
            indent=1,
        )


@dataclass(frozen=True)
class Part:
    """A part of the campaign.

    Attributes
    ----------
    name : str
    promise : str
        What must hold, in a sentence.
    share : float
        Its share of the time.
    run : callable
        ``run(budget, tally)``.
    """

    name: str
    promise: str
    share: float
    run: Callable[[Budget, Tally], None]
