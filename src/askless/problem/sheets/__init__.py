"""Spreadsheets as they are: text with any separator, workbooks, and what is odd.

Everything here is text in cells. What a cell means is not known.
"""

from __future__ import annotations

from askless.problem.sheets._dialect import Dialect, find_dialect
from askless.problem.sheets._remarks import remark_on_cells
from askless.problem.sheets._sheet import (
    Sheet,
    open_text,
    read_batches,
    read_names,
    read_sheet,
)

__all__ = [
    "Dialect",
    "Sheet",
    "find_dialect",
    "open_text",
    "read_batches",
    "read_names",
    "read_sheet",
    "remark_on_cells",
]
