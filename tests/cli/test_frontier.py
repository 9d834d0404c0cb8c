"""``askless frontier``: the page, the table, and what goes wrong."""

import csv
import io
import json

import numpy as np
import pytest


@pytest.fixture
def data(folder, rng):
    X = rng.normal(size=(150, 3)).round(2)
    label = np.where(X[:, 0] + 0.5 * X[:, 1] > 0, "ill", "well")
    lines = ["a,b,c,state"] + [
        f"{row[0]},{row[1]},{row[2]},{state}"
        for row, state in zip(X, label, strict=True)
    ]
    (folder / "d.csv").write_text("\n".join(lines) + "\n")
    (folder / "costs.csv").write_text("test,cost\na,3\nb,1\nc,1\n")
    return folder


FAST = ("--folds", 2, "--budgets", 3, "--trees", 3)


def test_a_page_and_a_table_are_written(data, run):
    result = run(
        "frontier", "d.csv", "--target", "state", "--costs", "costs.csv",
        "-o", "curve.html", "--csv", "curve.csv", "--budget", 4, *FAST,
    )  # fmt: skip
    assert "Wrote curve.html" in result.stdout
    assert "Within 4: " in result.stdout
    page = (data / "curve.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "d.csv: error against cost" in page
    rows = list(csv.DictReader(io.StringIO((data / "curve.csv").read_text())))
    assert {"model", "setting", "cost", "error", "on_hull"} <= set(rows[0])
    assert len({row["model"] for row in rows}) == 6
    assert max(float(row["cost"]) for row in rows) <= 5.0


def test_without_lightgbm_the_others_are_measured(data, run, monkeypatch):
    monkeypatch.setattr("askless.cli.frontier.find_spec", lambda name: None)
    result = run("frontier", "d.csv", "--target", "state", "--json", *FAST)
    answer = json.loads(result.stdout)
    assert len({point["model"] for point in answer["points"]}) == 4
    assert "askless[boost]" in answer["notes"][0]


def test_json_for_machines(data, run):
    result = run(
        "frontier", "d.csv", "--target", "state", "--model", "tree", "--json",
        "--budget", 9, *FAST,
    )  # fmt: skip
    answer = json.loads(result.stdout)
    assert len(answer["points"]) == 6
    assert answer["best"]["model"].startswith("greedy tree")


def test_text_columns_leave_out_what_reads_numbers_only(folder, run):
    lines = [f"{'yes' if i % 3 else 'no'},{i},{i % 2}" for i in range(60)]
    (folder / "d.csv").write_text("cough,age,ill\n" + "\n".join(lines) + "\n")
    result = run(
        "frontier", "d.csv", "--target", "ill", "--model", "tree", "--model", "astc",
        *FAST,
    )  # fmt: skip
    assert "astc read numbers only" in result.stderr
    result = run("frontier", "d.csv", "--target", "ill", "--model", "astc", code=2)
    assert "None of these models reads columns of text" in result.stderr


def test_wrong_usage_is_explained(data, run):
    result = run("frontier", "d.csv", "--target", "stat", code=1)
    assert "Did you mean 'state'" in result.stderr
    result = run("frontier", "d.csv", "--target", "state", "-o", "c.pdf", code=2)
    assert "must end in .html or .csv" in result.stderr
    result = run("frontier", "none.csv", "--target", "state", code=1)
    assert "none.csv" in result.stderr
    result = run("frontier", "d.csv", "--target", "state", "--folds", 1, code=1)
    assert "at least 2 folds" in result.stderr
    (data / "empty.csv").write_text("")
    run("frontier", "empty.csv", "--target", "state", code=1)
