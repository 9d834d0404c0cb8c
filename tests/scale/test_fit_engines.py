"""Forests that engines grow are the same, also where a worker is killed."""

import os
import shutil
import signal
import sys
import threading
import time

import numpy as np
import pytest

import askless
from askless.learn import CodeStore
from askless.policy._file import policy_digest
from askless.scale import _rows
from tests.scale.test_train import make_frame, same_arrays


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    frame = make_frame(np.random.default_rng(8), 4000)
    return CodeStore.write([frame], "y", tmp_path_factory.mktemp("rows") / "store")


def make(n_estimators=2):
    return askless.BudgetForestClassifier(
        n_estimators=n_estimators, budget=5.0, alpha=0.0, random_state=2
    )


@pytest.fixture(scope="module")
def expected(store):
    return make().fit(store)


def test_dask_grows_the_same(dask_cluster, store, expected, monkeypatch):
    from distributed import Client

    from askless.scale import dask

    monkeypatch.setattr(_rows, "SMALL_ROWS", 600)
    with Client(dask_cluster) as client:
        same_arrays(dask.fit(make(), store), expected)
        for n_parts in (1, 8, 32):
            found = dask.fit(
                make(), store, split="rows", n_parts=n_parts, client=client
            )
            same_arrays(found, expected)
            assert found.point_ == expected.point_


def test_dask_goes_on_when_a_worker_is_killed(dask_cluster, store):
    from distributed import Client

    from askless.scale import dask

    expected = make(60).fit(store)
    with Client(dask_cluster) as client:
        pids = client.run(os.getpid)
        assert len(set(pids.values())) == 2
        timer = threading.Timer(0.15, os.kill, [next(iter(pids.values())), 9])
        timer.start()
        found = dask.fit(make(60), store, client=client)
        timer.join()
        client.wait_for_workers(1)
        left = set(client.run(os.getpid).values())
    assert not set(pids.values()) <= left
    assert policy_digest(found.policy_) == policy_digest(expected.policy_)


def test_dask_does_not_do_again_what_was_done(dask_cluster, tmp_path):
    from distributed import Client

    from askless.scale._fit_dask import DaskEngine

    def work(number):
        n_before = len(list(tmp_path.glob(f"{number}-*")))
        (tmp_path / f"{number}-{n_before}").touch()
        if number == 20 and n_before == 0:
            time.sleep(0.5)  # what was done before has come back
            os.kill(os.getpid(), signal.SIGKILL)
        return -number

    with Client(dask_cluster) as client:
        client.wait_for_workers(2)
        found = DaskEngine(client).map(work, range(30))
    assert found == [-number for number in range(30)]
    again = {path.name.partition("-")[0] for path in tmp_path.glob("*-1")}
    assert again == {"20"}


# Spark says so of pandas 3, which is not used here.
@pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning")
def test_spark_grows_the_same(store, expected, monkeypatch):
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, which is not installed")
    from askless.scale import spark

    os.environ["PYSPARK_PYTHON"] = sys.executable

    monkeypatch.setattr(_rows, "SMALL_ROWS", 600)
    session = (
        sql.SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    try:
        same_arrays(spark.fit(make(), store, session=session), expected)
        for n_parts in (1, 8, 32):
            found = spark.fit(
                make(), store, split="rows", n_parts=n_parts, session=session
            )
            same_arrays(found, expected)
    finally:
        session.stop()


def test_ray_grows_the_same(ray_cluster, store, expected, monkeypatch):
    from askless.scale import ray

    monkeypatch.setattr(_rows, "SMALL_ROWS", 600)
    same_arrays(ray.fit(make(), store), expected)
    same_arrays(ray.fit(make(), store, split="rows", n_parts=3), expected)
