"""``askless datasets``: the list, and files from which solve gives the same answer."""

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from askless import Table, read_costs, read_table, show, solve
from askless.cli.datasets import to_files
from askless.datasets import list_datasets, load_dataset, make_random_table

TABLES = {"car": "repair", "questions": "thing", "synthetic_1024": "class"}


def test_what_is_here_is_described_and_what_is_not_is_named(run, monkeypatch):
    monkeypatch.delenv("ASKLESS_DATA", raising=False)
    shown = " ".join(run("datasets").stdout.split())
    listed = list_datasets()
    assert {info.available for info in listed} == {True, False}
    for info in listed:
        assert info.name in shown
        assert not info.available or info.description in shown
    assert "askless datasets NAME -o FILE.csv" in shown


def test_json_has_every_fact(run):
    listed = json.loads(run("datasets", "--json").stdout)["datasets"]
    assert listed == [asdict(info) for info in list_datasets()]


def test_one_set_is_described(run):
    shown = run("datasets", "car").stdout
    assert "A car does not start" in shown
    assert "askless datasets car -o car.csv" in shown
    facts = json.loads(run("datasets", "car", "--json").stdout)
    assert facts == asdict(list_datasets()[0])


@pytest.mark.parametrize("name", TABLES)
def test_a_table_comes_back_as_it_was(folder, run, name):
    table, target = load_dataset(name), TABLES[name]
    run("datasets", name, "-o", "t.csv")
    roles = {"case": "case", "prior": "prior"} if name == "car" else {}
    costs = read_costs("t.costs.toml")
    again = read_table("t.csv", target, costs=costs, **roles)
    assert again.tests == table.tests
    assert again.classes == table.classes
    np.testing.assert_array_equal(again.codes, table.codes)
    np.testing.assert_array_equal(again.class_ids, table.class_ids)
    np.testing.assert_allclose(again.prior, table.prior, rtol=1e-12)
    if name == "car":
        assert again.cases == table.cases
        assert again.has_unknown
        assert costs == table.costs


@pytest.mark.parametrize("name", TABLES)
def test_solve_gives_the_same_answer_as_the_library(folder, run, name):
    solution = solve(load_dataset(name))
    shown = run("datasets", name, "-o", f"{name}.csv").stdout
    command = shown.split("Next: ")[1].split()
    assert command == [
        "askless",
        "solve",
        f"{name}.csv",
        "--target",
        TABLES[name],
        "--costs",
        f"{name}.costs.toml",
    ]
    found = json.loads(run(*command[1:], "--json").stdout)
    if "ASKLESS_SANITIZED" in os.environ and solution.status != "optimal":
        return  # the search ran out of time, and is another one each time
    for number in ("expected_cost", "worst_cost", "error", "lower_bound", "gap"):
        assert found[number] == pytest.approx(getattr(solution, number))
    assert found["n_nodes"] == solution.policy.n_nodes
    run(*command[1:], "-o", "p.json", "--quiet")
    if name == "car":
        assert run("show", "p.json").stdout == show(solution.policy) + "\n"


def test_examples_are_written_too(folder, run):
    clinic = load_dataset("clinic")
    shown = run("datasets", "clinic", "-o", "clinic.csv").stdout
    again = read_table(
        "clinic.csv",
        "illness",
        costs=read_costs("clinic.costs.toml"),
        missing="outcome",
        thresholds=True,
    )
    assert again.test_names == clinic.test_names
    assert again.case_classes == clinic.y.tolist()
    assert again.costs == clinic.costs
    command = shown.split("Next: ")[1].split()
    assert json.loads(run(*command[1:], "--json").stdout)["n_cases"] == clinic.n_cases


def test_random_tables_come_back(folder, rng):
    table = make_random_table(
        20,
        6,
        n_outcomes=3,
        n_classes=4,
        costs="uniform",
        prior="random",
        unknown=0.1,
        outcome_costs=True,
        random_state=rng,
    )
    text, costs = to_files(table, "class")
    (folder / "t.csv").write_text(text)
    (folder / "t.toml").write_text(costs)
    again = read_table("t.csv", "class", prior="prior", costs=read_costs("t.toml"))
    np.testing.assert_array_equal(again.codes, table.codes)
    np.testing.assert_allclose(again.prior, table.prior, rtol=1e-12)
    assert again.prices.by_outcome.keys() == table.prices.by_outcome.keys()
    for test, prices in table.prices.by_outcome.items():
        np.testing.assert_array_equal(again.prices.by_outcome[test], prices)


def test_names_with_commas_and_quotes_come_back(folder):
    outcomes = {'a,"b"': ["x,y", 'say "no"'], "prior": [1, 2]}
    table = Table(outcomes, ["p", "q"], prior=[1, 3], cases=["one", "two"])
    text, costs = to_files(table, "class")
    assert text.splitlines()[0] == 'case,"a,""b""",prior,prior_,class'
    (folder / "t.csv").write_text(text)
    (folder / "t.toml").write_text(costs)
    again = read_table(
        "t.csv", "class", case="case", prior="prior_", costs=read_costs("t.toml")
    )
    assert again.tests == table.tests
    assert again.prior.tolist() == [0.25, 0.75]


def test_files_that_are_there_are_kept(folder, run):
    (folder / "car.costs.toml").write_text("mine")
    stderr = run("datasets", "car", "-o", "car.csv", code=1).stderr
    assert "A data set must be written to new files. Got car.costs.toml" in stderr
    assert not (folder / "car.csv").exists()
    run("datasets", "car", "-o", "car.csv", "--force")
    # The same again changes nothing, so it needs no force.
    run("datasets", "car", "-o", "car.csv")


def test_json_names_the_files_and_the_next_command(folder, run):
    found = json.loads(run("datasets", "car", "-o", "a b.csv", "--json").stdout)
    assert found == {
        "table": "a b.csv",
        "costs": "a b.costs.toml",
        "target": "repair",
        "next": "askless solve 'a b.csv' --target repair --costs 'a b.costs.toml'",
    }


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["cra"], 1, "Did you mean 'car'?"),
        (["adult", "-o", "a.csv"], 1, "The data set 'adult' must be a file"),
        (["car", "-o", "no/car.csv"], 1, "The folder of a file must be there"),
        (["car", "-o", "car.json"], 2, "'car.json' does not end in .csv."),
        (["-o", "car.csv"], 2, "-o needs the NAME of a data set."),
    ],
)
def test_what_cannot_be_written_is_refused(
    folder, run, monkeypatch, args, code, message
):
    monkeypatch.delenv("ASKLESS_DATA", raising=False)
    assert message in run("datasets", *args, code=code).stderr
    assert list(folder.iterdir()) == []


def test_a_set_of_ones_own_is_found_in_the_folder(folder, run, monkeypatch):
    import gzip

    monkeypatch.setenv("ASKLESS_DATA", str(folder))
    (folder / "mine.csv.gz").write_bytes(gzip.compress(b"a,class\n1,x\n2,y\n"))
    assert "mine" in run("datasets", "mine").stdout
    run("datasets", "mine", "-o", "mine.csv")
    assert (folder / "mine.csv").read_text() == "a,class\n1,x\n2,y\n"


def test_a_set_that_is_not_here_is_named_with_what_to_do(run, folder, monkeypatch):
    monkeypatch.delenv("ASKLESS_DATA", raising=False)
    for name in ("adult", "wiser"):
        stderr = run("datasets", name, "-o", "x.csv", code=1).stderr
        assert stderr.startswith("Error: ")
        assert "ASKLESS_DATA is not set. Set ASKLESS_DATA to the folder" in stderr
        assert "Traceback" not in stderr
    assert "add --download" in run("datasets", "adult", "-o", "x.csv", code=1).stderr
    assert list(folder.iterdir()) == []


def test_a_download_that_fails_is_said(run, folder, monkeypatch):
    from http.client import IncompleteRead

    from sklearn import datasets

    def fail(**options):
        raise IncompleteRead(b"half")

    monkeypatch.delenv("ASKLESS_DATA", raising=False)
    monkeypatch.setattr(datasets, "fetch_openml", fail)
    result = run("datasets", "adult", "-o", "x.csv", "--download", code=1)
    assert "must be answered by its source. Got IncompleteRead" in result.stderr


def test_a_benchmark_without_its_data_is_left_out():
    env = {k: v for k, v in os.environ.items() if k != "ASKLESS_DATA"}
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, root / "benchmarks" / "run.py", "--quick", "tradeoff"],
        env=env, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "left out: The data set" in done.stdout
    assert "Traceback" not in done.stderr
