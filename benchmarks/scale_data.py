"""Rows without end for the benchmark of scale: covertype, resampled and jittered."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from askless.datasets import load_public

__all__ = ["TARGET", "write_rows"]

TARGET = "cover"
# Rows that are drawn together; one after another, so that parts are the same rows.
PART = 500_000
# The first columns are numbers, the others flags.
NUMBERS = 10


def write_rows(path: Path, n_rows: int) -> None:
    """Write a Parquet file of so many rows; the same ones each time."""
    data = load_public("covertype")
    names = list(data.to_frame().columns)
    X = data.to_frame().to_numpy(np.int16)
    y = np.asarray(data.y)
    classes, ids = np.unique(y, return_inverse=True)
    schema = pa.schema(
        [
            (name, pa.int16() if i < NUMBERS else pa.int8())
            for i, name in enumerate(names)
        ]
        + [(TARGET, pa.string())]
    )
    draft = path.with_suffix(".draft")
    with parquet.ParquetWriter(draft, schema, compression="snappy") as writer:
        for part, first in enumerate(range(0, n_rows, PART)):
            rng = np.random.default_rng([7, part])
            rows = rng.integers(0, len(y), min(PART, n_rows - first))
            columns = []
            for i in range(len(names)):
                values = X[rows, i]
                if i < NUMBERS:
                    values = values + rng.integers(-3, 4, len(rows), dtype=np.int16)
                columns.append(pa.array(values, schema.field(i).type))
            labels = pa.array([f"c{value}" for value in classes.tolist()])
            columns.append(labels.take(pa.array(ids[rows])))
            batch = pa.record_batch(columns, schema=schema)
            writer.write_batch(batch, row_group_size=125_000)
    draft.rename(path)
