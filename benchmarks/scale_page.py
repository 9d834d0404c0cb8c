"""Write what was measured of scale into its page, from the results that lie there.

The page holds words of its own; the table and the figures for 10^9 rows are between two
marks, and are written by every full run. Nothing between them is typed by hand.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
BEGIN, END = "<!-- what follows is written by a run -->\n", "<!-- end of the run -->\n"
MANY = 1_000_000_000
# Covertype: columns, those of two outcomes, and bytes of a row as growers hold it.
N_TESTS, N_BITS, ROW_BYTES = 54, 44, 16


def write_scale_page(page: Path = HERE.parent / "docs" / "scale.md") -> None:
    """Put the table of the last run between the marks; nothing without a run."""
    results = HERE / "results" / "scale.json"
    if not results.exists():
        return
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    rows = json.loads(results.read_text())
    made = f"{_table(rows)}\n\n{_extrapolate(rows)}\n"
    page.write_text(f"{before}{BEGIN}\n{made}\n{END}{after}", encoding="utf-8")


def _table(rows: list[dict[str, Any]]) -> str:
    sizes = sorted({row["rows"] for row in rows})
    steps = list(dict.fromkeys(row["step"] for row in rows))
    lines = [["step", *(f"{n / 1e6:g} M rows" for n in sizes)]]
    lines.append(["---"] * len(lines[0]))
    for step in steps:
        found = {row["rows"]: row for row in rows if row["step"] == step}
        lines.append([step, *(_cell(found.get(n)) for n in sizes)])
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    parts = [f"{row['processor']:.3g} s"]
    if row["ratio"] != "":
        parts.append(f"{row['ratio']:.2f} times")
    parts.append(f"{row['peak MB']:,.0f} MB")
    if row["equal"]:
        parts.append("equal" if row["equal"] == "yes" else "NOT EQUAL")
    if row.get("used MB"):
        parts.append(f"{row['used MB']:,.0f} MB with cached files")
    if row.get("worker MB"):
        parts.append(f"a worker {row['worker MB']:,.0f} MB")
    if row.get("mapped MB"):
        parts.append(f"{row['mapped MB']:,.0f} MB mapped")
    return ", ".join(parts)


def _extrapolate(rows: list[dict[str, Any]]) -> str:
    coded = max((r for r in rows if r["step"].startswith("code")), key=_size)
    grown = max((r for r in rows if r.get("growing")), key=_size)
    coding = coded["processor"] / coded["rows"] * MANY
    a_row = grown["growing"] / 2 / grown["rows"]
    deeper = math.log(MANY) / math.log(grown["rows"])
    sample = 0.63 * MANY * (ROW_BYTES + 1) / 1e9
    return (
        "To 10^9 rows, by the formulas and not measured: "
        f"{MANY * N_TESTS / 1e9:.0f} GB of codes on disk and "
        f"{MANY * N_BITS / 8e9:.1f} GB of bits, "
        f"{MANY * (2 * N_TESTS + 8) / 1e9:.0f} GB while they are sorted; {coding:,.0f} "
        f"processor seconds to code them, in the memory of {coded['rows'] / 1e6:g} "
        f"million rows; {sample:.1f} GB for the sample of a thread, and the trees; at "
        f"{a_row * 1e6:.2f} microseconds a row and tree, and {deeper:.2f} times as "
        f"much for their depth, {a_row * MANY * deeper:,.0f} processor seconds a tree."
    )


def _size(row: dict[str, Any]) -> int:
    return int(row["rows"])
