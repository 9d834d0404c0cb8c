"""``askless solve``: files in, a report and a policy file out."""

import gzip
import json

import pytest

from askless import load, read_costs, read_table, show, solve
from askless.cli._options import parse_value
from askless.exceptions import AsklessError

GREEDY = ["--method", "greedy"]
ARGS = ["solve", "lamp.csv", "--target", "cause", "--costs", "lamp.costs.csv"]


def as_json(result):
    assert result.stderr == ""
    return json.loads(result.stdout)


def library(**options):
    table = read_table("lamp.csv", "cause", costs=read_costs("lamp.costs.csv"))
    return table, solve(table, **options)


def test_the_numbers_are_those_of_the_library(lamp, run):
    table, solution = library()
    found = as_json(run(*ARGS, "--json"))
    for name in (
        "method",
        "objective",
        "expected_cost",
        "worst_cost",
        "error",
        "lower_bound",
        "bound_name",
        "gap",
        "status",
    ):
        assert found[name] == getattr(solution, name)
    assert found["cost_of_all"] == table.prices.cost_of_all() == 6.0
    assert (found["n_cases"], found["n_tests"], found["n_classes"]) == (3, 2, 3)
    assert found["n_nodes"] == solution.policy.n_nodes
    assert found["depth"] == solution.policy.depth
    assert found["notes"] == []
    assert found["policy"] is None


def test_the_report_has_every_number_and_the_flowchart(lamp, run):
    _, solution = library()
    shown = run(*ARGS).stdout
    assert "lamp.csv: 3 cases, 2 tests, 3 classes" in shown
    facts = dict(
        line.split(maxsplit=2)[0::2]
        for line in shown.splitlines()
        if line.startswith(("expected", "worst", "lower"))
    )
    assert facts["expected"] == f"{solution.expected_cost:.4g}"
    assert facts["worst"] == f"{solution.worst_cost:g}"
    assert facts["lower"].startswith(f"{solution.lower_bound:.4g} (expected cost")
    assert "gap" in shown
    assert "cost of all tests  6\n" in shown
    assert show(solution.policy) in shown
    assert "Nothing was written" in shown


def test_quiet_leaves_the_flowchart_out(lamp, run):
    shown = run(*ARGS, "--quiet").stdout
    assert "expected cost" in shown
    assert "lamp?" not in shown


def test_a_large_flowchart_is_left_out(folder, run):
    rows = "\n".join(f"{i},{i}" for i in range(70))
    (folder / "many.csv").write_text(f"number,thing\n{rows}\n")
    assert "number?" not in run("solve", "many.csv", "--target", "thing").stdout


def test_the_policy_is_written_and_can_be_written_again(lamp, run):
    for _ in range(2):
        shown = run(*ARGS, "-o", "lamp.json").stdout
        assert shown.endswith("Wrote lamp.json\n")
    assert load("lamp.json").worst_cost == library()[1].worst_cost
    assert as_json(run(*ARGS, "-o", "lamp.json", "--json"))["policy"] == "lamp.json"
    assert sorted(p.name for p in lamp.iterdir()) == [
        "lamp.costs.csv",
        "lamp.csv",
        "lamp.json",
    ]


@pytest.mark.parametrize("output", ["lamp.csv", "lamp.costs.csv", "."])
def test_nothing_else_is_written_over(lamp, run, output):
    before = (lamp / "lamp.csv").read_text()
    stderr = run(*ARGS, "-o", output, code=1).stderr
    assert "A policy must be written to a new file, or over another policy." in stderr
    assert "Choose another name, or remove it first." in stderr
    assert (lamp / "lamp.csv").read_text() == before


def test_an_output_in_no_folder_is_refused(lamp, run):
    stderr = run(*ARGS, "-o", "no/where.json", code=1).stderr
    assert "The folder of a policy file must be there," in stderr


def test_unit_costs_are_the_default(lamp, run):
    found = as_json(run(*ARGS[:4], "--json"))
    assert found["cost_of_all"] == 2.0


def test_gzipped_and_parquet_tables_are_read(lamp, run):
    expected = as_json(run(*ARGS, "--json"))["expected_cost"]
    (lamp / "lamp.csv.gz").write_bytes(gzip.compress((lamp / "lamp.csv").read_bytes()))
    args = ["--target", "cause", "--costs", "lamp.costs.csv", "--json"]
    assert as_json(run("solve", "lamp.csv.gz", *args))["expected_cost"] == expected
    polars = pytest.importorskip("polars")
    polars.read_csv("lamp.csv").write_parquet("lamp.parquet")
    assert as_json(run("solve", "lamp.parquet", *args))["expected_cost"] == expected


def test_the_columns_case_and_prior_are_taken_with_a_note(folder, run):
    (folder / "t.csv").write_text("case,lamp,prior,cause\na,on,3,x\nb,off,1,y\n")
    found = as_json(run("solve", "t.csv", "--target", "cause", "--json"))
    assert found["n_tests"] == 1
    assert found["notes"] == [
        "Column 'prior' gives the weights of cases; --prior '' makes it a test.",
        "Column 'case' gives the names of cases; --case '' makes it a test.",
    ]
    result = run("solve", "t.csv", "--target", "cause")
    assert result.stderr.count("Note: ") == 2
    assert "=> x" in result.stdout
    assert "75 %" in result.stdout


def test_the_columns_case_and_prior_can_be_tests(folder, run):
    (folder / "t.csv").write_text("case,lamp,prior,cause\na,on,3,x\nb,off,1,y\n")
    found = as_json(
        run(
            "solve", "t.csv", "--target", "cause", "--json", "--case", "", "--prior", ""
        )
    )
    assert found["n_tests"] == 3
    assert found["notes"] == []
    (folder / "costs.csv").write_text("test,cost\ncase,1\nlamp,1\nprior,1\n")
    priced = run(
        "solve", "t.csv", "--target", "cause", "--json", "--costs", "costs.csv"
    )
    assert as_json(priced)["n_tests"] == 3


def test_roles_are_named(folder, run):
    (folder / "t.csv").write_text("name,lamp,share,id,cause\na,on,3,7,x\nb,off,1,8,y\n")
    found = run(
        "solve",
        "t.csv",
        "--target",
        "cause",
        "--case",
        "name",
        "--prior",
        "share",
        "--drop",
        "id",
        "--stop",
        "case",
        "-o",
        "p.json",
    )
    assert "1 test," in found.stdout
    assert load("p.json").classes == ("a", "b")


def test_dropped_columns_need_not_leave_the_costs(lamp, run):
    (lamp / "more.csv").write_text(
        "lamp,socket,smell,cause\ndark,dead,no,fuse\ndark,live,no,bulb\n"
    )
    (lamp / "more.toml").write_text(
        '[costs]\nlamp=1\nsocket=5\nsmell=2\n[groups]\nnose=["lamp","smell"]\n'
    )
    found = run(
        "solve",
        "more.csv",
        "--target",
        "cause",
        "--costs",
        "more.toml",
        "--drop",
        "smell",
        "--drop",
        "lamp",
        "--json",
    )
    assert as_json(found)["cost_of_all"] == 5.0


def test_costs_can_be_given_by_position(lamp, run):
    expected = as_json(run(*ARGS, "--json"))["expected_cost"]
    (lamp / "places.csv").write_text("test,cost\n0,1\n1,5\n")
    args = ["solve", "lamp.csv", "--target", "cause", "--costs", "places.csv", "--json"]
    assert as_json(run(*args))["expected_cost"] == expected
    assert as_json(run(*args, "--drop", "lamp"))["cost_of_all"] == 5.0
    (lamp / "places.csv").write_text("test,cost\n0,1\n1,5\n2,6\n")
    assert "Costs must name tests of the problem. Got '2'" in run(*args, code=1).stderr


def test_marks_of_the_unknown_are_read(folder, run):
    (folder / "t.csv").write_text("a,b,cause\n1,?,x\n1,1,y\n2,2,z\n")
    args = ["solve", "t.csv", "--target", "cause", "--json", "--unknown", "?"]
    table = read_table("t.csv", "cause", unknown="?")
    assert table.has_unknown
    with pytest.warns(match="No test is sure"):
        expected = solve(table)
    found = as_json(run(*args))
    assert found["expected_cost"] == expected.expected_cost
    assert found["error"] == expected.error > 0
    assert len(found["notes"]) == 1


def test_an_empty_cell_can_be_an_outcome(folder, run):
    (folder / "t.csv").write_text("a,cause\n,x\n1,y\n")
    found = as_json(
        run("solve", "t.csv", "--target", "cause", "--json", "--missing", "outcome")
    )
    assert found["error"] == 0.0


def test_numbers_can_be_cut_and_compared(folder, run):
    rows = "\n".join(f"{i},{'low' if i < 50 else 'high'}" for i in range(100))
    (folder / "t.csv").write_text(f"x,class\n{rows}\n")
    args = ["solve", "t.csv", "--target", "class", "--json"]
    args += ["--method", "greedy"]
    assert as_json(run(*args))["n_nodes"] == 101
    assert as_json(run(*args, "--levels", "4"))["n_nodes"] == 5
    assert as_json(run(*args, "--thresholds"))["n_nodes"] == 3


def test_cases_that_show_the_same_are_noted_once_or_merged(folder, run):
    (folder / "t.csv").write_text("a,class\n1,x\n1,y\n1,y\n2,x\n")
    result = run("solve", "t.csv", "--target", "class")
    assert result.stderr.count("No test is sure to tell") == 1
    assert result.stderr.startswith("Note: ")
    assert "error              25 %" in result.stdout
    merged = as_json(run("solve", "t.csv", "--target", "class", "--merge", "--json"))
    assert merged["n_cases"] == 2
    assert merged["notes"] == []


def test_an_objective_is_chosen(lamp, run):
    found = as_json(run(*ARGS, "--json", "--objective", "worst"))
    assert found["objective"] == "worst"
    assert found["lower_bound"] == library(objective="worst")[1].lower_bound


def test_options_go_to_the_method(lamp, run):
    args = [*ARGS, "--json", "--method", "greedy", "--option"]
    found = as_json(run(*args, "max_depth=1", "--option", "weights=prior"))
    assert found["depth"] == 1
    assert as_json(run(*args, "max-depth=0"))["depth"] == 0


def test_error_is_traded_for_cost(lamp, run):
    for option, limit in (("--max-error", 0.4), ("--budget", 1.0)):
        name = option.strip("-").replace("-", "_")
        expected = library(**{name: limit})[1]
        found = as_json(run(*ARGS, option, limit, "--json"))
        assert found["error"] == expected.error > 0
        assert found["worst_cost"] == expected.worst_cost == 1.0
        assert "lower bound        none for" in run(*ARGS, option, limit).stdout


def test_both_costs_are_traded(folder, run):
    # The dear test settles everything at once; the cheap one mostly is enough.
    (folder / "t.csv").write_text("cheap,dear,prior,class\n1,1,8,a\n0,2,1,b\n0,3,1,c\n")
    (folder / "c.csv").write_text("test,cost\ncheap,2\ndear,3\n")
    args = ["solve", "t.csv", "--target", "class", "--costs", "c.csv"]
    found = json.loads(run(*args, "--objective", "both", "--json").stdout)
    assert found["pareto"] == [[3.0, 3.0], [5.0, pytest.approx(2.6)]]
    shown = run(*args, "--objective", "both").stdout
    assert "Trade-offs that no policy beats in both costs" in shown
    assert "2.6  this policy" in shown


def test_a_search_can_be_limited_in_time(lamp, run):
    found = as_json(run(*ARGS, "--time-limit", "5", "--json"))
    assert found["status"] == "optimal"
    assert found["gap"] == 0.0
    assert "0 %: no policy is cheaper" in run(*ARGS).stdout


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-1", -1),
        ("0.5", 0.5),
        ("1e-3", 1e-3),
        ("True", True),
        ("no", False),
        ("none", None),
        ("[1, [2]]", [1, [2]]),
        ("[oops", "[oops"),
        ("prior", "prior"),
        ("", ""),
    ],
)
def test_values_are_read_as_what_they_are(text, value):
    found = parse_value(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ["--method", "gredy"],
            "Got 'gredy'. Did you mean 'greedy'? See `askless meth",
        ),
        (
            [*GREEDY, "--option", "max_dept=3"],
            "Got 'max_dept'. Did you mean 'max_depth'?",
        ),
        ([*GREEDY, "--option", "max_depth=-1"], "max_depth must be >= 0"),
        ([*GREEDY, "--option", "max_depth=abc"], "max_depth"),
        (
            ["--option", "method=greedy"],
            "An option must have a value of its kind. Got ",
        ),
        (["--time-limit", "-1"], "time_limit must be a number >= 0"),
        (["--max-error", "2"], "max_error must be a share from 0 to 1"),
        (["--levels", "1"], "levels must be a whole number"),
        (["--drop", "lmap"], "Only columns of the table can be dropped. Got 'lmap'"),
        (
            ["--prior", "weight"],
            "The prior must be a column of the table. Got 'weight'",
        ),
        (["--prior", "lamp"], "Weights must be numbers."),
        (["--case", "nama"], "The case must be a column of the table. Got 'nama'"),
        (["--costs", "none.csv"], "none.csv"),
    ],
)
def test_what_the_library_refuses_ends_with_1(lamp, run, args, message):
    result = run("solve", "lamp.csv", "--target", "cause", *args, code=1)
    assert result.stderr.startswith("Error: ")
    assert message in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ["solve", "no.csv", "--target", "x"],
            "Got: No such file or directory for no.",
        ),
        (["solve", "lamp.csv", "--target", "cauze"], "Did you mean 'cause'?"),
        (["solve", "empty.csv", "--target", "x"], "must have names in its first line"),
    ],
)
def test_a_table_that_cannot_be_read_ends_with_1(lamp, run, args, message):
    (lamp / "empty.csv").write_text("")
    assert message in run(*args, code=1).stderr


def test_costs_that_do_not_fit_end_with_1(lamp, run):
    (lamp / "c.csv").write_text("test,cost\nlamp,1\nsoket,5\n")
    args = ["solve", "lamp.csv", "--target", "cause", "--costs", "c.csv"]
    assert "Did you mean 'socket'?" in run(*args, code=1).stderr
    (lamp / "c.csv").write_text("test,cost\nlamp,1\n")
    assert "Every test must have a cost." in run(*args, code=1).stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["solve", "lamp.csv"], "Missing option '--target'"),
        (["solve", "--target", "cause"], "Missing argument 'TABLE'"),
        ([*ARGS, "--objective", "best"], "'best' is not one of"),
        ([*ARGS, "--stop", "never"], "'never' is not one of"),
        ([*ARGS, "--levels", "few"], "'few' is not a valid integer"),
        ([*ARGS, "--option", "max_depth"], "'max_depth' is not of the form NAME=VALUE"),
    ],
)
def test_wrong_usage_ends_with_2(lamp, run, args, message):
    result = run(*args, code=2)
    assert message in result.stderr
    assert result.stderr.startswith("Usage: askless solve")


def test_ctrl_c_leaves_nothing_behind(lamp, run, monkeypatch):
    def interrupt(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("askless.cli.solve.solve", interrupt)
    run(*ARGS, "-o", "lamp.json", code=130)
    assert sorted(p.name for p in lamp.iterdir()) == ["lamp.costs.csv", "lamp.csv"]


def test_an_error_that_is_nobodys_fault_is_not_hidden(lamp, run, monkeypatch):
    def fail(*args, **options):
        raise ValueError("a bug")

    monkeypatch.setattr("askless.cli.solve.solve", fail)
    with pytest.raises(ValueError, match="a bug") as caught:
        run(*ARGS)
    assert not isinstance(caught.value, AsklessError)


def test_the_trade_off_says_what_a_smaller_error_costs(lamp, run):
    _, solution = library(objective="tradeoff")
    found = as_json(run(*ARGS, "--objective", "tradeoff", "--json"))
    for name in ("expected_front", "worst_front"):
        points = getattr(solution, name)
        assert [p["error"] for p in found[name]] == [p.error for p in points]
        assert all(p["is_proved"] for p in found[name])
    shown = run(*ARGS, "--objective", "tradeoff").stdout
    assert "What a smaller error costs, on average:" in shown
    assert shown.count("proved") == len(solution.expected_front) + len(
        solution.worst_front
    )


def test_a_method_of_ones_own_comes_from_a_file(lamp, run):
    (lamp / "mine.py").write_text(
        "import askless\n"
        "def as_they_stand(table):\n"
        "    return askless.Sequence.from_table(table)\n"
    )
    args = ("solve", "lamp.csv", "--target", "cause")
    found = run(*args, "--method", "mine.py:as_they_stand").stdout
    assert "as_they_stand" in found
    assert "error              0 %" in found
    for method, message in [
        ("yours.py:as_they_stand", "there is no file yours.py"),
        ("mine.py:nothing", "mine.py has no function 'nothing'"),
    ]:
        error = " ".join(run(*args, "--method", method, code=1).stderr.split())
        assert message in error
