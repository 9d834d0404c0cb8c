"""One booster: as many rounds as validation rows want, or as another one has."""

from dataclasses import replace

import numpy as np
import pytest

from askless.learn._examples import KnownRows
from askless.learn.boost._booster_rows import BoosterRows
from askless.learn.boost._boosters import (
    BayesPlan,
    BoosterPlan,
    ForestPlan,
    grow_model,
)
from askless.problem import Costs, Test

pytest.importorskip("lightgbm")

NAMES = ["a", "b", "c", "d"]
PLAIN = BoosterPlan(0.01, False, 60, 8, 0.3, None, 1)
KINDS = {
    "lightgbm": PLAIN,
    "few columns": replace(PLAIN, tradeoff=0.0, columns=(0, 2)),
    "own": replace(PLAIN, is_own=True),
    "own and bagged": replace(PLAIN, is_own=True, is_bagged=True),
    "own and apart": replace(PLAIN, is_own=True, is_apart=True),
    "blend": replace(PLAIN, bayes_share=0.5),
}


def make_rows(rng, n_rows, n_classes):
    X = rng.normal(size=(n_rows, 4))
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n_rows)
    y = np.searchsorted(np.linspace(-1, 1, n_classes + 1)[1:-1], score)
    return BoosterRows.of(KnownRows(X, y), tuple(Test(n, "number") for n in NAMES))


def facts(n_classes):
    return tuple(range(n_classes)), Costs([1, 2, 3, 4]), NAMES


def list_trees(policy):
    trees = policy.trees
    return [
        array.tolist() for array in (trees.test, trees.cut, trees.value, trees.output)
    ]


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_as_many_rounds_as_another_has_give_the_same_trees(rng, kind, n_classes):
    train, valid = (make_rows(rng, n, n_classes) for n in (600, 300))
    plan, known = KINDS[kind], facts(n_classes)
    usual = grow_model(plan, train, valid, *known)
    n_most = plan.own(n_classes).n_rounds if plan.is_own else plan.n_rounds
    assert 1 < usual.n_rounds < n_most
    alike = grow_model(replace(plan, n_fixed=usual.n_rounds), train, valid, *known)
    assert alike.n_rounds == usual.n_rounds
    assert list_trees(alike.policy) == list_trees(usual.policy)


@pytest.mark.parametrize("kind", KINDS)
def test_no_more_and_no_fewer_rounds_are_grown_whatever_validation_rows_say(rng, kind):
    train, valid = (make_rows(rng, n, 3) for n in (600, 300))
    # Their classes have nothing to do with what they hold.
    other = replace(valid.rows, class_ids=rng.permutation(valid.rows.class_ids))
    senseless = BoosterRows.of(other, valid.tests)
    for n_fixed in (1, 17):
        plan = replace(KINDS[kind], n_fixed=n_fixed)
        one, two = (
            grow_model(plan, train, some, *facts(3)) for some in (valid, senseless)
        )
        assert one.n_rounds == two.n_rounds == n_fixed
        assert list_trees(one.policy) == list_trees(two.policy)


def test_a_booster_to_which_nothing_is_worth_its_price_has_no_rounds(rng):
    train, valid = (make_rows(rng, n, 2) for n in (200, 100))
    plan = replace(KINDS["own"], tradeoff=1e9)
    grown = grow_model(plan, train, valid, *facts(2))
    assert grown.n_rounds == 0
    again = grow_model(replace(plan, n_fixed=0), train, valid, *facts(2))
    assert list_trees(again.policy) == list_trees(grown.policy)


@pytest.mark.parametrize("has_random_cuts", [False, True])
def test_a_forest_decides_as_the_library_does(rng, has_random_cuts):
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

    train, valid = (make_rows(rng, n, 3) for n in (400, 300))
    matrix = train.matrix.copy()
    matrix[rng.random(matrix.shape) < 0.1] = np.nan
    train = BoosterRows.of(KnownRows(matrix, train.rows.class_ids), train.tests)
    plan = ForestPlan(12, 64, 3, 1, has_random_cuts)
    grown = grow_model(plan, train, valid, *facts(3))
    assert grown.n_rounds is None
    kind = ExtraTreesClassifier if has_random_cuts else RandomForestClassifier
    model = kind(12, max_leaf_nodes=64, random_state=3)
    model.fit(matrix, train.rows.class_ids)
    X = valid.matrix.copy()
    X[rng.random(X.shape) < 0.1] = np.nan
    found = grown.policy.with_stop(is_complete=True).predict_proba(X)
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-9)


def test_naive_bayes_has_no_rounds(rng):
    train, valid = (make_rows(rng, n, 2) for n in (200, 100))
    assert grow_model(BayesPlan(), train, valid, *facts(2)).n_rounds is None
