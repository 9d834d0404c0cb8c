"""One step of the benchmark of scale, in a process of its own: memory is its own too.

``python scale_worker.py STEP JSON`` prints what it measured as a line of JSON.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from scale_data import TARGET, write_rows


def read_status(name: str) -> int:
    """Return a number of bytes that the system tells of this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    return 0


class Watch:
    """Wall and processor seconds, and peaks: memory that is no file's, and the rest."""

    def __enter__(self) -> Watch:
        self._done = threading.Event()
        self.start_anonymous = self.anonymous = read_status("RssAnon")
        self.mapped = read_status("RssFile")
        self._page = resource.getpagesize()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        self._wall, self._processor = time.perf_counter(), processor_seconds()
        return self

    def _look(self) -> None:
        # Short to read: the looking must not show in the times.
        with open("/proc/self/statm", "rb", buffering=0) as file:
            while not self._done.wait(0.02):
                file.seek(0)
                _, all_pages, mapped, *_ = map(int, file.read(200).split())
                own = (all_pages - mapped) * self._page
                self.anonymous = max(self.anonymous, own)
                self.mapped = max(self.mapped, mapped * self._page)

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self._wall
        self.processor = processor_seconds() - self._processor
        self._done.set()
        self._thread.join()

    def told(self) -> dict[str, float]:
        """Return what was measured."""
        return {
            "seconds": self.seconds,
            "processor": self.processor,
            "start": self.start_anonymous,
            "peak": self.anonymous,
        }


def group_peak() -> int:
    """Return the most memory of the group that limits this process, 0 if none does."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, kind, name = line.split(":", 2)
        if kind == "memory" and "askless" in name:
            folder = Path("/sys/fs/cgroup/memory") / name.strip("/")
            return int((folder / "memory.max_usage_in_bytes").read_text())
    return 0


def processor_seconds() -> float:
    """Return the processor seconds of this process and those that it waited for."""
    used = [
        resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    ]
    return sum(u.ru_utime + u.ru_stime for u in used)


def make_forest(n_trees: int, max_depth: int | None = None) -> Any:
    """Return the forest that all steps grow; importing its learner takes a second."""
    import askless

    return askless.BudgetForestClassifier(
        n_estimators=n_trees, max_depth=max_depth, random_state=0, n_jobs=1
    )


def tell_forest(forest: Any) -> dict[str, Any]:
    """Return the digest of a forest and what its nodes take."""
    from askless.policy._file import policy_digest

    nodes = forest.policy_.nodes
    n_bytes = sum(array.nbytes for array in nodes.arrays().values())
    digest = policy_digest(forest.policy_) if nodes.n_nodes < 10_000_000 else ""
    return {"digest": digest, "nodes": nodes.n_nodes, "tree_bytes": n_bytes}


def make(rows: str, n_rows: int) -> dict[str, Any]:
    """Write rows."""
    with Watch() as watch:
        write_rows(Path(rows), n_rows)
    return {**watch.told(), "bytes": Path(rows).stat().st_size}


def code(rows: str, store: str) -> dict[str, Any]:
    """Code rows into a store."""
    import askless.learn.store._writing  # noqa: F401 (not what is measured)
    from askless.learn import CodeStore

    with Watch() as watch:
        written = CodeStore.write(rows, TARGET, store)
    return {
        **watch.told(), "digest": written.digest, "bytes": written.codes.nbytes,
        "group_peak": group_peak(),
    }  # fmt: skip


def code_in_memory(rows: str) -> dict[str, Any]:
    """Code rows in memory, and say whether a store has the same codes."""
    import pandas as pd

    from askless.learn._examples import Examples
    from askless.learn._reading import read_known_rows
    from askless.learn._row_order import settle_order
    from askless.problem import Costs

    frame = pd.read_parquet(rows)
    with Watch() as watch:
        y = frame.pop(TARGET).to_numpy()
        known, names, classes = read_known_rows(
            make_forest(1), frame, y, None, reset=True
        )
        costs = Costs([1.0] * len(names))
        coded = settle_order(
            Examples(known, names, tuple(classes.tolist()), costs)
        ).code()
    import zlib

    sums = [zlib.crc32(column.tobytes()) for column in coded.codes]
    return {**watch.told(), "checksums": sums}


def grow(
    store: str, n_trees: int, in_memory: bool, max_depth: int | None = None
) -> Any:
    """Grow a forest from a store, or from the same codes in memory."""
    from askless.learn import CodeStore

    opened = CodeStore.open(store, check=False)
    if in_memory:
        # As codes that were never in a store: nothing else is there yet.
        opened.__dict__["codes"] = np.array(opened.codes)
        opened.__dict__["bundles"] = None
    forest = make_forest(n_trees, max_depth)
    with Watch() as watch:
        forest.fit(opened)
    told = tell_forest(forest)
    told["rest"] = watch.anonymous - watch.start_anonymous - told["tree_bytes"]
    return {**watch.told(), **told, "codes": opened.codes.nbytes}


def grow_on(
    store: str,
    n_trees: int,
    engine: str,
    split: str,
    n_parts: int | None = None,
    kill: float = 0.0,
) -> dict[str, Any]:
    """Grow a forest on an engine, of two processes."""
    from askless.learn import CodeStore

    opened = CodeStore.open(store, check=False)
    forest = make_forest(n_trees)
    if engine == "dask":
        told = grow_on_dask(forest, opened, split, n_parts, kill)
    else:
        told = grow_on_spark(forest, opened, split, n_parts)
    return {**told, **tell_forest(forest)}


def grow_on_dask(forest: Any, store: Any, split: str, n_parts: Any, kill: float) -> Any:
    """Grow on a local cluster; one of its two processes is killed after a while."""
    from distributed import Client, LocalCluster

    from askless.scale import dask

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0",
            memory_limit=0,
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        client.run(warm_up)
        client.run(start_watch)
        # A worker that is killed is waited for by this process, and so is in its times;
        # one that comes for it is there from its start, be it ready or not.
        before = below_seconds()
        timer = threading.Timer(kill, os.kill, [cluster.workers[0].pid, 9])
        if kill:
            timer.start()
        with Watch() as watch:
            dask.fit(forest, store, split=split, n_parts=n_parts)
        below = below_seconds() - before
        if kill and timer.is_alive():
            timer.cancel()
            raise SystemExit(f"No worker was killed in {watch.seconds:.1f} s.")
        peaks = [seen for seen in client.run(end_watch).values() if seen]
    told = watch.told()
    told["processor"] += below
    anonymous, mapped = np.max(peaks, axis=0).tolist()
    return {**told, "worker_anonymous": anonymous, "worker_mapped": mapped}


def start_watch(dask_worker: Any) -> None:
    """Begin to watch the memory of a worker."""
    dask_worker.askless_watch = Watch().__enter__()


def end_watch(dask_worker: Any) -> tuple[int, int] | None:
    """Return the peaks of memory of a worker: its own, and what is mapped."""
    watch = getattr(dask_worker, "askless_watch", None)
    if watch is None:  # a worker that came for one that was killed
        return None
    watch.__exit__()
    return watch.anonymous, watch.mapped


def warm_up() -> None:
    """Import what tasks need, which is not what is measured."""
    import askless.scale.dask  # noqa: F401


def grow_on_spark(forest: Any, store: Any, split: str, n_parts: Any) -> Any:
    """Grow on a local Spark of two executors' threads."""
    from pyspark.sql import SparkSession

    from askless.scale import spark

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.maxResultSize", "4g")
        .config("spark.driver.memory", "3g")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    session.sparkContext.parallelize(range(2), 2).map(lambda _: warm_up()).collect()
    before = below_seconds()
    with Watch() as watch:
        spark.fit(forest, store, split=split, n_parts=n_parts, session=session)
    told = watch.told()
    told["processor"] += below_seconds() - before
    session.stop()
    return told


def below_seconds() -> float:
    """Return the processor seconds of all processes below this one that live."""
    import psutil

    below = [p.cpu_times() for p in psutil.Process().children(recursive=True)]
    return sum(t.user + t.system + t.children_user + t.children_system for t in below)


def score(rows: str, store: str, n_trees: int) -> dict[str, Any]:
    """Grow a forest from a store and score the rows with it."""
    from askless.learn import CodeStore
    from askless.scale import score_batches

    opened = CodeStore.open(store, check=False)
    forest = make_forest(n_trees)
    with Watch() as watch:
        forest.fit(opened)
        grown, growing = watch.anonymous, processor_seconds() - watch._processor
        n_rows, paid = 0, 0.0
        for batch in score_batches(forest.policy_, rows, n_jobs=1):
            n_rows += batch.num_rows
            paid += float(np.sum(batch.column("cost").to_numpy()))
    return {
        **watch.told(), **tell_forest(forest), "grown_peak": grown, "rows": n_rows,
        "growing": growing, "mean_cost": paid / n_rows, "highest": read_status("VmHWM"),
        "group_peak": group_peak(),
    }  # fmt: skip


STEPS = {
    step.__name__: step for step in (make, code, code_in_memory, grow, grow_on, score)
}

if __name__ == "__main__":
    print(json.dumps(STEPS[sys.argv[1]](**json.loads(sys.argv[2]))))
