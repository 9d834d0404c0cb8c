"""``askless solve --objective total``: tests and mistakes, counted together."""

import json

import pytest

from askless import load, read_table, solve
from askless.cli import main
from tests.cli.conftest import make_runner

LONG = """case,test,outcome,probability
flu,fever,yes,0.8
flu,fever,no,0.2
cold,fever,yes,0.1
cold,fever,no,0.9
"""
ARGS = ["solve", "t.csv", "--objective", "total"]


@pytest.fixture
def file(folder):
    """Return a folder with a table of a test that can err."""
    (folder / "t.csv").write_text(LONG)
    return folder


def test_json_has_the_costs_of_the_library(file, run):
    found = json.loads(run(*ARGS, "--mistakes", "20", "-o", "p.json", "--json").stdout)
    table = read_table("t.csv")
    table = table.with_costs(table.costs.with_mistakes(20))
    solution = solve(table, objective="total")
    for name in ("expected_cost", "mistake_cost", "total_cost", "error"):
        assert found[name] == getattr(solution, name)
    assert found["lower_bound"] == pytest.approx(solution.lower_bound)
    assert found["mistake_cost"] == pytest.approx(0.15 * 20)
    assert (found["objective"], found["status"]) == ("total", "optimal")
    assert load("p.json").mistakes.tolist() == [[0, 20], [20, 0]]


def test_the_report_adds_tests_and_mistakes(file, run):
    shown = run(*ARGS, "--mistakes", "20", "-q").stdout
    lines = dict(line.split("  ", 1) for line in shown.splitlines() if "  " in line)
    facts = {name: text.strip() for name, text in lines.items()}
    assert facts["expected cost"] == "1"
    assert facts["mistake cost"] == "3"
    assert facts["total cost"] == "4"
    assert facts["error"] == "15 %"
    assert facts["lower bound"] == "4 (total cost, by search)"
    assert facts["gap"] == "0 %: no policy is cheaper"


def test_a_rule_has_no_bound_to_show(file, run):
    shown = run(*ARGS, "--mistakes", "20", "--method", "value", "-q").stdout
    assert "none for a method that proves nothing" in shown
    assert "never wrong" not in shown


def test_uneven_mistakes_come_from_an_option_or_a_file(file, run):
    (file / "costs.toml").write_text(
        "[costs]\nfever = 1\n[mistakes.flu]\ncold = 30\n[mistakes.cold]\nflu = 10\n"
    )
    by_file = json.loads(run(*ARGS, "--costs", "costs.toml", "--json").stdout)
    matrix = "[[0, 10], [30, 0]]"  # Classes are sorted: cold, flu.
    by_option = json.loads(run(*ARGS, "--mistakes", matrix, "--json").stdout)
    # How far a bound that has met the cost lies below it is rounding.
    for name in ("expected_cost", "mistake_cost", "total_cost", "status"):
        assert by_file[name] == by_option[name]
    # Fever: flu is right, cold pays 10 in 0.05; none: cold is right, flu pays 30.
    assert by_file["mistake_cost"] == pytest.approx(0.05 * 10 + 0.1 * 30)


def test_mistakes_without_error_leave_the_report_as_it_was(lamp, run):
    args = ["solve", "lamp.csv", "--target", "cause", "--mistakes", "5"]
    assert "mistake cost" not in run(*args, "-q").stdout
    found = json.loads(run(*args, "--json").stdout)
    assert found["mistake_cost"] == 0.0
    assert json.loads(run(*args[:-2], "--json").stdout)["mistake_cost"] is None


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (ARGS, "Got costs without mistakes. Give Costs(..., mistakes=...), or --mis"),
        (ARGS[:2], "on the command line, --objective total --mistakes COST"),
        (
            [*ARGS, "--mistakes", "often"],
            "The cost of a mistake must be a finite number",
        ),
    ],
)
def test_what_is_missing_is_said(file, run, args, said):
    assert said in " ".join(run(*args, code=1).stderr.split())


def test_the_list_of_methods_has_the_value_of_a_test(run):
    assert "value" in [
        m["name"] for m in json.loads(run("methods", "--json").stdout)["methods"]
    ]


def ask(*answers):
    """Return what an interview with p.json shows, in one line."""
    typed = "\n".join([*answers, ""])
    result = make_runner().invoke(main, ["ask", "p.json"], input=typed)
    assert result.exit_code == 0, result.stdout
    return " ".join(result.stdout.split())


def test_an_interview_shows_what_deciding_costs_and_why_it_stops(file, run):
    run(*ARGS, "--mistakes", "20", "-o", "p.json", "-q")
    shown = ask("yes")
    assert "Likely: cold 50 %, flu 50 %." in shown
    assert "To decide cold now costs 10 in mistakes on average." in shown
    assert "=> flu (88.9 % likely)" in shown
    assert "no test is left: deciding now costs 2.222 in" in shown


def test_an_interview_says_that_answers_are_unlikely(folder, run):
    (folder / "w.csv").write_text("case,a\nill,0.999\nwell,0.001\n")
    args = ["solve", "w.csv", "--likelihoods", "wide", "--objective", "total"]
    args += ["--repeatable", "a=3"]
    run(*args, "--mistakes", "100000", "-o", "p.json", "-q")
    shown = ask("yes", "no", "no")
    assert "These answers are unlikely whatever is true: a case of" in shown
    assert "gives them in 0.0998 %, where 99.8 % is usual" in shown
    assert "(99.9 %, but the answers are unlikely)" in shown


def test_the_sensitivity_is_printed_drawn_and_written_as_json(file, run):
    pytest.importorskip("matplotlib")
    args = [*ARGS, "--mistakes", "20", "--sensitivity", "--tornado", "t.svg"]
    shown = run(*args, "-q").stdout
    assert "price of fever" in shown
    assert "above 7: decide at once" in shown
    assert "<svg" in (file / "t.svg").read_text()
    rows = json.loads(run(*args, "--json").stdout)["sensitivity"]
    row = next(row for row in rows if row["name"] == "price of fever")
    assert row["first_test_above"] == pytest.approx((0.5 - 0.15) * 20)
    assert row["first_test_above_to"] == "decide at once"
    said = run(*ARGS, "--tornado", "t.txt", code=2).stderr
    assert "must end in one of .png, .svg, .pdf" in " ".join(said.split())
