"""Score frames of pandas, the partitions of Dask; their index stays as it is."""

from __future__ import annotations

from typing import Any

from askless.exceptions import InvalidTableError
from askless.scale._batches import score_stream
from askless.scale._scorer import Scorer, import_arrow

__all__ = ["empty_frame", "score_frame"]


def score_frame(scorer: Scorer, rows: Any) -> Any:
    """Return what a scorer tells of the rows of a frame of pandas."""
    arrow = import_arrow()
    columns = rows[scorer.columns]
    try:
        table = arrow.Table.from_pandas(columns, preserve_index=False)
    except arrow.ArrowException as error:
        raise InvalidTableError(
            f"A column must hold one kind of value. Got: {error}. Make it text, or "
            "keep it in a column of its own."
        ) from error
    if not scorer.columns:
        # Without a column Arrow would not know how many rows there are.
        table = arrow.table({"": arrow.nulls(len(rows))})
    return _as_pandas(score_stream(scorer, table).read_all(), rows.index)


def empty_frame(scorer: Scorer, rows: Any) -> Any:
    """Return a frame without rows that has the columns of the answer."""
    return score_frame(scorer, rows.iloc[:0])


def _as_pandas(table: Any, index: Any) -> Any:
    import pandas as pd

    # Text stays Arrow's; the rest becomes what pandas has by default.
    arrow = import_arrow()
    text = pd.ArrowDtype(arrow.string())
    frame = table.to_pandas(types_mapper={arrow.string(): text}.get)
    return frame.set_axis(index, axis=0)
