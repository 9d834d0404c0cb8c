"""Draw the pictures of README and concepts: ``python docs/draw_readme.py``.

All of them show real output of the code that stands beside them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

import askless

HERE = Path(__file__).parent
LINE = 19
CHARACTER = 8.43


def draw_terminal(lines: list[str], title: str) -> str:
    """Return an SVG of a terminal that shows the lines, decisions in green."""
    width = int(CHARACTER * max(map(len, lines))) + 48
    height = LINE * len(lines) + 68
    rows = []
    for i, line in enumerate(lines):
        text, arrow, decision = line.partition("=> ")
        typed = ' fill="#79c0ff" font-weight="bold"' if line[:2] in ("> ", "$ ") else ""
        spans = f"<tspan{typed}>{escape(text)}</tspan>"
        if arrow:
            style = 'fill="#3fb950" font-weight="bold"'
            spans += f"<tspan {style}>=&gt; {escape(decision)}</tspan>"
        rows.append(
            f'<text x="24" y="{58 + LINE * i}" xml:space="preserve">{spans}</text>'
        )
    dots = "".join(
        f'<circle cx="{24 + 18 * i}" cy="20" r="6" fill="{colour}"/>'
        for i, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">\n'
        f"<title>{escape(title)}</title>\n"
        f'<rect width="{width}" height="{height}" rx="10" fill="#0d1117"/>\n{dots}\n'
        '<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" '
        'fill="#c9d1d9">\n' + "\n".join(rows) + "\n</g>\n</svg>\n"
    )


def draw_car() -> str:
    """Solve the car, and draw the upper levels of its flowchart."""
    policy = askless.solve(askless.datasets.load_car()).policy
    return askless.show(policy, "svg", title="The car won't start", max_depth=3)


def draw_bike() -> tuple[str, str]:
    """Solve the bike of the README; return the drawing and an interview about it."""
    readme = (HERE.parent / "README.md").read_text(encoding="utf-8")
    files = dict(re.findall(r"<!-- file: (\S+) -->\n```text\n(.*?)```", readme, re.S))
    answers = ["hard", "what if worn", "fine", "2"]
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            Path(folder, name).write_text(content, encoding="utf-8")
        table = askless.read_table(
            Path(folder, "bike.csv"),
            "repair",
            costs=askless.read_costs(Path(folder, "bike.costs.csv")),
            prior="prior",
        )
        policy = askless.solve(table).policy
        policy.save(Path(folder, "bike.json"))
        lines = ["$ askless ask bike.json", *_interview(folder, answers)]
    drawing = str(askless.show(policy, "svg"))
    return drawing, draw_terminal(lines, "An interview about a bike")


def draw_blood() -> str:
    """Draw the policy of the page of words: two tests that share the drawn blood."""
    costs = askless.Costs(
        {"iron": 7, "sugar": 5},
        groups={"blood": ["iron", "sugar"]},
        discounted={"iron": 5, "sugar": 3},
    )
    outcomes = [[0, 0], [0, 1], [1, 0], [1, 1]]
    table = askless.Table(outcomes, list("abcd"), tests=["iron", "sugar"], costs=costs)
    policy = askless.solve(table).policy
    return str(askless.show(policy, "svg", title="Blood is drawn once"))


def draw_unknown() -> str:
    """Draw a policy for a case that may show either outcome."""
    table = askless.Table(
        {
            "lamp": ["dark", "dim", "bright", None],
            "socket": ["dead", "live", "live", "odd"],
        },
        ["fuse", "dimmer", "nothing", "bulb"],
        costs={"lamp": 1, "socket": 5},
        prior=[2, 2, 5, 1],
        chances={"lamp": {"dark": 0.5, "dim": 0.5, "bright": 0}},
    )
    policy = askless.solve(table).policy
    return str(askless.show(policy, "svg", title="The bulb may be dark or dim"))


def _interview(folder: str, answers: list[str]) -> list[str]:
    """Return what a terminal shows: what is typed, and what each answer adds."""
    before, lines = "", []
    for n in range(len(answers) + 1):
        typed = "".join(f"{answer}\n" for answer in answers[:n])
        shown = subprocess.run(
            [sys.executable, "-m", "askless", "ask", "bike.json"],
            input=typed, capture_output=True, text=True, check=False, cwd=folder,
            env={**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "90"},
        ).stdout  # fmt: skip
        lines += [f"> {answers[n - 1]}"] if n else []
        lines += shown[len(before) :].rstrip("\n").split("\n")
        before = shown
    return lines


def main() -> None:
    """Draw all of them."""
    bike, ask = draw_bike()
    pictures = {
        "car": draw_car(),
        "bike": bike,
        "ask": ask,
        "blood": draw_blood(),
        "unknown": draw_unknown(),
    }
    for name, picture in pictures.items():
        (HERE / "images" / f"{name}.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
