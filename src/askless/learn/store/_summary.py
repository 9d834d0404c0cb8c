"""Go through rows once, and know how to code them: tests, classes, and how many.

The memory is that of a part and of a fixed sample of rows, however many rows there are.
This module must not know where codes are kept.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from askless.exceptions import InvalidTableError, suggest_name
from askless.learn._examples import count_rows, cut_sample
from askless.learn._reading import check_finite
from askless.learn._row_keys import Keys, key_columns, key_values, sample_rows
from askless.learn.store._sources import Source
from askless.problem import Outcome, Test
from askless.problem._coding import SAMPLE_ROWS, category_test
from askless.problem._column import Column, is_missing, is_number
from askless.problem._frames import Columns
from askless.problem._row_lists import object_array

__all__ = ["Summary", "as_numbers", "key_batch", "summarise", "take_target"]


class Sample:
    """A sample of rows of numbers, drawn by their keys as they come.

    The same rows as :func:`sample_rows` draws from all of them at once.
    """

    def __init__(self, n_most: int = SAMPLE_ROWS) -> None:
        self.n_most = n_most
        self._parts: list[tuple[Keys, NDArray[np.float64], NDArray[np.int64]]] = []
        self._n_waiting = 0

    def add(self, keys: Keys, numbers: NDArray[np.float64]) -> None:
        """Add rows, given their keys and numbers."""
        rows, counts = sample_rows(keys, self.n_most)
        self._parts.append((keys[rows], numbers[rows], counts))
        self._n_waiting += len(rows)
        if self._n_waiting > self.n_most // 4:
            self._join()

    def _join(self) -> None:
        """Keep the rows of the smallest keys of all parts."""
        keys, numbers, counts = (
            np.concatenate([part[i] for part in self._parts]) for i in range(3)
        )
        self._parts = []
        rows, _ = sample_rows(keys, self.n_most)
        # A row that is kept was kept in every part, so that all its counts are here.
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.append(True, np.diff(keys[order]) != 0))
        totals = np.add.reduceat(counts[order], starts)
        place = np.searchsorted(keys[order][starts], keys[rows])
        self._parts.append((keys[rows], numbers[rows], totals[place]))
        self._n_waiting = 0

    def result(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the numbers of the rows, and how often each row occurs."""
        self._join()
        _, numbers, counts = self._parts[0]
        return numbers, counts


class Summary:
    """What is known of rows that have been seen.

    Attributes
    ----------
    names : list of str
        The columns, without the target.
    kinds : dict of str to str or None
        "number" or "category"; None for a column without any value so far.
    outcomes : dict of str to set
        The values of each category.
    class_rows : dict
        How many rows each class has.
    mixed : set of str
        Columns that are categories though parts of them are numbers.
    """

    def __init__(self, target: str, mixed: set[str]) -> None:
        self.target = target
        self.mixed = mixed
        self.names: list[str] = []
        self.kinds: dict[str, str | None] = {}
        self.outcomes: dict[str, set[Outcome]] = {}
        self.class_rows: dict[Outcome, int] = {}
        self.n_rows = 0
        self._sample = Sample()

    def add(self, batch: Columns) -> bool:
        """Add rows; return whether columns turned out to be mixed."""
        y = take_target(batch, self.target, self.n_rows)
        if not self.names:
            self.names = list(batch)
            self.kinds = dict.fromkeys(self.names)
        _check_names(batch, self.names)
        check_finite(batch)
        n_mixed = len(self.mixed)
        for name, column in batch.items():
            self._add_column(name, column)
        if len(self.mixed) > n_mixed:
            return True
        for value, count in zip(*_count(y), strict=True):
            self.class_rows[value] = self.class_rows.get(value, 0) + count
        self.n_rows += len(y)
        are_numbers = [self.kinds[name] != "category" for name in self.names]
        numbers = as_numbers(batch, are_numbers)
        self._sample.add(key_batch(batch, are_numbers, numbers), numbers)
        return False

    def _add_column(self, name: str, column: Column) -> None:
        kind = "category" if name in self.mixed else _kind_of(column)
        known = self.kinds[name]
        if kind is None:
            return
        if known is not None and known != kind:
            self.mixed.add(name)
            return
        self.kinds[name] = kind
        if kind == "category":
            seen = self.outcomes.setdefault(name, set())
            values = np.unique(column) if column.dtype != object else column
            seen.update(v for v in values.tolist() if not is_missing(v))
            # One that has too many says so as it would in memory.
            category_test(name, object_array(seen))

    def choose_tests(self) -> tuple[Test, ...]:
        """Return the tests that would be chosen in memory."""
        values, counts = self._sample.result()
        kinds = [self.kinds[name] for name in self.names]
        places = [i for i, kind in enumerate(kinds) if kind == "number"]
        numbers = [self.names[i] for i in places]
        found = cut_sample(numbers, values[:, places], counts)
        cut = dict(zip(numbers, found, strict=True))
        return tuple(
            cut[name]
            if name in cut
            else category_test(name, object_array(self.outcomes.get(name, ())))
            for name in self.names
        )

    def sorted_classes(self) -> tuple[Outcome, ...]:
        """Return the classes, ascending."""
        classes = np.array(list(self.class_rows))
        check_classification_targets(classes)
        found: list[Outcome] = np.sort(classes).tolist()
        return tuple(found)


def summarise(source: Source, target: str) -> Summary:
    """Go through a source once, or again for each set of columns found to be mixed."""
    mixed: set[str] = set()
    while True:
        summary = Summary(target, mixed)
        if not any(summary.add(batch) for batch in source.batches(mixed)):
            break
    if not summary.n_rows or not summary.names:
        raise InvalidTableError(
            "There must be an example and a test at least. Got "
            f"{summary.n_rows} rows and {len(summary.names)} tests. Check the source."
        )
    return summary


def take_target(batch: Columns, target: str, first: int) -> Column:
    """Take the classes out of a part of the rows, which begins at the given one."""
    if target not in batch:
        raise InvalidTableError(
            f"The target must be a column of the source. Got no column {target!r}. "
            f"{suggest_name(target, batch)}Name the column of the classes."
        )
    y = batch.pop(target)
    if y.dtype.kind in "fO":
        for row, value in enumerate(y.tolist()):
            if is_missing(value):
                raise InvalidTableError(
                    f"Every example must have a class. Got none in row "
                    f"{first + row + 1} of {target!r}. Leave such rows out."
                )
    return y


def as_numbers(batch: Columns, are_numbers: list[bool]) -> NDArray[np.float64]:
    """Return columns as a matrix, NaN in those that are no numbers."""
    matrix = np.full((count_rows(batch), len(batch)), np.nan)
    for i, column in enumerate(batch.values()):
        if are_numbers[i]:
            matrix[:, i] = column
    return matrix


def key_batch(
    batch: Columns, are_numbers: list[bool], numbers: NDArray[np.float64]
) -> Keys:
    """Return the keys of the values of rows, given their numbers as a matrix."""
    return key_values(numbers) if all(are_numbers) else key_columns(batch, are_numbers)


def _kind_of(column: Column) -> str | None:
    if column.dtype == object and all(value is None for value in column.tolist()):
        return None
    return "number" if is_number(column) else "category"


def _count(y: Column) -> tuple[list[Outcome], list[int]]:
    values, counts = np.unique(y, return_counts=True)
    return values.tolist(), counts.tolist()


def _check_names(batch: Columns, names: list[str]) -> None:
    if list(batch) != names:
        raise InvalidTableError(
            "All parts of a source must have the same columns in the same order. Got "
            f"{list(batch)[:8]} after {names[:8]}. Choose the columns of every part."
        )
