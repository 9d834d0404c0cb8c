"""``askless evaluate``: the library's numbers, on rows in a file."""

import json

import pytest

from askless import Costs, Table, evaluate, load, solve

ROWS = {
    "lamp": ["dark", "dark", "dim", "dim"],
    "socket": ["dead", "live", "live", "dead"],
}
CAUSES = ["fuse", "fuse", "dimmer", "dimmer"]


def write(path, columns):
    lines = [
        ",".join(columns),
        *(",".join(row) for row in zip(*columns.values(), strict=True)),
    ]
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def rows(policy):
    write(policy.parent / "rows.csv", {**ROWS, "cause": CAUSES})
    return policy.parent / "rows.csv"


def as_json(result):
    assert result.stderr == ""
    return json.loads(result.stdout)


def test_the_numbers_are_those_of_the_library(policy, rows, run):
    expected = evaluate(load(policy), ROWS, CAUSES).to_dict()
    found = as_json(run("evaluate", policy, rows, "--target", "cause", "--json"))
    assert found.pop("notes") == []
    assert found == expected
    assert found["error"] == 0.25
    assert found["expected_cost"] == 3.5


def test_without_a_target_only_the_cost_is_known(policy, rows, run):
    found = as_json(run("evaluate", policy, rows, "--json"))
    assert found["error"] is None
    assert found["mistake_cost"] is None
    assert found["expected_cost"] == 3.5
    shown = run("evaluate", policy, rows).stdout
    assert "unknown without --target" in shown


def test_the_report_has_every_number(policy, rows, run):
    lines = run("evaluate", policy, rows, "--target", "cause").stdout.splitlines()
    assert lines[0].endswith("lamp.json on 4 rows")
    facts = [line.rsplit("  ", 1) for line in lines[2:]]
    assert {name.strip(): value for name, value in facts} == {
        "expected cost": "3.5",
        "worst cost": "6",
        "25 % within": "1",
        "50 % within": "1",
        "75 % within": "6",
        "90 % within": "6",
        "99 % within": "6",
        "error": "25 %",
    }


def test_mistakes_are_priced(folder, run):
    table = Table(ROWS, CAUSES, costs=Costs({"lamp": 1, "socket": 5}, mistakes=10))
    solve(table).policy.save("p.json")
    write(folder / "rows.csv", {**ROWS, "cause": ["fuse", "fuse", "fuse", "dimmer"]})
    found = as_json(
        run("evaluate", "p.json", "rows.csv", "--target", "cause", "--json")
    )
    assert found["mistake_cost"] == 2.5
    assert found["total_cost"] == found["expected_cost"] + 2.5
    shown = run("evaluate", "p.json", "rows.csv", "--target", "cause").stdout
    assert "mistake cost" in shown
    assert "total cost" in shown


def test_weights_are_taken_with_a_note_or_by_name(policy, run):
    weights = ["1", "0", "0", "3"]
    write(policy.parent / "w.csv", {**ROWS, "cause": CAUSES, "prior": weights})
    found = json.loads(
        run("evaluate", policy, "w.csv", "--target", "cause", "--json").stdout
    )
    assert found["expected_cost"] == (6 + 3 * 1) / 4
    assert "Column 'prior' gives the weights" in found["notes"][0]
    write(policy.parent / "v.csv", {**ROWS, "cause": CAUSES, "n": weights})
    named = run(
        "evaluate", policy, "v.csv", "--target", "cause", "--prior", "n", "--json"
    )
    assert as_json(named)["expected_cost"] == found["expected_cost"]


@pytest.mark.parametrize("mark", ["", "?"])
def test_unknown_outcomes_are_followed_both_ways(policy, run, mark):
    columns = {"lamp": ["dark", mark, "dim"], "socket": ["dead", "live", "live"]}
    truth = ["fuse", "bulb", "dimmer"]
    write(policy.parent / "u.csv", {**columns, "cause": truth})
    args = [
        "evaluate",
        policy,
        "u.csv",
        "--target",
        "cause",
        "--unknown",
        "?",
        "--json",
    ]
    found = as_json(run(*args, "--missing", "unknown"))
    blank = {"lamp": ["dark", None, "dim"], "socket": ["dead", "live", "live"]}
    expected = evaluate(load(policy), Table(blank, truth))
    assert found["expected_cost"] == expected.expected_cost
    assert found["error"] == expected.error == pytest.approx(1 / 6)
    rows = json.loads(run(*args).stdout)
    assert rows["notes"] == [
        "1 empty cells were taken for missing outcomes. With --missing unknown, every "
        "outcome that they may be is followed."
    ]
    assert rows["expected_cost"] == evaluate(load(policy), blank, truth).expected_cost


def test_the_table_that_was_solved_gives_the_same_numbers(folder, run):
    run("datasets", "car", "-o", "car.csv")
    solved = run(
        "solve",
        "car.csv",
        "--target",
        "repair",
        "--costs",
        "car.costs.toml",
        "-o",
        "car.json",
        "--json",
    ).stdout
    found = run(
        "evaluate",
        "car.json",
        "car.csv",
        "--target",
        "repair",
        "--missing",
        "unknown",
        "--json",
    ).stdout
    for name in ("expected_cost", "worst_cost", "error"):
        assert json.loads(found)[name] == pytest.approx(json.loads(solved)[name])


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ["rows.csv", "--target", "cauze"],
            "The target must be a column of the data. G",
        ),
        (
            ["rows.csv", "--prior", "weight"],
            "The prior must be a column of the data. G",
        ),
        (["none.csv"], "Got: No such file or directory for none.csv"),
        (["bare.csv"], "Got no column 'lamp'"),
    ],
)
def test_what_cannot_be_read_ends_with_1(rows, policy, run, args, message):
    write(rows.parent / "bare.csv", {"smell": ["no", "yes"]})
    result = run("evaluate", policy, *args, code=1)
    assert result.stderr.startswith("Error: ")
    assert message in result.stderr


def test_a_file_that_is_no_policy_ends_with_1(rows, run):
    stderr = run("evaluate", rows, rows, code=1).stderr
    assert "A policy file must be whole and valid JSON." in stderr
    assert "rows.csv" in stderr


def test_following_the_unknown_needs_a_target(rows, policy, run):
    stderr = run("evaluate", policy, rows, "--missing", "unknown", code=2).stderr
    assert "--missing unknown needs --target." in stderr
