"""Damage that is steered by what it reaches: the same files under atheris.

Atheris watches which branches of the readers a file takes, and keeps files that take
new ones as the next to damage. It runs in a process of its own, since it never gives
control back. Where it is not installed, the part says so and tries nothing.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from campaign.target import Budget, Tally

__all__ = ["try_guided"]

HERE = Path(__file__).parent
# Seconds that importing with instruments takes.
START = 5
FORMATS = (
    "policy",
    "table",
    "costs",
    "costs in TOML",
    "log",
    "likelihoods",
    "sessions",
)


def try_guided(budget: Budget, tally: Tally) -> None:
    """Run atheris on each format for its share of the time."""
    if importlib.util.find_spec("atheris") is None:
        tally.notes.append("atheris is not installed: nothing was tried")
        return
    # Little time goes to few formats: starting takes some seconds for each.
    few = max(1, min(len(FORMATS), int(budget.left / (2 * START))))
    first = budget.seed % len(FORMATS)
    names = [FORMATS[(first + i) % len(FORMATS)] for i in range(few)]
    for number, name in enumerate(names):
        seconds = budget.left / (few - number) - START
        _fuzz(name, max(2, int(seconds)), budget.seed, tally)


def _fuzz(name: str, seconds: int, seed: int, tally: Tally) -> None:
    with tempfile.TemporaryDirectory() as folder:
        corpus, crashes = Path(folder, "corpus"), Path(folder, "crashes")
        corpus.mkdir()
        crashes.mkdir()
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "campaign.guided",
                name,
                str(corpus),
                f"-max_total_time={seconds}",
                f"-seed={seed % 2**31 or 1}",
                f"-artifact_prefix={crashes}/",
                "-max_len=20000",
                "-rss_limit_mb=4096",
                "-timeout=20",
                "-verbosity=0",
                "-print_final_stats=1",
            ],
            cwd=HERE.parent,
            capture_output=True,
            text=True,
            timeout=seconds + 300,
        )
        runs = re.search(r"number_of_executed_units:\s*(\d+)", done.stderr)
        news = re.search(r"new_units_added:\s*(\d+)", done.stderr)
        tally.counts["mutants"] += int(runs[1]) if runs else 0
        tally.counts[f"{name}: guided"] += int(runs[1]) if runs else 0
        tally.counts[f"{name}: reached new branches"] += int(news[1]) if news else 0
        for crash in sorted(crashes.iterdir()):
            error = RuntimeError(done.stderr[-3000:])
            tally.find(f"guided-{name}", crash.read_bytes(), ".bin", error)
        if runs is None:
            tally.notes.append(f"{name}: atheris said nothing: {done.stderr[-300:]}")


def main() -> None:
    """Fuzz one format; called in a process of its own."""
    import atheris

    with atheris.instrument_imports(include=["askless"]):
        from campaign import files
    from campaign.damage import damage_bytes, damage_parts

    name, corpus = sys.argv[1], Path(sys.argv[2])
    form = files.FORMATS[name]
    for number, seed in enumerate(form.seeds):
        (corpus / f"seed-{number}").write_bytes(seed)

    def receive(raw: bytes) -> None:
        form.receive(raw)

    def mutate(raw: bytes, most: int, seed: int) -> bytes:
        """Change bytes as libFuzzer does, or parts and lines as the campaign does."""
        rng = np.random.default_rng(seed)
        if raw and rng.random() < 0.2:
            try:
                if form.mend is not None:
                    raw = damage_parts(rng, raw, form.mend)
                else:
                    raw = damage_bytes(rng, raw, form.seeds)
            except (ValueError, RecursionError, AttributeError):
                pass  # no longer JSON, or too deep for it
            return raw[:most]
        return bytes(atheris.Mutate(raw, most))

    atheris.Setup([sys.argv[0], *sys.argv[2:]], receive, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
