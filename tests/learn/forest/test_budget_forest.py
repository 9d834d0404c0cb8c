"""BudgetForestClassifier: the paper's numbers, budgets that hold, and bad input."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from askless import BudgetForestClassifier, Costs
from askless._core.bagging._grow import grow_bagged
from askless._core.bagging._rows import use_fast_bytes
from askless._core.bagging._samples import bundle_codes, draw_bag
from askless._core.greedy._criteria import Hinged, score_split
from askless._core.greedy._options import GrowthLimits, GrowthRows, RandomDraws
from askless._core.greedy._splits import count_draws
from askless._core.tree._store import join_trees
from askless.datasets import make_clinic
from askless.exceptions import (
    DegeneratePolicyWarning,
    InvalidOptionError,
    UnusedBudgetWarning,
)
from askless.learn._checks import ALPHA_GRID
from askless.learn._examples import code_examples
from askless.learn._reading import number_classes
from askless.learn.forest._curve import ForestPoint, best_within
from askless.learn.forest._grow import GrowthOptions, TreesToGrow, grow_trees
from askless.testing import check_policy

PLAIN = {
    "split": "minimax", "thresholds": "all", "free_reuse": False, "bootstrap": True,
}  # fmt: skip
EIGHT = np.array([[1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 3, 5, 4, 6, 7, 8]], float).T
EIGHT_Y = [0, 0, 0, 0, 1, 1, 1, 1]


# scikit-learn gives its own trees a least weight of leaves for this check.
PURE_LEAVES = {
    "check_class_weight_classifiers": "leaves are pure, whatever the classes weigh"
}


@parametrize_with_checks(
    [BudgetForestClassifier(n_estimators=3)],
    expected_failed_checks=lambda estimator: PURE_LEAVES,
)
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


# The numbers of the paper on budgeted forests.


@pytest.mark.parametrize(
    ("split", "threshold", "best"),
    [("minimax", 4.5, 1 / 13), ("expected", 3.5, 2 / 27)],
)
def test_the_two_variants_of_a_split_differ(split, threshold, best):
    model = BudgetForestClassifier(
        [3, 1], n_estimators=1, bootstrap=False, max_depth=1, split=split
    ).fit(EIGHT, EIGHT_Y)
    tree = model.policy_.tree(0)
    assert tree.test[0] == 1
    assert tree.thresholds[0] == threshold
    # The score of the cut, from the class counts of its two sides.
    parts = np.array([tree.class_weights(child) for child in (1, 2)])
    criterion = Hinged(0.0, False, split == "expected")
    assert np.isclose(score_split(criterion, parts, np.ones(2))[0], best)


def test_the_dear_test_scores_as_computed():
    # f1 parts all pairs at 4.5 and costs 3.
    score = score_split(
        Hinged(0.0), np.array([[4.0, 0.0], [0.0, 4.0]]), np.full(2, 3.0)
    )
    assert np.isclose(score[0], 3 / 16)


def test_how_many_thresholds_are_drawn():
    drawn = {n: count_draws(n) for n in (1, 500, 501, 2000, 2001, 10**6)}
    assert drawn == {1: 20, 500: 20, 501: 40, 2000: 40, 2001: 80, 10**6: 80}


def test_the_grid_of_thresholds_is_the_papers():
    assert ALPHA_GRID == (0, 2, 4, 6, 8, 10, 15, 25, 35, 45)


def test_trees_are_kept_while_the_mean_cost_is_within_the_budget():
    def point(n_estimators, cost, error):
        return ForestPoint(
            alpha=0.0, n_estimators=n_estimators, cost=cost, cost_spread=0.0,
            cost_stderr=0.0, error=error, n_rows=9,
        )  # fmt: skip

    path = [point(1, 2.0, 0.5), point(2, 8.0, 0.4)]
    assert best_within(path, 5.0).n_estimators == 1
    assert best_within(path, 8.0).n_estimators == 2
    assert best_within(path, 1.9) is None
    # Cheaper trees behind a dear one are out of reach, and not passed over in between.
    path += [point(3, 4.0, 0.1)]
    assert best_within(path, 5.0).n_estimators == 1


def test_a_row_pays_for_the_union_of_the_tests_of_its_trees(rng):
    # The paper counts features so: of ten trees that use 22.6 % of the features each, a
    # row uses 63 %, and not 226 %.
    X, y = noisy(rng, 400, m=12)
    forest = BudgetForestClassifier(n_estimators=10, random_state=0).fit(X, y).policy_
    trees = [forest.tree(i) for i in range(10)]
    used = [set() for _ in X]
    for tree in trees:
        for row, node in enumerate(tree.apply(X).tolist()):
            while (node := int(tree.parent[node])) >= 0:
                used[row].add(int(tree.test[node]))
    union = np.array([len(tests) for tests in used])
    apart = np.array([tree.cost(X) for tree in trees])
    assert np.array_equal(forest.cost(X), union)
    assert np.all(union >= apart.max(axis=0))
    assert apart.sum(axis=0).mean() > 12 > union.mean()


# The fast grower and its twin.


def random_case(rng):
    """Return random examples, prices and options that the fast grower takes."""
    n, m = int(rng.integers(5, 500)), int(rng.integers(1, 14))
    # Half of the columns have two values, which are kept eight to a byte.
    n_values = rng.choice([1, 2, 2, 2, 5, 40, 300], m)
    X = rng.integers(0, n_values, (n, m)).astype(float)
    if rng.random() < 0.5:
        # A column of one value and of missing ones has two codes as well.
        X[(rng.random((n, m)) < 0.1) & (rng.random(m) < 0.5)] = np.nan
    k = int(rng.integers(2, 6))
    y = rng.integers(0, k, n)
    if rng.random() < 0.7:
        y = (np.nan_to_num(X[:, 0]) * 3 + rng.normal(size=n)).astype(int) % k
    y = y.astype(np.uint8)
    examples = code_examples(X, [f"x{i}" for i in range(m)], y, k, None)
    costs = Costs(rng.choice([0, 0.1, 1.0, 2, 3.3], m).tolist())
    options = {
        **PLAIN,
        "alpha": float(rng.choice([0, 0, 1, 2, 5.5])),
        "max_features": int(rng.choice([0, 0, 1, 2, 3])),
        "limits": GrowthLimits(
            max_depth=None if rng.random() < 0.7 else int(rng.integers(0, 5)),
            min_weight=float(rng.choice([0, 0, 10])),
        ),
        "bootstrap": bool(rng.random() < 0.8),
        "seed": int(rng.integers(1000)),
    }
    return examples, costs.price_list(examples.tests), options


@pytest.mark.parametrize("batch", range(4))
def test_the_fast_grower_grows_the_general_growers_trees(rng, batch):
    rng = rng.spawn(4)[batch]
    for _ in range(40):
        examples, prices, options = random_case(rng)
        usual = GrowthOptions(**options)
        asked = TreesToGrow(examples, prices, usual, range(2))
        fast = grow_trees(asked)
        plain = grow_trees(replace(asked, options=replace(usual, use_fast=False)))
        try:
            assert use_fast_bytes(False) is False
            slow = grow_trees(asked)
        finally:
            use_fast_bytes(True)
        for name, expected in plain.arrays().items():
            assert np.array_equal(getattr(fast, name), expected), (name, options)
            assert np.array_equal(getattr(slow, name), expected), (name, options)


@pytest.mark.parametrize("max_features", [4, 23])
@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_switches_of_the_fast_grower_do_not_change_a_tree(rng, alpha, max_features):
    n = 2500
    X = np.column_stack(
        [rng.normal(size=(n, 5)).round(1), rng.random((n, 18)) < rng.random(18)]
    )
    noise = rng.normal(size=n)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + X[:, 7] - X[:, 9] + noise).round()
    y = np.clip(y + 1, 0, 3).astype(np.uint8)
    names = [f"x{i}" for i in range(X.shape[1])]
    examples = code_examples(X, names, y, 4, None)
    prices = rng.choice([0.5, 1.0, 3.0], len(names))

    rows = GrowthRows(
        examples.codes, examples.class_rows, examples.n_levels, examples.is_ordered
    )

    def grow(use_sets, use_bits, counts):
        tree = grow_bagged(
            rows,
            prices,
            alpha=alpha,
            counts=counts,
            bundles=bundle_codes(examples.codes, prices, use_bits=use_bits),
            limits=GrowthLimits(max_depth=99),
            draws=RandomDraws(key=3, max_tests=max_features),
            use_sets=use_sets,
        )
        return join_trees([tree])

    for counts in (draw_bag(n, 7), None):
        expected = grow(False, False, counts)
        assert len(expected["test"]) > 100
        for use_sets, use_bits in ((True, True), (True, False), (False, True)):
            found = grow(use_sets, use_bits, counts)
            assert all(np.array_equal(found[name], expected[name]) for name in found)


def test_tests_of_two_outcomes_are_bundled_in_order_of_price():
    codes = np.array([[0, 1, 1], [0, 2, 1], [1, 0, 0], [0, 0, 0]], dtype=np.uint8)
    bundles = bundle_codes(codes, np.array([5.0, 1.0, 2.0, 9.0]))
    assert bundles.whole.tolist() == [1]
    assert bundles.column.tolist() == [1, 0, 1, 1]
    assert bundles.bit.tolist() == [2, 0, 1, 4]
    assert bundles.codes.tolist() == [[1, 2, 2]]
    plain = bundle_codes(codes, np.ones(4), use_bits=False)
    assert plain.codes.shape == (0, 3)
    assert plain.column.tolist() == [0, 1, 2, 3]


def test_a_sample_has_about_as_many_draws_as_rows():
    counts = draw_bag(100_000, 5)
    assert abs(int(counts.sum()) - 100_000) < 1500
    shares = np.bincount(counts, minlength=9)[:5] / 100_000
    expected = np.exp(-1) / np.array([1, 1, 2, 6, 24])
    assert np.allclose(shares, expected, atol=0.006)
    # A part of the rows is drawn as among all of them.
    assert np.array_equal(draw_bag(500, 5, 70_000), counts[70_000:70_500])
    counts = draw_bag(10_000, 5)
    assert np.array_equal(counts, draw_bag(10_000, 5))
    assert not np.array_equal(counts, draw_bag(10_000, 6))


def test_classes_are_numbered_as_by_sorting(rng):
    for labels in (
        rng.integers(-3, 4, 500),
        np.array([127, -128] * 20, dtype=np.int8),
        np.array([2**63 + 5, 2**63 + 7] * 20, dtype=np.uint64),
        np.array([-(2**62), 2**62] * 20),
        rng.permutation(20),
        np.array(["b", "a", "b"] * 9),
        np.array([True, False] * 9),
    ):
        classes, ids = number_classes(labels)
        expected, expected_ids = np.unique(labels, return_inverse=True)
        assert classes.dtype == labels.dtype
        assert np.array_equal(classes, expected)
        assert np.array_equal(ids, expected_ids)
    with pytest.raises(ValueError, match="Unknown label type"):
        number_classes(np.array([0.5, 1.5, 2.5]))


# The estimator.


@pytest.fixture(scope="module")
def clinic():
    return make_clinic(1500, random_state=3)


def noisy(rng, n=1200, m=6):
    X = rng.normal(size=(n, m)).round(2)
    y = (X[:, 0] + 0.7 * X[:, 1] - X[:, 2] + rng.normal(size=n) > 0).astype(int)
    return X, y


def test_the_result_does_not_depend_on_threads(rng):
    X, y = noisy(rng)
    options = {"n_estimators": 5, "random_state": 1, "budget": 3.0}
    one = BudgetForestClassifier(**options).fit(X, y)
    two = BudgetForestClassifier(**options, n_jobs=2).fit(X, y)
    assert one.path() == two.path()
    assert np.array_equal(one.policy_.test, two.policy_.test)
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


@pytest.mark.parametrize("out_of_bag", [False, True])
def test_the_budget_is_kept_on_validation_rows_and_reported(rng, out_of_bag):
    X, y = noisy(rng)
    costs = [1, 2, 3, 1, 2, 3]
    model = BudgetForestClassifier(
        costs, budget=5, n_estimators=6, out_of_bag=out_of_bag, random_state=0
    ).fit(X, y)
    point = model.point_
    assert point.cost <= 5
    assert point.n_estimators == model.n_estimators_ == model.policy_.n_trees
    assert 0 <= point.cost_stderr <= point.cost_spread
    assert abs(model.cost(X).mean() - point.cost) < 6 * point.cost_stderr + 0.2
    if out_of_bag:
        # Costs are averaged over all rows.
        assert np.isclose(model.cost(X).mean(), point.cost)


def test_the_path_is_the_truth_about_each_forest(rng):
    X, y = noisy(rng)
    X_new, y_new = noisy(rng, 400)
    model = BudgetForestClassifier(
        [1, 2, 3, 1, 2, 3], budget=4, n_estimators=4, alpha=[0, 8], random_state=0
    ).fit(X, y, X_valid=X_new, y_valid=y_new)
    assert len(model.path()) == 2 * 4
    for point in model.path():
        policy = model.policy_at(point)
        assert np.isclose(policy.cost(X_new).mean(), point.cost)
        assert np.isclose(policy.cost(X_new).std(), point.cost_spread)
        assert np.isclose(np.mean(policy.predict(X_new) != y_new), point.error)
    costs = [point.cost for point in model.path() if point.alpha == 0]
    assert costs == sorted(costs)
    within = model.at_budget(4.0)
    assert np.array_equal(within.test, model.policy_.test)
    assert model.at_budget(0.5).cost(X_new).max() == 0.0


def test_counts_measure_as_they_decide(rng):
    X, y = noisy(rng, 600)
    model = BudgetForestClassifier(
        n_estimators=3, voting="counts", alpha=[4], random_state=0
    ).fit(X, y, X_valid=X, y_valid=y)
    for point in model.path():
        assert np.isclose(np.mean(model.policy_at(point).predict(X) != y), point.error)
    shares = model.confidence(X)
    assert np.allclose(shares, model.predict_proba(X))


def test_out_of_bag_errors_are_those_of_trees_that_did_not_see_a_row(rng):
    X, y = noisy(rng, 300)
    model = BudgetForestClassifier(
        n_estimators=8, alpha=[0, 3], out_of_bag=True, random_state=0
    ).fit(X, y)
    point = next(p for p in model.path() if p.alpha == 0 and p.n_estimators == 8)
    assert np.mean(model.policy_at(point).predict(X) != y) < 0.1
    assert point.error > 0.15


def test_more_trees_are_added_by_a_warm_start(rng):
    X, y = noisy(rng, 500)
    options = {"random_state": 4, "alpha": 0.0}
    cold = BudgetForestClassifier(n_estimators=6, **options).fit(X, y)
    warm = BudgetForestClassifier(n_estimators=2, warm_start=True, **options).fit(X, y)
    warm.set_params(n_estimators=6).fit(X, y)
    assert np.array_equal(warm.policy_.test, cold.policy_.test)
    assert np.array_equal(warm.policy_.weight, cold.policy_.weight)
    with pytest.raises(InvalidOptionError, match="must see the same rows"):
        warm.fit(X, np.where(y == 1, 2, y))


def test_groups_categories_and_missing_values(clinic):
    X = clinic.to_frame()
    model = BudgetForestClassifier(clinic.costs, n_estimators=4, random_state=0)
    model.fit(X, clinic.y)
    kinds = {test.kind for test in model.policy_.tests}
    assert kinds == {"category", "number"}
    assert model.policy_.prices.engine.has_groups
    check_policy(model.policy_, X.iloc[:40])
    assert model.score(X, clinic.y) > 0.85
    unseen = X.copy()
    unseen[:] = np.nan
    assert len(model.predict(unseen)) == len(X)


def test_whole_weights_are_repeated_rows(rng):
    X, y = noisy(rng, 200)
    weights = rng.integers(0, 4, 200)
    options = {"n_estimators": 1, "bootstrap": False, "max_depth": 4}
    weighted = BudgetForestClassifier(**options).fit(X, y, sample_weight=weights)
    repeated = BudgetForestClassifier(**options).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    assert np.array_equal(weighted.policy_.test, repeated.policy_.test)
    assert np.array_equal(weighted.policy_.weight, repeated.policy_.weight)


@pytest.mark.parametrize("thresholds", ["all", "random"])
@pytest.mark.parametrize("split", ["minimax", "expected"])
def test_every_variant_learns(rng, split, thresholds):
    X, y = noisy(rng, 800)
    model = BudgetForestClassifier(
        n_estimators=15, split=split, thresholds=thresholds, max_features="sqrt",
        random_state=0,
    ).fit(X, y)  # fmt: skip
    X_new, y_new = noisy(rng, 800)
    assert model.score(X_new, y_new) > 0.7
    again = clone(model).fit(X, y)
    assert np.array_equal(again.policy_.test, model.policy_.test)


def test_random_thresholds_lie_among_the_cuts(rng):
    # Three values far apart: the drawn threshold is one of two cuts, mostly the far
    # one, since thresholds are drawn evenly between values.
    X = np.repeat([[0.0], [1.0], [100.0]], 40, axis=0)
    y = np.repeat([0, 1, 0], 40)
    model = BudgetForestClassifier(
        n_estimators=1, bootstrap=False, thresholds="random", random_state=0
    ).fit(X, y)
    assert model.score(X, y) == 1.0
    assert set(model.policy_.tree(0).thresholds[:1]) <= {0.5, 50.5}


def test_a_cheap_test_is_bought_rather_than_a_dear_one(rng):
    X, y = noisy(rng)
    X = np.column_stack([X, X + 0.01 * rng.normal(size=X.shape)])
    costs = [1] * 6 + [100] * 6
    model = BudgetForestClassifier(costs, n_estimators=5, random_state=0).fit(X, y)
    asked = model.policy_.test[model.policy_.test >= 0]
    share = np.mean(asked >= 6)
    unaware = BudgetForestClassifier(n_estimators=5, random_state=0).fit(X, y)
    asked = unaware.policy_.test[unaware.policy_.test >= 0]
    assert share < 0.5 * np.mean(asked >= 6)


def test_a_larger_alpha_is_cheaper(rng):
    X, y = noisy(rng)
    costs = [
        BudgetForestClassifier(n_estimators=15, alpha=alpha, random_state=0)
        .fit(X, y)
        .cost(X)
        .mean()
        for alpha in (0, 10, 45)
    ]
    assert costs[0] > costs[1] > costs[2]


# Bad input.


def test_a_budget_below_the_cheapest_test_buys_nothing_and_says_so(rng):
    X, y = noisy(rng, 300)
    model = BudgetForestClassifier([5] * 6, budget=4, n_estimators=2, alpha=0.0)
    with pytest.warns(DegeneratePolicyWarning, match="cheapest test, 5: the"):
        model.fit(X, y)
    assert model.n_estimators_ == 0
    assert model.cost(X).max() == 0
    assert set(model.predict(X)) == {np.bincount(y).argmax()}
    session = model.policy_.start()
    assert session.test is None
    check_policy(model.policy_, X[:3])


def test_a_budget_below_any_tree_says_so_too(rng):
    X, y = noisy(rng, 300)
    model = BudgetForestClassifier(budget=1.01, n_estimators=2, alpha=0.0)
    with pytest.warns(DegeneratePolicyWarning, match="below the cost of any tree"):
        model.fit(X, y)


def test_a_test_that_cannot_be_bought_is_skipped(rng):
    X, y = noisy(rng, 300)
    forest = BudgetForestClassifier(n_estimators=4, random_state=0).fit(X, y).policy_
    session = forest.start()
    skipped = session.test
    session.skip()
    while session.test is not None:
        assert session.test != skipped
        session.answer(X[0, forest.test_names.index(session.test)])
    assert session.decision in (0, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": -1}, "budget must be a number >= 0"),
        ({"budget": "cheap"}, "budget must be a number >= 0"),
        ({"n_estimators": 0}, "n_estimators must be a whole number >= 1"),
        ({"alpha": -1}, "alpha must be a finite number >= 0"),
        ({"alpha": []}, "alpha must be a finite number >= 0"),
        ({"split": "minmax"}, "Did you mean 'minimax'"),
        ({"thresholds": "some"}, "thresholds must be 'all' or 'random'"),
        ({"voting": "mean"}, "voting must be 'votes' or 'counts'"),
        ({"max_features": 0}, "max_features must be a whole number >= 1"),
        ({"max_features": "log"}, "max_features must be a whole number >= 1"),
        ({"max_depth": -1}, "max_depth must be >= 0"),
        ({"min_weight": -1}, "min_weight must be a finite number >= 0"),
        ({"validation_fraction": 1.5}, "validation_fraction must be between 0"),
        ({"out_of_bag": True, "bootstrap": False}, "trees that do not see all"),
        ({"costs": [1, 2, 3]}, "cost"),
        ({"costs": {"other": 1}}, "other|cost"),
    ],
)
def test_options_out_of_range_are_refused_in_words(options, message):
    with pytest.raises(ValueError, match=message):
        BudgetForestClassifier(**options).fit(EIGHT, EIGHT_Y)


def test_costs_of_other_names_are_refused():
    frame = pd.DataFrame(EIGHT, columns=["age", "fever"])
    with pytest.raises(ValueError, match="fever"):
        BudgetForestClassifier({"age": 1, "fevre": 2}).fit(frame, EIGHT_Y)


def test_validation_rows_must_be_whole():
    model = BudgetForestClassifier(budget=3, n_estimators=2, alpha=0)
    with pytest.raises(InvalidOptionError, match="must be given together"):
        model.fit(EIGHT, EIGHT_Y, X_valid=EIGHT)
    with pytest.raises(ValueError, match="Every row must have a class"):
        model.fit(EIGHT, EIGHT_Y, X_valid=EIGHT, y_valid=EIGHT_Y[:3])
    with pytest.raises(InvalidOptionError, match="A path must have validation rows"):
        BudgetForestClassifier(n_estimators=1).fit(EIGHT, EIGHT_Y).path()


def test_a_class_that_was_never_seen_counts_as_an_error():
    model = BudgetForestClassifier(n_estimators=2, alpha=0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(EIGHT, EIGHT_Y, X_valid=EIGHT, y_valid=[7] * 8)
    assert model.point_.error == 1.0


def test_a_budget_that_is_not_used_says_why_and_names_another_learner(rng):
    X, y = noisy(rng)
    costs = [1, 2, 3, 1, 2, 3]
    forest = BudgetForestClassifier(costs, 5, n_estimators=6, random_state=0)
    with pytest.warns(UnusedBudgetWarning) as told:
        forest.fit(X, y)
    said = str(told[0].message)
    assert forest.point_.cost < 2.5
    assert f"only {forest.point_.cost:.4g} is spent" in said
    assert f"{100 * forest.point_.error:.3g} % of the rows are wrong" in said
    assert "Use BudgetBoostClassifier" in said
    # A budget that is used, and rows that are all right, are nothing to speak of.
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnusedBudgetWarning)
        forest.set_params(budget=1.6).fit(X, y)
        forest.set_params(budget=100).fit(X, X[:, 0] > 0)
