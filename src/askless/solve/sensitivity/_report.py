"""What a sensitivity analysis says: rows by effect, as text, as data, as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Change", "Influence", "Sensitivity"]

Pair = tuple["Change | None", "Change | None"]


@dataclass(frozen=True)
class Change:
    """A value at which a choice changes.

    Attributes
    ----------
    value : float
        Of the price, the prior or the probability that is moved.
    to : str
        What is chosen beyond it.
    where : str
        The answers after which a decision changes; empty for the first test.
    is_proved : bool
        Whether every policy that it was compared with is proved the best.
    """

    value: float
    to: str
    where: str = ""
    is_proved: bool = True


@dataclass(frozen=True)
class Influence:
    """How a solution hangs on one number of its table.

    Attributes
    ----------
    kind : {"price", "mistakes", "prior", "probability"}
    name : str
    value : float
        What the number is now; of mistakes, the dearest one.
    low, high : float
        The number moved down and up by the swing.
    cost_low, cost_high : float
        What the policy costs there if it stays as it is.
    first_test : pair of (Change or None)
        The nearest values below and above at which another first test is better; None
        if there is none in reach.
    decision : pair of (Change or None)
        The nearest values below and above at which the policy, with the same tests,
        had better decide otherwise somewhere.
    is_searched : bool
        Whether the first test was looked at; there may be no time for all.
    """

    kind: str
    name: str
    value: float
    low: float
    high: float
    cost_low: float
    cost_high: float
    first_test: Pair = (None, None)
    decision: Pair = (None, None)
    is_searched: bool = False

    @property
    def effect(self) -> float:
        """How much the cost changes from one end of the swing to the other."""
        return abs(self.cost_high - self.cost_low)

    @property
    def slack(self) -> float:
        """How far the number may move before a choice changes, as a share of itself.

        Of a prior or a probability, as a share of what is nearer, 0 or 1, as for the
        swing. Infinite if no choice changes in reach, or if the number is 0.
        """
        is_share = self.kind in ("prior", "probability")
        whole = min(self.value, 1 - self.value) if is_share else self.value
        found = [c.value for c in (*self.first_test, *self.decision) if c is not None]
        steps = [abs(value - self.value) / whole for value in found if whole > 0]
        return min(steps, default=float("inf"))


@dataclass(frozen=True)
class Sensitivity:
    """Which numbers a solution hangs on; see :meth:`Solution.sensitivity`.

    Attributes
    ----------
    cost : float
        What the policy costs now, by its objective.
    first_test : str
        What it asks first; "decide at once" if it asks nothing.
    swing : float
        How far each number is moved for its effect on the cost, as a share.
    rows : tuple of Influence
        The largest effect first.
    """

    cost: float
    first_test: str
    swing: float
    rows: tuple[Influence, ...]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the rows as plain data, for a frame or for JSON.

        Examples
        --------
        >>> import askless
        >>> table = askless.Table([[0], [1]], ["a", "b"], tests=["bit"],
        ...                       costs=askless.Costs([1], mistakes=8))
        >>> found = askless.solve(table, objective="total").sensitivity()
        >>> row = found.to_dicts()[0]
        >>> row["name"], row["first_test_above"], row["first_test_above_to"]
        ('price of bit', 4.0, 'decide at once')
        """
        return [_flat(row) for row in self.rows]

    def changes(self) -> list[Influence]:
        """Return the rows where a choice changes, the one with least slack first."""
        moved = [row for row in self.rows if row.slack < float("inf")]
        return sorted(moved, key=lambda row: row.slack)

    def plot(self, ax: Any = None, *, most: int = 15) -> Any:
        """Draw the effects as bars, the longest on top: a tornado.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        most : int, default=15
            Rows that are drawn.

        Returns
        -------
        matplotlib axes
        """
        from askless.solve.sensitivity._plot import plot_tornado

        return plot_tornado(self, ax, most=most)

    def __str__(self) -> str:
        heads = ["", "now", "cost -", "cost +", "first test changes", "decision"]
        heads[2:4] = [f"-{100 * self.swing:g} %", f"+{100 * self.swing:g} %"]
        lines = [heads]
        for row in self.rows:
            costs = [f"{row.cost_low:.4g}", f"{row.cost_high:.4g}"]
            first = _said(row.first_test) if row.is_searched else "not looked at"
            said = [row.name, f"{row.value:.4g}", *costs, first, _said(row.decision)]
            lines.append(said)
        widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]
        text = [
            "  ".join(
                cell.rjust(width) if 0 < i < 4 else cell.ljust(width)
                for i, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        head = f"Cost {self.cost:.4g}, first: {self.first_test}."
        return "\n".join([head, "", *text])


def _said(pair: Pair) -> str:
    """Return where a choice changes, in few words."""
    parts = []
    for change, side in zip(pair, ("below", "above"), strict=True):
        if change is not None:
            about = "" if change.is_proved else "about "
            parts.append(f"{side} {about}{change.value:.4g}: {change.to}")
    return "; ".join(parts) or "-"


def _flat(row: Influence) -> dict[str, Any]:
    flat: dict[str, Any] = {
        name: getattr(row, name)
        for name in ("kind", "name", "value", "low", "high", "cost_low", "cost_high")
    }
    flat |= {"effect": row.effect, "is_searched": row.is_searched}
    for name in ("first_test", "decision"):
        for change, side in zip(getattr(row, name), ("below", "above"), strict=True):
            key = f"{name}_{side}"
            flat[key] = None if change is None else change.value
            flat[f"{key}_to"] = None if change is None else change.to
            flat[f"{key}_proved"] = None if change is None else change.is_proved
            if name == "decision":
                flat[f"{key}_where"] = None if change is None else change.where
    return flat
