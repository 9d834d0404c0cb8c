"""Score batches of rows one after another, in memory that does not grow.

What batches may come as is settled here: Arrow in any form, DuckDB relations, files.
What is told of a batch is the business of the scorer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from askless.exceptions import DataFileError, InvalidOptionError
from askless.policy import Policy
from askless.scale._scorer import Scorer, import_arrow

__all__ = ["find_files", "score_batches", "score_stream"]

# Rows that are scored together: enough to be quick, and few beside the batch itself.
MOST_ROWS = 65_536
# How files that can be read say what they are.
FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
}


def score_batches(
    policy: Policy,
    batches: Any,
    *,
    keep: Sequence[str] = (),
    also: Sequence[str] = (),
    n_jobs: int | None = None,
) -> Any:
    """Decide any number of rows, batch by batch; takes and returns Arrow data.

    Parameters
    ----------
    policy : Policy
        What to ask and what to decide; of any kind.
    batches : Arrow data, DuckDB relation, path, or iterable of record batches
        The rows: a table, record batch, reader, data set, or anything else that speaks
        the Arrow stream interface; the path of a Parquet or Arrow file, of a folder of
        them, or a list of paths. Of files, only the columns that can be asked
        (``policy.columns``) and those kept are read.
    keep : sequence of str, default=()
        Columns of the rows to hand on, such as keys.
    also : sequence of {"probabilities", "bought", "leaf"}, default=()
        What to tell besides ``decision`` and ``cost``: a column
        ``probability_<class>`` for each class, the tests that were bought, in order,
        and the leaf of a tree.
    n_jobs : int, optional
        Threads to use; the answer does not depend on it.

    Returns
    -------
    pyarrow.RecordBatchReader
        The kept columns, then what is told. A batch is read when it is asked for, and
        memory does not grow with their number.

    Raises
    ------
    InvalidTableError
        If a column is absent, or holds what its test cannot show.

    Examples
    --------
    >>> import askless, pyarrow as pa
    >>> from askless.scale import score_batches
    >>> table = askless.Table([["dark", "dead"], ["dark", "live"], ["dim", "live"]],
    ...                       ["fuse", "bulb", "dimmer"], tests=["lamp", "socket"],
    ...                       costs={"lamp": 1, "socket": 5})
    >>> policy = askless.solve(table).policy
    >>> rows = pa.table({"house": [7, 9], "lamp": ["dim", "dark"],
    ...                  "socket": [None, "live"]})
    >>> score_batches(policy, rows, keep=["house"]).read_all().to_pylist()
    [{'house': 7, 'decision': 'dimmer', 'cost': 1.0},
     {'house': 9, 'decision': 'bulb', 'cost': 6.0}]
    """
    return score_stream(Scorer(policy, keep, also, n_jobs), batches)


def score_stream(scorer: Scorer, batches: Any) -> Any:
    """Return a reader of what a scorer tells of batches; see :func:`score_batches`."""
    arrow = import_arrow()
    schema, stream = _open(batches, scorer.columns)
    told = scorer.schema(schema)
    scored = (
        scorer.score(part) for batch in stream for part in _parts(batch) if len(part)
    )
    return arrow.RecordBatchReader.from_batches(told, scored)


def _parts(batch: Any) -> Iterator[Any]:
    for start in range(0, batch.num_rows, MOST_ROWS):
        yield batch.slice(start, MOST_ROWS)


def _open(batches: Any, columns: list[str]) -> tuple[Any, Iterator[Any]]:
    """Return the schema of rows, and their record batches, one after another."""
    arrow = import_arrow()
    if isinstance(batches, (str, Path)) or _is_list_of_paths(batches):
        return _open_files(batches, columns)
    if isinstance(batches, arrow.RecordBatch):
        return batches.schema, iter([batches])
    if isinstance(batches, arrow.RecordBatchReader):
        return batches.schema, iter(batches)
    if hasattr(batches, "scanner"):  # a data set
        return _open_dataset(batches, columns)
    if hasattr(batches, "__arrow_c_stream__"):
        reader = arrow.RecordBatchReader.from_stream(batches)
        return reader.schema, iter(reader)
    if hasattr(batches, "fetch_record_batch"):  # a relation of an older DuckDB
        reader = batches.fetch_record_batch(MOST_ROWS)
        return reader.schema, iter(reader)
    if isinstance(batches, Iterable):
        return _open_iterable(iter(batches))
    raise InvalidOptionError(
        "Batches must be Arrow data, a DuckDB relation, the path of a Parquet or "
        f"Arrow file, or an iterable of record batches. Got {type(batches).__name__}. "
        "Frames of pandas become Arrow by pyarrow.Table.from_pandas."
    )


def _is_list_of_paths(batches: Any) -> bool:
    return (
        isinstance(batches, (list, tuple))
        and bool(batches)
        and all(isinstance(one, (str, Path)) for one in batches)
    )


def _open_iterable(given: Iterator[Any]) -> tuple[Any, Iterator[Any]]:
    arrow = import_arrow()
    first = next(given, None)
    if first is None:
        raise InvalidOptionError(
            "There must be a record batch that says which columns there are. Got an "
            "iterable without any. Pass a reader, which has a schema."
        )
    if isinstance(first, arrow.Table):
        tables = chain([first], given)
        return first.schema, (b for table in tables for b in table.to_batches())
    if not isinstance(first, arrow.RecordBatch):
        raise InvalidOptionError(
            "An iterable of batches must yield record batches of Arrow. Got "
            f"{type(first).__name__}. Make them by pyarrow.RecordBatch.from_pydict or "
            "from_pandas."
        )
    return first.schema, chain([first], given)


def _open_files(paths: Any, columns: list[str]) -> tuple[Any, Iterator[Any]]:
    return _open_dataset(find_files(paths), columns)


def find_files(paths: Any, known: Collection[str] = ("parquet", "ipc")) -> Any:
    """Return the data set of a file, of a folder of files, or of a list of them."""
    arrow = import_arrow()
    from pyarrow import dataset

    listed = paths if isinstance(paths, (list, tuple)) else [paths]
    kinds = {_find_format(Path(path)) for path in listed}
    if len(kinds) > 1 or not kinds <= set(known):
        raise DataFileError(
            f"Files that are read together must be of one format: {' or '.join(known)}."
            f" Got {' and '.join(sorted(kinds))}. Score them one after another, by "
            "score_batches."
        )
    source = [str(path) for path in listed]
    try:
        return dataset.dataset(
            source if len(source) > 1 else source[0], format=kinds.pop()
        )
    except (arrow.ArrowException, OSError) as error:
        raise DataFileError(
            f"A file of rows must be there and whole. Got: {error}. Check the path, "
            "or write it again."
        ) from error


def _find_format(path: Path) -> str:
    """Return the format of a file, or of a folder of files."""
    if path.is_dir():
        inside = sorted(p for p in path.rglob("*") if p.suffix.lower() in FORMATS)
        path = inside[0] if inside else path
    found = FORMATS.get(path.suffix.lower())
    if found is None:
        raise DataFileError(
            f"A file of batches must be called {', '.join(FORMATS)}. Got {path}. "
            "For CSV and workbooks use the command: askless decide"
        )
    return found


def _open_dataset(found: Any, columns: list[str]) -> tuple[Any, Iterator[Any]]:
    known = [name for name in columns if name in found.schema.names]
    # Read ahead by one: the default would hold sixteen batches of four files.
    scanner = found.scanner(
        columns=known,
        batch_size=MOST_ROWS,
        batch_readahead=1,
        fragment_readahead=1,
    )
    return found.schema, _read(scanner)


def _read(scanner: Any) -> Iterator[Any]:
    broken = (import_arrow().ArrowException, OSError)
    try:
        yield from scanner.to_reader()
    except broken as error:
        raise DataFileError(
            f"A file of rows must be whole. Got: {error}. Write it again."
        ) from error
