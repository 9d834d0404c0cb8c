"""Write a store: choose levels, code all rows, sort them.

What is stopped goes on where it was. This module must not know who reads a store.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._disk import sync_folder, write_whole
from askless.learn._examples import code_rows
from askless.learn._row_keys import key_rows
from askless.learn.store._bits import write_bits
from askless.learn.store._draft import Draft, changed_source
from askless.learn.store._header import FORMAT, dump, read_test, write_test
from askless.learn.store._sources import Source
from askless.learn.store._summary import (
    as_numbers,
    key_batch,
    summarise,
    take_target,
)
from askless.problem import Test
from askless.problem._column import Column
from askless.problem._tests import CodeArray, code_dtype

__all__ = ["write_store"]


def write_store(source: Source, target: str, place: Path) -> None:
    """Code the rows of a source into a new folder, whole or not at all."""
    folder = place.with_name(f".{place.name}.askless-draft")
    plan = _plan(source, target, folder)
    header = _fill(source, plan, folder)
    write_whole({folder / "store" / "store.json": dump(header)})
    os.replace(folder / "store", place)
    sync_folder(place.resolve().parent)
    shutil.rmtree(folder)


def _plan(source: Source, target: str, folder: Path) -> dict[str, Any]:
    """Return tests, classes and numbers of rows, from an earlier run if there was one.

    What is JSON now was JSON then, so that a plan that is read is the same.
    """
    asked = json.loads(json.dumps([FORMAT, target, *source.describe()]))
    path = folder / "plan.json"
    if path.is_file():
        plan: dict[str, Any] = json.loads(path.read_bytes())
        if plan["source"] == asked:
            return plan
    shutil.rmtree(folder, ignore_errors=True)
    summary = summarise(source, target)
    classes = summary.sorted_classes()
    plan = {
        "source": asked,
        "mixed": sorted(summary.mixed),
        "are_numbers": [summary.kinds[name] != "category" for name in summary.names],
        "header": {
            "format": FORMAT,
            "target": target,
            "tests": [write_test(test) for test in summary.choose_tests()],
            "classes": list(classes),
            "class_rows": [summary.class_rows[value] for value in classes],
        },
    }
    folder.mkdir(parents=True)
    write_whole({path: dump(plan)})
    return plan


def _fill(source: Source, plan: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Code all rows and sort them; return the header of the store."""
    header = plan["header"]
    tests = tuple(read_test(entry) for entry in header["tests"])
    classes = np.array(header["classes"])
    dtype = code_dtype(max(test.n_levels for test in tests))
    draft = Draft(
        folder, len(tests), dtype, header["class_rows"], max(1, source.batch_rows)
    )
    draft.resume()
    if not draft.progress.n_batches:
        draft.clear()
    known = list(draft.progress.key_sums)
    if not draft.progress.n_merged:
        first = 0
        for i, batch in enumerate(source.batches(plan["mixed"])):
            y = take_target(batch, header["target"], first)
            first += len(y)
            class_ids = _number(y, classes, folder)
            are_numbers = plan["are_numbers"]
            numbers = as_numbers(batch, are_numbers)
            keys = key_rows(key_batch(batch, are_numbers, numbers), class_ids)
            if i < len(known):
                if int(keys.sum(dtype=np.uint64)) != known[i]:
                    raise changed_source(folder)
                continue
            rows = numbers if all(are_numbers) else batch
            draft.add(keys, class_ids, _code(rows, tests, folder))
        draft.check_rows()
    checksums = draft.merge()
    shape = (len(tests), sum(header["class_rows"]))
    codes = np.memmap(draft.codes_path, dtype, "r", shape=shape)
    bits = write_bits(codes, draft.codes_path.with_name("bits.bin"))
    return {**header, "checksums": checksums, "bits": bits}


def _code(rows: Any, tests: tuple[Test, ...], folder: Path) -> CodeArray:
    codes = code_rows(rows, tests)
    for test, column in zip(tests, codes, strict=True):
        if test.kind == "category" and (column == test.unknown_code).any():
            raise changed_source(folder)
    return codes


def _number(y: Column, classes: NDArray[Any], folder: Path) -> NDArray[np.int64]:
    """Return which of the classes each row has."""
    values = y if y.dtype != object else np.array(y.tolist())
    place = np.minimum(np.searchsorted(classes, values), len(classes) - 1)
    if not np.array_equal(classes[place], values):
        raise changed_source(folder)
    return place.astype(np.int64)
