"""Parquet files are scored into Parquet files, part by part, as in one process."""

import json
import os
import shutil
import sys

import pyarrow as pa
import pytest
from pyarrow import dataset, parquet

import askless
from askless.exceptions import DataFileError, InvalidTableError
from askless.scale import _parquet_parts, score_batches
from askless.scale._parquet_parts import plan_parts, score_part, score_parts
from askless.scale._train import LocalEngine
from tests.policy.examples import EXAMPLES, make_example
from tests.scale.test_batches import as_arrow
from tests.strategies import random_rows


def write_rows(folder, policy, rng, n=60):
    """Write rows into two files, of row groups of seven."""
    rows = as_arrow(random_rows(rng, policy.tests, n))
    rows = rows.append_column("key", [list(range(n))])
    folder.mkdir()
    for i, part in enumerate((rows[: n // 3], rows[n // 3 :])):
        parquet.write_table(part, folder / f"{i}.parquet", row_group_size=7)
    return folder


def read(folder):
    return dataset.dataset(folder, format="parquet").to_table()


def check_same(policy, source, target, n_rows, **options):
    expected = score_batches(policy, source, **options).read_all()
    assert n_rows == len(expected)
    assert read(target).equals(expected.combine_chunks())
    marked = json.loads((target / "_SUCCESS").read_text())
    assert marked["rows"] == n_rows
    assert marked["parts"] == len(list(target.glob("part-*.parquet")))
    assert not list(target.glob(".askless-*"))


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(_parquet_parts, "PART_ROWS", 15)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_kind_of_policy_scores_parts(name, rng, tmp_path):
    policy = make_example(name)
    source, target = write_rows(tmp_path / "rows", policy, rng), tmp_path / "scored"
    also = ["bought", *(["probabilities"] if policy.classes else [])]
    options = {"keep": ["key"], "also": also}
    n_rows = score_parts(LocalEngine(), policy, source, target, **options)
    check_same(policy, source, target, n_rows, **options)
    assert len(list(target.glob("part-*"))) == 5
    decided = askless.load(target / "_policy.json")
    assert decided.classes == policy.classes


def test_parts_are_row_groups_of_one_file(rng, tmp_path):
    source = write_rows(tmp_path / "rows", make_example("numbers"), rng)
    parts = plan_parts(dataset.dataset(source))
    assert [groups for _, groups in parts] == [(0, 1), (2,), (0, 1), (2, 3), (4, 5)]


def test_a_part_that_is_done_again_replaces_its_file(rng, tmp_path):
    policy = make_example("forest")
    source, target = write_rows(tmp_path / "rows", policy, rng), tmp_path / "scored"

    class Stubborn(LocalEngine):
        def map(self, function, items):
            # A worker that was lost left a draft behind.
            (target / ".askless-0123").write_bytes(b"half")
            return super().map(function, [*items[::-1], *items])[len(items) :]

    n_rows = score_parts(Stubborn(), policy, source, target)
    check_same(policy, source, target, n_rows)


def test_a_part_is_whole_or_not_there(rng, tmp_path):
    policy = make_example("numbers")
    source, target = write_rows(tmp_path / "rows", policy, rng), tmp_path / "scored"
    name = str(source / "1.parquet")
    whole = (source / "1.parquet").read_bytes()

    class Damaging(LocalEngine):
        def map(self, function, items):
            (source / "1.parquet").write_bytes(b"\0" * 200 + whole[200:])
            return [function(item) for item in items if item.source == name]

    with pytest.raises(DataFileError, match="A file of rows must be whole"):
        score_parts(Damaging(), policy, source, target)
    assert [path.name for path in target.iterdir()] == ["_policy.json"]
    with pytest.raises(DataFileError, match="must be new or empty"):
        score_parts(LocalEngine(), policy, source, target)


def test_no_rows_have_columns_all_the_same(rng, tmp_path):
    policy = make_example("numbers")
    source, target = write_rows(tmp_path / "rows", policy, rng, 0), tmp_path / "scored"
    assert score_parts(LocalEngine(), policy, source, target, keep=["key"]) == 0
    assert read(target).column_names == ["key", "decision", "cost"]


def test_what_cannot_be_scored_says_so(rng, tmp_path):
    policy = make_example("numbers")
    source, target = write_rows(tmp_path / "rows", policy, rng), tmp_path / "scored"
    with pytest.raises(InvalidTableError, match="Got no column 'lost'"):
        score_parts(LocalEngine(), policy, source, target, keep=["lost"])
    assert not target.exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(DataFileError, match="every worker can write to"):
        score_parts(LocalEngine(), policy, source, tmp_path / "file")
    with pa.ipc.new_file(tmp_path / "rows.arrow", read(source).schema) as file:
        file.write_table(read(source))
    with pytest.raises(DataFileError, match=r"one format: parquet. Got ipc"):
        score_parts(LocalEngine(), policy, tmp_path / "rows.arrow", target)


def test_a_policy_that_is_not_the_one_of_the_run_is_refused(rng, tmp_path):
    policy = make_example("numbers")
    source, target = write_rows(tmp_path / "rows", policy, rng), tmp_path / "scored"

    class Swapping(LocalEngine):
        def map(self, function, items):
            make_example("forest").save(items[0].policy)
            return [score_part(item) for item in items]

    with pytest.raises(DataFileError, match="must stay as it is"):
        score_parts(Swapping(), policy, source, target)


# Engines carry the parts.


def test_dask_scores_parts(dask_cluster, rng, tmp_path, monkeypatch):
    from distributed import Client

    from askless.scale.dask import score_parquet

    policy = make_example("forest")
    source, target = write_rows(tmp_path / "rows", policy, rng), tmp_path / "scored"
    monkeypatch.chdir(tmp_path)
    with Client(dask_cluster):
        n_rows = score_parquet(policy, "rows", "scored", keep=["key"])
    check_same(policy, source, target, n_rows, keep=["key"])


@pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning")
def test_spark_scores_parts(rng, tmp_path):
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, which is not installed")
    from askless.scale.spark import score_parquet

    os.environ["PYSPARK_PYTHON"] = sys.executable
    policy = make_example("forest")
    source, target = write_rows(tmp_path / "rows", policy, rng), tmp_path / "scored"
    session = (
        sql.SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    try:
        n_rows = score_parquet(policy, source, target, keep=["key"], session=session)
        check_same(policy, source, target, n_rows, keep=["key"])
        # Spark reads the folder as one of its own.
        assert session.read.parquet(str(target)).count() == n_rows
    finally:
        session.stop()


def test_ray_scores_parts(ray_cluster, rng, tmp_path):
    from askless.scale.ray import score_parquet

    policy = make_example("forest")
    source, target = write_rows(tmp_path / "rows", policy, rng), tmp_path / "scored"
    n_rows = score_parquet(policy, source, target, keep=["key"])
    check_same(policy, source, target, n_rows, keep=["key"])
