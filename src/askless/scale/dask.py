"""Hand work to Dask: score the rows of a data frame by a policy, or fit a forest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from askless._extras import import_extra
from askless.policy import Policy
from askless.scale._fit_dask import DaskEngine, fit
from askless.scale._frames import empty_frame, score_frame
from askless.scale._parquet_parts import score_parts
from askless.scale._scorer import Scorer

__all__ = ["fit", "score", "score_parquet"]


def score(
    policy: Policy, ddf: Any, *, keep: Sequence[str] = (), also: Sequence[str] = ()
) -> Any:
    """Decide the rows of a Dask data frame.

    Parameters
    ----------
    policy : Policy
        The policy that decides the rows. With a client it is scattered: each worker
        gets it once.
    ddf : dask.dataframe.DataFrame
        The rows. Only the columns that can be asked and those kept are read.
    keep, also : sequence of str, default=()
        See :func:`askless.scale.score_batches`.

    Returns
    -------
    dask.dataframe.DataFrame
        The kept columns, then the results of each row; partitions and index as they
        were. Nothing is computed yet.

    Examples
    --------
    >>> import askless, pandas as pd, pytest
    >>> dd = pytest.importorskip("dask.dataframe")
    >>> table = askless.Table({"lamp": ["dark", "dim"]}, ["fuse", "dimmer"])
    >>> rows = dd.from_pandas(pd.DataFrame({"lamp": ["dim", "dark"]}), npartitions=2)
    >>> scored = score(askless.solve(table).policy, rows)
    >>> scored.compute(scheduler="sync")["decision"].tolist()
    ['dimmer', 'fuse']
    """
    dask = import_extra("dask", "dask", "Scoring on Dask")
    scorer = Scorer(policy, keep, also)
    scorer.check_columns(list(ddf.columns))
    rows = ddf[scorer.columns]
    shipped = _scatter(scorer)
    return rows.map_partitions(
        _score_partition,
        dask.delayed(shipped, pure=True),
        meta=empty_frame(scorer, ddf._meta),
        enforce_metadata=False,
    )


def score_parquet(
    policy: Policy,
    source: Any,
    target: str | Path,
    *,
    keep: Sequence[str] = (),
    also: Sequence[str] = (),
    client: Any = None,
) -> int:
    """Decide the rows of Parquet files, which workers read and write themselves.

    Workers read rows from files and write results to files; Dask only distributes the
    list of parts. So every worker must see the files and the folder under the same
    paths: a shared disk.

    Parameters
    ----------
    policy : Policy
        The policy that decides the rows. It is written into the folder, from where
        workers load it.
    source : path, or list of paths
        A Parquet file, a folder of them, or several. Only the columns that can be
        asked and those kept are read.
    target : path
        The folder to write to, new or empty. Each part of about a million rows becomes
        a file ``part-00000.parquet`` and so on, in the order of the rows, whole or not
        at all; a part that is done again replaces its own file. ``_SUCCESS`` is there
        once all parts are.
    keep, also : sequence of str, default=()
        See :func:`askless.scale.score_batches`.
    client : distributed.Client, optional
        Where to run; the current client by default.

    Returns
    -------
    int
        How many rows were decided.

    Examples
    --------
    >>> from distributed import Client                             # doctest: +SKIP
    >>> with Client("scheduler:8786"):                             # doctest: +SKIP
    ...     askless.scale.dask.score_parquet(
    ...         policy, "/shared/rows", "/shared/decisions", keep=["key"])
    5000000
    """
    if client is None:
        distributed = import_extra("distributed", "dask", "Scoring on Dask")
        client = distributed.get_client()
    return score_parts(DaskEngine(client), policy, source, target, keep=keep, also=also)


def _scatter(scorer: Scorer) -> Any:
    """Send a scorer to every worker of a client; return it where there is none."""
    distributed = import_extra("distributed", "dask", "Scoring on Dask")
    try:
        client = distributed.get_client()
    except ValueError:
        return scorer
    return client.scatter(scorer, broadcast=True, hash=False)


def _score_partition(rows: Any, scorer: Scorer) -> Any:
    return score_frame(scorer, rows)
