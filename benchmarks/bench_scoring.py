"""Scoring 5,000,000 x 54 rows from Parquet to Parquet: one process, Dask, Spark.

Covertype with jitter, a budgeted forest. ``askless`` is one process, ``other`` the
engine: processor seconds of all its processes, without their start and after a first
run that is not counted. *Frames* are rows that the engine reads and writes, which on
Spark go through the virtual machine of Java (``score``); *files* are read and written
by its workers in Python (``score_parquet``). An engine may take 2 (Dask) and 2.5
(Spark) times as long; decisions and the bits of costs must be equal. Then what reading
all columns costs, how memory grows, and what a cell of text takes: ``askless`` as it
lies in Arrow, ``other`` as Python objects, in nanoseconds.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
from pyarrow import dataset, parquet
from timing import PeakMemory, row, time_processor

import askless
from askless.datasets import load_public
from askless.problem import Test
from askless.scale import score_batches

# Scores the rows in a folder into another one.
Work = Callable[[Path, Path], None]

N_FILES = 20
N_CELLS = 1_000_000


def write_rows(folder: Path, X: Any, n_rows: int) -> list[str]:
    """Write rows drawn from a matrix, each moved a little; return names of columns."""
    names = [f"c{i}" for i in range(X.shape[1])]
    rng = np.random.default_rng(0)
    size = n_rows // N_FILES
    for file in range(N_FILES):
        rows = X[rng.integers(0, len(X), size)]
        rows[:, :10] += rng.normal(scale=0.5, size=(size, 10)).astype(np.float32)
        columns = {
            name: np.ascontiguousarray(rows[:, i]) for i, name in enumerate(names)
        }
        columns["key"] = np.arange(file * size, (file + 1) * size)
        parquet.write_table(pa.table(columns), folder / f"{file:03d}.parquet")
    return names


def fit_policy(X: Any, y: Any, names: list[str]) -> Any:
    """Return a forest that leaves many columns out."""
    model = askless.BudgetForestClassifier(
        n_estimators=10, max_depth=8, random_state=0, budget=12.0
    )
    some = np.random.default_rng(1).permutation(len(X))[:20_000]
    columns = {name: X[some, i] for i, name in enumerate(names)}
    return model.fit(pa.table(columns), y[some]).policy_


def write_scored(reader: Any, path: Path) -> None:
    """Write batches as they come."""
    with parquet.ParquetWriter(path, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)


def processor_seconds(run: Callable[[], Any]) -> tuple[float, float]:
    """Return processor seconds of this process and those below it, and seconds."""
    mine = psutil.Process()

    def spent() -> float:
        # What ended meanwhile is in the times of whoever waited for it.
        every = [p.cpu_times() for p in (mine, *mine.children(recursive=True))]
        return sum(
            t.user + t.system + t.children_user + t.children_system for t in every
        )

    before, start = spent(), time.perf_counter()
    run()
    return spent() - before, time.perf_counter() - start


@contextmanager
def open_dask(policy: Any) -> Iterator[dict[str, Work]]:
    """Yield how two workers of a thread each score rows, by frames and by files."""
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    from askless.scale.dask import score, score_parquet

    def by_frames(rows: Path, target: Path) -> None:
        # Columns as Arrow has them are scored as they are.
        ddf = dd.read_parquet(rows, split_row_groups=False, dtype_backend="pyarrow")
        score(policy, ddf, keep=["key"]).to_parquet(target, write_index=False)

    def by_files(rows: Path, target: Path) -> None:
        score_parquet(policy, rows, target, keep=["key"])

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as cluster,
        Client(cluster),
    ):
        yield {"frames": by_frames, "files": by_files}


@contextmanager
def open_spark(policy: Any) -> Iterator[dict[str, Work]]:
    """Yield how two threads of Spark, each with a worker of Python, score rows."""
    from pyspark.sql import SparkSession

    from askless.scale.spark import score, score_parquet

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "2g")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "65536")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")

    def by_frames(rows: Path, target: Path) -> None:
        sdf = session.read.parquet(str(rows))
        score(policy, sdf, keep=["key"]).write.parquet(str(target))

    def by_files(rows: Path, target: Path) -> None:
        score_parquet(policy, rows, target, keep=["key"], session=session)

    try:
        yield {"frames": by_frames, "files": by_files}
    finally:
        session.stop()


def check_equal(one: Path, other: Path) -> None:
    """Refuse decisions or bits of costs that differ."""
    left, right = (
        dataset.dataset(path, format="parquet").to_table().sort_by("key")
        for path in (one, other)
    )
    assert left["key"].equals(right["key"])
    for name in ("decision", "cost"):
        a, b = (t[name].to_numpy(zero_copy_only=False) for t in (left, right))
        assert a.tobytes() == b.tobytes(), f"{name} differs in {other}"


def measure_text() -> list[dict[str, object]]:
    """Return what a cell of text takes, plain and by a dictionary."""
    words = [f"outcome {i} of the test"[: 5 + i % 18] + str(i) for i in range(40)]
    test = Test("t", "category", outcomes=tuple(words))
    plain = pa.array(np.array(words)[np.random.default_rng(0).integers(0, 40, N_CELLS)])
    kinds = {
        "plain text, ns a cell": plain,
        "large text, ns a cell": plain.cast(pa.large_string()),
        "viewed text, ns a cell": plain.cast(pa.string_view()),
        "dictionary, ns a cell": plain.dictionary_encode(),
    }
    table = askless.Table({"t": words}, words)
    policy = askless.solve(table).policy
    rows = []
    for name, column in kinds.items():
        frame = pa.table({"t": column})
        assert policy.predict(frame).tolist() == plain.to_pylist()
        columns = {"t": pa.chunked_array([column])}
        ours, theirs = time_processor(
            lambda c=columns: policy.coding.encode(_as_text(c)),
            lambda c=column: test.encode(c.to_pylist()),
            3,
        )
        found = row(name, ours / N_CELLS * 1e9, theirs / N_CELLS * 1e9, 1.0)
        found |= {"asked": "<= 10 ns", "met": "yes" if found["askless"] <= 10 else "no"}
        rows.append(found)
    return rows


def _as_text(columns: Any) -> Any:
    from askless.problem._frames import clean_columns

    return clean_columns(columns, ["t"], as_text={"t"})


def run(quick: bool) -> list[dict[str, object]]:
    """Return a row for each measurement."""
    rows = measure_text()
    data = load_public("covertype")
    X, y = np.asarray(data.X, dtype=np.float32), data.y
    with tempfile.TemporaryDirectory() as name:
        folder, n_rows = Path(name), 200_000 if quick else 5_000_000
        (folder / "rows").mkdir()
        names = write_rows(folder / "rows", X, n_rows)
        policy = fit_policy(X, y, names)
        print(f"{n_rows:,} rows, {len(policy.columns)} of {len(names)} columns asked")
        return rows + measure_engines(policy, folder, n_rows)


def measure_engines(policy: Any, folder: Path, n_rows: int) -> list[dict[str, object]]:
    """Return how engines compare with one process on the rows in a folder."""
    source, one = folder / "rows", folder / "one.parquet"

    def score_here() -> None:
        write_scored(score_batches(policy, source, keep=["key"]), one)

    def score_everything() -> None:
        reader = dataset.dataset(source).scanner(batch_readahead=1).to_reader()
        write_scored(
            score_batches(policy, reader, keep=["key"]), folder / "all.parquet"
        )

    score_here()
    here, wall = processor_seconds(score_here)
    print(f"one process: {here:.1f} s of processor, {wall:.1f} s", flush=True)
    every, _ = processor_seconds(score_everything)
    check_equal(one, folder / "all.parquet")
    rows = [row("all columns read", here, every, 1.0)]
    some = [str(path) for path in sorted(source.iterdir())[: N_FILES // 5]]
    peaks = []
    for paths in (some, source):
        with PeakMemory() as memory:
            write_scored(score_batches(policy, paths), folder / "peak.parquet")
        peaks.append(memory.extra / 2**20)
    print(f"memory above the start: {peaks[0]:.0f} MB for a fifth of the rows, "
          f"{peaks[1]:.0f} MB for all")  # fmt: skip
    for engine, open_engine, most in (
        ("Dask", open_dask, 2.0),
        ("Spark", open_spark, 2.5),
    ):
        try:
            with open_engine(policy) as ways:
                rows += compare_ways(engine, ways, most, score_here, folder)
        except ImportError as error:
            print(f"{engine} left out: {error}")
    return rows


def compare_ways(
    engine: str,
    ways: dict[str, Work],
    most: float,
    score_here: Callable[[], None],
    folder: Path,
) -> list[dict[str, object]]:
    """Return how an engine compares with one process, each way, by turns with it."""
    rows = []
    for way, work in ways.items():
        first, target = (folder / f"{engine}-{way}-{i}" for i in range(2))
        work(folder / "rows", first)  # imports, and what is made once
        here = processor_seconds(score_here)
        there = processor_seconds(lambda w=work, t=target: w(folder / "rows", t))
        here = min(here, processor_seconds(score_here))
        check_equal(folder / "one.parquet", target)
        for done in (first, target):
            shutil.rmtree(done)
        found = row(f"{engine}, {way}", here[0], there[0], 1.0)
        found |= {
            "asked": f"<= {most:g}",
            "met": "yes" if there[0] <= most * here[0] else "no",
        }
        print(
            f"{engine}, {way}: {there[0]:.1f} s of processor, {there[1]:.1f} s; one "
            f"process {here[0]:.1f} s, {here[1]:.1f} s; {there[0] / here[0]:.2f} times",
            flush=True,
        )
        rows.append(found)
    return rows
