"""Photograph the built documentation: ``python docs/draw_site.py`` (needs Chromium).

Run it after ``make docs``. The pictures in docs/images/site-*.png show what a reader
sees: the landing page, a method, the reference, the gallery and a frontier.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import askless

DOCS = Path(__file__).parent
PAGES = {
    "landing": "index.html",
    "method": "methods/index.html",
    "reference": "generated/askless.CostTreeClassifier.html",
    "gallery": "auto_examples/index.html",
}
SIZES = {"desktop": "1400,1000", "phone": "500,1000"}


def photograph(page: Path, size: str, path: Path) -> None:
    """Take a picture of a page, as large as a screen."""
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [
                "chromium", "--headless", "--no-sandbox", "--disable-gpu",
                "--disable-background-networking", "--no-first-run",
                "--hide-scrollbars", f"--user-data-dir={profile}",
                f"--screenshot={path}", f"--window-size={size}", page.as_uri(),
            ],
            check=True, capture_output=True,
        )  # fmt: skip


def write_frontier(folder: Path) -> Path:
    """Return the page of a frontier, as `askless frontier` writes it."""
    clinic = askless.datasets.make_clinic(800, random_state=0)
    trees = [askless.GreedyTreeClassifier(max_depth=d) for d in range(1, 8)]
    other = [askless.EG2Classifier(cost_weight=w) for w in (0, 0.25, 0.5, 1)]
    found = askless.frontier(
        {"greedy tree": trees, "EG2": other},
        clinic.to_frame(), clinic.y, clinic.costs, cv=3,
    )  # fmt: skip
    path = folder / "frontier.html"
    path.write_text(found.to_html(), encoding="utf-8")
    return path


def main() -> None:
    """Write every picture."""
    with tempfile.TemporaryDirectory() as folder:
        pages = {name: DOCS / "_build" / page for name, page in PAGES.items()}
        pages["frontier"] = write_frontier(Path(folder))
        for name, page in pages.items():
            for device, size in SIZES.items():
                target = DOCS / "images" / f"site-{name}-{device}.png"
                photograph(page, size, target)
                print(f"Wrote {target}")


if __name__ == "__main__":
    main()
