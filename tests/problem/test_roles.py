"""Which columns are no tests is found out by one rule, in Python and on a line."""

import json

import pytest
from click.testing import CliRunner

import askless
from askless.cli import main
from askless.exceptions import InvalidTableError

CHEST = """\
case,pain,trigger,notes,disposition,Prior
heart,crushing,effort,call at once,admit,1
chest wall,sharp,touch,,send home,6
gullet,burning,meal,ask about wine,antacid,3
"""


@pytest.fixture
def chest(tmp_path):
    (tmp_path / "chest.csv").write_text(CHEST)
    return tmp_path / "chest.csv"


def test_names_weights_and_notes_are_no_tests(chest):
    table = askless.read_table(chest, "disposition")
    assert table.test_names == ("pain", "trigger")
    assert table.cases == ("heart", "chest wall", "gullet")
    assert table.prior == pytest.approx([0.1, 0.6, 0.3])
    assert table.notes == [
        "Column 'Prior' gives the weights of cases; prior='' makes it a test.",
        "Column 'case' gives the names of cases; case='' makes it a test.",
        "Column 'notes' is no test; drop=[] makes it one.",
    ]


def test_the_command_line_reads_the_same_table(chest, tmp_path):
    out = tmp_path / "p.json"
    args = ["solve", str(chest), "--target", "disposition", "-o", str(out), "--json"]
    told = json.loads(CliRunner().invoke(main, args).stdout)
    assert told["notes"][:3] == [
        "Column 'Prior' gives the weights of cases; --prior '' makes it a test.",
        "Column 'case' gives the names of cases; --case '' makes it a test.",
        "Column 'notes' is no test; --drop '' makes it one.",
    ]
    mine = askless.solve(askless.read_table(chest, "disposition"))
    theirs = askless.load(out)
    assert theirs.test_names == mine.policy.test_names
    assert theirs.expected_cost == mine.expected_cost
    again = CliRunner().invoke(
        main, [*args, "--prior", "", "--case", "", "--drop", ""]
    )  # fmt: skip
    assert again.exit_code == 0, again.output
    assert len(askless.load(out).test_names) == 5


def test_every_role_can_be_given_and_taken_back(chest):
    table = askless.read_table(chest, "disposition", prior="", case="", drop=[])
    assert table.test_names == ("case", "pain", "trigger", "notes", "Prior")
    table = askless.read_table(chest, "disposition", case="pain", drop=["case"])
    assert table.test_names == ("trigger", "notes")
    # What has a cost is a test.
    costs = {"pain": 1, "trigger": 1, "case": 1, "notes": 4}
    table = askless.read_table(chest, "disposition", costs=costs)
    assert table.test_names == ("case", "pain", "trigger", "notes")
    # A target is no name.
    assert askless.read_table(chest, "case").test_names[-1] == "disposition"
    with pytest.raises(InvalidTableError, match="The prior must be a column"):
        askless.read_table(chest, "disposition", prior="weight")


def test_notes_are_no_tests_of_a_learner(tmp_path):
    lines = ["x,remarks,y,prior", *(f"{i % 2},row {i},{i % 2},1" for i in range(30))]
    (tmp_path / "d.csv").write_text("\n".join(lines) + "\n")
    result = CliRunner().invoke(
        main, ["fit", str(tmp_path / "d.csv"), "--target", "y", "--json"]
    )
    assert result.exit_code == 0, result.output
    assert any(
        "'remarks' is no test" in note for note in json.loads(result.stdout)["notes"]
    )
