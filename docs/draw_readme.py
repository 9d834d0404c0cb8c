"""Draw the README's picture from real output: ``python docs/draw_readme.py``."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

import askless

LINE = 19
CHARACTER = 8.43


def draw_terminal(lines: list[str], title: str) -> str:
    """Return an SVG of a terminal that shows the lines, decisions in green."""
    width = int(CHARACTER * max(map(len, lines))) + 48
    height = LINE * len(lines) + 68
    rows = []
    for i, line in enumerate(lines):
        text, arrow, decision = line.partition("=> ")
        spans = f"<tspan>{escape(text)}</tspan>"
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


def main() -> None:
    """Solve the car, and write what the command line shows of it."""
    table = askless.datasets.load_car()
    solution = askless.solve(table)
    lines = [
        "$ askless show car.json --max-depth 3",
        "",
        *askless.show(solution.policy, max_depth=3).splitlines(),
        "",
        f"expected {solution.expected_cost:.1f} minutes, at worst "
        f"{solution.worst_cost:g}; every check: {table.prices.cost_of_all():g} minutes",
    ]
    picture = draw_terminal(lines, "The flowchart for a car that won't start")
    Path(__file__).parent.joinpath("images", "car.svg").write_text(picture)


if __name__ == "__main__":
    main()
