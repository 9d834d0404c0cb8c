"""Read the first sheet of a workbook (.xlsx, .xls, .xlsb, .ods) as text in cells.

It needs the package python-calamine, and must not know what the cells are for.
"""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

from askless.exceptions import DataFileError, MissingExtraError

__all__ = ["SUFFIXES", "read_workbook"]

SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


def read_workbook(path: Path) -> tuple[list[list[str]], list[str]]:
    """Return the cells of the first sheet, row by row, and remarks.

    A cell is written as a spreadsheet program would write it to a CSV file: whole
    numbers without a point, TRUE and FALSE, dates by year, month and day.
    """
    try:
        import python_calamine as calamine
    except ImportError as error:
        raise MissingExtraError(
            f"Reading {path.suffix} files needs python-calamine. Got none. Run: pip "
            "install 'askless[sheets]', or save the sheet as CSV."
        ) from error
    if not path.is_file():
        got = "a directory" if path.is_dir() else "no file"
        raise DataFileError(
            f"The file must be there and readable. Got {got} at {path}. Check the path."
        )
    try:
        book = calamine.CalamineWorkbook.from_path(str(path))
        names = book.sheet_names
        # Rows are kept where they are, so that messages have the program's numbers.
        rows = book.get_sheet_by_index(0).to_python(skip_empty_area=False)
    except (calamine.CalamineError, OSError) as error:
        raise DataFileError(
            f"A workbook must be whole and have a sheet. Got: {error} in {path}. Save "
            "it again, or save the sheet as CSV."
        ) from error
    remarks = []
    if len(names) > 1:
        remarks.append(
            f"Only the first sheet of {path}, {names[0]!r}, was read; there are "
            f"{len(names)}."
        )
    return [[_as_text(cell) for cell in row] for row in rows], remarks


def _as_text(cell: Any) -> str:
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        return cell.date().isoformat()
    if isinstance(cell, (datetime.date, datetime.time)):
        return cell.isoformat()
    return str(cell)
