"""Tables with unknown outcomes from the command line."""

import json

import pytest

import askless
from askless.solve import METHODS

TABLE = (
    "smoke,noise,heat,fault\n"
    "yes,no,low,valve\n"
    "no,?,low,pump\n"
    "?,yes,high,belt\n"
    "yes,yes,low,fan\n"
)


@pytest.fixture
def faults(folder):
    """Return a folder with faults.csv, two outcomes of which are unknown."""
    (folder / "faults.csv").write_text(TABLE)
    return folder


def solve(run, *options):
    return run(
        "solve", "faults.csv", "--target", "fault", "--unknown", "?", *options, "--json"
    )


# One of them takes no unknown outcomes, one is for the total cost only.
@pytest.mark.parametrize("method", sorted(set(METHODS) - {"dectree", "value"}))
def test_every_method_solves_a_table_with_unknown_outcomes(faults, run, method):
    found = json.loads(solve(run, "--method", method).stdout)
    assert found["error"] == 0
    assert 2 <= found["expected_cost"] <= 3
    assert found["is_exact"] is True


def test_options_and_stops_are_passed_on(faults, run):
    released = solve(run, "--method", "odtn-r", "--option", "form=released")
    assert json.loads(released.stdout)["method"] == "odtn-r"
    near = json.loads(solve(run, "--stop", "neighbourhood").stdout)
    assert near["status"] == "optimal"


def test_a_rule_is_reported_without_a_flowchart_and_saved(faults, run):
    typed = (
        "solve", "faults.csv", "--target", "fault", "--unknown", "?",
        "--method", "elimination", "--option", "online=true",
    )  # fmt: skip
    assert "elimination" in run(*typed).stdout
    assert "Wrote x.json" in run(*typed, "-o", "x.json").stdout
    assert askless.load(faults / "x.json").kind == "rule"
    shown = run("show", "x.json").stdout
    assert "elimination" in shown
