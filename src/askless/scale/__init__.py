"""Beyond one machine: rows that do not fit in memory, and work on clusters.

Rows are read and results returned as Arrow data; the modules :mod:`askless.scale.dask`,
:mod:`askless.scale.spark` and :mod:`askless.scale.ray` run the same work on a cluster.
This package knows policies and learners by their public names. It does not know how
they decide or learn.
"""

from askless.scale._batches import score_batches

__all__ = ["score_batches"]
