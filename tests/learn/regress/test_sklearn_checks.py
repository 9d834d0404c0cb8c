"""Learners of numbers as estimators of scikit-learn."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from askless import BudgetBoostRegressor, CostTreeRegressor

LEARNERS = [
    CostTreeRegressor(),
    CostTreeRegressor(loss="absolute"),
    BudgetBoostRegressor(n_estimators=20, random_state=0),
    BudgetBoostRegressor(budget=3, loss="absolute", n_estimators=20, random_state=0),
]


@parametrize_with_checks(LEARNERS)
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)
