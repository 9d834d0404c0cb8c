"""The nine public tables of the first paper, prepared in one way for every benchmark.

The rule: every column of numbers, whole numbers too, is cut into ten levels of equal
width between its least and its largest value, and each level is an outcome; a missing
value is an outcome of its own; cases that show the same are merged into one of their
commonest class; then every case weighs the same, and every test costs 1.

The files come from the folder that ``ASKLESS_DATA`` names.
"""

from __future__ import annotations

from collections.abc import Iterator

from askless import Table
from askless.datasets import load_public

# Cases after merging. The paper counts 350, 469 and 753 for ionosphere, boston and
# pima, so its edges of levels differ a little; its mammography set has 830 rows, those
# without a missing value.
NINE_TABLES = {
    "mammographic_masses": 247,
    "pima": 752,
    "boston_housing_q4": 473,
    "house_votes_84": 342,
    "sonar": 208,
    "ionosphere": 349,
    "wdbc": 569,
    "soybean_large": 303,
    "dna_statlog": 3001,
}

LEVELS = 10


def load_nine_table(name: str) -> Table:
    """Return one of the nine tables by name."""
    examples = load_public(name)
    raw = Table(examples.columns, examples.y, levels=LEVELS, missing="outcome")
    table = raw.merged(weights="equal")
    if table.n_cases != NINE_TABLES[name]:
        raise RuntimeError(
            f"{name} must have {NINE_TABLES[name]} cases after merging. Got "
            f"{table.n_cases}. The file in ASKLESS_DATA is another version of the set."
        )
    return table


def load_nine_tables(*, quick: bool = False) -> Iterator[tuple[str, Table]]:
    """Yield names and tables, the smaller first; with `quick`, not the largest."""
    for name in NINE_TABLES:
        if not (quick and name == "dna_statlog"):
            yield name, load_nine_table(name)
