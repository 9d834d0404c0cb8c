"""Files of rows are read into columns, and what is wrong with a file is said."""

import gzip

import numpy as np
import pandas as pd
import polars as pl
import pytest

from askless.exceptions import DataFileError, InvalidTableError, MissingExtraError
from askless.problem import Table, read_columns, read_table
from askless.problem import _files as files

PLAIN = 'lamp,volts,n,cause\ndark,12.5,1,fuse\n"dim, red",,2,bulb\nöff,11,3,bulb\n'
EXPECTED = {
    "lamp": ["dark", "dim, red", "öff"],
    "volts": [12.5, None, 11],
    "n": [1, 2, 3],
    "cause": ["fuse", "bulb", "bulb"],
}


def write(path, text, encoding="utf-8"):
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return path


def assert_same_columns(columns, expected):
    assert list(columns) == list(expected)
    for name, column in columns.items():
        np.testing.assert_array_equal(column, expected[name], strict=True)


def expected_columns():
    return {
        "lamp": np.array(EXPECTED["lamp"], dtype=object),
        "volts": np.array([12.5, np.nan, 11.0]),
        "n": np.array([1, 2, 3]),
        "cause": np.array(EXPECTED["cause"], dtype=object),
    }


def gzipped(text):
    return gzip.compress(text.encode())


def parquet_by_pandas(path):
    pd.DataFrame(EXPECTED).to_parquet(path, index=False)


def parquet_by_polars(path):
    pl.DataFrame(EXPECTED).write_parquet(path)


WAYS = {
    "plain.csv": PLAIN,
    "bom.csv": "\ufeff" + PLAIN,
    "crlf.csv": PLAIN.replace("\n", "\r\n"),
    "no_newline_at_the_end.csv": PLAIN.rstrip("\n"),
    "empty_lines.csv": PLAIN.replace("\n", "\n\n") + "\n\n",
    "spaces.csv": "lamp , volts,n, cause" + PLAIN[PLAIN.index("\n") :],
    "other_ending.txt": PLAIN,
    "zipped.csv.gz": gzipped(PLAIN),
    "ZIPPED.CSV.GZ": gzipped(PLAIN),
    "zipped_bom_crlf.csv.gz": gzipped("\ufeff" + PLAIN.replace("\n", "\r\n")),
}


@pytest.mark.parametrize("name", WAYS)
def test_every_way_of_writing_a_csv_file_is_read_the_same(tmp_path, name):
    path = write(tmp_path / name, WAYS[name])
    assert_same_columns(read_columns(path), expected_columns())
    assert_same_columns(read_columns(str(path)), expected_columns())


@pytest.mark.parametrize("save", [parquet_by_pandas, parquet_by_polars])
@pytest.mark.parametrize("reader", ["pyarrow", "polars"])
@pytest.mark.parametrize("ending", [".parquet", ".pq", ".PARQUET"])
def test_a_parquet_file_reads_as_it_was_written(
    tmp_path, monkeypatch, save, reader, ending
):
    path = tmp_path / f"table{ending}"
    save(path)
    if reader == "polars":
        monkeypatch.setattr(files, "_parquet_by_pyarrow", not_installed)
    assert_same_columns(read_columns(path), expected_columns())


def not_installed(path):
    raise ImportError


def test_tables_from_csv_parquet_and_memory_are_equal(tmp_path):
    csv = write(tmp_path / "table.csv", PLAIN)
    parquet_by_pandas(tmp_path / "table.parquet")
    in_memory = Table(EXPECTED, "cause")
    for path in (csv, tmp_path / "table.parquet"):
        table = read_table(path, "cause")
        assert table.tests == in_memory.tests
        assert table.classes == in_memory.classes
        assert np.array_equal(table.codes, in_memory.codes)
        assert np.array_equal(table.class_ids, in_memory.class_ids)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", " 2 ", "-3"], np.array([1, 2, -3])),
        (["1", "", "3"], np.array([1, np.nan, 3])),
        (["1.5", "1e3", ".5"], np.array([1.5, 1000, 0.5])),
        (["1", "nan", "inf"], np.array([1, np.nan, np.inf])),
        (["nan", "nan", ""], np.array(["nan", "nan", None], dtype=object)),
        (["", "  ", ""], np.array([None, None, None], dtype=object)),
        (["1", "x", ""], np.array(["1", "x", None], dtype=object)),
        (["1_2", "12", "3"], np.array(["1_2", "12", "3"], dtype=object)),
        (["True", "False"], np.array(["True", "False"], dtype=object)),
        # Too long for 64 bits: as floats the two would be one.
        (["9" * 20, "9" * 19 + "8"], np.array(["9" * 20, "9" * 19 + "8"], object)),
    ],
    ids=str,
)
def test_cells_are_numbers_only_if_all_of_them_are(tmp_path, cells, expected):
    # A second column keeps a line with an empty cell from being an empty line.
    text = "a,b\n" + "".join(f"{cell},0\n" for cell in cells)
    column = read_columns(write(tmp_path / "t.csv", text))["a"]
    np.testing.assert_array_equal(column, expected, strict=True)


def test_a_mark_of_the_unknown_does_not_make_text_of_numbers(tmp_path):
    path = write(tmp_path / "t.csv", "a,b,c\n1,?,x\n?,?,?\n3,0.5,\n,2,y\n")
    columns = read_columns(path, unknown="?")
    assert columns["a"].tolist() == [1, "?", 3, None]
    assert columns["b"].tolist() == ["?", "?", 0.5, 2]
    assert columns["c"].tolist() == ["x", "?", None, "y"]
    table = Table(columns, list("xyzw"), unknown="?", levels=2)
    assert [test.kind for test in table.tests] == ["number", "number", "category"]
    assert table.is_unknown.sum() == 6


def test_a_number_may_mark_the_unknown_in_a_file(tmp_path):
    path = write(tmp_path / "t.csv", "a,c\n1,x\n-9,y\n3,z\n")
    for unknown in ("-9", -9):
        table = read_table(path, "c", unknown=unknown)
        assert table.tests[0].outcomes == (1, 3)
        assert table.is_unknown.tolist() == [[False, True, False]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"names in its first line\. Got an empty line in .*t\.csv\. Add a line"),
        ("\n\n", r"names in its first line\. Got an empty line"),
        (",,\n1,2,3\n", r"names in its first line\. Got an empty line"),
        ("a,b\n", r"must have lines below its names\. Got none in .*t\.csv"),
        ("a,b\n\n\n", r"must have lines below its names\. Got none"),
        (
            "a,,b\n1,2,3\n",
            r"must have a name\. Got none for column 2 in the first line",
        ),
        ("a,b,a\n1,2,3\n", r"different names\. Got 'a' twice in the first line of"),
        ("a,a \n1,2\n", r"different names\. Got 'a' twice"),
        ("a,b\n1,2\n3\n", r"must have 2 cells, .* Got 1 in line 3 of .*t\.csv\. Quote"),
        ("a,b\n1,2,3\n", r"must have 2 cells, .* Got 3 in line 2 of"),
        (b"a,b\n\xff,2\n", r"encoded in UTF-8\. Got the byte 0xff in .*t\.csv\. Save"),
        ("ä,b\n1,2\n".encode("latin-1"), r"UTF-8\. Got the byte 0xe4"),
        ("a,b\n1,2\n".encode("utf-16"), r"UTF-8\. Got the byte 0xff"),
        (f"a,b\n{'x' * 200_000},1\n", r"readable as text\. Got: field larger than"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_a_csv_file_that_makes_no_sense_is_refused(tmp_path, content, message):
    path = write(tmp_path / "t.csv", content)
    with pytest.raises(DataFileError, match=message):
        read_columns(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            gzipped(PLAIN * 50)[:-20],
            r"must be whole\. Got: Compressed file ended .*t\.",
        ),
        (gzipped(PLAIN)[:5], r"must be whole\. Got: Compressed file ended"),
        (b"not gzipped at all", r"must be whole\. Got: Not a gzipped file .* in .*t\."),
        (gzipped(PLAIN)[:10] + b"\x07" * 40, r"A \.gz file must be whole\. Got: "),
        (b"", r"names in its first line\. Got an empty line"),
    ],
    ids=["cut short", "cut very short", "no gzip", "damaged", "empty"],
)
def test_a_broken_gz_file_is_refused(tmp_path, content, message):
    path = write(tmp_path / "t.csv.gz", content)
    with pytest.raises(DataFileError, match=message):
        read_columns(path)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t"])
def test_a_file_that_is_not_there_is_named(tmp_path, name):
    message = rf"there and readable\. Got: No such file or directory for .*{name}\."
    with pytest.raises(DataFileError, match=message):
        read_columns(tmp_path / name)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t"])
def test_a_directory_is_no_file(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(
        DataFileError, match=r"Got: Is a directory for .*Check the path"
    ):
        read_columns(tmp_path / name)


def test_a_parquet_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataFileError, match=r"Got no file at .*t\.parquet\. Check"):
        read_columns(tmp_path / "t.parquet")


def test_a_directory_is_no_parquet_file(tmp_path):
    (tmp_path / "t.parquet").mkdir()
    with pytest.raises(DataFileError, match=r"Got a directory at .*t\.parquet\."):
        read_columns(tmp_path / "t.parquet")


@pytest.mark.parametrize("reader", ["pyarrow", "polars"])
@pytest.mark.parametrize(
    "content", [b"", b"a,b\n1,2\n", b"PAR1" + b"\0" * 20 + b"PAR1"]
)
def test_a_broken_parquet_file_is_refused(tmp_path, monkeypatch, content, reader):
    if reader == "polars":
        monkeypatch.setattr(files, "_parquet_by_pyarrow", not_installed)
    path = write(tmp_path / "t.parquet", content)
    with pytest.raises(
        DataFileError, match=r"(?s)must be whole\. Got: .*Write it again"
    ):
        read_columns(path)


def test_a_parquet_file_cut_short_is_refused(tmp_path):
    parquet_by_pandas(tmp_path / "t.parquet")
    whole = (tmp_path / "t.parquet").read_bytes()
    write(tmp_path / "t.parquet", whole[:-50])
    with pytest.raises(DataFileError, match=r"(?s)must be whole\. Got: .*t\.parquet"):
        read_columns(tmp_path / "t.parquet")


def test_a_parquet_column_of_dates_is_named(tmp_path):
    frame = pd.DataFrame({"day": pd.to_datetime(["2020-01-01"])})
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(
        InvalidTableError, match=r"in column 'day'\. Say what of a date"
    ):
        read_columns(tmp_path / "t.parquet")


def test_without_a_reader_of_parquet_the_extra_is_named(tmp_path, monkeypatch):
    parquet_by_pandas(tmp_path / "t.parquet")
    monkeypatch.setattr(files, "_parquet_by_pyarrow", not_installed)
    monkeypatch.setattr(files, "_parquet_by_polars", not_installed)
    with pytest.raises(MissingExtraError, match=r"pip install 'askless\[parquet\]'"):
        read_columns(tmp_path / "t.parquet")


def test_columns_have_roles(tmp_path):
    path = write(
        tmp_path / "t.csv",
        "id,lamp,note,share,cause\nf1,dark,x,3,fuse\nf2,dim,y,1,bulb\n",
    )
    table = read_table(path, "cause", prior="share", case="id", drop=["note"])
    assert table.test_names == ("lamp",)
    assert table.cases == ("f1", "f2")
    assert table.prior.tolist() == [0.75, 0.25]
    assert table.case_classes == ["fuse", "bulb"]


def test_costs_may_be_a_mapping_or_a_list(tmp_path):
    path = write(tmp_path / "t.csv", PLAIN)
    by_name = {"lamp": 1, "volts": 2, "n": 3}
    for costs in (by_name, [1, 2, 3]):
        table = read_table(path, "cause", costs=costs)
        assert table.prices.full.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"target": "cuase"},
            r"target must be a column of the table\. Got 'cuase', which is none of "
            r"'lamp', 'volts', 'n', 'cause' in .*\. Did you mean 'cause'\? Name a",
        ),
        ({"prior": "weight"}, r"prior must be a column of the table\. Got 'weight'"),
        ({"case": "id"}, r"case must be a column of the table\. Got 'id'"),
        (
            {"drop": ["lmap"]},
            r"can be dropped\. Got 'lmap' for .* Did you mean 'lamp'\?",
        ),
        (
            {"costs": {"lamp": 1, "volts": 1, "n": 1, "cause": 1}},
            r"target must not be a test as well\. Got a cost for 'cause', the target",
        ),
        (
            {"tests": ["lamp", "cause"]},
            r"target must not be a test as well\. Got 'cause' as both\. Leave it out",
        ),
        ({"tests": ["lmap"]}, r"Got no column 'lmap' .* Did you mean 'lamp'\?"),
        ({"prior": "lamp"}, r"Weights must be numbers\. Got 'dark' for case 0"),
        ({"prior": "volts"}, r"finite and >= 0\. Got nan for case 1"),
        ({"drop": ["lamp", "volts", "n"]}, r"at least one test\. Got no columns"),
    ],
    ids=str,
)
def test_a_table_that_cannot_be_read_so_is_refused(tmp_path, options, message):
    path = write(tmp_path / "t.csv", PLAIN)
    options = {"target": "cause"} | options
    with pytest.raises(InvalidTableError, match=message):
        read_table(path, **options)
