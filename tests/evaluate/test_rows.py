"""Evaluating on rows: what they pay, and how often the decision is wrong."""

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

from askless.evaluate import evaluate
from askless.exceptions import InvalidTableError
from askless.problem import Costs, Table
from tests.strategies import solved


@pytest.fixture
def policy():
    table = Table(
        [[0, 0], [0, 1], [1, 1]],
        [10, 20, 30],
        costs=Costs([1, 3], mistakes=[[0, 5, 6], [7, 0, 8], [9, 10, 0]]),
        tests=["cheap", "dear"],
    )
    return solved(table)


ROWS = [[0, 0], [0, 1], [1, 0], [1, 1]]
TRUE = [10, 10, 30, 20]


def test_rows_without_classes_have_costs_and_no_error(policy):
    result = evaluate(policy, ROWS)
    assert result.case_cost.tolist() == [4, 4, 1, 1]
    assert (result.expected_cost, result.worst_cost) == (2.5, 4.0)
    assert math.isnan(result.error)
    assert np.isnan(result.case_error).all()
    assert result.mistake_cost is None
    assert json.loads(json.dumps(result.to_dict()))["error"] is None


def test_errors_and_mistakes_are_counted_by_weight(policy):
    result = evaluate(policy, ROWS, TRUE, sample_weight=[1, 2, 3, 4])
    assert result.case_error.tolist() == [0, 1, 0, 1]
    assert result.error == pytest.approx(0.6)
    assert result.mistake_cost == pytest.approx(0.2 * 5 + 0.4 * 8)
    assert result.expected_cost == pytest.approx(0.3 * 4 + 0.7 * 1)
    assert result.costs.tolist() == [1, 4]
    assert result.weights.tolist() == pytest.approx([0.7, 0.3])


@pytest.mark.parametrize(
    "y",
    [
        np.array(TRUE),
        np.array(TRUE, dtype=float),
        np.array(TRUE, dtype=object),
        [str(label) for label in TRUE],
        pd.Series(TRUE),
        pl.Series(TRUE),
        pd.Series([str(label) for label in TRUE]).astype("category"),
    ],
    ids=["ints", "floats", "objects", "text", "pandas", "polars", "categories"],
)
def test_classes_may_come_in_any_form(policy, y):
    assert evaluate(policy, ROWS, y).case_error.tolist() == [0, 1, 0, 1]


def test_classes_of_mixed_kinds_are_told_apart():
    table = Table([[0], [1], [2]], [1, "1", "yes"])
    policy = solved(table)
    assert sorted(map(repr, policy.classes)) == ["'1'", "'yes'", "1"]
    assert [repr(d) for d in policy.predict([[0], [1], [2]])] == ["1", "'1'", "'yes'"]
    result = evaluate(policy, [[0], [1], [2]], [1, "1", "yes"])
    assert result.case_error.tolist() == [0, 0, 0]


def test_a_class_that_the_policy_does_not_know_is_wrong():
    policy = solved(Table([[0], [1]], ["a", "b"]))
    assert evaluate(policy, [[0], [1]], ["a", "c"]).error == 0.5


def test_a_mistake_on_an_unknown_class_has_no_price(policy):
    with pytest.raises(InvalidTableError, match=r"To price mistakes, .* Got 99"):
        evaluate(policy, ROWS, [10, 20, 30, 99])


def test_frames_are_read_by_name(policy):
    frame = pd.DataFrame({"dear": [0, 1], "note": ["x", "y"], "cheap": [0, 1]})
    assert evaluate(policy, frame, [10, 30]).error == 0.0


@pytest.mark.parametrize(
    "weights",
    [[1, 2], [1, 1, 1, -1], [0, 0, 0, 0], [1, 1, 1, np.nan], [1e308] * 4, ["x"] * 4],
)
def test_wrong_weights_are_refused(policy, weights):
    with pytest.raises(InvalidTableError, match="sample_weight must have 4 finite"):
        evaluate(policy, ROWS, TRUE, sample_weight=weights)


def test_there_must_be_rows_and_a_class_for_each(policy):
    with pytest.raises(InvalidTableError, match="at least one row to evaluate"):
        evaluate(policy, np.zeros((0, 2)))
    with pytest.raises(InvalidTableError, match=r"a class for each row\. Got 3 for 4"):
        evaluate(policy, ROWS, TRUE[:3])
    with pytest.raises(InvalidTableError, match="A column must have one dimension"):
        evaluate(policy, ROWS, np.array([TRUE]))
