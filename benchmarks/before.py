"""Compare speeds with an earlier checkout: ``python benchmarks/before.py PYTHON``.

PYTHON is that of the environment in which the earlier checkout was built, such as
``../before/.venv/bin/python``. Benchmarks that both checkouts have are run on smaller
data by turns, each checkout with its own code, in a process of its own; of all turns
the least processor seconds of each side are divided. A ratio below 1 is faster now.
The spread is that of the ratios of single turns: a ratio is told from 1 only where
its spread does not reach across.

Seconds are those of the processor, also in benchmarks that read the clock: other
programs disturb them least.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
NAMES = ("forest", "grow", "predict", "ensemble", "dectree", "scaling", "ladder")
# Rows of these benchmarks that are no seconds.
NO_SECONDS = ("memory", "bytes", "gains", "times as long")

Seconds = dict[str, float]


def measure(name: str, folder: Path) -> Seconds:
    """Run a benchmark of the folder here; return its processor seconds by row."""
    time.perf_counter = time.process_time
    sys.path.insert(0, str(folder))
    rows: list[dict[str, Any]] = importlib.import_module(f"bench_{name}").run(True)
    found = {}
    for row in rows:
        what = f"{name}: {row['what'] if 'what' in row else label(row)}"
        if not any(word in what for word in NO_SECONDS):
            found[what] = float(row.get("askless", row.get("seconds")))
    return found


def label(row: dict[str, Any]) -> str:
    """Return the words and whole numbers that stand before the seconds of a row."""
    before = list(row.values())[: list(row).index("seconds")]
    return " ".join(str(value) for value in before if isinstance(value, str | int))


def measure_with(python: str, name: str, folder: Path) -> Seconds:
    """Run a benchmark with another Python; return its processor seconds by row."""
    with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
        subprocess.run(
            [python, str(Path(__file__).resolve()), "--measure", name, str(folder),
             file.name],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        seconds: Seconds = json.load(file)
    return seconds


def folder_of(python: str) -> Path:
    """Return the benchmarks of the checkout that a Python has installed."""
    code = "import askless; print(askless.__file__)"
    ended = subprocess.run(
        [python, "-c", code], capture_output=True, text=True, check=True
    )
    folder = Path(ended.stdout.strip()).parents[2] / "benchmarks"
    if not (folder / "run.py").exists():
        sys.exit(f"{python} must have a checkout installed to be edited (make build).")
    return folder


def show(before: list[Seconds], after: list[Seconds]) -> None:
    """Print a line for each row that both sides have."""
    for what in before[0]:
        if what not in after[0]:
            print(f"only before: {what}")
            continue
        old, new = ([turn[what] for turn in side] for side in (before, after))
        ratios = sorted(n / o for n, o in zip(new, old, strict=True))
        print(
            f"{min(new) / min(old):5.2f}  ({ratios[0]:.2f} to {ratios[-1]:.2f})  "
            f"{1e3 * min(old):9.2f} ms  {1e3 * min(new):9.2f} ms  {what}",
            flush=True,
        )


def main() -> int:
    """Run what was asked for, by turns."""
    if sys.argv[1:2] == ["--measure"]:
        name, folder, path = sys.argv[2:]
        Path(path).write_text(json.dumps(measure(name, Path(folder))))
        return 0
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("python", help="the Python of the earlier checkout")
    parser.add_argument("names", nargs="*", default=NAMES, help=f"any of {NAMES}")
    parser.add_argument("--turns", type=int, default=5, help="of each side")
    arguments = parser.parse_args()
    sides = [(arguments.python, folder_of(arguments.python)), (sys.executable, HERE)]
    print("ratio  (of turns)           before        after")
    for name in arguments.names:
        seconds: tuple[list[Seconds], list[Seconds]] = ([], [])
        for turn in range(arguments.turns):
            # Whoever comes second may find the machine warmer.
            for side in (0, 1) if turn % 2 == 0 else (1, 0):
                seconds[side].append(measure_with(sides[side][0], name, sides[side][1]))
        show(*seconds)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
