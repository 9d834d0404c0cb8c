"""Several questions at once, by scikit-learn's own wrappers: multi-label."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier

import askless

MODELS = [
    askless.GreedyTreeClassifier([1, 2, 3, 4], max_depth=3),
    askless.CostTreeClassifier([1, 2, 3, 4], mistakes=50, n_estimators=5),
    askless.BudgetForestClassifier([1, 2, 3, 4], n_estimators=3, random_state=0),
    askless.BudgetBoostClassifier([1, 2, 3, 4], n_estimators=9, random_state=0),
]


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(150, 4))
    return X, np.column_stack([X[:, 0] > 0, X[:, 1] + X[:, 0] > 0]).astype(int)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_a_model_for_each_label(model, rows):
    X, labels = rows
    many = MultiOutputClassifier(model).fit(X, labels)
    assert (many.predict(X) == labels).mean() > 0.8
    assert len(many.predict_proba(X)) == 2
    # Each label has a policy of its own, with its own bill.
    assert all(one.cost(X).mean() > 0 for one in many.estimators_)


def test_a_chain_asks_labels_as_columns(rows):
    X, labels = rows
    # A label that was decided before costs nothing to ask for.
    chain = ClassifierChain(
        askless.GreedyTreeClassifier(max_depth=3), order=[0, 1], cv=None
    ).fit(X, labels)
    assert chain.estimators_[1].n_features_in_ == 5
    assert (chain.predict(X) == labels).mean() > 0.8
