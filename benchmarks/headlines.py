"""Write the page of headlines: a dozen ratios, read from the page of all benchmarks.

It holds no figure of its own. A headline names a benchmark, a row and a column; what
stands there is what the page says. ``python benchmarks/run.py --page`` calls it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
INTRODUCTION = """\
# Headlines

Ratios that were measured side by side, in one run each, on one machine with two cores.
Of the first four no choice was made on any set; with an interval of 95 % from set to
set. Every line is read from [the page of all benchmarks](benchmarks.md), which says how
it was measured and where Askless loses; `make bench` measures all of it again.

"""


@dataclass(frozen=True)
class Headline:
    """What a ratio says, and where it stands."""

    text: str
    against: str
    benchmark: str
    row: str  # how the row begins
    column: str
    # Less is better for what is paid, more for how much faster it is.
    less_is_better: bool = False


HEADLINES = (
    Headline(
        "paid for features at the same error, sets that no choice was made on",
        "LightGBM's CEGB with a dense grid", "frontier", "geometric mean", "CEGB", True,
    ),
    Headline(
        "the same, where CEGB is within 1.5 points of its best",
        "LightGBM's CEGB with a dense grid", "frontier", "geometric mean", "accurate",
        True,
    ),
    Headline(
        "paid for features at the same error, twelve sets that were drawn later",
        "LightGBM's CEGB with a dense grid", "later", "geometric mean", "CEGB", True,
    ),
    Headline(
        "paid for features at the same error, twelve sets drawn last, most of few rows",
        "LightGBM's CEGB with a dense grid", "fresh", "geometric mean", "CEGB", True,
    ),
    Headline(
        "paid for features at the same error, 13 sets that choices were made with",
        "LightGBM's CEGB", "adaptive", "all |", "cost", True,
    ),
    Headline(
        "paid when the same booster runs adaptively, half a percent of answers changed",
        "LightGBM's CEGB", "adaptive", "all |", "same, .5 %", True,
    ),
    Headline(
        "paid when the same booster runs adaptively, no answer changed",
        "LightGBM's CEGB", "adaptive", "all |", "lossless", True,
    ),
    Headline(
        "paid for features at the same error",
        "a plain random forest", "adaptive", "all |", "forest", True,
    ),
    Headline(
        "faster: fit of a tree on 1,000,000 x 50",
        "scikit-learn's tree", "grow", "fit, seconds", "ratio",
    ),
    Headline(
        "faster: fit of 100 trees on 400,000 rows under a budget",
        "scikit-learn's forest", "forest", "400,000 rows, 100 trees: fit", "ratio",
    ),
    Headline(
        "faster: predict with costs, 100 trees",
        "scikit-learn's forest", "forest",
        "36,603 rows, 100 trees: predict with cost", "ratio",
    ),
    Headline(
        "faster: predict of one tree, 1,000,000 rows",
        "scikit-learn's tree", "predict", "predict, float32", "ratio",
    ),
    Headline(
        "faster: a vote of 100 trees that stops when it is settled",
        "scikit-learn's forest", "ensemble", "covertype, lossless predict", "ratio",
    ),
    Headline(
        "faster: one step by the posterior, 10,000 cases x 1,000 tests, 200 classes",
        "numpy", "online", "10,000 | 200 | information", "faster by",
    ),
)  # fmt: skip


def write_headlines(
    path: Path = DOCS / "headlines.md", page: Path = DOCS / "benchmarks.md"
) -> Path:
    """Write a row for each headline that the page of all benchmarks has."""
    text = page.read_text(encoding="utf-8")
    found = [(h, read_cell(text, h)) for h in HEADLINES]
    lines = ["| ratio | of what | beside | measured by |", "| ---: | --- | --- | --- |"]
    for headline, cell in found:
        figure = _to_figure(cell)
        if figure is None:
            continue
        command = f"`python benchmarks/run.py {headline.benchmark}`"
        mark = "" if headline.less_is_better else " x"
        interval = re.search(r" \([\d.]+ to [\d.]+\)", cell or "")
        lines.append(
            f"| **{figure:.2f}{mark}**{interval[0] if interval else ''} "
            f"| {headline.text} | {headline.against} | {command} |"
        )
    pictures = "\n".join(
        f"![{words}](images/{name}.png)\n"
        for name, words in (
            ("adaptive", "Error against cost of boosters"),
            ("pystreed", "Total cost beside optimal trees"),
            ("scaling", "Time against rows, tests and classes"),
        )
        if (DOCS / "images" / f"{name}.png").exists()
    )
    path.write_text(INTRODUCTION + "\n".join(lines) + "\n\n" + pictures, "utf-8")
    return path


def read_figure(page: str, headline: Headline) -> float | None:
    """Return the figure of a headline; None if the page does not have it."""
    return _to_figure(read_cell(page, headline))


def _to_figure(cell: str | None) -> float | None:
    figure = re.match(r"[\d.,]+", cell or "")
    return None if figure is None else float(figure[0].replace(",", ""))


def read_cell(page: str, headline: Headline) -> str | None:
    """Return what stands where a headline says; None if the page does not have it."""
    for part in page.split("\n## ")[1:]:
        if f"benchmarks/run.py {headline.benchmark}`" not in part:
            continue
        headings: list[str] = []
        for line in part.splitlines():
            if not line.startswith("| "):
                headings = []
                continue
            cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
            if not headings:
                headings = cells
            elif line[2:].startswith(headline.row) and headline.column in headings:
                # Empty cells at the end were stripped with the last bar.
                cells = [cell.strip() for cell in line[1:].rstrip()[:-1].split("|")]
                return cells[headings.index(headline.column)]
    return None
