"""Examples: one array or frame of all columns, whatever their kinds."""

import dataclasses
import sys

import numpy as np
import pytest

from askless.datasets import Examples, make_clinic
from askless.exceptions import (
    InvalidProblemError,
    MissingExtraError,
    UnknownNameError,
)
from askless.problem import Costs


def examples(**columns):
    arrays = {name: np.array(column) for name, column in columns.items()}
    costs = Costs(dict.fromkeys(columns, 1))
    return Examples(arrays, np.array([0, 1, 1]), costs, "small", "Invented.")


def test_numbers_make_an_array_of_floats():
    X = examples(a=[1, 2, 3], b=[True, False, True]).X
    assert X.dtype == np.float64
    assert X.tolist() == [[1, 1], [2, 0], [3, 1]]


def test_one_column_of_text_makes_an_array_of_objects():
    X = examples(a=[1, 2, 3], b=["x", "y", "x"]).X
    assert X.dtype == object
    assert X.tolist() == [[1, "x"], [2, "y"], [3, "x"]]
    assert type(X[0, 0]) is int


def test_it_says_what_it_is():
    small = examples(a=[1, 2, 3])
    assert repr(small) == "Examples('small': 3 cases, 1 tests, 2 classes)"
    assert (small.n_cases, small.test_names, small.classes) == (3, ("a",), (0, 1))


def test_it_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        examples(a=[1, 2, 3]).name = "other"


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_a_frame_has_the_columns_in_order_and_keeps_what_is_missing(backend):
    pytest.importorskip(backend)
    clinic = make_clinic(200, random_state=0)
    frame = clinic.to_frame(backend, target="illness")
    assert list(frame.columns) == [*clinic.test_names, "illness"]
    assert len(frame) == 200
    is_null = frame["bnp"].isna() if backend == "pandas" else frame["bnp"].is_null()
    assert np.array_equal(is_null, np.isnan(clinic.columns["bnp"]))
    is_null = frame["onset"].isna() if backend == "pandas" else frame["onset"].is_null()
    assert np.array_equal(is_null, [v is None for v in clinic.columns["onset"]])


def test_an_unknown_frame_library_is_refused():
    with pytest.raises(UnknownNameError, match=r"'pandas' or 'polars'. Got 'spark'"):
        examples(a=[1, 2, 3]).to_frame("spark")


def test_a_frame_library_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtraError, match="pip install polars"):
        examples(a=[1, 2, 3]).to_frame("polars")


def test_a_table_has_unknown_outcomes_where_values_are_missing():
    table = examples(a=["x", "y", "x"], b=[1.0, np.nan, 2.0]).to_table(prior=[1, 1, 2])
    assert table.is_unknown.tolist() == [[False] * 3, [False, True, False]]
    assert table.prior.tolist() == [0.25, 0.25, 0.5]


def test_columns_of_unequal_length_are_refused():
    with pytest.raises(InvalidProblemError, match="Got 2 values in column 'a' and 3"):
        examples(a=[1, 2])
