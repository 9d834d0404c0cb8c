"""A policy as a stage of a pipeline of Spark. Importing it needs pyspark."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyspark.ml import Transformer
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.util import (
    DefaultParamsReader,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)
from pyspark.sql import SparkSession

from askless.exceptions import PolicyFileError
from askless.policy import Policy, load
from askless.scale import spark

__all__ = ["PolicyTransformer"]


class PolicyTransformer(Transformer, MLReadable["PolicyTransformer"], MLWritable):
    """A stage that adds what a policy decides of each row, and what the row pays.

    Parameters
    ----------
    policy : Policy
        What to ask and what to decide.
    also : sequence of {"probabilities", "bought", "leaf"}, default=()
        What to tell besides ``decision`` and ``cost``; see
        :func:`askless.scale.score_batches`.

    Notes
    -----
    It is saved as the policy's own file beside the metadata of Spark, and loading it
    checks that file as :func:`askless.load` does.

    Examples
    --------
    >>> stage = PolicyTransformer(policy)                          # doctest: +SKIP
    >>> pipeline = Pipeline(stages=[stage]).fit(rows)              # doctest: +SKIP
    >>> pipeline.transform(rows).select("decision", "cost")        # doctest: +SKIP
    """

    also: Any = Param(
        Params._dummy(),
        "also",
        "what to tell besides decision and cost",
        typeConverter=TypeConverters.toListString,
    )

    def __init__(self, policy: Policy, also: Sequence[str] = ()) -> None:
        super().__init__()
        self.policy = policy
        self._setDefault(also=[])
        self._set(also=list(also))

    def _transform(self, dataset: Any) -> Any:
        also = self.getOrDefault(self.also)
        return spark.score(self.policy, dataset, keep=dataset.columns, also=also)

    def write(self) -> MLWriter:
        """Return what saves the stage; ``save`` uses it."""
        return _Writer(self)

    @classmethod
    def read(cls) -> MLReader[PolicyTransformer]:
        """Return what loads the stage; ``load`` uses it."""
        return _Reader()


class _Writer(MLWriter):
    def __init__(self, stage: PolicyTransformer) -> None:
        super().__init__()
        self.stage = stage

    def saveImpl(self, path: str) -> None:  # noqa: N802
        session = SparkSession.getActiveSession() or self.sparkSession
        DefaultParamsWriter.saveMetadata(self.stage, path, session)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "policy.json")
            self.stage.policy.save(file)
            text = file.read_text(encoding="utf-8")
        # Spark's own writer knows every file system that a pipeline may go to. It ends
        # the text by a line feed, as the file does.
        rows = session.createDataFrame([(text.removesuffix("\n"),)], "value string")
        rows.coalesce(1).write.text(os.path.join(path, "policy"), lineSep="\n")


class _Reader(MLReader["PolicyTransformer"]):
    def load(self, path: str) -> PolicyTransformer:
        session = SparkSession.getActiveSession() or self.sparkSession
        metadata = DefaultParamsReader.loadMetadata(path, session)
        rows = session.read.text(os.path.join(path, "policy"), wholetext=True).collect()
        if len(rows) != 1:
            raise PolicyFileError(
                "A saved stage must have one policy file. Got "
                f"{len(rows)} in {path}. Save the stage again."
            )
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "policy.json")
            file.write_text(rows[0][0], encoding="utf-8")
            stage = PolicyTransformer(load(file))
        stage._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(stage, metadata)
        return stage
