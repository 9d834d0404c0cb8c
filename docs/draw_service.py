"""Photograph the service: ``python docs/draw_service.py``, which needs Chromium."""

from __future__ import annotations

import sys
from pathlib import Path

import askless

IMAGES = Path(__file__).parent / "images"


def photograph() -> None:
    """Take pictures of an interview, as people see it."""
    sys.path.insert(0, str(Path(__file__).parent.parent))
    from tests.serve.service import Thread
    from tests.serve.visitor import Visitor

    car = askless.solve(askless.datasets.load_car()).policy
    clinic = askless.datasets.make_clinic(1000, random_state=0)
    tree = askless.GreedyTreeClassifier(clinic.costs, max_depth=8)
    learned = tree.fit(clinic.to_frame(), clinic.y).policy_
    policies = [("car-wont-start", car), ("clinic", learned)]
    with Thread(policies) as server, Visitor(width=900, height=760) as page:
        page.visit(f"{server.address}/?lang=en")
        page.screenshot(IMAGES / "serve-start.png")
        page.visit(f"{server.address}/ask/car-wont-start?lang=en")
        page.follow("form.card button")
        page.follow(".choice:nth-of-type(2)")
        page.screenshot(IMAGES / "serve-question.png")
        page.follow(".why a")
        page.resize(900, 1100)
        page.screenshot(IMAGES / "serve-why.png")
        while page.is_question:
            page.follow(".choice")
        page.resize(900, 700)
        page.screenshot(IMAGES / "serve-decision.png")
        page.prefer("dark")
        page.resize(390, 844, mobile=True, scale=2)
        page.visit(f"{server.address}/ask/clinic?lang=de")
        page.follow("form.card button")
        page.screenshot(IMAGES / "serve-phone.png")
        page.prefer("light")
        page.resize(1100, 1750)
        page.visit(f"{server.address}/studio?lang=en")
        page.wait_for("document.querySelector('#state').innerText.startsWith('Proved')")
        page.screenshot(IMAGES / "studio.png")


if __name__ == "__main__":
    photograph()
