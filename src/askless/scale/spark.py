"""Hand work to Spark: score rows by a policy, also in a pipeline, or fit a forest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askless._extras import import_extra
from askless.policy import Policy
from askless.scale._batches import score_stream
from askless.scale._fit_spark import SparkEngine, fit
from askless.scale._parquet_parts import score_parts
from askless.scale._scorer import Scorer

if TYPE_CHECKING:
    from askless.scale._spark_pipeline import PolicyTransformer

__all__ = ["PolicyTransformer", "fit", "score", "score_parquet"]


def score(
    policy: Policy, sdf: Any, *, keep: Sequence[str] = (), also: Sequence[str] = ()
) -> Any:
    """Decide the rows of a Spark data frame, by ``mapInArrow``.

    Parameters
    ----------
    policy : Policy
        What to ask and what to decide; broadcast to the executors, which need Askless
        installed.
    sdf : pyspark.sql.DataFrame
        The rows. Only the columns that can be asked and those kept are read.
    keep, also : sequence of str, default=()
        See :func:`askless.scale.score_batches`.

    Returns
    -------
    pyspark.sql.DataFrame
        The kept columns, then the results of each row. Nothing is computed yet.

    Examples
    --------
    >>> rows = spark.read.parquet("rows.parquet")                  # doctest: +SKIP
    >>> scored = askless.scale.spark.score(policy, rows)           # doctest: +SKIP
    >>> scored.write.parquet("decisions")                          # doctest: +SKIP
    """
    import_extra("pyspark", "spark", "Scoring on Spark")
    scorer = Scorer(policy, keep, also)
    scorer.check_columns(sdf.columns)
    # Backticks: a dot in a name would mean a field of a struct.
    rows = sdf.select([f"`{name.replace('`', '``')}`" for name in scorer.columns])
    return rows.mapInArrow(_make_mapper(scorer, sdf), _find_schema(scorer, rows))


def score_parquet(
    policy: Policy,
    source: Any,
    target: str | Path,
    *,
    keep: Sequence[str] = (),
    also: Sequence[str] = (),
    session: Any = None,
) -> int:
    """Decide the rows of Parquet files, which executors read and write in Python.

    Rows do not pass through the virtual machine of Java, which takes several times as
    long as deciding them: Spark carries only what to do, in the tasks of an RDD. Every
    executor must see the files and the folder under the same paths, and Spark Connect,
    which has no RDDs, cannot do it.

    Parameters
    ----------
    policy, source, target, keep, also
        See :func:`askless.scale.dask.score_parquet`.
    session : pyspark.sql.SparkSession, optional
        Where to run; the active session by default.

    Returns
    -------
    int
        How many rows were decided.

    Examples
    --------
    >>> askless.scale.spark.score_parquet(                         # doctest: +SKIP
    ...     policy, "/shared/rows", "/shared/decisions", keep=["key"])
    5000000
    >>> spark.read.parquet("/shared/decisions").count()            # doctest: +SKIP
    5000000
    """
    if session is None:
        sql = import_extra("pyspark.sql", "spark", "Scoring on Spark")
        session = sql.SparkSession.builder.getOrCreate()
    engine = SparkEngine(session.sparkContext)
    return score_parts(engine, policy, source, target, keep=keep, also=also)


def _find_schema(scorer: Scorer, rows: Any) -> Any:
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import StructType

    arrow = import_extra("pyarrow", "spark", "Scoring on Spark")
    told = from_arrow_schema(arrow.schema(scorer.told))
    kept = [rows.schema[name] for name in scorer.keep]
    return StructType([*kept, *told.fields])


def _make_mapper(scorer: Scorer, sdf: Any) -> Callable[[Any], Any]:
    """Return what executors run: it scores the record batches of a partition."""
    try:
        shipped = sdf.sparkSession.sparkContext.broadcast(scorer)
    except Exception:  # Spark Connect has no context: the scorer goes with the code
        return _Mapper(scorer)
    return _Mapper(shipped)


class _Mapper:
    """Scores the record batches of a partition, where it is sent to."""

    def __init__(self, shipped: Any) -> None:
        self.shipped = shipped

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        scorer = self.shipped
        if not isinstance(scorer, Scorer):
            scorer = scorer.value
        for batch in batches:
            yield from score_stream(scorer, batch)


def __getattr__(name: str) -> Any:
    if name == "PolicyTransformer":
        import_extra("pyspark", "spark", "A transformer of Spark")
        from askless.scale._spark_pipeline import PolicyTransformer

        return PolicyTransformer
    raise AttributeError(f"module 'askless.scale.spark' has no attribute {name!r}")
