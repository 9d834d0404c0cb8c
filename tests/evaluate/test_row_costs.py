"""What rows pay at prices of their own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import askless
from askless.datasets import make_clinic
from askless.exceptions import InvalidCostsError, InvalidTableError


@pytest.fixture(scope="module")
def clinic():
    return make_clinic(200, random_state=2)


def make_models(costs):
    return [
        askless.CostTreeClassifier(costs, mistakes=300, n_estimators=9),
        askless.BudgetForestClassifier(costs, n_estimators=3, random_state=0),
        askless.BudgetBoostClassifier(costs, n_estimators=9, random_state=0),
    ]


@pytest.mark.parametrize("which", [0, 1, 2])
def test_the_same_price_for_all_is_what_the_policy_charges(clinic, which):
    X = clinic.to_frame()
    policy = make_models(clinic.costs)[which].fit(X, clinic.y).policy_
    same = np.tile(policy.prices.full, (len(clinic.y), 1))
    own = askless.evaluate(policy, X, clinic.y, row_costs=same)
    assert own.case_cost == pytest.approx(policy.cost(X))
    assert own.error == askless.evaluate(policy, X, clinic.y).error


@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_row_pays_its_own_price_in_proportion(clinic, which, rng):
    X = clinic.to_frame()
    policy = make_models(clinic.costs)[which].fit(X, clinic.y).policy_
    factor = rng.integers(1, 5, len(clinic.y))
    dear = pd.DataFrame(np.outer(factor, policy.prices.full), columns=policy.test_names)
    found = askless.evaluate(policy, X, row_costs=dear).case_cost
    assert found == pytest.approx(factor * policy.cost(X))


def test_a_test_that_was_free_costs_what_the_row_says():
    policy = askless.solve(askless.Table([[0], [1]], ["a", "b"], costs=[0])).policy
    found = askless.evaluate(policy, [[0], [1]], row_costs=[[3], [4]])
    assert found.case_cost.tolist() == [3.0, 4.0]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"t9": [1, 2]}, "must name tests"),
        ({"t0": [1]}, "2 finite prices"),
        ({"t0": [1, -2]}, "2 finite prices"),
        ({"t0": [1, None]}, "2 finite prices"),
        ({"t0": ["dear", "cheap"]}, "2 finite prices"),
        ([[1, 2]], "a row for each"),
    ],
)
def test_wrong_prices_are_refused(wrong, message):
    policy = askless.solve(askless.Table([[0], [1]], ["a", "b"])).policy
    with pytest.raises(InvalidCostsError, match=message):
        askless.evaluate(policy, [[0], [1]], row_costs=wrong)


def test_a_table_has_no_rows_to_price():
    table = askless.Table([[0], [1]], ["a", "b"])
    with pytest.raises(InvalidTableError, match="row_costs as well"):
        askless.evaluate(askless.solve(table).policy, table, row_costs=[[1], [1]])
