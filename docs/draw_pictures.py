"""Photograph drawn policies: ``python docs/draw_pictures.py``, which needs Chromium."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import askless

IMAGES = Path(__file__).parent / "images"


def solve_car() -> askless.Policy:
    """Return the flowchart for a car that won't start."""
    return askless.solve(askless.datasets.load_car()).policy


def learn_clinic(max_depth: int) -> askless.Policy:
    """Return a tree learned from a thousand patients."""
    clinic = askless.datasets.make_clinic(1000, random_state=0)
    tree = askless.GreedyTreeClassifier(clinic.costs, max_depth=max_depth)
    policy: askless.Policy = tree.fit(clinic.to_frame(), clinic.y).policy_
    return policy


def photograph() -> None:
    """Take pictures of every kind of drawing, as a browser shows them."""
    sys.path.insert(0, str(Path(__file__).parent.parent))
    from tests.export.chromium import Page

    car, large = solve_car(), learn_clinic(8)
    folder = Path(tempfile.mkdtemp())
    title = "The car won't start"
    shown = {
        "car.svg": askless.show(car, "svg", title=title, budget=20),
        "car.html": askless.show(car, "html", title=title, budget=20),
        "large.svg": askless.show(large, "svg", title="A clinic"),
        "large.html": askless.show(large, "html", title="A clinic"),
    }
    for name, content in shown.items():
        folder.joinpath(name).write_text(content, "utf-8")
    with Page() as page:
        page.open(folder / "car.svg")
        _fit(page)
        page.screenshot(IMAGES / "picture-small.png")
        # The upper end of a poster.
        page.open(folder / "large.svg")
        page.resize(2100, 1500, scale=0.7)
        page.screenshot(IMAGES / "picture-large.png")
        page.resize(1400, 900)
        page.open(folder / "car.html")
        page.screenshot(IMAGES / "page-small.png")
        page.prefer("dark")
        page.open(folder / "large.html")
        page.click("#fit")
        page.screenshot(IMAGES / "page-large.png")
        page.prefer("light")
        page.resize(390, 844, mobile=True, scale=2)
        page.open(folder / "car.html")
        page.screenshot(IMAGES / "page-phone.png")


def _fit(page: object) -> None:
    """Make the window as large as the drawing."""
    width, height = page.run(  # type: ignore[attr-defined]
        "['width', 'height'].map((name) => "
        "Number(document.documentElement.getAttribute(name)))"
    )
    page.resize(int(width), int(height))  # type: ignore[attr-defined]


if __name__ == "__main__":
    photograph()
