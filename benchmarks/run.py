"""Run the benchmarks: ``make bench``, or ``python benchmarks/run.py [names]``.

``make bench-quick`` and ``--quick`` take smaller data.

Each benchmark is a module ``bench_<name>.py`` with a function ``run(quick)`` that
measures both sides in one process and returns rows; here they are printed and kept as
JSON under ``benchmarks/results``, from which the page in the documentation is written.
Machines are noisy: read the ratios.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from pathlib import Path

from page import write_page

from askless.exceptions import DatasetNotFoundError

HERE = Path(__file__).parent


def find_benchmarks() -> list[str]:
    """Return the names of all benchmarks."""
    return sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))


def print_rows(rows: list[dict[str, object]]) -> None:
    """Print rows of equal keys as an aligned table."""
    headings = list(rows[0])
    cells = [[_text(row[key]) for key in headings] for row in rows]
    widths = [max(map(len, column)) for column in zip(headings, *cells, strict=True)]
    for line in (headings, ["-" * w for w in widths], *cells):
        print("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip())


def _text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def main() -> int:
    """Run the benchmarks that were asked for; exit 1 if one misses its mark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"any of {find_benchmarks()}")
    parser.add_argument("--quick", action="store_true", help="smaller data")
    parser.add_argument("--page", action="store_true", help="only write the page")
    arguments = parser.parse_args()
    if arguments.page:
        print(f"Wrote {write_page()}")
        return 0
    sys.path.insert(0, str(HERE))
    missed = 0
    for name in arguments.names or find_benchmarks():
        module = importlib.import_module(f"bench_{name}")
        print(f"\n{name}: {(module.__doc__ or '').splitlines()[0]}", flush=True)
        start = time.perf_counter()
        try:
            rows = module.run(arguments.quick)
        except DatasetNotFoundError as error:
            # Public sets are not part of the repository.
            print(f"left out: {error}")
            continue
        print_rows(rows)
        print(f"({time.perf_counter() - start:.0f} s)", flush=True)
        missed += sum(row.get("met") == "no" for row in rows)
        if not arguments.quick:
            results = HERE / "results"
            results.mkdir(exist_ok=True)
            (results / f"{name}.json").write_text(json.dumps(rows, indent=1) + "\n")
    if not arguments.quick:
        write_page()
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
