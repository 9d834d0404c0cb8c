"""Rows may come as a frame, a mapping, an array or lists, and mean the same."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings

import askless
from askless.exceptions import (
    InvalidOptionError,
    InvalidPolicyError,
    InvalidTableError,
)
from askless.policy import Forest, Rule, Sequence
from askless.problem import Table
from askless.testing import check_policy
from tests.policy.examples import make_example
from tests.strategies import generators, random_rows, solved, tables_with_policies


def as_object_array(columns):
    array = np.empty((len(next(iter(columns.values()))), len(columns)), dtype=object)
    for i, column in enumerate(columns.values()):
        array[:, i] = column
    return array


@settings(max_examples=60)
@given(drawn=tables_with_policies(), rng=generators())
def test_every_form_of_the_same_rows_gives_the_same(drawn, rng):
    _, policy = drawn
    columns = random_rows(rng, policy.tests, 6)
    # Polars wants one kind of value in a column.
    columns = {name: same_kind(values) for name, values in columns.items()}
    array = as_object_array(columns)
    forms = [
        columns,
        {name: np.array(column, dtype=object) for name, column in columns.items()},
        pd.DataFrame(columns),
        pd.DataFrame(columns)[list(columns)[::-1]],
        pl.DataFrame(columns),
        pa.table(columns),
        array,
        array.tolist(),
    ]
    decided = policy.predict(columns).tolist()
    costs = policy.cost(columns).tolist()
    shares = policy.predict_proba(columns).tolist()
    for form in forms:
        assert policy.predict(form).tolist() == decided
        assert policy.cost(form).tolist() == costs
        assert policy.predict_proba(form).tolist() == shares


def same_kind(values):
    kinds = {type(value) for value in values} - {type(None)}
    if len(kinds) > 1:
        return [None if value is None else str(value) for value in values]
    return values


@pytest.fixture
def table():
    """Return a table whose last test is never asked for."""
    return Table(
        {
            "lamp": ["dark", "dark", "dim"],
            "volts": [1.0, 9.0, 9.0],
            "spare": ["x", "x", "x"],
        },
        ["fuse", "bulb", "dimmer"],
        thresholds=True,
    )


def policies_of(table):
    return [solved(table), Sequence.from_table(table, [0, 1])]


@pytest.mark.parametrize("kind", [0, 1], ids=["tree", "sequence"])
def test_columns_that_are_never_asked_for_may_be_absent_or_anything(table, kind):
    policy = policies_of(table)[kind]
    rows = {"lamp": ["dark", "dim"], "volts": [2.0, 9.0]}
    expected = policy.predict(rows).tolist()
    today = datetime.date(2024, 2, 29)
    for extra in ({}, {"when": [today, today]}, {"spare": [today, today]}):
        assert policy.predict(rows | extra).tolist() == expected
        for frame in (pd.DataFrame, pl.DataFrame, pa.table):
            assert policy.predict(frame(rows | extra)).tolist() == expected
            check_policy(policy, frame(rows))


@pytest.mark.parametrize("kind", [0, 1], ids=["tree", "sequence"])
def test_a_column_that_is_asked_for_and_absent_is_named(table, kind):
    policy = policies_of(table)[kind]
    rows = {"lamp": ["dark", "dim"], "volt": [2.0, 9.0]}
    message = r"Got no column 'volts' .*Did you mean 'volt'\?"
    for frame in (dict, pd.DataFrame, pl.DataFrame, pa.table):
        with pytest.raises(InvalidTableError, match=message):
            policy.predict(frame(rows))


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((2, 2)),
        np.zeros(3),
        np.zeros((1, 3, 1)),
        [[1, 2]],
        np.zeros((2, 2), dtype=object),
        pd.DataFrame(np.zeros((2, 2))).to_numpy(dtype=object),
    ],
    ids=["narrow", "flat", "deep", "list", "objects", "frame"],
)
@pytest.mark.parametrize("kind", [0, 1], ids=["tree", "sequence"])
def test_an_array_must_have_a_column_for_each_test(table, kind, X):
    with pytest.raises(InvalidPolicyError, match="two dimensions and 3 columns, one"):
        policies_of(table)[kind].predict(X)


def test_numbers_in_an_array_of_the_wrong_shape_are_refused_too():
    tree = solved(Table({"x": [1.0, 2.0]}, ["a", "b"], thresholds=True))
    for X in (np.zeros((3, 2)), np.zeros(3), np.zeros((0, 0))):
        with pytest.raises(InvalidPolicyError, match="two dimensions and 1 columns"):
            tree.predict(X)


@pytest.mark.parametrize("X", [[[1, 2, 3], [1, 2]], [1, 2, 3], "abc", 7, [[1, [2], 3]]])
def test_what_is_no_table_of_rows_is_refused(table, X):
    for policy in policies_of(table):
        with pytest.raises(InvalidTableError):
            policy.predict(X)


def test_text_where_numbers_are_asked_for_is_refused(table):
    for policy in policies_of(table):
        with pytest.raises(
            InvalidTableError, match=r"'volts' shows numbers\. Got 'lo'"
        ):
            policy.predict({"lamp": ["dark"], "volts": ["lo"]})


def test_numbers_may_come_as_text(table):
    rows = {"lamp": ["dark", "dark"], "volts": ["1", "9.0"]}
    for policy in policies_of(table):
        assert policy.predict(rows).tolist() == ["fuse", "bulb"]


def test_columns_are_the_tests_that_can_be_asked(table):
    tree, sequence = policies_of(table)
    assert tree.columns == sequence.columns == ("lamp", "volts")
    assert Sequence.from_table(table, [1]).columns == ("volts",)
    assert Forest.from_trees([tree]).columns == ("lamp", "volts")
    assert Rule.from_table(Table({"a": [0, 1], "b": [0, 0]}, [0, 1])).columns == (
        "a",
        "b",
    )
    assert [policy.columns for policy in never_tests()] == [(), ()]
    ensemble = make_example("ensemble")
    assert ensemble.columns == tuple(
        ensemble.test_names[test] for test in ensemble.used_tests
    )


@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1, -2, 10**6])
def test_any_number_of_threads_is_taken(table, n_jobs):
    rows = {"lamp": ["dark"] * 50, "volts": [2.0] * 50}
    for policy in policies_of(table):
        assert set(policy.predict(rows, n_jobs=n_jobs)) == {"fuse"}
        assert policy.predict_proba(rows, n_jobs=n_jobs).shape == (50, 3)
        assert len(policy.cost(rows, n_jobs=n_jobs)) == 50
        assert len(policy.predict_and_cost(rows, n_jobs=n_jobs)[1]) == 50


def test_no_threads_at_all_are_refused(table):
    for policy in policies_of(table):
        for act in (
            policy.predict, policy.predict_proba, policy.cost, policy.predict_and_cost
        ):  # fmt: skip
            with pytest.raises(InvalidOptionError, match="number of threads, or -1"):
                act({"lamp": ["dark"], "volts": [2.0]}, n_jobs=0)


@pytest.mark.parametrize("kind", [0, 1], ids=["tree", "sequence"])
def test_no_rows_give_no_answers(table, kind):
    policy = policies_of(table)[kind]
    for X in ({"lamp": [], "volts": []}, np.zeros((0, 3)), np.zeros((0, 3), object)):
        assert policy.predict(X).shape == (0,)
        assert policy.predict_proba(X).shape == (0, 3)
        assert policy.cost(X).shape == (0,)
        check_policy(policy, X)


def never_tests():
    table = Table({"x": [1, 2]}, ["same", "same"])
    return [solved(table), Sequence.from_table(table, [])]


@pytest.mark.parametrize("kind", [0, 1], ids=["tree", "sequence"])
def test_a_policy_that_never_tests_still_counts_the_rows(kind):
    policy = never_tests()[kind]
    for X in (
        {"other": [1, 2, 3]},
        pd.DataFrame({"other": [1, 2, 3]}),
        pl.DataFrame({"other": [1, 2, 3]}),
        pa.table({"other": [1, 2, 3]}),
        np.zeros((3, 1)),
        [[1], [2], [3]],
        pd.DataFrame(index=[5, 6, 7]),
    ):
        assert policy.predict(X).tolist() == ["same"] * 3
        assert policy.cost(X).tolist() == [0.0] * 3
        assert policy.predict_proba(X).tolist() == [[1.0]] * 3
    assert policy.predict({}).tolist() == []


@pytest.mark.parametrize(
    "classes",
    [("a", "b\0"), (1, "1"), (0, 1), (False, True), (0.5, 2), (1, 2**70), ("", "é")],
)
def test_classes_are_given_back_as_they_are(classes):
    table = Table([[0], [1]], list(map(repr, classes)))
    tree = solved(table)
    tree.classes = classes
    sequence = Sequence.from_table(table)
    sequence.classes = classes
    for policy in (tree, sequence):
        decided = policy.predict([[0], [1]]).tolist()
        order = sorted(range(2), key=lambda i: repr(classes[i]))
        expected = [None, None]
        for rank, i in enumerate(order):
            expected[i] = classes[rank]
        assert decided == expected
        assert list(map(type, decided)) == list(map(type, expected))


def test_a_zero_prior_leaves_a_policy_that_can_still_be_asked():
    table = Table([[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], prior=[1, 0, 0])
    for policy in (solved(table), Sequence.from_table(table)):
        assert policy.predict([[1, 0], [1, 1]]).tolist() == ["b", "c"]
        assert policy.predict_proba([[1, 0]]).tolist() == [[0.0, 1.0, 0.0]]
        check_policy(policy, table.rows())
        askless.show(policy)
