"""What a service has done, in numbers, as Prometheus reads them."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter

__all__ = ["Metrics"]

# Upper ends of the latency classes, in seconds.
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5)


class Metrics:
    """Counters of requests, steps, money and decisions.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.count_step("car", paid=3.0)
    >>> "askless_spent_total" in metrics.to_text()
    True
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, str]] = Counter()
        self._buckets = [0] * (len(BUCKETS) + 1)
        self._seconds = 0.0

    def count_request(self, status: int, seconds: float) -> None:
        """Count a request by its status and time."""
        place = bisect_left(BUCKETS, seconds)
        with self._lock:
            self._counts["requests_total", f'status="{status}"'] += 1
            self._buckets[place] += 1
            self._seconds += seconds

    def count_step(self, policy: str, *, paid: float) -> None:
        """Count a step of a session and what it paid."""
        with self._lock:
            self._counts["steps_total", f'policy="{policy}"'] += 1
            self._counts["spent_total", f'policy="{policy}"'] += paid  # type: ignore[assignment]

    def count_decision(self, policy: str, *, saved: float) -> None:
        """Count a session that has come to its decision, and what it did not buy."""
        with self._lock:
            self._counts["decisions_total", f'policy="{policy}"'] += 1
            self._counts["saved_total", f'policy="{policy}"'] += saved  # type: ignore[assignment]

    def to_text(self) -> str:
        """Return everything in Prometheus' text format."""
        with self._lock:
            lines = []
            names = sorted({name for name, _ in self._counts})
            for name in names:
                lines.append(f"# TYPE askless_{name} counter")
                lines += [
                    f"askless_{name}{{{labels}}} {value:g}"
                    for (each, labels), value in sorted(self._counts.items())
                    if each == name
                ]
            lines.append("# TYPE askless_request_seconds histogram")
            total = 0
            for top, count in zip((*BUCKETS, None), self._buckets, strict=True):
                total += count
                label = "+Inf" if top is None else f"{top:g}"
                lines.append(f'askless_request_seconds_bucket{{le="{label}"}} {total}')
            lines.append(f"askless_request_seconds_sum {self._seconds:.6f}")
            lines.append(f"askless_request_seconds_count {total}")
        return "\n".join(lines) + "\n"
