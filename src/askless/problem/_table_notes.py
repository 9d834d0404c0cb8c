"""Remark on a table: what a careful reader would say before it is solved.

It must not change the table, nor know who solves it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from askless.problem._identical import pair_identical

if TYPE_CHECKING:
    from askless.problem._table import Table

__all__ = ["list_notes"]


def list_notes(table: Table) -> list[str]:
    """Return remarks on a table: nothing to decide, tests that show nothing ..."""
    notes = list(table.remarks)
    if table.n_cases == 1:
        notes.append(
            f"There is only one case, {table.cases[0]!r}, so nothing is left to find "
            "out and no test is ever bought."
        )
    elif table.n_classes == 1:
        notes.append(
            f"All cases have the class {table.classes[0]!r}, so there is nothing to "
            "decide and no test is ever bought."
        )
    profiles = table.possible.profiles
    for i, test in enumerate(table.tests):
        if np.all(profiles[i] == profiles[i, 0]):
            notes.append(
                f"The test {test.name!r} shows the same for every case, so it is "
                "never bought."
            )
    if table.has_likelihoods:
        notes += _note_likelihoods(table)
    elif table.indistinct:
        notes.append(_note_indistinct(table))
    return notes


def _note_likelihoods(table: Table) -> list[str]:
    """Remark on cases that no number of tests tells apart, not even by odds."""
    pairs = sorted(pair_identical(table.possible.profiles, table.class_ids))
    if not pairs:
        return []
    a, b = pairs[0]
    return [
        f"Every test shows the same, with the same chances, for {table.cases[a]!r} and "
        f"{table.cases[b]!r}, though their classes differ: {len(pairs)} such "
        f"pair{'s' * (len(pairs) > 1)}. Only a new test can tell them, or merge such "
        "cases by table.merged()."
    ]


def _note_indistinct(table: Table) -> str:
    a, b = table.indistinct[0]
    classes = table.case_classes
    n_pairs = len(table.indistinct)
    return (
        f"No test is sure to tell {table.cases[a]!r} from {table.cases[b]!r}, though "
        f"their classes differ ({classes[a]!r} and {classes[b]!r}): {n_pairs} such "
        f"pair{'s' * (n_pairs > 1)}. Add a test, or merge such cases by "
        "table.merged()."
    )
