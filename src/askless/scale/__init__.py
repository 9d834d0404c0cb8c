"""Beyond one machine: rows that do not fit in memory, engines that already exist.

Arrow comes in and goes out; the modules :mod:`askless.scale.dask`,
:mod:`askless.scale.spark` and :mod:`askless.scale.ray` hand the same work to an engine.
This package knows policies and learners by their public names. It does not know how
they decide or learn.
"""

from askless.scale._batches import score_batches

__all__ = ["score_batches"]
