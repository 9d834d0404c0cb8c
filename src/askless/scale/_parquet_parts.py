"""Score Parquet files into Parquet files, part by part, by the tasks of an engine.

A part is some row groups of one file. Whoever does it reads them, scores them and
writes a file of its own, so that rows do not pass through the engine. This module must
not know any engine.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from askless._disk import open_whole, write_whole
from askless.exceptions import DataFileError
from askless.policy import Policy, load
from askless.policy._file import policy_digest
from askless.scale._batches import find_files, score_stream
from askless.scale._scorer import Scorer, import_arrow

__all__ = ["PartTask", "plan_parts", "score_part", "score_parts"]

# Rows of a part, about; a row group is never divided.
PART_ROWS = 1_000_000
# Files that readers of the folder pass over, for their names: what decided, and the
# mark that all parts are there.
POLICY, MARK = "_policy.json", "_SUCCESS"


class Mapper(Protocol):
    """What runs a function somewhere, on each of some items; both are picklable."""

    def map(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Return what a function makes of each item, in their order."""


@dataclass(frozen=True)
class PartTask:
    """Rows to be scored into a file.

    Attributes
    ----------
    source : str
        The file that they are in.
    groups : tuple of int
        Their row groups.
    schema : pyarrow.Schema
        The columns to read, as all files have them.
    policy, digest : str
        The file of the policy, and its digest.
    keep, also : tuple of str
        What to tell; see :class:`Scorer`.
    target : str
        The file to write.
    """

    source: str
    groups: tuple[int, ...]
    schema: Any
    policy: str
    digest: str
    keep: tuple[str, ...]
    also: tuple[str, ...]
    target: str


def score_parts(
    engine: Mapper,
    policy: Policy,
    source: Any,
    target: str | Path,
    *,
    keep: Sequence[str] = (),
    also: Sequence[str] = (),
) -> int:
    """Score Parquet files by the tasks of an engine; return how many rows there were.

    Parameters
    ----------
    engine : Mapper
        Where to run.
    policy : Policy
        What to ask and what to decide.
    source : path, or list of paths
        A Parquet file, a folder of them, or several.
    target : path
        The folder to write to, new or empty.
    keep, also : sequence of str, default=()
        See :func:`askless.scale.score_batches`.
    """
    scorer = Scorer(policy, keep, also)
    found = find_files(_as_absolute(source), {"parquet"})
    scorer.check_columns(found.schema.names)
    folder = _make_folder(Path(target).absolute())
    policy.save(folder / POLICY)
    schema = import_arrow().schema([found.schema.field(n) for n in scorer.columns])
    digest = policy_digest(policy)
    tasks = [
        PartTask(
            path,
            groups,
            schema,
            str(folder / POLICY),
            digest,
            scorer.keep,
            scorer.also,
            str(folder / f"part-{number:05d}.parquet"),
        )
        for number, (path, groups) in enumerate(plan_parts(found))
    ]
    n_rows: int = sum(engine.map(score_part, tasks))
    _finish(folder, {"policy": digest, "rows": n_rows, "parts": len(tasks)})
    return n_rows


def plan_parts(found: Any) -> list[tuple[str, tuple[int, ...]]]:
    """Divide a data set into parts: a file, and which of its row groups."""
    fragments = list(found.get_fragments())
    parts = [part for one in fragments for part in _divide(one)]
    # Of no rows at all there is a part too: it says which columns there are.
    return parts or [(fragments[0].path, ())]


def _divide(fragment: Any) -> Iterator[tuple[str, tuple[int, ...]]]:
    some: list[int] = []
    room = PART_ROWS
    for group in fragment.row_groups:
        if some and room < group.num_rows:
            yield fragment.path, tuple(some)
            some, room = [], PART_ROWS
        some.append(group.id)
        room -= group.num_rows
    if some:
        yield fragment.path, tuple(some)


def score_part(task: PartTask) -> int:
    """Score a part into its file, whole or not at all; return how many rows it has.

    Whoever does a part again replaces the file by the same one.
    """
    from pyarrow import dataset, fs, parquet

    scorer = _load_scorer(task.policy, task.digest, task.keep, task.also)
    format = dataset.ParquetFileFormat()
    files = fs.LocalFileSystem()
    whole = format.make_fragment(task.source, files)
    some = whole.subset(row_group_ids=list(task.groups))
    rows = dataset.FileSystemDataset([some], task.schema, format, files)
    reader = score_stream(scorer, rows)
    n_rows = 0
    try:
        with (
            open_whole(Path(task.target)) as file,
            parquet.ParquetWriter(file, reader.schema) as writer,
        ):
            for batch in reader:
                writer.write_batch(batch)
                n_rows += batch.num_rows
    except OSError as error:
        raise _unwritable(task.target, error) from error
    return n_rows


@lru_cache(maxsize=2)
def _load_scorer(
    path: str, digest: str, keep: tuple[str, ...], also: tuple[str, ...]
) -> Scorer:
    """Return the scorer of a policy file; once for all parts that a process does."""
    policy = load(path, max_bytes=sys.maxsize - 1)
    if policy_digest(policy) != digest:
        raise DataFileError(
            f"The policy of a run must stay as it is. Got another one in {path}. Run "
            "it again, into another folder."
        )
    # An engine says how many parts are done at a time: each takes one thread.
    return Scorer(policy, keep, also, n_jobs=1)


def _as_absolute(source: Any) -> list[str]:
    """Return paths as processes in another folder need them."""
    listed = source if isinstance(source, (list, tuple)) else [source]
    return [os.path.abspath(path) for path in listed]


def _make_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_empty = not any(folder.iterdir())
    except OSError as error:
        raise _unwritable(folder, error) from error
    if not is_empty:
        raise DataFileError(
            f"The folder to score into must be new or empty. Got files in {folder}. "
            "Choose another one, or remove it."
        )
    return folder


def _finish(folder: Path, told: dict[str, Any]) -> None:
    """Remove drafts of workers that were lost, and mark the folder as whole."""
    try:
        for draft in folder.glob(".askless-*"):
            draft.unlink(missing_ok=True)
        write_whole({folder / MARK: json.dumps(told).encode() + b"\n"})
    except OSError as error:
        raise _unwritable(folder, error) from error


def _unwritable(path: str | Path, error: OSError) -> DataFileError:
    return DataFileError(
        "What is decided must be written to a folder that every worker can write to. "
        f"Got: {error.strerror or error} for {path}. Choose another one."
    )
