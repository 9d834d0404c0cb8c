"""Tables and costs that were written long ago are read as they were then.

``files/ward-1.*`` are a table and its costs as the first version read them. They are
never made again: a change that needs that is a change of what files mean. These formats
have no version number. What a later version may add to costs in TOML is a name that
this one does not know, and says so; other columns of CSV files are remarks.
"""

from pathlib import Path

import pytest

import askless
from askless.exceptions import DataFileError

FILES = Path(__file__).parent / "files"
ROLES = {"target": "illness", "prior": "share", "case": "patient"}


@pytest.fixture(params=["csv", "parquet"])
def table_file(request):
    return FILES / f"ward-1.{request.param}"


@pytest.fixture(params=["csv", "toml"])
def costs(request):
    return askless.read_costs(FILES / f"ward-1.costs.{request.param}")


def test_an_old_table_has_the_cases_and_outcomes_that_it_had(table_file, costs):
    table = askless.read_table(table_file, costs=costs, **ROLES)
    assert table.cases == ("a", "b", "c", "d", "e")
    assert table.classes == ("anaemia", "cold", "flu", "pneumonia")
    assert (table.prior * 6).tolist() == pytest.approx([2, 2, 1, 0.5, 0.5])
    assert {test.name: test.outcomes for test in table.tests} == {
        "fever": (36.5, 39.0, 40.25),
        "smear": ("+", "-"),
        "iron": ("high", "low"),
        "x-ray, chest": ("clear", "clear, mostly", "shadow"),
        "id": (7, 8, 9, 9007199254740992, 9007199254740993),
    }


def test_an_old_table_is_charged_as_it_was(table_file, costs):
    table = askless.read_table(
        table_file, costs=costs, thresholds=True, missing="outcome", **ROLES
    )
    solution = askless.solve(table, method="greedy")
    assert solution.expected_cost == pytest.approx(3.5)
    assert solution.policy.cost(table.rows()).tolist() == [6, 1, 6, 1, 1]


def test_old_costs_say_what_they_said(costs):
    assert costs.costs == {
        "fever": 1, "smear": 7.25, "iron": 5, "x-ray, chest": 40, "id": 900
    }  # fmt: skip
    assert {k: tuple(v) for k, v in costs.groups.items()} == {
        "blood": ("smear", "iron")
    }
    assert costs.discounted == {"smear": 5, "iron": 3.5}
    assert set(costs.delayed) == {"smear", "iron"}


def test_costs_of_a_later_version_are_refused_by_name(tmp_path):
    path = tmp_path / "costs.toml"
    path.write_text('currency = "EUR"\n[costs]\niron = 7\n')
    with pytest.raises(DataFileError, match="currency"):
        askless.read_costs(path)
