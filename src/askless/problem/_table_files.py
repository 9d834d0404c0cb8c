"""Read a table from a file: of facts or of likelihoods; which columns are what.

It must not know how cells are coded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from askless.exceptions import InvalidTableError, suggest_name
from askless.problem._costs import Costs, as_costs
from askless.problem._files import load_columns, read_names
from askless.problem._frames import Columns, list_some
from askless.problem._roles import find_roles, note_roles
from askless.problem._table import Table
from askless.problem.likelihood._files import (
    KINDS,
    FileReading,
    is_long,
    read_cases,
    read_cells,
)
from askless.problem.likelihood._grid import CellReading, build_grid
from askless.problem.likelihood._words import Legend

__all__ = ["read_table"]


def read_table(
    path: str | Path,
    target: str | None = None,
    *,
    costs: Costs | Mapping[str, float] | Sequence[float] | None = None,
    prior: str | None = None,
    case: str | None = None,
    drop: Sequence[str] | None = None,
    likelihoods: Literal["long", "wide", "accuracy"] | None = None,
    cases: str | Path | None = None,
    legend: Mapping[str, float] | str | Path | None = None,
    repeatable: Mapping[str, int] | None = None,
    **options: Any,
) -> Table:
    r"""Read a table from a CSV or Parquet file, or from a workbook.

    Parameters
    ----------
    path : str or Path
        The file; see :func:`read_columns`.
    target : str, optional
        The column of classes. In a file of likelihoods, each case is a class of its own
        by default.
    costs : Costs, mapping or sequence, optional
        What the tests cost; 1 each by default.
    prior, case : str, optional
        Columns of weights and of names of cases, which are then not tests. Columns that
        are called ``prior`` and ``case`` by default, unless they have a cost; an empty
        text for none.
    drop : sequence of str, optional
        Columns that are not tests. Those that are called notes, remarks or comments by
        default, unless they have a cost; an empty list for none. Of a
        long file, tests to leave out.
    likelihoods : {"long", "wide", "accuracy"}, optional
        What a file of tests that can err looks like; a file of facts by default, or a
        long one if its columns say so and there is no target.

        * ``"long"``: the columns case, test, outcome and probability, a line for each
          outcome; ``class`` and ``prior`` may stand beside them.
        * ``"wide"``: a line for each case, a column for each test. A cell is ``0.8`` or
          ``80 %`` (of the positive outcome), ``0.8/0.2``, a word of the legend, or an
          outcome, which is a fact. A column ``x-ray [normal/dark/bright]`` names its
          outcomes, the positive one first; they are yes and no by default.
        * ``"accuracy"``: the columns test, condition, sensitivity and specificity. In a
          case for which a test is not listed, it is negative as often as its
          specificity says. A case "none of them" is added, unless there is a file of
          cases; with a column ``prior`` it has the share that is left.

        The columns ``class``, ``prior`` and ``case`` are taken for what they say.
    cases : str or Path, optional
        A second file, with the columns case and, optionally, prior and class: which
        cases there are, in order. For likelihoods only.
    legend : mapping, or path of a TOML file, optional
        Word to the probability of the positive outcome, for a wide file.
        :attr:`Table.notes` say how words were read.
    repeatable : mapping, optional
        Test to how often it can be run; see :meth:`Table.from_likelihoods`.
    **options
        Passed to :class:`Table`, or to :meth:`Table.from_likelihoods`, or
        ``unknown``: a text that marks an unknown outcome; ``separator`` and
        ``decimal``: how a CSV file is written, see :func:`read_columns`. What is found
        out is said in the notes of the table, with what is odd in its cells.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp(), "lamp.csv")
    >>> _ = path.write_text("lamp,socket,cause\ndark,dead,fuse\ndark,live,bulb\n")
    >>> read_table(path, "cause").test_names
    ('lamp', 'socket')
    >>> _ = path.write_text("case,fever,cough\nflu,0.8,often\ncold,10 %,often\n")
    >>> table = read_table(path, likelihoods="wide")
    >>> table.likelihoods[0]
    array([[0.2, 0.9],
           [0.8, 0.1]])
    >>> print(table.notes[0])
    Words were read as probabilities: 'often' is 0.7. Give a legend if you mean other
    numbers.
    """
    kind = _choose_kind(Path(path), target, likelihoods)
    if kind is not None:
        reading = FileReading(
            target,
            prior,
            case,
            drop or (),
            options.pop("unknown", None),
            Legend(legend),
            separator=options.pop("separator", None),
            decimal=options.pop("decimal", None),
        )
        more = {"costs": costs, "repeatable": repeatable, **options}
        return _read_likelihoods(Path(path), kind, reading, cases, more)
    for name, value in (
        ("cases", cases),
        ("legend", legend),
        ("repeatable", repeatable),
    ):
        if value is not None:
            raise InvalidTableError(
                f"{name} must come with a table of likelihoods. Got it for {path}, "
                "which is read as facts. Say which kind of file it is by likelihoods, "
                "or leave it out."
            )
    asked = {"prior": prior, "case": case, "drop": drop}
    return _read_facts(Path(path), target, costs, asked, options)


def _choose_kind(path: Path, target: str | None, kind: str | None) -> str | None:
    """Return which kind of likelihoods a file holds; None if it holds facts."""
    if kind is not None and kind not in KINDS:
        raise InvalidTableError(
            f"likelihoods must be one of {list_some(KINDS)}. Got {kind!r}. "
            f"{suggest_name(str(kind), KINDS)}Leave it out for a table of facts."
        )
    if kind is not None or target is not None:
        return kind
    names = read_names(path)
    if is_long(names):
        return "long"
    raise InvalidTableError(
        "A table of facts must have a target, the column of classes. Got none for "
        f"{path}, whose columns are {list_some(names)}. Name it; or say that cells are "
        "probabilities by likelihoods."
    )


def _read_likelihoods(
    path: Path,
    kind: str,
    reading: FileReading,
    cases: str | Path | None,
    options: dict[str, Any],
) -> Table:
    listed, prior, classes = (None, None, None) if cases is None else read_cases(cases)
    cell_options = {
        name: options.pop(name)
        for name in ("tests", "missing", "alphabet", "binary")
        if name in options
    }
    for name in options:
        if name not in ("costs", "repeatable", "chances"):
            raise InvalidTableError(
                f"{name} must come with a table of facts. Got it for {path}, which "
                "holds likelihoods. Leave it out."
            )
    how = CellReading(cases=listed, **cell_options)
    reading = replace(reading, cells=how)
    cells = read_cells(path, kind, reading)
    known = None if listed is None else set(listed)
    strange = [c for c in cells.all_cases() if known is not None and c not in known]
    if strange:
        raise InvalidTableError(
            f"Every case must be in the file of cases. Got {strange[0]!r} in {path}, "
            f"which is not in {cases}. {suggest_name(strange[0], listed or ())}Add it."
        )
    costs = options.pop("costs")
    if costs is not None and reading.drop:
        costs = as_costs(costs, len(cells.by_test))
        kept = [key for key in costs.costs if str(key) not in reading.drop]
        costs = costs.subset(
            [str(k) for k in kept], all_names=[str(k) for k in costs.costs]
        )
    said = reading.legend.describe()
    return Table._of_grid(
        build_grid(cells, how),
        classes=classes,
        prior=prior,
        costs=costs,
        remarks=(said,) if said else (),
        **options,
    )


def _read_facts(
    path: Path,
    target: str | None,
    costs: Costs | Mapping[str, float] | Sequence[float] | None,
    asked: dict[str, Any],
    options: dict[str, Any],
) -> Table:
    columns = load_columns(
        path,
        unknown=options.get("unknown"),
        separator=options.pop("separator", None),
        decimal=options.pop("decimal", None),
    )
    priced = () if costs is None else as_costs(costs, len(columns)).costs
    taken = {str(target), *map(str, priced)}
    roles = find_roles(list(columns), **asked, taken=taken)
    prior, case, drop, _ = roles
    for role, name in (("target", target), ("prior", prior), ("case", case)):
        if name is not None and name not in columns:
            raise InvalidTableError(
                f"The {role} must be a column of the table. Got {name!r}, which is "
                f"none of {list_some(columns)} in {path}. {suggest_name(name, columns)}"
                "Name a column of the file."
            )
    for name in drop:
        if name not in columns:
            raise InvalidTableError(
                f"Only columns of the table can be dropped. Got {name!r} for {path}. "
                f"{suggest_name(name, columns)}Leave it out."
            )
    costs = None if costs is None else as_costs(costs, len(columns))
    if costs is not None and target in costs.costs:
        raise InvalidTableError(
            f"The target must not be a test as well. Got a cost for {target!r}, the "
            "target. Remove it from the costs, or choose another target."
        )
    not_tests = {prior, case, *drop} - {target}
    tests = Columns((k, v) for k, v in columns.items() if k not in not_tests)
    try:
        table = Table(
            tests,
            target,
            costs=costs,
            prior=None if prior is None else columns[prior],
            cases=None if case is None else columns[case].tolist(),
            **options,
        )
    except InvalidTableError as error:
        if error.row is None:
            raise
        where = columns.where(error.row)
        raise InvalidTableError(f"{error} It is in {where} of {path}.") from error
    remarks = [*columns.all_remarks(list(tests)), *note_roles(roles)]
    return table.with_remarks([*remarks, *_suggest_likelihoods(tests, target)])


def _suggest_likelihoods(columns: Columns, target: str | None) -> tuple[str, ...]:
    """Remark that outcomes may be probabilities: all from 0 to 1, some between."""
    cells = [column for name, column in columns.items() if name != target]
    if any(column.dtype.kind not in "if" for column in cells):
        return ()
    numbers = np.concatenate([column.astype(np.float64) for column in cells])
    numbers = numbers[~np.isnan(numbers)]
    is_share = np.all((numbers >= 0) & (numbers <= 1)) and np.any(numbers % 1)
    if not is_share:
        return ()
    return (
        "All outcomes are numbers from 0 to 1, and were read as what tests show. If "
        "they are probabilities, read the table with likelihoods='wide' "
        "(--likelihoods wide).",
    )
