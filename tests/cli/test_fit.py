"""``askless fit``: from examples in a file to a policy in a file."""

import json
import os
import signal
import threading

import numpy as np
import pytest

import askless
from askless.cli.fit import listen
from askless.learn import LEARNERS, Stage


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
def test_ctrl_c_writes_the_best_so_far(clinic, run, monkeypatch):
    def interrupt_soon(estimator, tell, time_limit):
        def hear(stage):
            if stage.name == "greedy":
                threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()

        estimator._listener = hear

    monkeypatch.setattr("askless.cli.fit.listen", interrupt_soon)
    result = run(
        *COMMON, "--mistakes", "60", "--quiet", "--option", "samples=100000000", "-o",
        "best.json",
    )  # fmt: skip
    assert "Wrote best.json" in result.stdout
    assert "Interrupted" in result.stderr
    assert askless.load(clinic / "best.json").n_nodes >= 1


def test_progress_tells_the_best_so_far_and_the_time_left():
    told = []
    estimator = askless.CostTreeClassifier()
    listen(estimator, told.append, 60.0)
    estimator._listener(Stage("two steps", 20.0, 8.0, 7.25, 0.5))
    listen(estimator, told.append, None)
    estimator._listener(Stage("two steps", 20.0, 8.0, 7.25, 0.5))
    assert told == [
        "two steps, best 7.25 a row, 40 s left",
        "two steps, best 7.25 a row, 50 % done",
    ]


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
