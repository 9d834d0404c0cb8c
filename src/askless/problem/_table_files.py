"""Read a table from a file: which column is the class, which are tests.

It must not know how cells are coded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from askless.exceptions import InvalidTableError, suggest_name
from askless.problem._costs import Costs, as_costs
from askless.problem._files import load_columns
from askless.problem._frames import Columns, list_some
from askless.problem._table import Table

__all__ = ["read_table"]


def read_table(
    path: str | Path,
    target: str,
    *,
    costs: Costs | Mapping[str, float] | Sequence[float] | None = None,
    prior: str | None = None,
    case: str | None = None,
    drop: Sequence[str] = (),
    **options: Any,
) -> Table:
    r"""Read a table from a CSV or Parquet file.

    Parameters
    ----------
    path : str or Path
        The file; see :func:`read_columns`.
    target : str
        The column of classes.
    costs : Costs, mapping or sequence, optional
        What the tests cost; 1 each by default.
    prior, case : str, optional
        Columns of weights and of names of cases, which are then not tests.
    drop : sequence of str, default=()
        Columns that are not tests.
    **options
        Passed to :class:`Table`.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp(), "lamp.csv")
    >>> _ = path.write_text("lamp,socket,cause\ndark,dead,fuse\ndark,live,bulb\n")
    >>> read_table(path, "cause").test_names
    ('lamp', 'socket')
    """
    columns = load_columns(path, unknown=options.get("unknown"))
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
    return Table(
        Columns((k, column) for k, column in columns.items() if k not in not_tests),
        target,
        costs=costs,
        prior=None if prior is None else columns[prior],
        cases=None if case is None else columns[case].tolist(),
        **options,
    )
