"""What someone typed or dropped: a table and prices as text, checked cell by cell.

What is wrong is listed with its line and column, all of it at once. This module must
not know how a table is solved or shown.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidOptionError
from askless.problem import Costs, Table
from askless.problem._files import parse_cells
from askless.problem._frames import Columns
from askless.problem.sheets._dialect import find_decimal, find_dialect, to_point

__all__ = ["Cell", "Sheet", "read_sheet"]

MAX_ROWS = 5_000
MAX_COLUMNS = 300
MAX_PROBLEMS = 100
# Lines that a page shows again, cell by cell.
MAX_SHOWN = 200
# What a cell of "delayed" may say.
MARKS = {"": False, "0": False, "no": False, "1": True, "yes": True}

Lines = list[tuple[int, list[str]]]


class Cell(NamedTuple):
    """Something that is wrong, and where; lines and columns count from 1.

    Attributes
    ----------
    sheet : {"table", "costs"}
    line, column : int
        0 if it is about the whole sheet or line.
    what : str
        What must hold: a key of the texts of the pages.
    got : str
        What is there instead.
    """

    sheet: str
    line: int
    column: int
    what: str
    got: str


@dataclass
class Sheet:
    """A table and its prices as they were typed.

    Attributes
    ----------
    names : list of str
        The columns of the table.
    rows : list of list of str
        Its cells.
    target : str
        The column of classes.
    prices, discounted : dict of str to float
        What tests cost, those that are told; and once their group is paid for.
    groups : dict of str to list of str
    delayed : list of str
    lines : list of (int, list of str)
        The first lines of the table as they were read, with their numbers.
    problems : list of Cell
        What is wrong; nothing can be solved before it is mended.
    """

    names: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    target: str = ""
    prices: dict[str, float] = field(default_factory=dict)
    discounted: dict[str, float] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)
    delayed: list[str] = field(default_factory=list)
    lines: Lines = field(default_factory=list)
    problems: list[Cell] = field(default_factory=list)

    @property
    def tests(self) -> list[str]:
        """The columns that are tests."""
        return [name for name in self.names if name not in (self.target, "prior")]

    @property
    def classes(self) -> list[str]:
        """The classes, as they are written, in order of appearance."""
        if self.target not in self.names:
            return []
        at = self.names.index(self.target)
        return list(dict.fromkeys(row[at] for row in self.rows))

    def to_table(
        self, prices: Mapping[str, float], weights: Mapping[str, float]
    ) -> Table:
        """Return the table, with other prices and other weights of classes.

        Parameters
        ----------
        prices : mapping of str to float
            In the place of those that were told.
        weights : mapping of str to float
            What the prior of each case of a class is multiplied with.
        """
        if self.problems:
            raise InvalidOptionError(
                "A table must be whole to be solved. Got "
                f"{len(self.problems)} problems. Mend them first."
            )
        cells = dict(zip(self.names, zip(*self.rows, strict=True), strict=True))
        columns = Columns(
            (name, parse_cells(cells[name], None))
            for name in self.names
            if name != "prior"
        )
        factors = [float(weights.get(label, 1.0)) for label in cells[self.target]]
        prior = self.prior * np.array(factors)
        return Table(columns, self.target, costs=self._to_costs(prices), prior=prior)

    def _to_costs(self, prices: Mapping[str, float]) -> Costs:
        plain = {test: self.prices.get(test, 1.0) for test in self.tests}
        costs = plain | {t: float(p) for t, p in prices.items() if t in plain}
        # A discount is a share of the price: it moves with the price.
        discounted = {
            test: price * (costs[test] / plain[test] if plain[test] else 1.0)
            for test, price in self.discounted.items()
        }
        return Costs(
            costs, groups=self.groups, discounted=discounted, delayed=self.delayed
        )

    @property
    def prior(self) -> NDArray[np.float64]:
        """The weight of each row."""
        if "prior" not in self.names:
            return np.ones(len(self.rows))
        at = self.names.index("prior")
        return np.array([float(row[at]) for row in self.rows])

    @property
    def class_shares(self) -> list[float]:
        """How frequent each class is; nothing while something is wrong."""
        total = 0.0 if self.problems else float(self.prior.sum())
        if total <= 0:
            return []
        shares = dict.fromkeys(self.classes, 0.0)
        at = self.names.index(self.target)
        for row, weight in zip(self.rows, self.prior.tolist(), strict=True):
            shares[row[at]] += weight / total
        return list(shares.values())


def read_sheet(table: str, costs: str = "", target: str | None = None) -> Sheet:
    r"""Read a table and prices from text, and list what is wrong.

    Parameters
    ----------
    table : str
        CSV with names in the first line; a column ``prior`` holds weights. Cells may
        be separated by semicolons or tabs too.
    costs : str
        CSV with the columns test and cost, and if need be discounted_cost, group and
        delayed; or nothing.
    target : str, optional
        The column of classes; the last one by default.

    Examples
    --------
    >>> sheet = read_sheet("lamp,cause\ndark,fuse\ndim,bulb\n", "test,cost\nlamp,x\n")
    >>> sheet.tests, sheet.classes
    (['lamp'], ['fuse', 'bulb'])
    >>> sheet.problems
    [Cell(sheet='costs', line=2, column=2, what='bad price', got='x')]
    """
    sheet = Sheet()
    lines = _split(table, "table", sheet.problems)
    if not lines:
        return sheet
    sheet.lines = lines[:MAX_SHOWN]
    sheet.names = [name.strip() for name in lines[0][1]]
    _check_names(sheet)
    free = [name for name in sheet.names if name != "prior"]
    sheet.target = target if target in free else (free[-1] if free else "")
    _take_rows(sheet, lines[1:])
    _take_prices(sheet, costs)
    del sheet.problems[MAX_PROBLEMS:]
    return sheet


def _split(text: str, name: str, problems: list[Cell]) -> Lines:
    """Return the cells of each line, with its number; empty lines are left out."""
    text = text.lstrip("\ufeff")
    dialect = find_dialect(text.splitlines()[:MAX_SHOWN])
    reader = csv.reader(io.StringIO(text), delimiter=dialect.separator)
    lines: Lines = []
    try:
        for cells in reader:
            if cells:
                lines.append((reader.line_num, cells))
    except csv.Error as error:
        problems.append(Cell(name, reader.line_num, 0, "bad line", str(error)))
    if dialect.decimal is None and _has_comma([cells for _, cells in lines[1:]]):
        lines[1:] = [(at, list(map(to_point, cells))) for at, cells in lines[1:]]
    return lines


def _has_comma(rows: list[list[str]]) -> bool:
    """Return whether fractions are written with a comma."""
    return find_decimal(list(zip_longest(*rows, fillvalue=""))) == ","


def _check_names(sheet: Sheet) -> None:
    for at, name in enumerate(sheet.names, 1):
        if not name:
            sheet.problems.append(Cell("table", 1, at, "no name", ""))
        elif name in sheet.names[: at - 1]:
            sheet.problems.append(Cell("table", 1, at, "same name", name))
    if len(sheet.names) > MAX_COLUMNS:
        got = str(len(sheet.names))
        sheet.problems.append(Cell("table", 1, 0, "too many columns", got))
    if len([name for name in sheet.names if name != "prior"]) < 2:
        sheet.problems.append(Cell("table", 1, 0, "too few columns", ""))


def _take_rows(sheet: Sheet, lines: Lines) -> None:
    n_cells = len(sheet.names)
    for number, cells in lines[: MAX_ROWS + 1]:
        row = [cell.strip() for cell in cells]
        if len(row) != n_cells:
            got = f"{len(row)} / {n_cells}"
            sheet.problems.append(Cell("table", number, 0, "wrong length", got))
            row = (row + [""] * n_cells)[:n_cells]
        sheet.rows.append(row)
        for at, (name, cell) in enumerate(zip(sheet.names, row, strict=True), 1):
            if name == sheet.target and not cell:
                sheet.problems.append(Cell("table", number, at, "no class", ""))
            if name == "prior" and not _is_price(cell):
                sheet.problems.append(Cell("table", number, at, "bad prior", cell))
    if len(lines) > MAX_ROWS:
        got = str(len(lines))
        sheet.problems.append(Cell("table", 0, 0, "too many rows", got))
    if not lines:
        sheet.problems.append(Cell("table", 0, 0, "no rows", ""))


def _take_prices(sheet: Sheet, costs: str) -> None:
    lines = _split(costs, "costs", sheet.problems)
    if not lines:
        return
    names = [name.strip() for name in lines[0][1]]
    if "test" not in names or "cost" not in names:
        got = ", ".join(names)
        sheet.problems.append(Cell("costs", 1, 0, "no test and cost", got))
        return
    for number, cells in lines[1:]:
        row = [cell.strip() for cell in cells]
        if len(row) != len(names):
            got = f"{len(row)} / {len(names)}"
            sheet.problems.append(Cell("costs", number, 0, "wrong length", got))
            continue
        told = dict(zip(names, row, strict=True))
        wrong = list(_find_wrong(sheet, told))
        for column, what in wrong:
            at = names.index(column) + 1
            sheet.problems.append(Cell("costs", number, at, what, told[column]))
        if not wrong:
            _take_price(sheet, told)


def _find_wrong(sheet: Sheet, told: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each column of a line of costs that is wrong, and what must hold."""
    if told["test"] not in sheet.tests:
        yield "test", "no such test"
    elif told["test"] in sheet.prices:
        yield "test", "test again"
    discounted = told.get("discounted_cost", "")
    if not _is_price(told["cost"]):
        yield "cost", "bad price"
    elif discounted and not _is_price(discounted):
        yield "discounted_cost", "bad price"
    elif discounted and float(discounted) > float(told["cost"]):
        yield "discounted_cost", "too dear together"
    if told.get("delayed", "").lower() not in MARKS:
        yield "delayed", "bad mark"


def _take_price(sheet: Sheet, told: dict[str, str]) -> None:
    test = told["test"]
    sheet.prices[test] = float(told["cost"])
    if told.get("discounted_cost"):
        sheet.discounted[test] = float(told["discounted_cost"])
    if told.get("group"):
        sheet.groups.setdefault(told["group"], []).append(test)
    if MARKS[told.get("delayed", "").lower()]:
        sheet.delayed.append(test)


def _is_price(cell: str) -> bool:
    try:
        value = float(cell)
    except ValueError:
        return False
    return math.isfinite(value) and value >= 0


def describe_sheet(sheet: Sheet) -> dict[str, Any]:
    """Return what a page shows of a sheet."""
    return {
        "names": sheet.names,
        "target": sheet.target,
        "tests": [
            {"name": test, "cost": sheet.prices.get(test, 1.0)} for test in sheet.tests
        ],
        "classes": sheet.classes,
        "class_shares": sheet.class_shares,
        "lines": [{"number": at, "cells": cells} for at, cells in sheet.lines],
        "n_cases": len(sheet.rows),
        "problems": [problem._asdict() for problem in sheet.problems],
    }
