"""Rows of Spark are scored as in one process, and a policy is a stage of a pipeline."""

import os
import shutil
import sys

import pytest

from askless.exceptions import InvalidTableError, PolicyFileError
from askless.scale import score_batches
from tests.policy.examples import EXAMPLES, make_example
from tests.scale.test_batches import as_arrow
from tests.strategies import random_rows

pytest.importorskip("pyspark", reason="pyspark is not installed")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Spark needs Java, which is not installed", allow_module_level=True)

from askless.scale import spark as engine

# Spark says so of pandas 3, which is not used here.
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning")


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    folder = str(tmp_path_factory.mktemp("spark"))
    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", folder)
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


def make_rows(policy, rng, n=30):
    rows = as_arrow(random_rows(rng, policy.tests, n))
    return rows.append_column("key", [list(range(n))])


def collect(sdf):
    return sorted((row.asDict() for row in sdf.collect()), key=lambda row: row["key"])


def test_every_kind_of_policy_scores_on_executors(spark, rng):
    for name in EXAMPLES:
        policy = make_example(name)
        rows = make_rows(policy, rng)
        sdf = spark.createDataFrame(rows).repartition(2)
        found = collect(engine.score(policy, sdf, keep=["key"]))
        assert found == score_batches(policy, rows, keep=["key"]).read_all().to_pylist()


def test_a_pipeline_is_saved_and_loaded(spark, rng, tmp_path):
    from pyspark.ml import Pipeline, PipelineModel

    policy = make_example("forest")
    rows = make_rows(policy, rng)
    sdf = spark.createDataFrame(rows)
    stage = engine.PolicyTransformer(policy, also=["probabilities"])
    model = Pipeline(stages=[stage]).fit(sdf)
    model.write().overwrite().save(str(tmp_path / "pipeline"))
    again = PipelineModel.load(str(tmp_path / "pipeline"))
    found = collect(again.transform(sdf))
    expected = score_batches(
        policy, rows, keep=rows.column_names, also=["probabilities"]
    )
    assert found == expected.read_all().to_pylist()
    assert again.stages[0].uid == stage.uid
    (file,) = (tmp_path / "pipeline").glob("stages/*/policy/part-*.txt")
    policy.save(tmp_path / "policy.json")
    assert file.read_bytes() == (tmp_path / "policy.json").read_bytes()
    file.write_text(file.read_text().replace("sha256:", "sha256:0", 1))
    for checksum in file.parent.glob(".*.crc"):
        checksum.unlink()
    with pytest.raises(PolicyFileError):
        PipelineModel.load(str(tmp_path / "pipeline"))


def test_only_what_can_be_asked_is_read(spark, rng, tmp_path):
    policy = make_example("numbers")
    rows = make_rows(policy, rng)
    sdf = spark.createDataFrame(rows)
    sdf.write.parquet(str(tmp_path / "rows"))
    scored = engine.score(policy, spark.read.parquet(str(tmp_path / "rows")))
    plan = scored._jdf.queryExecution().executedPlan().toString()
    (read,) = (line for line in plan.splitlines() if "ReadSchema" in line)
    assert "age" in read
    assert "key" not in read.partition("ReadSchema")[2]


def test_a_column_that_is_absent_is_named_at_once(spark, rng):
    policy = make_example("numbers")
    sdf = spark.createDataFrame(make_rows(policy, rng)).drop("age")
    with pytest.raises(InvalidTableError, match="Got no column 'age'"):
        engine.score(policy, sdf)
