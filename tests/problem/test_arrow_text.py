"""Frames with text of Arrow inside are decided as those of Python objects."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import askless
from askless.problem import _frames

LAMPS = ["dark", "dim", None, "odd", "dark"]


def frames():
    plain = pa.table({"lamp": LAMPS})
    coded = pa.table({"lamp": pa.array(LAMPS).dictionary_encode()})
    return {
        "arrow": plain,
        "arrow dictionary": coded,
        "arrow columns": {"lamp": plain["lamp"]},
        "arrow array": {"lamp": pa.array(LAMPS, pa.large_string())},
        "polars": pl.DataFrame({"lamp": LAMPS}),
        "polars categorical": pl.DataFrame({"lamp": LAMPS}).cast(pl.Categorical),
        "pandas arrow": pd.DataFrame({"lamp": LAMPS}, dtype="string[pyarrow]"),
        "pandas arrow type": pd.DataFrame(
            {"lamp": LAMPS}, dtype=pd.ArrowDtype(pa.string())
        ),
        "pandas category": pd.DataFrame({"lamp": LAMPS}, dtype="category"),
    }


@pytest.mark.parametrize("name", frames())
def test_text_of_frames_is_coded_in_place(name, monkeypatch):
    table = askless.Table({"lamp": ["dark", "dim"]}, ["fuse", "dimmer"], prior=[1, 2])
    policy = askless.solve(table).policy
    expected = policy.predict({"lamp": LAMPS}).tolist()

    def refuse(values, name=""):
        raise AssertionError("the column became Python objects")

    monkeypatch.setattr(_frames, "clean_column", refuse)
    assert policy.predict(frames()[name]).tolist() == expected


def test_without_pyarrow_frames_are_read_as_before(monkeypatch):
    table = askless.Table({"lamp": ["dark", "dim"]}, ["fuse", "dimmer"])
    policy = askless.solve(table).policy
    rows = pl.DataFrame({"lamp": ["dim", "dark"]})

    def refuse(self):
        raise ImportError("no pyarrow")

    monkeypatch.setattr(pl.Series, "to_arrow", refuse)
    assert policy.predict(rows).tolist() == ["dimmer", "fuse"]


@pytest.mark.parametrize("cells", [[None, None], [1, 2], [True, None]])
def test_columns_of_arrow_that_are_no_text_are_read_as_objects(cells):
    table = askless.Table({"lamp": ["dark", "dim"]}, ["fuse", "dimmer"], prior=[1, 2])
    policy = askless.solve(table).policy
    expected = policy.predict({"lamp": cells}).tolist()
    assert policy.predict(pa.table({"lamp": pa.array(cells)})).tolist() == expected
