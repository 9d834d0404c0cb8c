"""Whatever data comes as, the columns taken out of it are the same."""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from askless.exceptions import InvalidTableError
from askless.problem import Table, as_columns
from askless.problem._column import clean_column, is_missing
from askless.problem._frames import is_frame

# One column of each kind, some cells empty.
NUMBERS = [1.5, None, -2.0, 1.5]
COUNTS = [3, 1, None, 3]
WHOLE = [3, 1, 2, 3]
FLAGS = [True, False, True, True]
MAYBE = [True, None, False, True]
TEXTS = ["on", None, "öff, ja", "on"]
CLASSES = ["a", "b", "c", "a"]
COLUMNS = {
    "numbers": NUMBERS,
    "counts": COUNTS,
    "whole": WHOLE,
    "flags": FLAGS,
    "maybe": MAYBE,
    "texts": TEXTS,
}
ROWS = [list(row) for row in zip(*COLUMNS.values(), strict=True)]


def pandas_nullable():
    dtypes = {"numbers": "Float64", "counts": "Int64", "whole": "Int64"}
    dtypes |= {"flags": "boolean", "maybe": "boolean", "texts": "string"}
    return pd.DataFrame(COLUMNS).astype(dtypes)


def pandas_categorical():
    return pd.DataFrame({k: pd.Categorical(v) for k, v in COLUMNS.items()})


def pandas_arrow():
    return pa.table(COLUMNS).to_pandas(types_mapper=pd.ArrowDtype)


def polars_categorical():
    return pl.DataFrame(COLUMNS).with_columns(pl.col("texts").cast(pl.Categorical))


def arrow_dictionary():
    table = pa.table(COLUMNS)
    encoded = table["texts"].dictionary_encode()
    return table.set_column(table.column_names.index("texts"), "texts", encoded)


SOURCES = {
    "lists of rows": lambda: ROWS,
    "tuples of rows": lambda: tuple(map(tuple, ROWS)),
    "rows as arrays": lambda: [np.array(row, dtype=object) for row in ROWS],
    "array of objects": lambda: np.array(ROWS, dtype=object),
    "mapping of lists": lambda: COLUMNS,
    "mapping of arrays": lambda: {
        k: np.fromiter(v, dtype=object, count=4) for k, v in COLUMNS.items()
    },
    "mapping of pandas series": lambda: dict(pd.DataFrame(COLUMNS).items()),
    "mapping of polars series": lambda: {k: pl.Series(v) for k, v in COLUMNS.items()},
    "mapping of Arrow arrays": lambda: {k: pa.array(v) for k, v in COLUMNS.items()},
    "mapping of Arrow chunks": lambda: {
        k: pa.chunked_array([v[:1], v[1:]]) for k, v in COLUMNS.items()
    },
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas of objects": lambda: pd.DataFrame(COLUMNS, dtype=object),
    "pandas nullable": pandas_nullable,
    "pandas categorical": pandas_categorical,
    "pandas by Arrow": pandas_arrow,
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars categorical": polars_categorical,
    "Arrow": lambda: pa.table(COLUMNS),
    "Arrow dictionary": arrow_dictionary,
}


def names_for(source):
    is_named = isinstance(source, dict) or is_frame(source)
    return None if is_named else list(COLUMNS)


def same(a, b):
    """Return whether two tables are equal in everything that a solver can see."""
    return (
        a.tests == b.tests
        and a.classes == b.classes
        and a.cases == b.cases
        and a.costs == b.costs
        and np.array_equal(a.codes, b.codes)
        and np.array_equal(a.class_ids, b.class_ids)
        and np.array_equal(a.prior, b.prior)
        and np.array_equal(a.is_ordered, b.is_ordered)
        and repr(a.tests) == repr(b.tests)
    )


@pytest.mark.parametrize("name", SOURCES)
def test_columns_are_the_same_from_every_source(name):
    source = SOURCES[name]()
    columns = as_columns(source, names_for(source))
    expected = {
        "numbers": np.array([1.5, np.nan, -2.0, 1.5]),
        "counts": np.array([3, 1, np.nan, 3]),
        "whole": np.array(WHOLE),
        "flags": np.array(FLAGS),
        "maybe": np.array(MAYBE, dtype=object),
        "texts": np.array(TEXTS, dtype=object),
    }
    assert list(columns) == list(expected)
    for key, column in columns.items():
        assert column.dtype == expected[key].dtype, key
        np.testing.assert_array_equal(column, expected[key])


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize(
    "options",
    [{}, {"levels": 2}, {"thresholds": True}, {"missing": "outcome"}],
    ids=str,
)
def test_tables_are_equal_from_every_source(name, options):
    source = SOURCES[name]()
    table = Table(source, CLASSES, tests=names_for(source), **options)
    assert same(table, Table(COLUMNS, CLASSES, **options))


@pytest.mark.parametrize(
    "classes",
    [
        tuple(CLASSES),
        np.array(CLASSES),
        np.array(CLASSES, dtype=object),
        pd.Series(CLASSES),
        pd.Series(pd.Categorical(CLASSES)),
        pd.Series(CLASSES, dtype="string"),
        pd.Index(CLASSES),
        pl.Series(CLASSES),
        pa.array(CLASSES),
        iter(CLASSES),
    ],
    ids=lambda classes: type(classes).__name__,
)
def test_classes_are_the_same_from_every_source(classes):
    assert same(Table(COLUMNS, classes), Table(COLUMNS, CLASSES))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_the_class_may_be_a_column_of_the_frame(make):
    table = Table(make(COLUMNS | {"class": CLASSES}), "class")
    assert same(table, Table(COLUMNS, CLASSES))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, np.float16])
def test_arrays_of_numbers_of_any_width_make_the_same_table(dtype):
    rows = np.array([[1, 2], [3, 2], [1, 5]], dtype=dtype)
    assert same(Table(rows, CLASSES[:3]), Table(rows.tolist(), CLASSES[:3]))


def test_the_order_of_bytes_and_of_memory_does_not_matter():
    rows = np.array([[1.5, 2], [3, 2], [1, 5]])
    plain = Table(rows, CLASSES[:3])
    assert same(Table(np.asfortranarray(rows), CLASSES[:3]), plain)
    assert same(Table(rows.astype(">f8"), CLASSES[:3]), plain)
    assert same(Table(rows[::-1][::-1], CLASSES[:3]), plain)


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="needs NumPy 2")
def test_text_arrays_of_fixed_and_of_free_width_are_text():
    fixed = np.array([["ä", "b"], ["c", "d"]])
    free = fixed.astype(np.dtypes.StringDType())
    assert same(Table(fixed, [0, 1]), Table(free, [0, 1]))
    assert all(type(v) is str for v in Table(fixed, [0, 1]).tests[0].outcomes)


def test_masked_cells_are_missing():
    masked = np.ma.masked_array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
    columns = as_columns(masked)
    np.testing.assert_array_equal(columns["t1"], [np.nan, 4.0])
    assert columns["t0"].tolist() == [1, 3]


def test_decimals_and_fractions_are_numbers():
    np.testing.assert_array_equal(
        clean_column([Decimal("1.5"), Fraction(1, 4), None]), [1.5, 0.25, np.nan]
    )
    frame = pl.DataFrame({"price": ["1.50", "2"]})
    frame = frame.with_columns(pl.col("price").cast(pl.Decimal(10, 2)))
    np.testing.assert_array_equal(as_columns(frame)["price"], [1.5, 2.0])


def test_mixed_values_stay_what_they_are():
    column = clean_column([1, "1", 1.5, True, None, np.int64(2), np.str_("x")])
    assert column.tolist() == [1, "1", 1.5, True, None, 2, "x"]
    assert [type(v) for v in column.tolist()[:4]] == [int, str, float, bool]


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([], object),
        ([None, None], object),
        ([1, 2], np.int64),
        ([1, 2.5], np.float64),
        ([True, False], np.bool_),
        ([True, 2], object),
        (np.array([], dtype=np.float32), np.float64),
        (range(3), np.int64),
        ((x for x in "ab"), object),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_column_has_the_narrowest_type_that_holds_it(values, dtype):
    assert clean_column(values).dtype == dtype


@pytest.mark.parametrize(
    "value", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT]
)
def test_what_is_missing_is_found(value):
    assert is_missing(value)


@pytest.mark.parametrize("value", [0, "", False, "nan", np.zeros(2), [None]], ids=repr)
def test_what_is_there_is_not_missing(value):
    assert not is_missing(value)


def test_columns_of_an_array_are_called_by_position():
    assert list(as_columns([[1, 2]])) == ["t0", "t1"]
    assert list(as_columns(np.ones((1, 2)), prefix="x")) == ["x0", "x1"]
    assert list(as_columns([[1, 2]], ["a", "b"])) == ["a", "b"]


def test_columns_of_a_frame_are_taken_by_name_in_the_order_asked_for():
    frame = pd.DataFrame({"a": [1], "b": [2], "c": [3]})
    assert list(as_columns(frame, ["c", "a"])) == ["c", "a"]
    assert list(as_columns(pl.DataFrame(frame.to_dict("list")), ["b"])) == ["b"]


def test_names_that_are_numbers_become_text():
    frame = pd.DataFrame({1: [10, 20], 0: [30, 40]})
    columns = as_columns(frame)
    assert {k: v.tolist() for k, v in columns.items()} == {"1": [10, 20], "0": [30, 40]}
    assert list(as_columns(frame, [0])) == ["0"]


def test_only_frames_are_frames():
    assert is_frame(pd.DataFrame({"a": [1]}))
    assert is_frame(pl.DataFrame({"a": [1]}))
    assert is_frame(pa.table({"a": [1]}))
    for other in ([[1]], {"a": [1]}, np.ones((1, 1)), pd.Series([1]), None):
        assert not is_frame(other)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.ones((2, 2)), r"one dimension\. Got 2 in column 'x'\. Pass one value"),
        (np.array(1), r"one dimension\. Got 0 in column 'x'"),
        (None, r"must be a list of values\. Got NoneType for column 'x'"),
        (5, r"must be a list of values\. Got int for column 'x'"),
        ("abc", r"must be a list of values\. Got str for column 'x'"),
        ({1, 2}, r"must be a list of values\. Got set for column 'x'"),
        ([[1], [2]], r"must be text, a number or a boolean\. Got list in column 'x'"),
        ([[1, 2], [3, 4]], r"a number or a boolean\. Got list in column 'x'"),
        ([b"a"], r"Got bytes in column 'x'\. Convert it to text"),
        (np.array([b"a"]), r"Got bytes in column 'x'\. Convert it to text"),
        ([1j], r"Got complex in column 'x'"),
        (np.array([1j]), r"text, numbers or booleans\. Got complex128 in column 'x'"),
        (np.array(["2020-01-01"], "M8[D]"), r"Got datetime64\[D\] in column 'x'"),
        ([datetime.date(2020, 1, 1)], r"Got date in column 'x'\. Say what of a date"),
        (pd.to_datetime(pd.Series(["2020-01-01"])), r"column 'x'\. Say what of a date"),
        (pl.Series([datetime.date(2020, 1, 1)]), r"column 'x'\. Say what of a date"),
        (np.array(["2020-01-01"], "datetime64[D]"), r"column 'x'\. Say what of a date"),
        (np.array([3], "timedelta64[D]"), r"column 'x'\. Say what of a date"),
        ([2**64], r"whole number must fit in 64 bits\. Got a larger one in column 'x'"),
        (np.array([2**63], np.uint64), r"must fit in 64 bits\. Got a larger one"),
        ([10**400, 0.5], r"must fit in double precision\. Got a larger one in column"),
    ],
    ids=str,
)
def test_a_column_that_cannot_be_one_is_refused(values, message):
    with pytest.raises(InvalidTableError, match=message):
        clean_column(values, "x")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (5, r"frame, an array or a list of rows\. Got int\. Pass one list of outcomes"),
        (None, r"frame, an array or a list of rows\. Got NoneType"),
        (["dark", "pale"], r"a list of rows\. Got rows of type str"),
        ([1, 2], r"a list of rows\. Got rows of type int"),
        ([{"a": 1}], r"a list of rows\. Got rows of type dict"),
        (pd.Series([1, 2]), r"a list of rows\. Got rows of type int"),
        (pl.LazyFrame({"a": [1]}), r"a list of rows\. Got LazyFrame"),
        (scipy.sparse.eye(2, format="csr"), r"Got rows of type csr_matrix"),
        (np.ones(3), r"two dimensions, cases by tests\. Got 1\."),
        (np.ones((2, 2, 2)), r"two dimensions, cases by tests\. Got 3\."),
        ([[1, 2], [3]], r"Got 2 outcomes for case 0 and 1 for case 1\. Mark unknown"),
        ([[1, [2, 3]], [1, 2]], r"Got list in column 't1'"),
        ([[[1, 2], [3, 4]]], r"Got list in column 't0'"),
        ({"a": [1, 2], "b": [1]}, r"same length\. Got 2 in 'a' and 1 in 'b'"),
        ({"a": 5}, r"must be a list of values\. Got int for column 'a'"),
        ({1: [1], "1": [2]}, r"different names\. Got '1' more than once"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), r"names\. Got 'a' 2 times\."),
        (pd.DataFrame([[1, 2]], columns=[0, "0"]), r"Got '0' more than once"),
        (pa.table([[1], [2]], names=["a", "a"]), r"different names\. Got 'a' 2 times"),
        (pl.DataFrame({"d": [datetime.date(2020, 1, 1)]}), r"Got date in column 'd'"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_data_that_cannot_be_taken_apart_is_refused(data, message):
    with pytest.raises(InvalidTableError, match=message):
        as_columns(data)


@pytest.mark.parametrize(
    ("data", "names", "message"),
    [
        ([[1, 2]], ["a"], r"one name for each column\. Got 1 names for 2 columns"),
        ([[1, 2]], ["a", "a"], r"different names\. Got 'a' more than once"),
        ([[1, 2]], [1, "1"], r"different names\. Got '1' more than once"),
        ([[1, 2]], "ab", r"must come as a list\. Got the text 'ab'\. Put it in a list"),
        ({"ab": [1]}, "ab", r"must come as a list\. Got the text 'ab'"),
        ({"ab": [1]}, ["ab", "ab"], r"different names\. Got 'ab' more than once"),
        (
            {"lamp": [1], "socket": [2]},
            ["lamp", "sockets"],
            r"Got no column 'sockets' \(1 absent\); the columns are 'lamp', 'socket'\. "
            r"Did you mean 'socket'\? Add the column",
        ),
    ],
    ids=str,
)
def test_names_that_do_not_fit_are_refused(data, names, message):
    with pytest.raises(InvalidTableError, match=message):
        as_columns(data, names)
