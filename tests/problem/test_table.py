"""A table states what each test shows for each case, and refuses what it cannot be."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from askless.exceptions import InvalidAnswerError, InvalidCostsError, InvalidTableError
from askless.problem import Costs, Table

LAMP = [["dark", "dead"], ["dark", "live"], ["dim", "live"]]
CAUSES = ["no power", "bulb", "dimmer"]


def lamp(**options):
    options = {"tests": ["lamp", "socket"], "costs": [1, 5]} | options
    return Table(LAMP, CAUSES, **options)


def test_a_table_knows_its_parts():
    table = lamp()
    assert (table.n_cases, table.n_tests, table.n_classes) == (3, 2, 3)
    assert table.test_names == ("lamp", "socket")
    assert table.classes == ("bulb", "dimmer", "no power")
    assert table.class_ids.tolist() == [2, 0, 1]
    assert table.case_classes == CAUSES
    assert table.cases == ("case 0", "case 1", "case 2")
    assert table.codes.tolist() == [[0, 0, 1], [0, 1, 1]]
    assert table.prior.tolist() == [1 / 3] * 3
    assert table.prices.full.tolist() == [1, 5]
    assert table.costs == Costs([1, 5])
    assert not table.has_unknown
    assert not table.is_ordered.any()
    assert table.notes == []
    assert repr(table) == "Table(3 cases, 2 tests, 3 classes)"
    assert repr(Table([[1]], ["a"])) == "Table(1 case, 1 test, 1 class)"


def test_tests_cost_one_each_by_default():
    assert lamp(costs=None).prices.full.tolist() == [1, 1]


def test_nothing_in_a_table_can_be_changed():
    table = lamp()
    arrays = (table.codes, table.class_ids, table.prior, table.is_ordered)
    for array in (*arrays, *table.chances):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_a_table_does_not_change_with_what_it_was_made_of():
    outcomes, prior = np.array([[1], [2]]), np.array([1.0, 3.0])
    table = Table(outcomes, ["a", "b"], prior=prior)
    outcomes[:], prior[:] = 7, 7
    assert table.tests[0].outcomes == (1, 2)
    assert table.prior.tolist() == [0.25, 0.75]


@pytest.mark.parametrize(
    ("outcomes", "classes", "options", "message"),
    [
        ([], [], {}, r"at least one test\. Got no columns of outcomes\. Pass an array"),
        ([[], []], [0, 1], {}, r"at least one test\. Got no columns of outcomes"),
        ({}, [], {}, r"at least one test\. Got no columns of outcomes"),
        (pd.DataFrame(), [], {}, r"at least one test\. Got no columns"),
        (pd.DataFrame({"c": [1]}), "c", {}, r"at least one test\. Got no columns"),
        (np.ones((0, 3)), [], {}, r"at least one case\. Got none\. Pass a row of"),
        ({"a": []}, [], {}, r"at least one case\. Got none"),
        (pl.DataFrame({"a": [], "c": []}), "c", {}, r"at least one case\. Got none"),
        (LAMP, CAUSES[:2], {}, r"a class for each case\. Got 2 for 3 cases\. Pass as"),
        (
            LAMP,
            None,
            {},
            r"A column must be a list of values\. Got NoneType for column",
        ),
        (LAMP, ["a", None, "b"], {}, r"must have a class\. Got none for case 1 \(1 w"),
        (LAMP, [1, np.nan, np.nan], {}, r"a class\. Got none for case 1 \(2 without"),
        (
            LAMP,
            "cause",
            {},
            r"the outcomes are a frame\. Got classes='cause' with list",
        ),
        (
            {"a": [1]},
            "b",
            {},
            r"must be a column of the table\. Got 'b', .* none of 'a'",
        ),
        ({"a": [1], "b": [1]}, "b", {"tests": ["a", "b"]}, r"Got 'b' as both\. Leave"),
        ({"a": [1]}, [1], {"tests": ["b"]}, r"Got no column 'b' \(1 absent\)"),
        (LAMP, CAUSES, {"tests": ["lamp"]}, r"Got 1 names for 2 columns"),
        (LAMP, CAUSES, {"cases": ["x"]}, r"a name for each case\. Got 1 names for 3"),
        (
            LAMP,
            CAUSES,
            {"missing": "no"},
            r"'unknown' or 'outcome'\. Got 'no'\. Choose",
        ),
        (LAMP, CAUSES, {"levels": 1}, r"whole number from 2 to 65,534\. Got 1\. The"),
        (LAMP, CAUSES, {"levels": 2.5}, r"whole number from 2 to 65,534\. Got 2\.5"),
        (LAMP, CAUSES, {"levels": True}, r"whole number from 2 to 65,534\. Got True"),
        (LAMP, CAUSES, {"levels": 65_535}, r"from 2 to 65,534\. Got 65535"),
        (
            [[1.0], [np.inf]],
            [0, 1],
            {},
            r"must be finite\. Got an infinite value of 't0'",
        ),
        (
            [[1.0], [-np.inf]],
            [0, 1],
            {"levels": 2},
            r"infinite value of 't0'\. Write it",
        ),
    ],
    ids=str,
)
def test_a_table_that_cannot_be_is_refused(outcomes, classes, options, message):
    with pytest.raises(InvalidTableError, match=message):
        Table(outcomes, classes, **options)


def test_the_target_that_is_misspelled_is_guessed():
    message = r"none of 'lamp', 'cause'\. Did you mean 'cause'\? Name the column that"
    with pytest.raises(InvalidTableError, match=message):
        Table({"lamp": [1], "cause": [2]}, "causes")


def test_a_column_of_too_many_categories_is_refused():
    message = r"at most 65,534 outcomes\. Got 100,000 different values of 't0'\. Leave"
    with pytest.raises(InvalidTableError, match=message):
        Table([[f"c{i}"] for i in range(100_000)], [i % 2 for i in range(100_000)])


def test_there_may_be_more_classes_than_codes():
    n = 70_000
    table = Table(np.arange(n)[:, None] % 7, np.arange(n))
    assert table.n_classes == n
    assert np.array_equal(table.class_ids, np.arange(n))


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([0, 0, 0], r"sum to more than 0\. Got a sum of 0\. Give at least one case a"),
        (
            [1, -1, 1],
            r"finite and >= 0\. Got -1\.0 for case 1\. Give a case that cannot",
        ),
        ([1, np.nan, 1], r"finite and >= 0\. Got nan for case 1"),
        ([1, None, 1], r"finite and >= 0\. Got nan for case 1"),
        ([1, 1, np.inf], r"finite and >= 0\. Got inf for case 2"),
        ([1, 1], r"a weight for each case\. Got 2 for 3 cases\. Pass as many"),
        ([1, 1, 1, 1], r"a weight for each case\. Got 4 for 3 cases"),
        ([], r"a weight for each case\. Got 0 for 3 cases"),
        (["a", "b", "c"], r"Weights must be numbers\. Got 'a' for case 0\. Pass one"),
        (5, r"A column must be a list of values\. Got int for column 'prior'"),
        (np.ones((3, 1)), r"one dimension\. Got 2 in column 'prior'"),
    ],
    ids=str,
)
def test_weights_that_cannot_be_are_refused(prior, message):
    with pytest.raises(InvalidTableError, match=message):
        lamp(prior=prior)


@pytest.mark.parametrize(
    "prior",
    [
        [1, 2, 1],
        (0.25, 0.5, 0.25),
        np.array([10, 20, 10], dtype=np.float32),
        pd.Series([1, 2, 1], dtype="Int64"),
        pl.Series([1, 2, 1]),
        [4e307, 8e307, 4e307],
        [5e-324, 1e-323, 5e-324],
    ],
    ids=lambda prior: type(prior).__name__,
)
def test_weights_may_have_any_scale(prior):
    assert lamp(prior=prior).prior.tolist() == [0.25, 0.5, 0.25]


def test_a_case_may_have_no_weight():
    assert lamp(prior=[1, 0, 1]).prior.tolist() == [0.5, 0, 0.5]
    assert lamp(prior=[True, False, True]).prior.tolist() == [0.5, 0, 0.5]


def test_weights_whose_sum_is_too_large_for_a_double_are_scaled():
    assert lamp(prior=[1.7e308] * 3).prior.tolist() == [1 / 3] * 3


def test_a_single_case_is_noted():
    table = Table([["dark"]], ["bulb"], cases=["my lamp"])
    assert table.notes[0] == (
        "There is only one case, 'my lamp', so nothing is left to find out and no test "
        "is ever bought."
    )


def test_a_single_class_is_noted():
    table = Table([[0], [1]], ["bulb", "bulb"])
    assert table.notes == [
        "All cases have the class 'bulb', so there is nothing to decide and no test is "
        "ever bought."
    ]


def test_a_test_that_always_shows_the_same_is_noted():
    table = Table([[0, 1], [1, 1]], ["a", "b"], tests=["useful", "constant"])
    assert table.notes == [
        "The test 'constant' shows the same for every case, so it is never bought."
    ]


def test_cases_that_nothing_tells_apart_are_noted():
    table = Table([[0], [0], [1], [1]], ["a", "b", "a", "a"], cases=list("wxyz"))
    assert table.indistinct == [(0, 1)]
    assert table.notes == [
        "No test is sure to tell 'w' from 'x', though their classes differ ('a' and "
        "'b'): 1 such pair. Add a test, or merge such cases by table.merged()."
    ]


def test_several_pairs_are_counted():
    table = Table([[0], [0], [0]], ["a", "b", "c"])
    assert "2 such pairs." in table.notes[1]


def test_an_empty_cell_is_unknown_unless_it_says_something():
    rows = [["a"], [None], ["b"]]
    unknown = Table(rows, [1, 2, 3])
    assert unknown.codes.tolist() == [[0, 3, 1]]
    assert unknown.is_unknown.tolist() == [[False, True, False]]
    assert unknown.has_unknown
    missing = Table(rows, [1, 2, 3], missing="outcome")
    assert missing.codes.tolist() == [[0, 2, 1]]
    assert not missing.has_unknown


@pytest.mark.parametrize("missing", ["unknown", "outcome"])
def test_a_marked_cell_is_unknown_in_any_case(missing):
    table = Table([["a"], ["?"], ["b"]], [1, 2, 3], unknown="?", missing=missing)
    assert table.tests[0].outcomes == ("a", "b")
    assert table.codes.tolist() == [[0, 3, 1]]


def test_a_marked_cell_and_an_empty_one_are_told_apart_where_empty_says_something():
    table = Table([["a"], ["?"], [None]], [1, 2, 3], unknown="?", missing="outcome")
    assert table.codes.tolist() == [[0, 2, 1]]
    assert table.is_unknown.tolist() == [[False, True, False]]


@pytest.mark.parametrize("unknown", [-1, -1.0, "?", True])
def test_any_value_can_mark_the_unknown(unknown):
    table = Table([[3], [unknown], [5]], [1, 2, 3], unknown=unknown)
    assert table.tests[0].outcomes == (3, 5)
    assert table.is_unknown.tolist() == [[False, True, False]]


def test_numbers_are_categories_unless_asked_otherwise():
    rows = [[1.5], [2.0], [7.0]]
    assert Table(rows, [1, 2, 3]).tests[0].outcomes == (1.5, 2.0, 7.0)
    levels = Table(rows, [1, 2, 3], levels=2)
    assert levels.tests[0].kind == "number"
    assert levels.codes.tolist() == [[0, 0, 1]]
    assert not levels.is_ordered.any()


def test_thresholds_order_numbers_and_leave_categories():
    table = Table([[1.5, "x"], [2.0, "y"]], [1, 2], thresholds=True)
    assert table.is_ordered.tolist() == [True, False]
    assert [test.kind for test in table.tests] == ["number", "category"]
    assert table.tests[0].cuts == (1.75,)


def test_whole_classes_stay_whole():
    table = Table([[0], [1]], np.array([1.0, 2.0]))
    assert table.classes == (1, 2)
    assert all(type(label) is int for label in table.classes)


def test_unknown_outcomes_are_equally_likely_by_default():
    table = Table([["a", 1], [None, 2], ["b", 3]], [1, 2, 3])
    assert [chances.tolist() for chances in table.chances] == [[0.5, 0.5], [1 / 3] * 3]


def test_chances_go_by_outcome():
    chances = {"lamp": {"dim": 0.75, "dark": 0.25}}
    assert lamp(chances=chances).chances[0].tolist() == [0.25, 0.75]
    assert lamp(chances={"lamp": {"dim": 1}}).chances[0].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("chances", "message"),
    [
        ({"lmap": {"dim": 1}}, r"must name tests\. Got 'lmap'\. Did you mean 'lamp'\?"),
        ({"lamp": {"off": 1}}, r"name outcomes of the test\. Got 'off' for 'lamp', wh"),
        ({"lamp": {"dim": 0.5}}, r">= 0 and sum to 1\. Got \{'dim': 0\.5\} for 'lamp'"),
        (
            {"lamp": {"dim": -1, "dark": 2}},
            r">= 0 and sum to 1\. Got .* with the sum 1",
        ),
        ({"lamp": {"dim": np.nan}}, r">= 0 and sum to 1\. Got .* with the sum nan"),
        ({"lamp": {"dim": "x"}}, r">= 0 and sum to 1\. Got \{'dim': 'x'\}"),
    ],
    ids=str,
)
def test_chances_that_cannot_be_are_refused(chances, message):
    with pytest.raises(InvalidTableError, match=message):
        lamp(chances=chances)


def test_chances_of_levels_go_by_a_number_inside():
    table = Table([[1.0], [9.0]], [0, 1], levels=2, chances={"t0": {2: 0.25, 8: 0.75}})
    assert table.chances[0].tolist() == [0.25, 0.75]
    with pytest.raises(InvalidAnswerError, match=r"'t0' shows a number\. Got 'low'"):
        Table([[1.0], [9.0]], [0, 1], levels=2, chances={"t0": {"low": 1}})


def test_costs_that_do_not_fit_are_refused():
    with pytest.raises(InvalidCostsError, match=r"Got none for 'socket' \(1 of 2"):
        lamp(costs={"lamp": 1})
    with pytest.raises(
        InvalidCostsError, match=r"Got str\. For a file, use read_costs"
    ):
        lamp(costs="costs.csv")


def test_rows_make_the_table_again():
    rows = [["a", 1, True], [None, 2, False], ["b", 3, True]]
    table = Table(rows, [1, 2, 3])
    again = Table(table.rows(), table.case_classes)
    assert again.tests == table.tests
    assert np.array_equal(again.codes, table.codes)


def test_a_level_is_shown_as_a_value_inside_it():
    table = Table([[1.0], [2.0], [9.0], [None]], [1, 2, 3, 4], levels=3)
    shown = table.rows()["t0"]
    assert shown[-1] is None
    assert table.tests[0].encode(shown).tolist()[:3] == table.codes[0].tolist()[:3]
    constant = Table([[1.0], [1.0]], [1, 2], levels=3)
    assert constant.rows() == {"t0": [0.0, 0.0]}
