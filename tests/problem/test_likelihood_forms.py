"""Likelihoods come as mappings, rows, frames or arrays, and mean the same."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askless.exceptions import InvalidTableError
from askless.problem import Table
from tests.strategies import generators, random_shares

SHOWS = {
    "lamp": {
        "fuse": {"dark": 1.0},
        "bulb": {"dark": 0.75, "dim": 0.25},
        "none": {"bright": 0.5, "dim": 0.5},
    },
    "hum": {"fuse": {"no": 1.0}, "bulb": {"no": 0.9, "yes": 0.1}, "none": {"no": 1.0}},
}
ROWS = [
    (case, test, outcome, probability)
    for test, row in SHOWS.items()
    for case, cell in row.items()
    for outcome, probability in cell.items()
]
NAMES = ["case", "test", "outcome", "probability"]


def same(one, other):
    assert one.test_names == other.test_names
    assert one.tests == other.tests
    assert one.cases == other.cases
    assert np.array_equal(one.codes, other.codes)
    assert one.codes.dtype == other.codes.dtype
    assert one.classes == other.classes
    assert np.array_equal(one.class_ids, other.class_ids)
    assert np.array_equal(one.prior, other.prior)
    for mine, theirs in zip(one.likelihoods, other.likelihoods, strict=True):
        assert (mine is None) == (theirs is None)
        assert mine is None or np.allclose(mine, theirs, rtol=1e-14, atol=0)


@pytest.mark.parametrize(
    "form",
    [
        ROWS,
        [dict(zip(NAMES, row, strict=True)) for row in ROWS],
        pd.DataFrame(ROWS, columns=NAMES),
        pl.DataFrame(ROWS, schema=NAMES, orient="row"),
        dict(zip(NAMES, map(list, zip(*ROWS, strict=True)), strict=True)),
    ],
    ids=["tuples", "dicts", "pandas", "polars", "columns"],
)
def test_rows_are_read_like_a_mapping(form):
    same(Table.from_likelihoods(form), Table.from_likelihoods(SHOWS))


@given(generators(), st.integers(1, 4), st.integers(1, 3), st.integers(2, 4))
def test_arrays_are_read_like_a_mapping(rng, n_cases, n_tests, n_outcomes):
    array = np.array(
        [
            [random_shares(rng, n_outcomes) for _ in range(n_tests)]
            for _ in range(n_cases)
        ]
    )
    mapping = {
        f"t{j}": {f"case {i}": dict(enumerate(array[i, j])) for i in range(n_cases)}
        for j in range(n_tests)
    }
    table = Table.from_likelihoods(array)
    same(table, Table.from_likelihoods(mapping))
    same(table, Table.from_likelihoods([array[:, j] for j in range(n_tests)]))
    for j in range(n_tests):
        chances = table.possible.outcome_chances(j)[:-1]
        assert np.allclose(chances, array[:, j].T, rtol=1e-15)


def test_an_array_of_two_dimensions_has_the_positive_outcomes():
    table = Table.from_likelihoods(
        [[0.8, 1.0], [0.1, 0.0]],
        tests=["fever", "swab"],
        cases=["flu", "cold"],
        binary=("neg", "pos"),
    )
    assert table.tests[0].outcomes == ("neg", "pos")
    assert table.cases == ("flu", "cold")
    assert np.allclose(table.likelihoods[0], [[0.2, 0.9], [0.8, 0.1]])
    assert table.codes[1].tolist() == [1, 0]


def test_an_alphabet_names_the_outcomes_of_an_array_in_order():
    table = Table.from_likelihoods(
        np.array([[[0.1, 0.2, 0.7]], [[1, 0, 0]]]),
        alphabet={"t0": ["low", "ok", "high"]},
    )
    assert table.tests[0].outcomes == ("high", "low", "ok")
    assert np.allclose(table.likelihoods[0], [[0.7, 0], [0.1, 1], [0.2, 0]])


def test_an_alphabet_adds_outcomes_that_no_case_shows():
    table = Table.from_likelihoods(SHOWS, alphabet={"hum": ["loud", "no", "yes"]})
    assert table.tests[1].outcomes == ("loud", "no", "yes")
    assert table.likelihoods[1][0].tolist() == [0, 0, 0]


def test_tests_and_cases_can_be_chosen_and_put_in_order():
    table = Table.from_likelihoods(SHOWS, tests=["hum"], cases=["none", "bulb"])
    assert table.test_names == ("hum",)
    assert table.cases == ("none", "bulb")
    assert np.allclose(table.likelihoods[0], [[1, 0.9], [0, 0.1]])


def test_classes_and_priors_can_stand_in_the_rows():
    rows = pd.DataFrame(ROWS, columns=NAMES)
    rows["class"] = rows["case"].map({"fuse": "power", "bulb": "lamp", "none": "none"})
    rows["prior"] = rows["case"].map({"fuse": 1, "bulb": 2, "none": 5})
    table = Table.from_likelihoods(rows)
    assert table.case_classes == ["power", "lamp", "none"]
    assert table.prior.tolist() == [1 / 8, 2 / 8, 5 / 8]
    other = Table.from_likelihoods(rows, ["a", "a", "b"], prior=[1, 1, 2])
    assert other.case_classes == ["a", "a", "b"]
    assert other.prior.tolist() == [0.25, 0.25, 0.5]


def test_what_is_left_out_is_a_mistake_or_unknown():
    shows = {"x": {"a": 0.1, "b": 0.2}, "y": {"a": 0.3}}
    with pytest.raises(InvalidTableError, match=r"Got none for 'y' of 'b'. Add them"):
        Table.from_likelihoods(shows)
    table = Table.from_likelihoods(shows, missing="unknown")
    assert table.possible.outcome_chances(1)[:2, 1].tolist() == [0.5, 0.5]
    nan = np.array([[0.1, 0.3], [0.2, np.nan]])
    with pytest.raises(InvalidTableError, match=r"Got none for 't1' of 'case 1'"):
        Table.from_likelihoods(nan)
    table = Table.from_likelihoods(nan, missing="unknown")
    assert table.possible.outcome_chances(1)[:2, 1].tolist() == [0.5, 0.5]
    nan[1] = np.nan
    with pytest.raises(InvalidTableError, match=r"Got none for 't0' of 'case 1'"):
        Table.from_likelihoods(nan)


def test_what_was_rounded_is_scaled():
    table = Table.from_likelihoods(
        {"x": {"a": {0: 0.333333, 1: 0.333333, 2: 0.333333}}}
    )
    assert table.possible.outcome_chances(0).sum() == pytest.approx(1, abs=1e-15)
    certain = Table.from_likelihoods({"x": {"a": {0: 0.9999999, 1: 0}}})
    assert not certain.has_unknown


CELL = {"yes": 0.5, "no": 0.5}


@pytest.mark.parametrize(
    ("cell", "match"),
    [
        ({"yes": 0.5, "no": 0.4}, r"Got the sum 0.9 for 'x' of 'a'"),
        ({"yes": 0.5}, r"Got the sum 0.5 for 'x' of 'a'. Add the outcome"),
        ({"yes": -0.1, "no": 1.1}, r"from 0 to 1. Got -0.1 of 'yes' for 'x' of 'a'"),
        ({"yes": "much", "no": 1}, r"Got 'much' of 'yes'"),
        ({"yes": float("nan"), "no": 1}, r"Got nan of 'yes'"),
        ({"yes": None, "no": 1}, r"Got None of 'yes'"),
        (80, r"from 0 to 1. Got 80 of 'x' of 'a'. Write 80 % as 0.8"),
        (float("inf"), r"Got inf of 'x' of 'a'"),
    ],
)
def test_a_cell_that_is_no_distribution_is_refused(cell, match):
    with pytest.raises(InvalidTableError, match=match):
        Table.from_likelihoods({"x": {"a": cell, "b": CELL}})


def test_a_number_needs_to_know_its_outcome():
    with pytest.raises(
        InvalidTableError, match=r"Got a number for 'x' of 'b', and 'hi'"
    ):
        Table.from_likelihoods({"x": {"a": {"hi": 0.5, "lo": 0.5}, "b": 0.2}})


@pytest.mark.parametrize(
    ("row", "match"),
    [
        (
            ("fuse", "lamp", "dark", 0.5),
            r"Got 'dark' of 'lamp' of 'fuse' in row \d twice",
        ),
        (
            ("new", "lamp", "dark", None),
            r"Got none for 'dark' of 'lamp' of 'new' in row",
        ),
        (("new", "lamp", "dark", -1), r"Got -1 of 'dark' for 'lamp' of 'new' in row"),
        (("new", "lamp", None, 0.5), r"Got none beside 0.5 for 'lamp' of 'new' in row"),
        (("fuse", "lamp", None, None), r"Got 'lamp' of 'fuse' in row \d+ twice"),
        ((None, "lamp", "dark", 1), r"Every row must name its case. Got none in row"),
        (("new", None, "dark", 1), r"Every row must name its test"),
        (("new", "lamp", "dark"), r"Got 3 values in row"),
    ],
)
def test_a_row_that_makes_no_sense_is_refused(row, match):
    with pytest.raises(InvalidTableError, match=match):
        Table.from_likelihoods([*ROWS, row])


def test_a_row_without_outcome_is_an_unknown_cell():
    rows = [("a", "x", "yes", 0.1), ("a", "x", "no", 0.9), ("b", "x", None, None)]
    table = Table.from_likelihoods(rows)
    assert table.possible.outcome_chances(0)[:2, 1].tolist() == [0.5, 0.5]


@pytest.mark.parametrize("what", ["class", "prior"])
def test_rows_of_a_case_must_agree(what):
    rows = [dict(zip(NAMES, row, strict=True), **{what: 1}) for row in ROWS]
    rows[-1][what] = 2
    with pytest.raises(
        InvalidTableError, match=f"have the same {what}. Got 2 for 'none'"
    ):
        Table.from_likelihoods(rows)
    rows = [row for row in rows if row["case"] != "none"]
    rows.append({"case": "new", "test": "hum", "outcome": "no", "probability": 1})
    with pytest.raises(
        InvalidTableError, match=f"have a {what}, or none. Got none for"
    ):
        Table.from_likelihoods(rows)


@pytest.mark.parametrize(
    ("data", "options", "match"),
    [
        (SHOWS, {"tests": ["lmp"]}, r"likelihoods. Got none for 'lmp'. Did you mean"),
        (SHOWS, {"cases": ["fuse", "fuse"]}, r"named once. Got 'fuse' more than once"),
        (
            SHOWS,
            {"classes": {"fuse": 1}},
            r"Every case must have a class. Got none for",
        ),
        (SHOWS, {"prior": {"fuze": 1}}, r"A weight must be of a case.*mean 'fuse'"),
        (SHOWS, {"classes": [1]}, r"There must be a class for each case. Got 1 for 3"),
        (SHOWS, {"missing": "outcome"}, r"missing must be 'error' or 'unknown'"),
        (SHOWS, {"binary": "no"}, r"binary must be two outcomes"),
        (SHOWS, {"binary": ("a", "a")}, r"binary must be two outcomes"),
        (SHOWS, {"alphabet": {"hmm": [1]}}, r"alphabet must name tests"),
        (SHOWS, {"alphabet": {"hum": ["no"]}}, r"in its alphabet.*Got 'yes'"),
        ({1: {2: 0.5}, "1": {2: 0.5}}, {}, r"Got the test '1' twice"),
        ({"x": {2: 0.5, "2": 0.5}}, {}, r"Got 'x' of '2' twice"),
        ({"x": {}}, {}, r"at least one test and one case. Got 1 tests and 0 cases"),
        ({"x": {"a": None}}, {}, r"Got no outcome of 'x' for any case"),
        ({"case": ["a"], "test": ["x"]}, {}, r"Got no column 'outcome'"),
        ([[0.1, 0.2]], {"tests": ["x"]}, r"Got 1 names for 2 tests"),
        ([[0.1, 0.2]], {"cases": ["x", "y"]}, r"Got 2 names for 1 cases"),
        ([0.1, 0.2], {}, r"must have the shape .n_cases, n_tests. or"),
        (7, {}, r"Got int: "),
        (np.array([[[0.5, np.nan]]]), {}, r"given, or none. Got NaN and"),
        (np.full((1, 1, 2), 0.5), {"alphabet": {"t0": ["a"]}}, r"Got 1 names for 2"),
        ([np.full((1, 2), 0.5), np.full((2, 2), 0.5)], {}, r"different lengths"),
        ([[0.5, -0.1]], {}, r"from 0 to 1. Got -0.1 of 't1' of 'case 0'"),
        (np.full((1, 1, 2), -0.5), {}, r"from 0 to 1. Got -0.5 of 't0' of 'case 0'"),
        (np.full((2, 1, 2), 0.4), {}, r"Got the sum 0.8 for 't0' of 'case 0'"),
    ],
)
def test_what_is_no_table_is_refused(data, options, match):
    with pytest.raises(InvalidTableError, match=match):
        Table.from_likelihoods(data, **options)


def test_single_cells_of_a_table_of_facts_can_be_set():
    table = Table([["yes"], ["yes"], [None]], ["a", "b", "c"], tests=["smoke"])
    table = table.with_likelihoods(
        {"smoke": {0: {"yes": 1}, "case 1": {"yes": 1}}}, repeatable={"smoke": 2}
    )
    assert not table.has_likelihoods
    assert table.test_names == ("smoke", "smoke (2)")
    with pytest.raises(InvalidTableError, match=r"Got 'no' for 'smoke'"):
        table.with_likelihoods({"smoke": {0: {"no": 1}}})
    with pytest.raises(InvalidTableError, match=r"Got 'smke'. Did you mean 'smoke'"):
        table.with_likelihoods({"smke": {0: {"yes": 1}}})
