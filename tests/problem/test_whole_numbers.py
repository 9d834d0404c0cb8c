"""Whole numbers that a double would round stay as they are, beside empty cells too."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import askless
from askless import Table, read_table
from askless.exceptions import InvalidTableError
from askless.problem import read_columns
from askless.problem._column import clean_column, is_number

LARGE = [2**53 + 1, 2**53, -(2**53) - 1]
CLASSES = ["fuse", "bulb", "dimmer", "mains"]


def with_missing():
    """Return columns of large numbers and one empty cell, from many sources."""
    values = [*LARGE, None]
    return {
        "list": values,
        "objects": np.array(values, dtype=object),
        "masked": np.ma.array([*LARGE, 0], mask=[0, 0, 0, 1]),
        "pandas": pd.Series(values, dtype="Int64"),
        "polars": pl.Series(values),
        "arrow": pa.array(values),
        "decimals": [None if v is None else Decimal(v) for v in values],
        "fractions": [None if v is None else Fraction(v) for v in values],
    }


@pytest.mark.parametrize("source", with_missing())
def test_no_two_whole_numbers_become_one(source):
    table = Table({"id": with_missing()[source]}, CLASSES)
    assert table.tests[0].outcomes == tuple(sorted(LARGE))
    assert table.rows()["id"] == [*LARGE, None]


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_frames_keep_whole_numbers(kind):
    column = with_missing()[kind]
    frame = {
        "pandas": lambda: pd.DataFrame({"id": column}),
        "polars": lambda: pl.DataFrame({"id": column}),
        "arrow": lambda: pa.table({"id": column}),
    }[kind]()
    assert Table(frame, CLASSES).tests[0].outcomes == tuple(sorted(LARGE))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files_keep_whole_numbers(tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    if suffix == "csv":
        cells = [*map(str, LARGE), ""]
        lines = [f"{a},{b}" for a, b in zip(cells, CLASSES, strict=True)]
        path.write_text("\n".join(["id,cause", *lines]) + "\n")
    else:
        frame = pl.DataFrame({"id": [*LARGE, None], "cause": CLASSES})
        frame.write_parquet(path)
    assert read_table(path, "cause").tests[0].outcomes == tuple(sorted(LARGE))


def test_a_mark_for_unknown_outcomes_changes_no_number(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,cause\n9007199254740993,a\n?,b\n9007199254740992,c\n")
    table = read_table(path, "cause", unknown="?")
    assert table.tests[0].outcomes == (2**53, 2**53 + 1)


def test_numbers_with_fractions_change_no_whole_number(tmp_path):
    values = [0.5, 2**53 + 1, 2**53]
    assert Table({"id": values}, CLASSES[:3]).tests[0].outcomes == (
        0.5,
        2**53,
        2**53 + 1,
    )
    path = tmp_path / "t.csv"
    path.write_text("id\n0.5\n9007199254740993\n9007199254740992\n")
    assert read_columns(path)["id"].tolist() == values


def test_rows_and_sessions_decide_the_same():
    policy = askless.solve(Table({"id": [*LARGE, 7]}, CLASSES)).policy
    rows = {"id": [*LARGE, 7, None]}
    decided = policy.predict(rows)[:4].tolist()
    assert decided == CLASSES
    for answer, decision in zip(rows["id"], decided, strict=False):
        session = policy.start()
        session.answer(answer)
        assert session.decision == decision


def test_large_whole_numbers_can_be_compared_with_thresholds():
    column = [2**60 + 2**40, 2**60, 2**61, None]
    table = Table({"size": column}, CLASSES, thresholds=True)
    assert table.tests[0].kind == "number"
    assert table.is_ordered.tolist() == [True]
    assert Table({"size": column}, CLASSES, levels=2).tests[0].n_levels == 2
    model = askless.C45Classifier().fit({"size": column * 5}, CLASSES * 5)
    assert model.policy_.tests[0].kind == "number"
    assert model.predict({"size": column}).tolist() == CLASSES


def test_infinity_beside_large_whole_numbers_is_refused():
    column = [2**53 + 1, float("inf"), 0.5]
    with pytest.raises(InvalidTableError, match="Numbers must be finite"):
        Table({"size": column}, CLASSES[:3])
    with pytest.raises(askless.exceptions.InvalidOptionError, match="must be finite"):
        askless.C45Classifier().fit({"size": column}, CLASSES[:3])


def test_weights_may_be_large_whole_numbers():
    table = Table([[0], [1]], ["a", "b"], prior=[2**53 + 1, 0.5])
    assert table.prior[0] == pytest.approx(1.0)


def test_small_whole_numbers_are_floats_as_ever():
    assert clean_column([3, None]).dtype == np.float64
    assert clean_column([2**53 - 1, None]).dtype == np.float64
    assert clean_column([2**53 + 2, 0.5]).dtype == np.float64  # exact as it is
    assert clean_column([10**30, 0.5]).dtype == np.float64


@pytest.mark.parametrize("values", [[2**63, None], [-(2**63) - 1, None]])
def test_more_than_64_bits_are_refused(values):
    message = r"A whole number must fit in 64 bits\. Got a larger one in column 'id'"
    with pytest.raises(InvalidTableError, match=message):
        Table({"id": values}, ["a", "b"])


@pytest.mark.parametrize("cells", [("", "9" * 20), ("9" * 20, "")])
def test_more_than_64_bits_in_a_file_are_text(tmp_path, cells):
    path = tmp_path / "t.csv"
    path.write_text("id,b\n" + "".join(f"{cell},x\n" for cell in cells))
    assert set(read_columns(path)["id"].tolist()) == {None, "9" * 20}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2], True),
        ([1.5, None], True),
        ([2**53 + 1, None], True),
        ([True, False], False),
        ([True, None], False),
        (["1", None], False),
        ([2**53 + 1, "a"], False),
        ([None, None], False),
    ],
)
def test_columns_of_numbers_are_known(values, expected):
    assert is_number(clean_column(values)) is expected
