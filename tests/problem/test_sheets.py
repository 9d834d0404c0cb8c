"""Spreadsheets are read as they are, and what was found out is said."""

import builtins
import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import askless
from askless.cli import main
from askless.cli._words import in_command_words
from askless.exceptions import (
    DataFileError,
    InvalidOptionError,
    InvalidTableError,
    MissingExtraError,
)
from askless.problem import read_columns, read_costs
from askless.problem._files import load_columns
from askless.problem.sheets import find_dialect, read_sheet, remark_on_cells
from tests.problem.workbooks import write_ods, write_xlsx

ROWS = [
    ["pain", "troponin", "disposition", "prior"],
    ["crushing", 0.9, "admit", 3],
    ["sharp", 0.1, "send home", 6],
    ["burning", 0.25, "antacid", 1],
]


def as_text(rows, separator=",", decimal="."):
    def cell(value):
        return "" if value is None else str(value).replace(".", decimal)

    return "".join(separator.join(map(cell, row)) + "\n" for row in rows)


@pytest.fixture
def write(tmp_path):
    def write_file(content, name="t.csv"):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        return path

    return write_file


def same(a, b):
    assert list(a) == list(b)
    for name in a:
        assert a[name].tolist() == b[name].tolist()


# Separators and fractions.


@pytest.mark.parametrize("written", [",.", ";.", ";,", "\t.", "\t,", "|.", "|,"])
def test_separators_and_fractions_are_found_out_and_said(write, written):
    separator, decimal = written
    columns = load_columns(write(as_text(ROWS, separator, decimal)))
    same(columns, read_columns(write(as_text(ROWS), "plain.csv")))
    said = " ".join(columns.remarks)
    assert ("separated by" in said) == (separator != ",")
    assert ("begin with a comma" in said) == (decimal == ",")


def test_they_can_be_given(write):
    path = write("a;b\n1,5;x\n2,5;y\n")
    assert read_columns(path, decimal=".")["a"].tolist() == ["1,5", "2,5"]
    tabs = write("a\tb\n1\t2\n", "tabs.tsv")
    same(read_columns(tabs, separator="tab"), read_columns(tabs))
    for wrong in ("", "ab", "1", '"', "."):
        with pytest.raises(InvalidOptionError, match="separator must be one character"):
            read_columns(path, separator=wrong)
    with pytest.raises(InvalidOptionError, match="decimal must be"):
        read_columns(path, decimal=";")


def test_commas_in_text_and_points_in_numbers_stay(write):
    path = write("name;x;y\nSmith, Ann;1.5;1,2\nJones;2.5;x\n")
    columns = load_columns(path)
    assert columns["name"].tolist() == ["Smith, Ann", "Jones"]
    assert columns["x"].tolist() == [1.5, 2.5]
    assert columns["y"].tolist() == ["1,2", "x"]
    assert "comma;" not in " ".join(columns.remarks)


@given(
    st.lists(
        st.lists(st.text("ab c,;\t|\"'", max_size=6), min_size=3, max_size=3),
        min_size=2,
        max_size=6,
    ),
    st.sampled_from([",", ";", "\t", "|"]),
)
def test_what_a_program_writes_is_read_back_when_told_how(rows, separator):
    import io

    file = io.StringIO()
    csv.writer(file, delimiter=separator).writerows(rows)
    found = find_dialect(file.getvalue().splitlines(True), separator=separator)
    file.seek(0)
    assert list(csv.reader(file, delimiter=found.separator)) == rows


def test_costs_are_read_the_same_way(write):
    path = write("test;cost\nlamp;1,5\nsocket;20\n")
    assert read_costs(path).costs == {"lamp": 1.5, "socket": 20.0}


# Blank rows and columns.


def test_blank_rows_and_columns_are_left_out_and_said(write):
    path = write("a,b,,\n1,x,,\n,,,\n2,y,,\n\n,,,\n , ,,\n")
    columns = load_columns(path)
    assert {name: c.tolist() for name, c in columns.items()} == {
        "a": [1, 2],
        "b": ["x", "y"],
    }
    assert columns.lines == [2, 4]
    assert "3 blank rows" in columns.remarks[0]
    assert "(line 3 to 7)" in columns.remarks[0]


def test_a_column_without_a_name_that_holds_something_is_refused(write):
    with pytest.raises(DataFileError, match="Got none for column 3 in the first line"):
        read_columns(write("a,b,\n1,x,odd\n"))


# Remarks on cells.


def test_spellings_that_look_alike_are_pointed_out():
    cells = ["crushing", "Crushing", "sharp", "crush ing", "crushing"]
    (remark,) = remark_on_cells("pain", cells, [2, 3, 4, 5, 6])
    assert "'crushing' (line 2), 'Crushing' (line 3) and 'crush ing' (line 5)" in remark
    assert "which are 3 outcomes. If they are one, write 'crushing'" in remark
    assert remark_on_cells("smear", ["+", "-", "+"], [2, 3, 4]) == []
    assert remark_on_cells("x", [f"row {i}" for i in range(500)], range(500)) == []
    assert remark_on_cells("x", ["1", "1.0"], [2, 3]) == []


@pytest.mark.parametrize("sign", ["?", "n/a", "N/A", "-", "NaN"])
def test_signs_for_unknown_are_pointed_out(sign):
    (remark,) = remark_on_cells("st", ["up", sign, sign], [2, 3, 4])
    assert f"has {sign!r} in 2 cells, the first in line 3" in remark
    assert f"leave the cell empty, or set unknown={sign!r}." in remark
    (remark,) = remark_on_cells("volts", ["1", "2.5", sign], [2, 3, 4])
    assert "which makes text of its numbers" in remark
    assert remark_on_cells("st", ["up", sign], [2, 3], unknown=sign) == []


def test_remarks_are_notes_of_the_table(write):
    path = write("pain;notes;y\nDull;-;a\ndull;-;b\n")
    notes = askless.read_table(path, "y").notes
    assert [note for note in notes if "'Dull'" in note]
    # What is left out is not looked at.
    assert not [note for note in notes if "'-'" in note]


# Lines.


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "x,prior,y\n1,2,a\n\n2,many,b\n",
            r"Got 'many' for case 1.*line 4 of .*t\.csv",
        ),
        ("x,prior,y\n1,-2,a\n2,1,b\n", r"Got -2\.0 for case 0\..*line 2 of"),
        ("x,prior,y\n1,,a\n2,1,b\n", r"Got nan for case 0\..*line 2 of"),
        ("x,y\n1,a\n,\n2,\n3,b\n", r"Got none for case 1.*line 4 of"),
        ("x,y\n1,a\ninf,b\n", r"infinite value of 'x'.*line 3 of"),
    ],
)
def test_what_is_wrong_with_a_cell_is_said_with_its_line(write, content, message):
    with pytest.raises(InvalidTableError, match=message):
        askless.read_table(write(content), "y")


def test_the_command_line_says_lines_too(write, tmp_path):
    path = write("x,prior,y\n1,2,a\n\n2,many,b\n3,1,a\n")
    for command in ("solve", "fit"):
        result = CliRunner().invoke(main, [command, str(path), "--target", "y"])
        assert result.exit_code == 1
        assert "'many'" in result.output
        assert "line 4" in result.output
    path = write("x,y\n1,a\n\n2,\n")
    result = CliRunner().invoke(main, ["fit", str(path), "--target", "y"])
    assert "the first in line 4 of" in result.output
    policy = tmp_path / "p.json"
    askless.solve(askless.Table({"x": [1, 2]}, ["a", "b"])).policy.save(policy)
    path = write("x,y,w\n1,a,1\n2,b,\n")
    args = ["evaluate", str(policy), str(path), "--target", "y", "--prior", "w"]
    result = CliRunner().invoke(main, args)
    assert "Got an empty cell in line 3 of" in result.output


def test_the_command_line_speaks_of_its_own_options(write):
    path = write("x;y\nDull;a\ndull;b\n?;a\n-;c\n")
    args = ["solve", str(path), "--target", "y", "--json"]
    notes = json.loads(CliRunner().invoke(main, args).stdout)["notes"]
    assert any("or set --unknown '?'." in note for note in notes)
    assert any("--separator ',' reads it" in note for note in notes)
    told = CliRunner().invoke(main, [*args[:-1], "--separator", ";"])
    assert "separated by" not in told.output
    assert in_command_words("Set max_error=0.1.") == "Set --max-error 0.1."
    assert in_command_words("thresholds=True") == "--thresholds"
    assert in_command_words("unknown = 3, prior") == "unknown = 3, prior"


# Workbooks.


@pytest.mark.parametrize("suffix", [".xlsx", ".ods"])
def test_workbooks_are_read(tmp_path, write, suffix):
    path = tmp_path / f"chest{suffix}"
    rows = [*ROWS, [None] * 4]
    (write_ods if suffix == ".ods" else write_xlsx)(path, rows)
    same(read_columns(path), read_columns(write(as_text(ROWS))))
    table = askless.read_table(path, "disposition")
    assert table.test_names == ("pain", "troponin")
    assert table.prior == pytest.approx([0.3, 0.6, 0.1])
    out = tmp_path / "p.json"
    result = CliRunner().invoke(
        main, ["solve", str(path), "--target", "disposition", "-o", str(out)]
    )
    assert result.exit_code == 0, result.output
    assert askless.load(out).test_names == ("pain", "troponin")


def test_cells_of_a_workbook_are_what_a_program_would_write(tmp_path):
    path = tmp_path / "t.xlsx"
    write_xlsx(path, [["a", "b", "c"], [1.0, True, 0.1], [2, False, "x"]], n_sheets=2)
    sheet = read_sheet(path)
    assert sheet.rows == [["1", "TRUE", "0.1"], ["2", "FALSE", "x"]]
    assert "Only the first sheet" in sheet.remarks[0]
    assert read_columns(path)["a"].dtype == np.int64


def test_a_wrong_cell_of_a_workbook_is_said_with_its_row(tmp_path):
    path = tmp_path / "t.xlsx"
    write_xlsx(path, [["x", "y"], [1, "a"], [None, None], [2, None]])
    with pytest.raises(InvalidTableError, match="line 4 of"):
        askless.read_table(path, "y")


def test_a_workbook_that_is_none_is_refused(tmp_path):
    path = tmp_path / "t.xlsx"
    with pytest.raises(DataFileError, match="Got no file at"):
        read_columns(path)
    path.write_bytes(b"PK no workbook")
    with pytest.raises(DataFileError, match="A workbook must be whole"):
        read_columns(path)


def test_without_the_extra_it_is_named(tmp_path, monkeypatch):
    write_xlsx(tmp_path / "t.xlsx", ROWS)
    real = builtins.__import__

    def no_calamine(name, *args, **kwargs):
        if name == "python_calamine":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", no_calamine)
    with pytest.raises(MissingExtraError, match=r"pip install 'askless\[sheets\]'"):
        read_columns(tmp_path / "t.xlsx")


def test_files_of_likelihoods_are_spreadsheets_too(write):
    text = "case,fever,cough\nflu,0.8,0.7\ncold,0.1,0.9\n"
    plain = askless.read_table(write(text), likelihoods="wide")
    other = write(text.replace(",", ";").replace(".", ","), "other.csv")
    for options in ({}, {"separator": ";", "decimal": ","}):
        table = askless.read_table(other, likelihoods="wide", **options)
        for mine, theirs in zip(table.likelihoods, plain.likelihoods, strict=True):
            assert np.array_equal(mine, theirs)
