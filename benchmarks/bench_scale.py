"""Beyond one machine: coding into a store, growing from it, on Dask and on Spark.

Rows are those of covertype, resampled and jittered, 54 columns. Each step runs in a
process of its own; memory is what no file is mapped for. Ratios are of processor
seconds, to the same forest grown from codes in memory, in the same run. The last rows
are grown and scored under a limit of memory that the system sets.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CGROUP = Path("/sys/fs/cgroup/memory")
LIMIT = 4 << 30
MB = 1e6
# Of fewer rows an engine shows what it takes itself.
LEAST_ON_ENGINES = 5_000_000
# Of as many rows on, what a worker needs for a part is seen not to grow.
LEAST_IN_PARTS = 1_000_000
# Trees of a forest that is grown as tasks. What an engine takes for a worker, such as
# the start of one that replaces a worker that was killed, shows in small forests. The
# largest forest, of a minute in memory, is grown at one size.
N_TREES = (2, 20)
N_TREES_ONCE = 100
# Spark takes minutes for each number of parts; one size is enough.
MOST_ON_SPARK = 5_000_000


class Steps:
    """Runs steps in processes of their own, and keeps what they made in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows: list[dict[str, object]] = []

    def file(self, n_rows: int) -> str:
        """Return the Parquet file of so many rows; it is written if it is not there."""
        path = self.folder / f"{n_rows}.parquet"
        if not path.exists():
            self.run("make", rows=str(path), n_rows=n_rows)
        return str(path)

    def store(self, n_rows: int) -> str:
        """Return where the store of so many rows is."""
        return str(self.folder / f"{n_rows}.store")

    def run(self, step: str, limit: int = 0, **arguments: Any) -> dict[str, Any]:
        """Run a step and return what it measured; once for each folder of files."""
        text = json.dumps([step, limit, arguments], sort_keys=True)
        kept = self.folder / f"{step}-{sha256(text.encode()).hexdigest()[:16]}.json"
        if not kept.exists():
            kept.write_text(json.dumps(self._measure(step, limit, arguments)))
        found: dict[str, Any] = json.loads(kept.read_text())
        return found

    def _measure(self, step: str, limit: int, arguments: dict[str, Any]) -> Any:
        command = [sys.executable, str(HERE / "scale_worker.py"), step]
        done = subprocess.run(
            [*command, json.dumps(arguments)],
            stdout=subprocess.PIPE,
            check=True,
            preexec_fn=(lambda: set_limit(limit)) if limit else None,
        )
        return json.loads(done.stdout.splitlines()[-1])

    def add(self, what: str, n_rows: int, told: dict[str, Any], **more: object) -> None:
        """Add a row of the table, and print it at once: a run takes long."""
        row = {
            "step": what, "rows": n_rows, "seconds": told["seconds"],
            "processor": told["processor"], "peak MB": told["peak"] / MB,
            "ratio": "", "equal": "", "note": "", "worker MB": "", "mapped MB": "",
            "used MB": "", "growing": "", **more,
        }  # fmt: skip
        self.rows.append(row)
        print(json.dumps(row), flush=True)

    def listed(self) -> set[tuple[object, object]]:
        """Return which steps are in the table, and of how many rows."""
        return {(row["step"], row["rows"]) for row in self.rows}


def set_limit(n_bytes: int) -> None:
    """Limit the memory of this process, files that are cached included if it can."""
    folder = CGROUP / f"askless-bench-{os.getpid()}"
    try:
        folder.mkdir()
        (folder / "memory.limit_in_bytes").write_text(str(n_bytes))
        (folder / "tasks").write_text(str(os.getpid()))
    except OSError:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (n_bytes, n_bytes))


def limit_kind() -> str:
    """Return what sets the limit here."""
    probe = CGROUP / f"askless-probe-{os.getpid()}"
    try:
        probe.mkdir()
        probe.rmdir()
    except OSError:
        return "RLIMIT_DATA"
    return "cgroup"


def clear_limits() -> None:
    """Remove the groups of processes that have ended."""
    for folder in CGROUP.glob("askless-bench-*"):
        try:
            folder.rmdir()
        except OSError:
            continue


def measure_coding(steps: Steps, sizes: list[int]) -> None:
    """Code files of several sizes, and compare the smallest with codes in memory."""
    first = None
    for n_rows in sizes:
        rows, store = steps.file(n_rows), steps.store(n_rows)
        told = steps.run("code", rows=rows, store=store)
        first = first or told["peak"]
        equal = ""
        if n_rows <= 2_000_000:
            header = json.loads(Path(store, "store.json").read_text())
            expected = steps.run("code_in_memory", rows=rows)["checksums"]
            equal = "yes" if header["checksums"] == expected else "NO"
        steps.add(
            "code into a store", n_rows, told, equal=equal,
            note=f"peak {told['peak'] / first:.2f} of that of {sizes[0]:,} rows",
        )  # fmt: skip


def measure_growing(steps: Steps, n_rows: int, n_trees: int, engines: bool) -> None:
    """Grow the same forest from memory, from a store, and on engines."""
    store = {"store": steps.store(n_rows), "n_trees": n_trees}
    base = steps.run("grow", in_memory=True, **store)
    steps.add(f"grow {n_trees} trees in memory", n_rows, base)
    told = steps.run("grow", in_memory=False, **store)
    rest = f"{told['rest'] / told['codes']:.2f} of the codes beyond the trees"
    compare(steps, "grow from a store", n_rows, told, base, rest)
    every: list[int | None] = [None, *((1, 8, 32) if engines else ())]
    for n_parts in every if n_rows >= LEAST_IN_PARTS or engines else ():
        told = steps.run(
            "grow_on", engine="dask", split="rows", n_parts=n_parts, **store
        )
        what = (
            "parts of 250,000 rows" if n_parts is None else f"{n_parts} parts of rows"
        )
        compare(steps, f"{what}, Dask", n_rows, told, base)
        steps.rows[-1]["worker MB"] = told["worker_anonymous"] / MB
        steps.rows[-1]["mapped MB"] = told["worker_mapped"] / MB
    if engines and shutil.which("java") and n_rows <= MOST_ON_SPARK:
        for n_parts in (1, 8, 32):
            told = steps.run(
                "grow_on", engine="spark", split="rows", n_parts=n_parts, **store
            )
            compare(steps, f"{n_parts} parts of rows, Spark", n_rows, told, base)


def measure_trees(steps: Steps, n_rows: int, n_trees: int) -> None:
    """Grow a forest in memory and as tasks, a worker killed in the middle or none."""
    store = {"store": steps.store(n_rows), "n_trees": n_trees}
    base, what = steps.run("grow", in_memory=True, **store), "trees in memory"
    if (f"grow {n_trees} {what}", n_rows) not in steps.listed():
        steps.add(f"grow {n_trees} {what}", n_rows, base)
    told = steps.run("grow_on", engine="dask", split="trees", **store)
    compare(steps, f"{n_trees} trees as tasks, Dask", n_rows, told, base)
    killed = steps.run(
        "grow_on", engine="dask", split="trees",
        kill=max(0.3, told["seconds"] / 2), **store,
    )  # fmt: skip
    compare(
        steps, f"{n_trees} trees as tasks, a worker killed", n_rows, killed, base,
        f"{killed['seconds'] / told['seconds']:.2f} times the seconds without",
    )  # fmt: skip


def compare(
    steps: Steps,
    what: str,
    n_rows: int,
    told: dict[str, Any],
    base: dict[str, Any],
    note: str = "",
) -> None:
    """Add a step beside the one in memory."""
    ratio = told["processor"] / base["processor"]
    steps.add(
        what, n_rows, told, ratio=ratio, note=note,
        equal="yes" if told["digest"] == base["digest"] else "NO",
    )  # fmt: skip


def measure_limit(steps: Steps, n_rows: int) -> None:
    """Code, grow and score under a limit of memory."""
    rows, store = steps.file(n_rows), steps.store(n_rows)
    limit = f"limit {LIMIT / MB:,.0f} MB by {limit_kind()}"
    told = steps.run("code", LIMIT, rows=rows, store=store)
    used = told["group_peak"] / MB
    steps.add("code into a store", n_rows, told, note=limit, **{"used MB": used})
    told = steps.run("score", LIMIT, rows=rows, store=store, n_trees=2)
    trees = f"{told['nodes']:,} nodes, {told['growing']:.1f} processor seconds to grow"
    steps.add(
        "grow 2 trees from a store and score all rows", n_rows, told,
        note=f"{limit}; {trees}; mean cost {told['mean_cost']:.4g} of "
        f"{told['rows']:,} rows",
        growing=told["growing"], **{"used MB": told["group_peak"] / MB},
    )  # fmt: skip
    clear_limits()


def run(quick: bool) -> list[dict[str, object]]:
    """Return a row for each step."""
    # Where files and what was measured are kept, so that a run that was stopped goes
    # on, and other sizes: the last one is limited.
    kept = os.environ.get("ASKLESS_SCALE_FOLDER")
    asked = os.environ.get("ASKLESS_SCALE_ROWS", "")
    usual = [20_000, 200_000, 250_000]
    if not quick:
        usual = [100_000, 1_000_000, 5_000_000, 10_000_000, 50_000_000]
    *sizes, most = [int(n) for n in asked.split(",") if n] or usual
    with tempfile.TemporaryDirectory() as folder:
        steps = Steps(Path(kept or folder))
        measure_coding(steps, sizes)
        for n_rows in sizes:
            is_large = n_rows >= LEAST_ON_ENGINES or n_rows == sizes[-1]
            measure_growing(steps, n_rows, 2, is_large)
            for n_trees in N_TREES if is_large else ():
                measure_trees(steps, n_rows, n_trees)
            if n_rows == LEAST_ON_ENGINES:
                measure_trees(steps, n_rows, N_TREES_ONCE)
        measure_limit(steps, most)
    return steps.rows
