"""``askless decide``: rows in, decisions out, part by part, whole or not at all."""

import csv
import gzip

import pandas as pd
import pytest

import askless
from askless.cli import decide
from askless.cli.files import _row_writers
from askless.run import decide_rows

ROWS = {
    "id": ["a", "b", "c", "d"],
    "lamp": ["dark", "dark", "dim", None],
    "socket": ["dead", "live", None, "live"],
}


@pytest.fixture
def rows(policy):
    pd.DataFrame(ROWS).to_csv(policy.parent / "rows.csv", index=False)
    return policy.parent / "rows.csv"


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def expected(policy, keys=()):
    found = decide_rows(askless.load(policy), ROWS)
    return [
        {
            **{key: ROWS[key][i] or "" for key in keys},
            "decision": found.decision[i],
            "cost": str(found.cost[i]),
            "bought": "; ".join(found.bought[i]),
            "leaf": str(found.leaf[i]),
        }
        for i in range(4)
    ]


@pytest.mark.parametrize("batch", [1, 2, 3, 100])
def test_decisions_costs_tests_and_leaves_are_written(
    policy, rows, run, monkeypatch, batch
):
    monkeypatch.setattr(decide, "BATCH", batch)
    result = run("decide", policy, rows, "-o", "out.csv", "--key", "id")
    mean = askless.load(policy).cost(ROWS).mean()
    assert f"Wrote out.csv: 4 rows, {mean:g} a row on average" in result.stdout
    assert read("out.csv") == expected(policy, ["id"])


def test_without_an_output_they_go_to_stdout(policy, rows, run):
    shown = run("decide", policy, rows).stdout
    assert shown.splitlines()[0] == "decision,cost,bought,leaf"
    assert list(csv.DictReader(shown.splitlines())) == expected(policy)
    assert "bought" not in run("decide", policy, rows, "--no-bought").stdout


@pytest.mark.parametrize("batch", [1, 100])
def test_parquet_goes_in_and_out(policy, rows, run, monkeypatch, batch):
    monkeypatch.setattr(decide, "BATCH", batch)
    pd.DataFrame(ROWS).to_parquet("rows.parquet")
    run("decide", policy, "rows.parquet", "-o", "out.parquet", "--key", "id")
    found = pd.read_parquet("out.parquet")
    texts = found.astype(str).to_dict("records")
    assert texts == expected(policy, ["id"])
    assert found["cost"].dtype == float
    run("decide", policy, rows, "-o", "out.csv")
    assert read("out.csv") == expected(policy)


def test_other_spreadsheets_go_in(policy, run, folder):
    (folder / "rows.csv").write_text("lamp;socket\ndark;live\n;;\n".replace(";;", ";"))
    result = run("decide", policy, "rows.csv")
    assert "bulb,6.0,lamp; socket" in result.stdout
    assert "separated by semicolons" not in result.stdout
    with gzip.open(folder / "rows.csv.gz", "wt") as file:
        file.write("lamp,socket\ndark,?\n")
    result = run("decide", policy, "rows.csv.gz", "--unknown", "?")
    assert len(result.stdout.splitlines()) == 2


def test_a_forest_is_asked_row_by_row(run, folder):
    clinic = askless.datasets.make_clinic(120, random_state=0)
    forest = askless.BudgetForestClassifier(
        clinic.costs, budget=60, n_estimators=3, random_state=0
    )
    forest.fit(clinic.to_frame(), clinic.y).policy_.save("forest.json")
    clinic.to_frame().to_csv("rows.csv", index=False)
    run("decide", "forest.json", "rows.csv", "-o", "out.csv")
    found = read("out.csv")
    assert [row["decision"] for row in found] == forest.predict(
        clinic.to_frame()
    ).tolist()
    assert "leaf" not in found[0]
    assert found[0]["bought"]


def test_what_is_wrong_leaves_no_file(policy, run, folder, rows, monkeypatch):
    monkeypatch.setattr(decide, "BATCH", 1)
    (folder / "bad.csv").write_text("lamp,socket\ndark,live\ndark\n")
    before = sorted(path.name for path in folder.iterdir())
    stderr = run("decide", policy, "bad.csv", "-o", "out.csv", code=1).stderr
    assert "Got 1 in line 3 of bad.csv" in stderr
    (folder / "short.csv").write_text("lamp\ndark\n")
    before.append("short.csv")
    stderr = run("decide", policy, "short.csv", "-o", "out.csv", code=1).stderr
    assert "Got no column 'socket' in short.csv" in stderr
    stderr = run("decide", policy, rows, "--key", "idd", "-o", "out.csv", code=1).stderr
    assert "Did you mean 'id'?" in stderr
    (folder / "none.csv").write_text("lamp,socket\n")
    before.append("none.csv")
    stderr = run("decide", policy, "none.csv", "-o", "out.csv", code=1).stderr
    assert "must have lines below its names" in stderr
    assert sorted(path.name for path in folder.iterdir()) == sorted(before)
    run("decide", policy, rows, "-o", "out.txt", code=2)
    run("decide", policy, rows, "-o", "no/out.csv", code=1)
    run("decide", policy, rows, "--key", "cost", code=2)


def test_a_file_that_was_there_stays_if_something_is_wrong(policy, run, folder):
    (folder / "out.csv").write_text("mine")
    (folder / "bad.csv").write_text("lamp,socket\ndark,live\ndark\n")
    run("decide", policy, "bad.csv", "-o", "out.csv", code=1)
    assert (folder / "out.csv").read_text() == "mine"


def test_a_text_where_a_number_belongs_is_said_with_its_line(run, folder):
    table = askless.Table({"volts": [1.0, 9.0]}, ["a", "b"], thresholds=True)
    askless.solve(table).policy.save("p.json")
    (folder / "rows.csv").write_text("volts\n1\n\n2\nmany\n")
    stderr = run("decide", "p.json", "rows.csv", code=1).stderr
    assert "Got 'many'" in stderr
    assert "It is in line 5" in stderr


def test_a_policy_that_never_asks_decides_every_row(run, folder, rows):
    table = askless.Table({"x": [0, 1]}, ["same", "same"])
    askless.Sequence.from_table(table, []).save("p.json")
    shown = run("decide", "p.json", rows).stdout.splitlines()
    assert shown == ["decision,cost,bought", *["same,0.0,"] * 4]


def test_a_terminal_does_not_obey_what_is_in_a_cell(run, folder, monkeypatch):
    table = askless.Table({"x": ["a", "b"]}, ["one\x1b[2J\n=> two", "two"])
    askless.solve(table).policy.save("p.json")
    (folder / "rows.csv").write_text("x\na\n")
    shown = run("decide", "p.json", "rows.csv").stdout
    assert "one\x1b[2J\n=> two" in shown
    monkeypatch.setattr(_row_writers, "_is_terminal", lambda: True)
    shown = run("decide", "p.json", "rows.csv").stdout
    assert "\x1b" not in shown
    assert len(shown.splitlines()) == 2


def test_a_row_of_parquet_that_cannot_be_read_is_named(run, folder, monkeypatch):
    from askless.scale import _batches

    monkeypatch.setattr(_batches, "MOST_ROWS", 2)
    table = askless.Table({"age": [1.0, 2.0]}, ["young", "old"], thresholds=True)
    askless.solve(table).policy.save(folder / "age.json")
    pd.DataFrame({"age": ["1", "2", "2", "ten"]}).to_parquet("rows.parquet")
    result = run("decide", "age.json", "rows.parquet", "-o", "out.csv", code=1)
    assert "Got 'ten'" in result.stderr
    assert "It is in row 4." in " ".join(result.stderr.split())
    assert not (folder / "out.csv").exists()
