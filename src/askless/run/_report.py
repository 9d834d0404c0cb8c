"""Report what a run over many cases has bought, saved, and could not get."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from askless.problem import Outcome
from askless.run._purchase import CaseResult

__all__ = ["RunReport"]


@dataclass(frozen=True)
class RunReport:
    """What came of every case of a run, in the order of the cases.

    Attributes
    ----------
    results : list of CaseResult
        One for each case.
    cost_of_all : float
        What buying every test would charge one case.
    interrupted : bool
        Whether the run was interrupted; then some cases end without a decision.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([["dark", "dead"], ["dark", "live"], ["dim", "live"]],
    ...                       ["fuse", "bulb", "dimmer"], tests=["lamp", "socket"],
    ...                       costs={"lamp": 1, "socket": 5})
    >>> rows = [{"lamp": "dark", "socket": "live"}, {"lamp": "dim"}]
    >>> policy = askless.solve(table).policy
    >>> print(policy.run_many(lambda row, test: row[test], rows))
    2 cases: 2 decided, 0 failed.
    Bought 3 tests for 7. Every test would have cost 12: saved 5 (41.7 %).
      lamp    bought 2
      socket  bought 1
    """

    results: list[CaseResult]
    cost_of_all: float
    interrupted: bool = False

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[CaseResult]:
        return iter(self.results)

    @property
    def decisions(self) -> list[Outcome | None]:
        """The decision of each case, None where there is none."""
        return [result.decision for result in self.results]

    @property
    def failed(self) -> list[CaseResult]:
        """The cases without a decision; ``failure`` says why."""
        return [result for result in self.results if result.failure is not None]

    @property
    def spent(self) -> float:
        """What all cases paid together."""
        return float(sum(result.spent for result in self.results))

    @property
    def saved(self) -> float:
        """What buying every test for every case would have cost on top of that."""
        return self.cost_of_all * len(self.results) - self.spent

    @property
    def n_calls(self) -> int:
        """How often ``fetch`` was called, retries included."""
        return sum(result.n_calls for result in self.results)

    @property
    def bought(self) -> dict[str, int]:
        """How often each test was paid for, the most frequent first."""
        counts = Counter(test for result in self.results for test in result.bought)
        return dict(counts.most_common())

    @property
    def not_fetched(self) -> dict[str, int]:
        """How often each test could not be fetched, the most frequent first."""
        counts = Counter(f.test for result in self.results for f in result.failures)
        return dict(counts.most_common())

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain data, for JSON."""
        return {
            "n_cases": len(self.results),
            "n_decided": len(self.results) - len(self.failed),
            "n_failed": len(self.failed),
            "stopped": dict(Counter(result.stopped for result in self.results)),
            "spent": self.spent,
            "saved": self.saved,
            "n_calls": self.n_calls,
            "bought": self.bought,
            "not_fetched": self.not_fetched,
            "interrupted": self.interrupted,
        }

    def __str__(self) -> str:
        n, n_failed = len(self.results), len(self.failed)
        everything = self.cost_of_all * n
        share = f" ({100 * self.saved / everything:.1f} %)" if everything else ""
        n_bought = sum(self.bought.values())
        lines = [
            f"{n:,} case{'' if n == 1 else 's'}: {n - n_failed:,} decided, "
            f"{n_failed:,} failed{', interrupted' if self.interrupted else ''}.",
            f"Bought {n_bought:,} test{'' if n_bought == 1 else 's'} for "
            f"{self.spent:,.6g}. Every test would have cost {everything:,.6g}: saved "
            f"{self.saved:,.6g}{share}.",
        ]
        names = list(dict.fromkeys([*self.bought, *self.not_fetched]))
        width = max(map(len, names), default=0)
        for name in names:
            line = f"  {name:<{width}}  bought {self.bought.get(name, 0):,}"
            if name in self.not_fetched:
                line += f", not fetched {self.not_fetched[name]:,}"
            lines.append(line)
        return "\n".join(lines)
