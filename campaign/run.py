"""Run the campaign: ``make campaign HOURS=1``, or ``python -m campaign.run --hours 1``.

Parts run side by side, one process for each core, and each for its share of the time.
What they tried and found is added up over all runs in ``campaign/results`` and written
to ``docs/campaign.md``; what broke a promise is kept in ``tests/findings``, where
``tests/test_findings.py`` tries it again.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import platform
import secrets
import subprocess
import sys
import time
from collections import Counter
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from campaign.target import Budget, Part, Tally

HERE = Path(__file__).parent
RESULTS = HERE / "results"
PAGE = HERE.parent / "docs" / "campaign.md"
# What earlier runs, whose files are gone, have counted.
EARLIER = HERE / "earlier.json"
# Seconds that a part may take beyond its time.
PATIENCE = 240
LIBRARIES = ("numpy", "scikit-learn", "lightgbm", "xgboost-cpu", "xgboost", "atheris")


def load_parts() -> dict[str, Part]:
    """Return the parts of the campaign by name."""
    from campaign.crashes import try_crashes
    from campaign.files import try_files
    from campaign.guided import try_guided
    from campaign.limits import try_limits
    from campaign.sources import try_sources
    from campaign.storms import try_storms

    parts = [
        Part("files", "A damaged policy, table of facts or likelihoods, cost file, "
             "log or file of sessions is refused by an error of Askless, or read and "
             "sound.", 0.3, try_files),
        Part("guided", "The same, with damage that is steered by the branches it "
             "reaches.", 0.15, try_guided),
        Part("sources", "A model of another library is refused by name, or answers "
             "every row as the library does, to the last bit.", 0.25, try_sources),
        Part("crashes", "A step that was acknowledged is in the log, or in the file "
             "of sessions of the service, after a kill, a full disk or a power cut; a "
             "saved policy is the old or the new one.",
             0.15, try_crashes),
        Part("storms", "Threads may share a policy; of several writers of a log one "
             "is served.", 0.1, try_storms),
        Part("limits", "Little memory ends in MemoryError, never in a crash; time "
             "limits are held within a fifth.", 0.05, try_limits),
    ]  # fmt: skip
    return {part.name: part for part in parts}


def run_part(name: str, seconds: float, seed: int, path: Path) -> None:
    """Run one part in this process and write its tally."""
    part = load_parts()[name]
    tally, budget = Tally(name), Budget(seconds, seed)
    # A part that hangs says where, and ends as one that crashed.
    faulthandler.dump_traceback_later(1.5 * seconds + PATIENCE, exit=True)
    try:
        part.run(budget, tally)
    except KeyboardInterrupt:
        tally.notes.append("interrupted")
    faulthandler.cancel_dump_traceback_later()
    tally.seconds = time.monotonic() - budget.started
    path.write_text(tally.to_json() + "\n", encoding="utf-8")


def _count_kept() -> int:
    """Return how many findings are kept."""
    folder = HERE.parent / "tests" / "findings"
    return sum(path.is_file() for path in folder.iterdir())


def start_part(name: str, seconds: float, seed: int) -> tuple[Any, Path]:
    """Start one part in a process of its own, so that a crash is a finding too."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}-{seed}.json"
    command = [sys.executable, "-m", "campaign.run", "--part", name]
    command += ["--seconds", str(seconds), "--seed", str(seed), "--to", str(path)]
    return subprocess.Popen(command, cwd=HERE.parent), path


def wait_for(name: str, process: Any, path: Path) -> bool:
    """Wait for a part; return whether it kept every promise."""
    code = process.wait()
    if code != 0 or not path.exists():
        tally = Tally(name)
        tally.counts["parts that crashed"] = 1
        error = RuntimeError(f"the part {name!r} ended with {code}")
        tally.find("crash", f"{name} {path.stem}".encode(), ".txt", error)
        path.write_text(tally.to_json() + "\n", encoding="utf-8")
    result = json.loads(path.read_text(encoding="utf-8"))
    kinds = {what: len(seen) for what, seen in result["kinds"].items()}
    counts = {**result["counts"], **kinds}
    tried = ", ".join(f"{k} {v:,}" for k, v in counts.items())
    print(f"{name}: {len(result['findings'])} findings; {tried}", flush=True)
    for finding in result["findings"][:5]:
        print(f"  {finding['file']}: {finding['error'][:200]}", flush=True)
    return not result["findings"]


def run_all(seconds: float, names: list[str], seed: int) -> bool:
    """Run parts, as many at a time as there are cores; return whether all held."""
    parts = load_parts()
    n_cores = max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity")
                  else os.cpu_count() or 1)  # fmt: skip
    total = sum(parts[name].share for name in names)
    waiting = [(n, seconds * n_cores * parts[n].share / total) for n in names]
    running: list[tuple[str, Any, Path]] = []
    is_fine = True
    while waiting or running:
        while waiting and len(running) < n_cores:
            name, part_seconds = waiting.pop(0)
            running.append((name, *start_part(name, part_seconds, seed)))
        done = [each for each in running if each[1].poll() is not None]
        for each in done:
            running.remove(each)
            is_fine = wait_for(*each) and is_fine
        time.sleep(0.2)
    return is_fine


def add_up(earlier: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the counts of all runs, by part, with those of runs before them."""
    total: dict[str, Any] = {}
    for name, before in (earlier or {}).items():
        counts = Counter(before["counts"])
        total[name] = {"counts": counts, "kinds": {}, "seconds": 0.0, "findings": [],
                       "notes": [], "earlier kinds": before["kinds"]}  # fmt: skip
    for path in sorted(RESULTS.glob("*.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        part = total.setdefault(
            result["part"],
            {"counts": Counter(), "kinds": {}, "seconds": 0.0, "findings": [],
             "notes": []},
        )  # fmt: skip
        part["counts"].update(result["counts"])
        for what, seen in result["kinds"].items():
            part["kinds"].setdefault(what, set()).update(seen)
        part["seconds"] += result["seconds"]
        part["findings"] += result["findings"]
        part["notes"] += [n for n in result["notes"] if n not in part["notes"]]
    return total


def _count_kinds(part: dict[str, Any]) -> dict[str, int]:
    """Return how many different things there were: at least, if runs are gone.

    Which ones those runs saw is not known, so that they may be the same.
    """
    seen = Counter({what: len(kinds) for what, kinds in part["kinds"].items()})
    return dict(seen | Counter(part.get("earlier kinds", {})))


def write_page() -> None:
    """Write what was tried and found to the documentation."""
    earlier = json.loads(EARLIER.read_text(encoding="utf-8"))
    total, parts = add_up(earlier["parts"]), load_parts()
    now = sum(part["seconds"] for part in total.values()) / 3600
    hours = earlier["hours"] + now
    lines = [
        "# The campaign",
        "",
        "What tries to break the promises of Askless, how often it has tried, and what",
        "it has found. This page is written by the command itself, `make campaign",
        "HOURS=1`, from the runs on one machine; [the threat model](security.md) says",
        "what is promised. Runs that broke a promise are not counted below once the",
        f"cause is mended: the {_count_kept()} files and models that they found are",
        "kept in `tests/findings`, and tried again with every change.",
        "",
        f"{hours:.1f} hours of trying, the last {60 * now:.0f} minutes of them on "
        f"{date.today().isoformat()}; Python {platform.python_version()}, "
        + ", ".join(_versions())
        + ".",
        "",
        *_sum_up(total),
    ]
    for name, part in parts.items():
        if name not in total:
            continue
        found = total[name]
        lines += [f"## {name.capitalize()}", "", part.promise, ""]
        lines += ["| tried | times |", "|---|--:|"]
        counts = sorted({**found["counts"], **_count_kinds(found)}.items())
        lines += [f"| {k} | {v:,} |" for k, v in counts]
        lines += [f"| **findings** | **{len(found['findings'])}** |", ""]
        lines += [f"* {finding['file']}: {_cell(finding['error'])}"
                  for finding in found["findings"][:20]]  # fmt: skip
        lines += [f"{note}." for note in found["notes"]]
        lines += [""] if lines[-1] else []
    PAGE.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    print(f"Wrote {PAGE.relative_to(HERE.parent)}")


def _sum_up(total: dict[str, Any]) -> list[str]:
    """Return a table of what matters most, over all parts."""
    counts: Counter[str] = Counter()
    for part in total.values():
        counts.update(part["counts"])
        counts.update(_count_kinds(part))
        counts["findings"] += len(part["findings"])
    shown = {
        "damaged files": counts["mutants"],
        "rows compared with the models that they came from": counts["rows compared"],
        "settings of these models that were honoured": counts[
            "different settings: equal"
        ],
        "settings that were refused by name": counts["different settings: refused"],
        "processes killed": counts["kills"],
        "parts that crashed or hung": counts["parts that crashed"],
        "promises broken": counts["findings"],
    }
    lines = [f"| {what} | {times:,} |" for what, times in shown.items()]
    return ["| in all | |", "|---|--:|", *lines, ""]


def _cell(text: str) -> str:
    return text[:160].replace("|", "/").replace("\n", " ")


def _versions() -> list[str]:
    found = []
    for name in LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return found


def main() -> int:
    """Run the campaign or one part of it; exit 1 if a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=None)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--only", nargs="*", default=None, help="names of parts")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--page", action="store_true", help="write the page as well")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    parser.add_argument("--to", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    seconds = given.seconds if given.hours is None else 3600 * given.hours
    seed = secrets.randbelow(2**31) if given.seed is None else given.seed
    if given.part is not None:
        run_part(given.part, seconds, seed, given.to)
        return 0
    names = given.only or list(load_parts())
    print(f"Seed {seed}; {seconds:.0f} s on every core.", flush=True)
    is_fine = run_all(seconds, names, seed)
    if given.page:
        write_page()
    return 0 if is_fine else 1


if __name__ == "__main__":
    raise SystemExit(main())
