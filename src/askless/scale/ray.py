"""Hand work to Ray: score the rows of a data set by a policy, or fit a forest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from askless._extras import import_extra
from askless.policy import Policy
from askless.scale._batches import score_stream
from askless.scale._fit_ray import RayEngine, fit
from askless.scale._parquet_parts import score_parts
from askless.scale._scorer import Scorer

__all__ = ["fit", "score", "score_parquet"]


def score(
    policy: Policy, dataset: Any, *, keep: Sequence[str] = (), also: Sequence[str] = ()
) -> Any:
    """Decide the rows of a Ray data set.

    Parameters
    ----------
    policy : Policy
        The policy that decides the rows; it is put into the object store once.
    dataset : ray.data.Dataset
        The rows. Only the columns that can be asked and those kept are read.
    keep, also : sequence of str, default=()
        See :func:`askless.scale.score_batches`.

    Returns
    -------
    ray.data.Dataset
        The kept columns, then the results of each row. Nothing is computed yet.

    Examples
    --------
    >>> import askless, ray                                        # doctest: +SKIP
    >>> rows = ray.data.read_parquet("rows.parquet")               # doctest: +SKIP
    >>> scored = askless.scale.ray.score(policy, rows)             # doctest: +SKIP
    >>> scored.write_parquet("decisions")                          # doctest: +SKIP
    """
    ray = import_extra("ray", "ray", "Scoring on Ray")
    scorer = Scorer(policy, keep, also)
    rows = dataset.select_columns(scorer.columns) if scorer.columns else dataset
    return rows.map_batches(
        _score_batch,
        fn_kwargs={"scorer": ray.put(scorer)},
        batch_format="pyarrow",
        zero_copy_batch=True,
    )


def score_parquet(
    policy: Policy,
    source: Any,
    target: str | Path,
    *,
    keep: Sequence[str] = (),
    also: Sequence[str] = (),
) -> int:
    """Decide the rows of Parquet files, which workers read and write themselves.

    Rows do not pass through the object store of Ray. Every worker must see the files
    and the folder under the same paths.

    Parameters
    ----------
    policy, source, target, keep, also
        See :func:`askless.scale.dask.score_parquet`.

    Returns
    -------
    int
        How many rows were decided.

    Examples
    --------
    >>> askless.scale.ray.score_parquet(                           # doctest: +SKIP
    ...     policy, "/shared/rows", "/shared/decisions", keep=["key"])
    5000000
    """
    ray = import_extra("ray", "ray", "Scoring on Ray")
    return score_parts(RayEngine(ray), policy, source, target, keep=keep, also=also)


def _score_batch(rows: Any, scorer: Any) -> Any:
    import ray

    known = ray.get(scorer) if isinstance(scorer, ray.ObjectRef) else scorer
    return score_stream(known, rows).read_all()
