"""Hand work to Ray: score the rows of a data set by a policy, or fit a forest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from askless.policy import Policy
from askless.scale._batches import score_stream
from askless.scale._extras import import_extra
from askless.scale._fit_ray import fit
from askless.scale._scorer import Scorer

__all__ = ["fit", "score"]


def score(
    policy: Policy, dataset: Any, *, keep: Sequence[str] = (), also: Sequence[str] = ()
) -> Any:
    """Decide the rows of a Ray data set.

    Parameters
    ----------
    policy : Policy
        What to ask and what to decide; put into the object store once.
    dataset : ray.data.Dataset
        The rows. Only the columns that can be asked and those kept are read.
    keep, also : sequence of str, default=()
        See :func:`askless.scale.score_batches`.

    Returns
    -------
    ray.data.Dataset
        The kept columns, then what is told of each row. Nothing is computed yet.

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


def _score_batch(rows: Any, scorer: Any) -> Any:
    import ray

    known = ray.get(scorer) if isinstance(scorer, ray.ObjectRef) else scorer
    return score_stream(known, rows).read_all()
