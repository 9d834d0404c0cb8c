"""``askless solve`` reads tables of tests that can err."""

import pytest

from askless import read_table
from askless.cli import solve as solve_module

LONG = """case,test,outcome,probability
flu,fever,yes,0.8
flu,fever,no,0.2
cold,fever,yes,0.1
cold,fever,no,0.9
"""


@pytest.fixture
def read(tmp_path, monkeypatch, run):
    """Return a function that gives the table which the command would solve."""
    monkeypatch.chdir(tmp_path)

    class Stop(Exception):
        pass

    def read(text, *args, code=0):
        (tmp_path / "t.csv").write_text(text)
        found = []

        def keep(table, *_):
            found.append(table)
            raise Stop

        monkeypatch.setattr(solve_module, "_solve", keep)
        try:
            result = run("solve", "t.csv", *args, code=code)
        except Stop:
            return found[0]
        return found[0] if found else result

    return read


def test_a_long_file_needs_no_target(read, tmp_path):
    (tmp_path / "cases.csv").write_text("case,prior\nflu,1\ncold,3\n")
    (tmp_path / "costs.csv").write_text("test,cost\nfever,7\n")
    table = read(LONG, "--cases", "cases.csv", "--costs", "costs.csv")
    assert table.prior.tolist() == [0.25, 0.75]
    assert table.prices.full.tolist() == [7]
    assert table.likelihoods[0].tolist() == read_table("t.csv").likelihoods[0].tolist()


def test_a_wide_file_has_a_legend_and_repeats(read, tmp_path):
    (tmp_path / "words.toml").write_text("often = 0.6\n")
    text = "case,fever,cough\nflu,often,0.5\ncold,0.1,\n"
    table = read(
        text,
        *("--likelihoods", "wide", "--legend", "words.toml"),
        *("--missing", "unknown", "--repeatable", "fever=2"),
    )
    assert table.test_names == ("fever", "fever (2)", "cough")
    assert table.likelihoods[1][1].tolist() == [0.6, 0.1]
    assert "'often' is 0.6" in table.notes[0]


@pytest.mark.parametrize(
    ("text", "args", "code", "said"),
    [
        ("a,c\n1,2\n", [], 2, "Missing option '--target'"),
        (LONG, ["--repeatable", "fever"], 2, "not of the form TEST=TIMES"),
        (LONG, ["--levels", "3"], 1, "levels must come with a table of facts"),
        ("a,c\n1,2\n", ["--target", "c", "--repeatable", "a=2"], 1, "repeatable must"),
        ("case,x\na,0.1\nb,\n", ["--likelihoods", "wide"], 1, "line 3 of t.csv"),
    ],
)
def test_what_is_wrong_is_said(read, text, args, code, said):
    result = read(text, *args, code=code)
    assert said in " ".join(result.stderr.split())
