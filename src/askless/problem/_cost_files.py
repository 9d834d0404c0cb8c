"""Read costs from CSV and TOML files.

This module must not know which tests a problem has, nor how costs are charged.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from askless.exceptions import DataFileError, InvalidCostsError, suggest_name
from askless.problem._cost_checks import check_price
from askless.problem._costs import Costs
from askless.problem._frames import list_some
from askless.problem.sheets import read_sheet

__all__ = ["read_costs"]

CSV_COLUMNS = ("test", "cost", "discounted_cost", "group", "delayed")
TOML_TABLES = ("costs", "groups", "discounted", "delayed", "by_outcome", "mistakes")


def read_costs(path: str | Path) -> Costs:
    r"""Read costs from a CSV or TOML file.

    Parameters
    ----------
    path : str or Path
        A CSV file or a workbook with the columns ``test,cost`` and optionally
        ``discounted_cost``, ``group`` and ``delayed`` (0 or 1), or a TOML file whose
        tables carry the names of the arguments of :class:`Costs`.

    Raises
    ------
    DataFileError
        If the file cannot be read or a line of it makes no sense.
    InvalidCostsError
        If a cost is negative, not a number, or a group is named once.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp(), "costs.csv")
    >>> _ = path.write_text("test,cost,discounted_cost,group\niron,7,5,blood\n"
    ...                     "sugar,5,3,blood\nx-ray,40,,\n")
    >>> read_costs(path)
    Costs(3 tests, 1 group)
    """
    path = Path(path)
    parts = _read_toml(path) if path.suffix.lower() == ".toml" else _read_csv(path)
    try:
        return Costs(parts.pop("costs"), **parts)
    except InvalidCostsError as error:
        raise InvalidCostsError(f"{error} The file is {path}.") from error


def _read_csv(path: Path) -> dict[str, Any]:
    sheet = read_sheet(path)
    names = sheet.names
    _check_header(names, path)
    costs: dict[str, float] = {}
    groups: dict[str, list[str]] = {}
    discounted: dict[str, float] = {}
    delayed: list[str] = []
    for line, cells in zip(sheet.lines, sheet.rows, strict=True):
        where = f"line {line} of {path}"
        row = dict(zip(names, cells, strict=True))
        name = row["test"]
        _check_line(name, row["cost"], costs, where)
        costs[name] = check_price(row["cost"], f"The cost of test {name!r} in {where}")
        if row.get("group"):
            groups.setdefault(row["group"], []).append(name)
        if row.get("discounted_cost"):
            discounted[name] = check_price(
                row["discounted_cost"], f"The discounted cost of {name!r} in {where}"
            )
        if _is_set(row.get("delayed", ""), where):
            delayed.append(name)
    return {
        "costs": costs,
        "groups": groups,
        "discounted": discounted,
        "delayed": delayed,
    }


def _check_header(names: list[str], path: Path) -> None:
    for needed in ("test", "cost"):
        if needed not in names:
            raise DataFileError(
                "A file of costs must have the columns test and cost in its first "
                f"line. Got {list_some(names)} in {path}. "
                f"{suggest_name(needed, names)}Add the column {needed!r}."
            )
    absent = [column for column in CSV_COLUMNS if column not in names]
    for name in names:
        # Any other column is a remark, but a typing error would change the costs.
        if name not in CSV_COLUMNS and suggest_name(name, absent):
            raise DataFileError(
                f"The columns of a file of costs are {list_some(CSV_COLUMNS)}. Got "
                f"{name!r} in {path}. {suggest_name(name, absent)}Rename the column."
            )


def _check_line(name: str, cost: str, costs: Mapping[str, float], where: str) -> None:
    if not name:
        raise DataFileError(
            f"Every line must name a test. Got no name in {where}. Remove the line or "
            "name the test."
        )
    if name in costs:
        raise DataFileError(
            f"Every test must be listed once. Got {name!r} again in {where}. Remove "
            "one of the two lines."
        )
    if not cost:
        raise InvalidCostsError(
            f"Every test must have a cost. Got none for {name!r} in {where}. A test "
            "that is free has cost 0."
        )


def _is_set(text: str, where: str) -> bool:
    if text.lower() in ("", "0", "false", "no"):
        return False
    if text.lower() in ("1", "true", "yes"):
        return True
    raise DataFileError(
        f"delayed must be 0 or 1. Got {text!r} in {where}. Write 1 for a test whose "
        "result comes late."
    )


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise DataFileError(
            f"A file of costs must be readable. Got {error.strerror} for {path}. Check "
            "the path."
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataFileError(
            f"A file of costs must be valid TOML. Got: {error} in {path}. Correct "
            "that line."
        ) from error
    for key in content:
        if key not in TOML_TABLES:
            raise DataFileError(
                f"A file of costs may hold {list_some(TOML_TABLES)}. Got {key!r} in "
                f"{path}. {suggest_name(key, TOML_TABLES)}Remove it."
            )
    if not isinstance(content.get("costs"), Mapping):
        raise DataFileError(
            f"A file of costs must hold a table [costs]. Got none in {path}. Write "
            "[costs] and then a line test = cost for each test."
        )
    return content
