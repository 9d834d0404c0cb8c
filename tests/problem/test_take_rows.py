"""Some rows of a frame, a mapping or a matrix, by one function."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from askless.problem._frames import Columns, as_columns, clean_columns, take_rows

DATA = {"lamp": ["dark", None, "dim", "dark"], "volts": [1.5, 2.0, None, 4.0]}
ROWS = {
    "numbers": np.array([3, 0, 0]),
    "mask": np.array([True, False, False, True]),
    "slice": slice(1, 3),
    "none": np.array([], dtype=np.intp),
}


def expected(rows):
    return {
        name: np.array(values, dtype=object)[rows].tolist()
        for name, values in DATA.items()
    }


def plain(columns):
    return {
        name: [None if v is None or v != v else v for v in column.tolist()]
        for name, column in columns.items()
    }


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_rows_of_frames_and_mappings(make, rows):
    taken = take_rows(make(DATA), rows)
    assert type(taken) is type(make(DATA))
    assert plain(as_columns(taken)) == expected(rows)


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("make", [np.array, list])
def test_rows_of_a_matrix(make, rows):
    matrix = np.arange(8.0).reshape(4, 2)
    assert np.array_equal(take_rows(make(matrix), rows), matrix[rows])


def test_what_is_clean_stays_clean():
    assert type(take_rows(clean_columns(DATA), slice(2))) is Columns
    assert type(take_rows(DATA, slice(2))) is dict
