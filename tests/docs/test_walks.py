"""The walks through the code that the architecture page tells."""

import importlib
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
ORDER = ["problem", "solve", "learn", "policy", "run"]
MOST_STEPS = 12


def list_walks():
    text = PAGE.read_text(encoding="utf-8")
    part = text[text.index("## Two walks") : text.index("## One representation")]
    walks = []
    for table in re.split(r"^\*\*", part, flags=re.MULTILINE)[1:]:
        walks.append(re.findall(r"^\| \d+ \| `([\w.]+)` \|", table, re.MULTILINE))
    return walks


def test_every_step_exists():
    walks = list_walks()
    assert len(walks) == 2
    for step in [step for walk in walks for step in walk]:
        module, name = step.rsplit(".", 1)
        assert hasattr(importlib.import_module(f"askless.{module}"), name), step


def test_walks_are_short_and_never_go_back():
    for steps in list_walks():
        assert 1 < len(steps) <= MOST_STEPS
        places = [ORDER.index(step.split(".")[0]) for step in steps]
        assert places == sorted(places)
