"""Write the page of the benchmarks from the results that lie in ``results``.

``python benchmarks/run.py --page`` calls it, and so does every full run: the tables and
figures of the documentation are what the commands have measured, and nothing else.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

from headlines import write_headlines
from scale_page import write_scale_page

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
# A how-to of the same name has the picture.
PICTURED_ELSEWHERE = ("frontier",)
INTRODUCTION = """\
# The benchmarks

`make bench` runs all of them, `make bench-quick` on smaller data, and
`python benchmarks/run.py NAME` one (`--quick` on smaller data). This page is written by
a full run from what was measured. Seconds are of one noisy machine with two cores: read
the ratios, which were measured side by side.
"""


def write_page(path: Path = DOCS / "benchmarks.md") -> Path:
    """Write a section for each benchmark that has results; keep those of the others."""
    sections = [INTRODUCTION]
    kept = read_sections(path.read_text(encoding="utf-8")) if path.exists() else {}
    for source in sorted(HERE.glob("bench_*.py")):
        name = source.stem.removeprefix("bench_")
        results = HERE / "results" / f"{name}.json"
        if results.exists():
            rows = json.loads(results.read_text())
            sections.append(_section(name, source, rows))
        elif name in kept:
            sections.append(kept[name])
    path.write_text("\n".join(sections), encoding="utf-8")
    write_headlines(page=path)
    if path.parent == DOCS:
        write_scale_page()
    return path


def read_sections(page: str) -> dict[str, str]:
    """Return the sections of a page by the name of their benchmark."""
    found = {}
    for part in page.split("\n## ")[1:]:
        command = re.search(r"benchmarks/run\.py (\w+)`", part)
        if command is not None:
            found[command[1]] = f"## {part.rstrip()}\n"
    return found


def _section(name: str, source: Path, rows: list[dict[str, Any]]) -> str:
    words = ast.get_docstring(ast.parse(source.read_text())) or name
    title, _, rest = words.partition("\n")
    parts = [f"## {title.rstrip('.')}", f"`python benchmarks/run.py {name}`"]
    parts += [rest.strip().replace("``", "`")] if rest.strip() else []
    pictures = [DOCS / "images" / f"{name}.{kind}" for kind in ("png", "svg")]
    picture = next((path for path in pictures if path.exists()), pictures[0])
    if picture.exists() and name not in PICTURED_ELSEWHERE:
        parts.append(f"![{title}](images/{picture.name})")
    parts.append(_table(rows))
    return "\n\n".join(parts) + "\n"


def _table(rows: list[dict[str, Any]]) -> str:
    # Rows of different benchmarks in one file may have different columns.
    headings = list(dict.fromkeys(key for row in rows for key in row))
    lines = [headings, ["---"] * len(headings)]
    lines += [[_text(row.get(key, "")) for key in headings] for row in rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value).replace("|", "\\|")
