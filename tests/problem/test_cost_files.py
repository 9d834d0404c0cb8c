"""Costs are read from CSV and TOML files, and what is wrong with a file is said."""

import gzip

import pytest

from askless.exceptions import DataFileError, InvalidCostsError
from askless.problem import Costs, read_costs

CSV = """test,cost,discounted_cost,group,delayed
iron,7,5,blood,0
sugar,5,3,blood,yes
"x-ray, chest",40,,,
cough,0,0,,no
"""
TOML = """
delayed = ["sugar"]
mistakes = [[0, 5], [9, 0]]

[costs]
iron = 7
sugar = 5
"x-ray, chest" = 40.0
cough = 0

[groups]
blood = ["iron", "sugar"]

[discounted]
iron = 5
sugar = 3
"""
EXPECTED = {
    "costs": {"iron": 7, "sugar": 5, "x-ray, chest": 40, "cough": 0},
    "groups": {"blood": ["iron", "sugar"]},
    "discounted": {"iron": 5, "sugar": 3},
    "delayed": ["sugar"],
}


@pytest.fixture
def write(tmp_path):
    def write_to(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_to


def prices_of(costs):
    return {
        "costs": costs.costs,
        "groups": {name: list(tests) for name, tests in costs.groups.items()},
        # A plain price repeated as the discounted one says nothing.
        "discounted": {k: v for k, v in costs.discounted.items() if k != "cough"},
        "delayed": list(costs.delayed),
    }


@pytest.mark.parametrize(
    "content",
    [
        CSV,
        "\ufeff" + CSV,
        CSV.replace("\n", "\r\n"),
        CSV.replace("\n", "\n\n"),
        CSV.replace("test,cost", " test , cost ").replace("iron,7", " iron , 7 "),
    ],
    ids=["plain", "bom", "crlf", "empty lines", "spaces"],
)
def test_a_csv_file_of_costs_is_read(write, content):
    assert prices_of(read_costs(write("costs.csv", content))) == EXPECTED
    assert prices_of(read_costs(str(write("costs.txt", content)))) == EXPECTED


def test_a_gzipped_file_of_costs_is_read(write):
    path = write("costs.csv.gz", gzip.compress(CSV.encode()))
    assert prices_of(read_costs(path)) == EXPECTED


@pytest.mark.parametrize("content", [TOML, "\ufeff" + TOML, TOML.replace("\n", "\r\n")])
@pytest.mark.parametrize("name", ["costs.toml", "COSTS.TOML"])
def test_a_toml_file_of_costs_is_read(write, name, content):
    costs = read_costs(write(name, content))
    assert prices_of(costs) == EXPECTED
    assert costs.mistakes.tolist() == [[0, 5], [9, 0]]


def test_the_order_and_number_of_columns_are_free(write):
    path = write("costs.csv", "remark,cost,test\nby phone,2,ask\n,3,look\n")
    assert read_costs(path) == Costs({"ask": 2, "look": 3})


def test_a_toml_file_may_name_outcomes_and_classes(write):
    path = write(
        "costs.toml",
        "[costs]\nswab = 3\n[by_outcome.swab]\npositive = 8\n"
        "[mistakes.ill]\nwell = 100\n[mistakes.well]\nill = 1\n",
    )
    costs = read_costs(path)
    assert costs.by_outcome == {"swab": {"positive": 8.0}}
    assert costs.mistake_matrix(["ill", "well"]).tolist() == [[0, 100], [1, 0]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"names in its first line\. Got an empty line in .*costs\.csv"),
        ("test,cost\n", r"must have lines below its names\. Got none in .*costs\.csv"),
        (
            "name,cost\na,1\n",
            r"columns test and cost in its first line\. Got 'name', 'cost' in .* Add "
            r"the column 'test'\.",
        ),
        ("test,costs\na,1\n", r"Did you mean 'costs'\? Add the column 'cost'"),
        (
            "test,cost,groups\na,1,x\n",
            r"columns of a file of costs are 'test', 'cost', .* Got 'groups' in .*\. "
            r"Did you mean 'group'\? Rename the column\.",
        ),
        ("test,cost,discounted\na,1,1\n", r"Did you mean 'discounted_cost'\? Rename"),
        ("test,cost,cost\na,1,2\n", r"different names\. Got 'cost' twice"),
        ("test,cost\niron,7,50\n", r"must have 2 cells, .* Got 3 in line 2 of"),
        ("test,cost\niron\n", r"must have 2 cells, .* Got 1 in line 2 of"),
        (
            "test,cost\n,7\n",
            r"must name a test\. Got no name in line 2 of .*costs\.csv",
        ),
        ("test,cost\na,1\n\na,2\n", r"listed once\. Got 'a' again in line 4 of"),
        ("test,cost,delayed\na,1,late\n", r"must be 0 or 1\. Got 'late' in line 2 of"),
        (b"test,cost\n\xff,1\n", r"encoded in UTF-8\. Got the byte 0xff"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_a_csv_file_that_makes_no_sense_is_refused(write, content, message):
    with pytest.raises(DataFileError, match=message):
        read_costs(write("costs.csv", content))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "test,cost\na,-3\n",
            r"The cost of test 'a' in line 2 of .*costs\.csv must be a finite number "
            r">= 0\. Got '-3'",
        ),
        ("test,cost\na,dear\n", r"'a' in line 2 of .* Got 'dear'"),
        ("test,cost\na,nan\n", r"'a' in line 2 of .* Got 'nan'"),
        ("test,cost\na,inf\n", r"'a' in line 2 of .* Got 'inf'"),
        (
            "test,cost\na,\n",
            r"must have a cost\. Got none for 'a' in line 2 of .*\. A test that is",
        ),
        (
            "test,cost,discounted_cost,group\na,5,x,g\nb,5,1,g\n",
            r"The discounted cost of 'a' in line 2 of .* Got 'x'",
        ),
        (
            "test,cost,group\na,1,blood\nb,2,blod\n",
            r"at least two tests\. Got 1 \('a'\) in group 'blood'\. .* The file is",
        ),
        (
            "test,cost,discounted_cost,group\na,5,7,g\nb,5,1,g\n",
            r"not be above the cost\. Got 7 for 'a', which costs 5\. .* The file is",
        ),
        (
            "test,cost,discounted_cost\na,5,3\n",
            r"must be of a test in a group\. Got one for 'a'.* The file is",
        ),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_a_csv_file_of_wrong_costs_is_refused(write, content, message):
    with pytest.raises(InvalidCostsError, match=message):
        read_costs(write("costs.csv", content))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[costs\n", r"must be valid TOML\. Got: .* in .*costs\.toml\. Correct"),
        ("[costs]\na = 1\na = 2\n", r"must be valid TOML\. Got: .*line 3"),
        (b"[costs]\na = '\xff'\n", r"must be valid TOML\. Got: 'utf-8' codec"),
        (
            "",
            r"must hold a table \[costs\]\. Got none in .*costs\.toml\. Write",
        ),
        ("costs = [1, 2]\n", r"must hold a table \[costs\]\. Got none"),
        (
            "[cost]\na = 1\n",
            r"may hold 'costs', 'groups', .* Got 'cost' in .*\. Did you mean 'costs'\?",
        ),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_a_toml_file_that_makes_no_sense_is_refused(write, content, message):
    with pytest.raises(DataFileError, match=message):
        read_costs(write("costs.toml", content))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("groups = 5", r"groups must be a mapping of group to .* Got int"),
        (
            "groups = {g = 'a'}",
            r"A group must be a list of its tests\. Got 'a' for 'g'",
        ),
        ("groups = {g = ['a']}", r"at least two tests\. Got 1 \('a'\) in group 'g'"),
        (
            "discounted = [1]",
            r"discounted must be a mapping of test to price\. Got list",
        ),
        ("delayed = 'a'", r"delayed must be a list of tests\. Got 'a'"),
        ("delayed = 1", r"delayed must be a list of tests\. Got 1"),
        ("by_outcome = {a = 3}", r"by_outcome\['a'\] must be a mapping of .* Got int"),
        ("mistakes = 'dear'", r"The cost of a mistake must be .* Got 'dear'"),
        ("mistakes = [[0, 1], [1]]", r"square matrix, .* Got ragged rows"),
        ("mistakes = {a = 1}", r"mistakes\['a'\] must be a mapping of class to cost"),
    ],
)
def test_a_toml_file_of_wrong_costs_is_refused(write, line, message):
    path = write("costs.toml", f"{line}\n[costs]\na = 1\nb = 2\n")
    with pytest.raises(
        InvalidCostsError, match=message + r".* The file is .*costs\.toml"
    ):
        read_costs(path)


@pytest.mark.parametrize("cost", ["-1", "nan", "inf", "'dear'", "{x = 1}", "[1]"])
def test_a_wrong_cost_in_a_toml_file_is_refused(write, cost):
    message = r"The cost of test 'a' must be a finite number >= 0\. Got "
    with pytest.raises(InvalidCostsError, match=message):
        read_costs(write("costs.toml", f"[costs]\na = {cost}\n"))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(
        DataFileError, match=r"No such file or directory for .*none\.csv"
    ):
        read_costs(tmp_path / "none.csv")
    with pytest.raises(
        DataFileError, match=r"No such file or directory for .*none\.toml"
    ):
        read_costs(tmp_path / "none.toml")


@pytest.mark.parametrize("name", ["costs.csv", "costs.toml"])
def test_a_directory_is_no_file(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(DataFileError, match=r"Is a directory for .*costs\.\w+\."):
        read_costs(tmp_path / name)
