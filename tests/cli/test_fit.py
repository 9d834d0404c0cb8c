"""``askless fit``: from examples in a file to a policy in a file."""

import json
import os
import re
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import askless
from askless.cli import main
from askless.learn import LEARNERS
from tests.cli.conftest import make_runner
from tests.cli.terminal import Terminal


@pytest.fixture
def clinic(folder):
    """Return a folder with clinic.csv and clinic.costs.csv."""
    rng = np.random.default_rng(0)
    n = 200
    age, pain = rng.normal(50, 15, n), rng.choice(["none", "much"], n)
    iron = rng.gamma(2, 30, n)
    ill = (age > 55).astype(int) + (pain == "much") + (iron > 80) > 1
    rows = ["age,pain,iron,state"]
    for values in zip(age.round(1), pain, iron.round(), ill, strict=True):
        rows.append(
            f"{values[0]},{values[1]},{values[2]},{'ill' if values[3] else 'well'}"
        )
    (folder / "clinic.csv").write_text("\n".join(rows) + "\n")
    (folder / "clinic.costs.csv").write_text("test,cost\nage,1\npain,2\niron,9\n")
    return folder


COMMON = ["fit", "clinic.csv", "--target", "state", "--costs", "clinic.costs.csv"]


@pytest.mark.parametrize("method", LEARNERS)
def test_every_learner_writes_a_policy_that_can_be_evaluated(clinic, run, method):
    if method == "boost":
        pytest.importorskip("lightgbm")
    options = []
    if "population" in LEARNERS[method].estimator().get_params():
        options = ["--option", "population=4"]
    learned = run(*COMMON, "--method", method, "-o", "p.json", *options).stdout
    assert f"method             {method}" in learned
    assert "Wrote p.json" in learned
    assert askless.load("p.json").test_names == ("age", "pain", "iron")
    priced = json.loads(
        run(
            "evaluate", "p.json", "clinic.csv", "--target", "state", "--mistakes", "60",
            "--json",
        ).stdout
    )  # fmt: skip
    assert priced["error"] < 0.5
    assert priced["total_cost"] == pytest.approx(
        priced["expected_cost"] + 60 * priced["error"]
    )
    assert priced["normalised_cost"] > 0


@pytest.mark.parametrize("method", LEARNERS)
def test_every_learner_takes_a_column_of_weights_and_a_cost_of_mistakes(
    clinic, run, method
):
    if method == "boost":
        pytest.importorskip("lightgbm")
    lines = (clinic / "clinic.csv").read_text().splitlines()
    weighed = [f"{line},{1 + row % 3}" for row, line in enumerate(lines[1:])]
    text = "\n".join([f"{lines[0]},prior", *weighed])
    (clinic / "clinic.csv").write_text(text + "\n")
    told = run(
        *COMMON, "--method", method, "--mistakes", "60", "--json", "-o", "p.json"
    )
    found = json.loads(told.stdout)
    assert found["n_tests"] == 3
    assert "Column 'prior' gives the weights" in found["notes"][0]
    assert found["training"]["mistake_cost"] == pytest.approx(
        60 * found["training"]["error"]
    )
    assert askless.load("p.json").mistakes.tolist() == [[0, 60], [60, 0]]


def test_json_says_how_it_went(clinic, run):
    said = json.loads(
        run(*COMMON, "--mistakes", "60", "--time-limit", "20", "--option",
            "samples=2", "--json").stdout
    )  # fmt: skip
    assert said["method"] == "cost-tree"
    assert said["status"] == "done"
    assert [stage["name"] for stage in said["stages"]][-1] == "2 samples"
    bests = [stage["best"] for stage in said["stages"]]
    assert bests == sorted(bests, reverse=True)
    assert said["training"]["total_cost"] < 60
    assert said["policy"] is None


def test_the_flowchart_is_shown(clinic, run):
    shown = run(*COMMON, "--mistakes", "[[0, 60], [30, 0]]").stdout
    assert "pain?" in shown
    assert "=> ill" in shown
    assert "Nothing was written" in shown
    assert "pain?" not in run(*COMMON, "--mistakes", "60", "--quiet").stdout


def test_columns_can_be_dropped_and_weights_given(clinic, run):
    text = (clinic / "clinic.csv").read_text().splitlines()
    lines = [text[0] + ",prior,id"]
    lines += [f"{line},{i % 3},{i}" for i, line in enumerate(text[1:])]
    (clinic / "more.csv").write_text("\n".join(lines))
    result = run(
        "fit", "more.csv", "--target", "state", "--drop", "id", "--costs",
        "clinic.costs.csv", "--mistakes", "60", "--json",
    )  # fmt: skip
    said = json.loads(result.stdout)
    assert said["n_tests"] == 3
    assert "prior" in said["notes"][0]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--method", "act2"], "Did you mean 'act'"),
        (["--option", "smples=3"], "Did you mean 'samples'"),
        (["--option", "samples=0"], "samples must be"),
        (["--target", "stat"], "Did you mean 'state'"),
        (["--drop", "nothing"], "The drop must be a column"),
        (["--mistakes", "[[0, 1, 2], [1, 0, 2], [1, 2, 0]]"], "row and a column"),
        (["--method", "greedy", "--time-limit", "3"], "parameter of 'greedy'"),
    ],
)
def test_errors_say_what_to_do(clinic, run, args, message):
    error = run(*COMMON, *args, code=1).stderr
    assert message in " ".join(error.split())


def test_a_limit_too_short_is_noted(clinic, run):
    result = run(*COMMON, "--mistakes", "60", "--time-limit", "0.000001", "--quiet")
    assert "more than the greedy tree" in " ".join(result.stderr.split())


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_writes_the_best_so_far(clinic, run, monkeypatch, number):
    def signal_soon(told, time_limit=None):
        if getattr(told, "name", "") == "greedy":
            threading.Timer(0.1, os.kill, (os.getpid(), number)).start()
        return str(told)

    # Any terminal shows what is told, and this one is told with a signal.
    monkeypatch.setattr("askless.cli._working.describe", signal_soon)
    result = run(
        *COMMON, "--mistakes", "60", "--quiet", "--option", "samples=100000000", "-o",
        "best.json", "--verbose",
    )  # fmt: skip
    assert "Wrote best.json" in result.stdout
    assert "Interrupted" in result.stderr
    assert askless.load(clinic / "best.json").n_nodes >= 1


def test_verbose_tells_the_best_so_far_and_the_time_left(clinic, run):
    args = (*COMMON, "--mistakes", "60", "--quiet")
    said = run(*args, "--verbose", "--time-limit", "60", "--option", "samples=1")
    lines = said.stderr.splitlines()
    assert "Learning from" in lines[0]
    steps = [line for line in lines if "best" in line]
    assert "greedy, best" in steps[0]
    assert re.search(r"1 sample, best .* 100 % done, (60|5\d) s left", steps[-1])
    assert "best" not in run(*args).stderr


def processor_seconds(pid):
    """Return the processor time of a process, where the system tells it."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif("ASKLESS_SANITIZED" in os.environ, reason="sanitizers take time")
@pytest.mark.skipif(os.name != "posix", reason="no pseudo terminals there")
def test_a_terminal_shows_a_bar_before_scikit_learn_is_there(folder):
    """The default learner on as many columns as a health survey has."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(5018, 129)).round(2)
    names = [f"q{i}" for i in range(129)]
    state = np.where(values[:, :3].sum(axis=1) > 0, "ill", "well")
    frame = pd.DataFrame(values, columns=names).assign(state=state)
    frame.to_csv("survey.csv", index=False)
    args = ["fit", "survey.csv", "--target", "state", "--time-limit", "2", "-q"]
    start = time.monotonic()
    terminal = Terminal(*args, "-o", "survey.json", folder=folder)
    try:
        # Reading the file and importing scikit-learn come after the first sign.
        terminal.expect("Learning from survey.csv")
        took = time.monotonic() - start
        # Others may use the machine meanwhile, which is not what is measured here.
        used = processor_seconds(terminal.process.pid)
        assert min(took, took if used is None else used) < 1.0
        terminal.expect("5,018 rows, 129 tests")
        start = time.monotonic()
        terminal.expect("best ")
        terminal.expect("Wrote survey.json")
        # Two seconds, and what of the first tree no limit can leave out.
        assert time.monotonic() - start < 2 + max(10.0, 20 * took)
        assert terminal.finish() == 0
    finally:
        terminal.clean_up()


def test_a_text_for_unknown_is_read_as_an_empty_cell(run, folder):
    rows = [("1", "u"), ("", "v"), ("3", "u"), ("9", "v"), ("2", "u"), ("8", "v")]
    for name, mark in (("marked.csv", "?"), ("empty.csv", "")):
        lines = [f"{cell or mark},{label}" for cell, label in rows * 3]
        (folder / name).write_text("\n".join(["volts,cause", *lines]) + "\n")
    args = ("--target", "cause", "--method", "c45", "--json")
    run("fit", "marked.csv", *args, "--unknown", "?", "-o", "marked.json")
    run("fit", "empty.csv", *args, "-o", "empty.json")
    marked, empty = (askless.load(f"{name}.json") for name in ("marked", "empty"))
    assert marked.tests[0].kind == "number"
    assert askless.show(marked) == askless.show(empty)


def test_rows_coded_on_disk_give_the_same_policy(run, tmp_path, monkeypatch):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(400, 3)).round(1), columns=["a", "b", "c"])
    frame["y"] = np.where(frame.a + frame.b > 0, "up", "down")
    for suffix in ("csv", "parquet"):
        data = tmp_path / f"rows.{suffix}"
        write = frame.to_csv if suffix == "csv" else frame.to_parquet
        write(data, index=False)
        common = ["fit", data, "--target", "y", "--method", "forest", "--drop", "c"]
        common += ["--option", "random_state=1", "--option", "n_estimators=3"]
        contents = set()
        for flag in ("--store", "--no-store"):
            output = tmp_path / f"policy{flag}.json"
            run(*common, flag, "-o", output)
            contents.add(output.read_bytes())
        assert len(contents) == 1
        # By the size of the file.
        monkeypatch.setattr("askless.cli.files._stored_rows.SHARE", 0.0)
        monkeypatch.setattr("askless.cli.files._stored_rows.N_TRIED", 100)
        found = run(*common)
        assert "first 100 rows" in found.stdout + found.stderr
        monkeypatch.undo()


def test_boosters_grow_on_rows_coded_on_disk(run, tmp_path):
    pytest.importorskip("lightgbm")
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(300, 2)).round(1), columns=["a", "b"])
    frame["y"] = np.where(frame.a + frame.b > 0, "up", "down")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    output = tmp_path / "policy.json"
    options = ["random_state=1", "n_estimators=9", "n_folds=0", "family=boost"]
    asked = [part for option in options for part in ("--option", option)]
    data = tmp_path / "rows.csv"
    run("fit", data, "--target", "y", "--method", "boost", "--store", *asked,
        "-o", output)  # fmt: skip
    decided = askless.load(output).predict(frame[["a", "b"]])
    assert np.mean(decided == frame["y"]) > 0.85


def test_what_cannot_be_coded_on_disk_says_so(run, tmp_path):
    data = tmp_path / "rows.csv"
    data.write_text("x,prior,y\n1,2,a\n2,1,b\n")
    common = ["fit", data, "--target", "y", "--store"]
    found = run(*common, "--method", "act", code=1)
    assert "--method forest" in found.stderr
    found = run(*common, "--method", "greedy", code=1)
    assert "have no weights" in found.stderr


# Numbers.


@pytest.fixture
def houses(folder):
    """Return a folder with houses.csv, whose price has fractions and age does not."""
    rng = np.random.default_rng(0)
    rooms, age = rng.integers(2, 9, 200), rng.integers(0, 90, 200)
    price = 50 + 30 * rooms - 0.4 * age + rng.normal(0, 5, 200)
    lines = [f"{r},{a},{p:.1f}" for r, a, p in zip(rooms, age, price, strict=True)]
    (folder / "houses.csv").write_text("\n".join(["rooms,age,price", *lines]) + "\n")
    return folder


def test_a_target_with_fractions_is_a_number_and_says_so(houses, run):
    learned = run("fit", "houses.csv", "--target", "price", "-o", "p.json")
    said = " ".join(learned.stderr.split())
    assert "'price' has fractions, so a number is learned, by number-tree" in said
    assert "2 tests, a number" in learned.stdout
    assert "method               number-tree" in learned.stdout
    assert "mean absolute error" in learned.stdout
    assert askless.load("p.json").answers_number
    judged = run("evaluate", "p.json", "houses.csv", "--target", "price").stdout
    assert "mean squared error" in judged
    typed = make_runner().invoke(main, ["ask", "p.json"], input="5\n40\n")
    asked = typed.stdout
    assert "Expected so far: " in asked
    assert "decisions" not in asked
    assert re.search(r"=> \d+\.?\d*$", asked, re.MULTILINE)


def test_a_booster_of_numbers_keeps_a_budget(houses, run):
    pytest.importorskip("lightgbm")
    args = ("--target", "price", "--method", "number-boost", "--option", "budget=1")
    told = json.loads(run("fit", "houses.csv", *args, "-o", "b.json", "--json").stdout)
    assert told["training"]["expected_cost"] <= 1
    assert told["training"]["absolute_error"] > 0
    shown = run("show", "b.json").stdout
    assert "would change the number by about" in " ".join(shown.split())


def test_whole_numbers_are_classes_unless_asked_otherwise(houses, run):
    many = run("fit", "houses.csv", "--target", "age", "--quiet").stderr
    assert "different whole numbers, which are read as classes" in " ".join(
        many.split()
    )
    number = run("fit", "houses.csv", "--target", "age", "--method", "number-tree")
    assert "a number" in number.stdout


def test_classes_cannot_have_fractions(houses, run):
    args = ("--target", "price", "--method", "c45")
    error = " ".join(run("fit", "houses.csv", *args, code=1).stderr.split())
    assert "'c45' must have classes: text or whole numbers" in error
    assert "Use --method number-tree or number-boost" in error
