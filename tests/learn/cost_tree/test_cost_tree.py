"""The recommended learner: what it promises, on data of every kind."""

import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import askless
from askless import Costs, CostTreeClassifier
from askless.exceptions import (
    InvalidCostsError,
    InvalidOptionError,
    StoppedEarlyWarning,
)


@parametrize_with_checks([CostTreeClassifier(n_estimators=10)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def make_rows(rng, n=300):
    """Numbers, categories and flags, some missing; two classes with noise."""
    frame = pd.DataFrame(
        {
            "age": np.round(rng.normal(50, 15, n), 1),
            "pain": rng.choice(["none", "some", "much"], n),
            "iron": np.round(rng.gamma(2, 30, n)),
            "smoker": rng.random(n) < 0.3,
        }
    )
    risk = (frame["age"] > 55) * 1.5 + (frame["pain"] == "much") * 2.0
    risk = risk + (frame["iron"] > 80) * 1.5 - 2.0
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * risk)), "ill", "well")
    frame.loc[rng.random(n) < 0.1, "iron"] = np.nan
    frame.loc[rng.random(n) < 0.1, "pain"] = None
    return frame, y


COSTS = Costs(
    {"age": 1, "pain": 2, "iron": 9, "smoker": 1},
    groups={"talk": ["age", "pain"]},
    discounted={"age": 0.5, "pain": 1},
    delayed=["iron"],
    mistakes={"ill": {"well": 90}, "well": {"ill": 30}},
)


def test_frames_and_arrays_give_the_same_tree(rng):
    frame, y = make_rows(rng)
    tree = CostTreeClassifier(COSTS).fit(frame, y).policy_
    other = CostTreeClassifier(COSTS).fit(pl.from_pandas(frame), y).policy_
    assert askless.show(tree, "json") == askless.show(other, "json")
    numbers = frame[["age", "iron"]]
    by_name = CostTreeClassifier({"age": 1, "iron": 5}, 50).fit(numbers, y)
    by_place = CostTreeClassifier([1, 5], 50).fit(numbers.to_numpy(), y)
    assert np.array_equal(by_name.policy_.test, by_place.policy_.test)
    assert np.array_equal(by_name.policy_.weight, by_place.policy_.weight)
    assert np.array_equal(by_name.cost(numbers), by_place.cost(numbers.to_numpy()))


def test_threads_and_order_of_rows_do_not_change_the_tree(rng):
    frame, y = make_rows(rng)
    tree = CostTreeClassifier(COSTS, samples=3).fit(frame, y).policy_
    order = rng.permutation(len(y))
    for n_jobs in (2, 3):
        again = CostTreeClassifier(COSTS, samples=3, n_jobs=n_jobs)
        again.fit(frame.iloc[order], y[order])
        assert askless.show(again.policy_, "json") == askless.show(tree, "json")


def test_a_weight_of_two_is_two_rows(rng):
    frame, y = make_rows(rng, 120)
    counts = rng.integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), counts)
    repeated = CostTreeClassifier(COSTS).fit(frame.iloc[rows], y[rows])
    weighted = CostTreeClassifier(COSTS).fit(frame, y, sample_weight=counts)
    assert askless.show(repeated.policy_, "json") == askless.show(
        weighted.policy_, "json"
    )


def test_the_scale_of_weights_that_are_no_counts_does_not_matter(rng):
    frame, y = make_rows(rng, 120)
    weights = rng.random(len(y))
    trees = [
        CostTreeClassifier(COSTS).fit(frame, y, sample_weight=scale * weights)
        for scale in (1.0, 1e-3)
    ]
    assert np.array_equal(trees[0].policy_.test, trees[1].policy_.test)


def test_class_weights_work_through_the_mistakes(rng):
    frame, y = make_rows(rng)
    doubled = {"ill": {"well": 180}, "well": {"ill": 30}}
    by_weight = CostTreeClassifier(COSTS, class_weight={"ill": 2}).fit(frame, y)
    by_matrix = CostTreeClassifier(COSTS, mistakes=doubled).fit(frame, y)
    assert askless.show(by_weight.policy_, "json") == askless.show(
        by_matrix.policy_, "json"
    )
    CostTreeClassifier(COSTS, class_weight="balanced").fit(frame, y)
    for wrong, match in (({"sick": 2}, "class_weight must name"), (3, "mapping")):
        with pytest.raises(InvalidOptionError, match=match):
            CostTreeClassifier(COSTS, class_weight=wrong).fit(frame, y)


def test_the_cost_it_claims_is_what_its_tree_costs(rng):
    # Without smoothing and without a cost of leaves the estimate is the training cost.
    frame, y = make_rows(rng)
    tree = CostTreeClassifier(COSTS, n_estimators=0, leaf_cost=0.0).fit(frame, y)
    best = min(stage.cost for stage in tree.stages_)
    assert tree.total_cost(frame, y).mean() == pytest.approx(best, rel=1e-9)


def test_a_delayed_test_orders_everything_below_it(rng):
    n = 400
    X = rng.integers(0, 2, (n, 2)).astype(float)
    y = X[:, 0].astype(int) ^ X[:, 1].astype(int)
    late = Costs([1, 3], delayed=[0, 1])
    tree = CostTreeClassifier(late, 100).fit(X, y)
    assert np.array_equal(tree.predict(X), y)
    assert np.all(tree.cost(X) == 4)


def test_it_looks_beyond_a_test_without_gain(rng):
    # Parity: no single test tells anything.
    X = rng.integers(0, 2, (300, 4)).astype(float)
    y = (X[:, 0] + X[:, 1]).astype(int) % 2
    tree = CostTreeClassifier([1, 1, 1, 1], 100).fit(X, y)
    assert np.array_equal(tree.predict(X), y)
    assert tree.cost(X).mean() == 2


def test_stages_go_from_cheap_to_dear_and_the_best_tree_is_kept(rng):
    frame, y = make_rows(rng)
    told = []
    tree = CostTreeClassifier(COSTS, samples=2)
    tree.fit(frame, y, callbacks=told.append)
    assert [stage for stage in told if stage.cost is not None] == tree.stages_
    assert told[0].name.startswith("forest, ")
    done = [stage.done for stage in told]
    assert done == sorted(done)
    assert 0 < done[0] < done[-1] == 1
    names = [stage.name for stage in tree.stages_]
    assert names == ["greedy", "two steps", "2 samples"]
    assert tree.status_ == "done"
    bests = [stage.best for stage in tree.stages_]
    assert bests == sorted(bests, reverse=True)
    assert bests[-1] == pytest.approx(min(stage.cost for stage in tree.stages_))
    assert tree.expected_cost_ == bests[-1]


def test_more_time_means_more_samples(rng):
    frame, y = make_rows(rng, 60)
    tree = CostTreeClassifier(COSTS, time_limit=30).fit(frame, y)
    assert [stage.name for stage in tree.stages_][-1] == "80 samples"
    assert tree.status_ == "done"


def test_a_limit_too_short_for_a_greedy_tree_gives_one_and_says_so(rng):
    # So many rows that the work cannot be done before anyone looks at the clock.
    X = rng.normal(size=(3000, 12))
    y = (X[:, :6].sum(axis=1) + rng.normal(size=3000) > 0).astype(int)
    with pytest.warns(StoppedEarlyWarning, match="more than the greedy"):
        tree = CostTreeClassifier([1.0] * 12, time_limit=1e-9).fit(X, y)
    assert tree.status_ == "time"
    assert [stage.name for stage in tree.stages_] == ["greedy"]


def test_a_limit_in_the_middle_leaves_a_whole_tree():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 6))
    y = (X[:, :4].sum(axis=1) + rng.normal(size=600) > 0).astype(int)
    learner = CostTreeClassifier([1.0] * 6, 100, time_limit=2.0, samples=10**6)
    start = time.monotonic()
    learner.fit(X, y)
    # Finishing greedily takes a moment.
    assert time.monotonic() - start < 20
    assert learner.status_ == "time"
    assert np.mean(learner.predict(X) == y) > 0.7


def test_ctrl_c_gives_the_best_tree_so_far():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 6))
    y = (X[:, :4].sum(axis=1) + rng.normal(size=600) > 0).astype(int)
    started = threading.Event()

    def interrupt():
        started.wait(60)
        # The greedy tree may be done before the caller waits for the work.
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)

    def tell(stage):
        if stage.name == "greedy":
            started.set()

    threading.Thread(target=interrupt, daemon=True).start()
    learner = CostTreeClassifier([1.0] * 6, 100, samples=10**6, n_estimators=8)
    with pytest.warns(StoppedEarlyWarning, match="Interrupted"):
        learner.fit(X, y, callbacks=tell)
    assert learner.status_ == "interrupt"
    assert np.mean(learner.predict(X) == y) > 0.7


@pytest.mark.parametrize(
    ("mistakes", "match"),
    [
        ([[0, 1, 2], [1, 0, 2], [1, 2, 0]], "row and a column for each class"),
        ([[0, -1], [1, 0]], "mistakes"),
        ([[1, 1], [1, 0]], "mistakes"),
    ],
)
def test_wrong_mistakes_are_refused(mistakes, match):
    with pytest.raises(InvalidCostsError, match=match):
        CostTreeClassifier([1], mistakes).fit([[0], [1], [0], [1]], [0, 1, 0, 1])


@pytest.mark.parametrize(
    "options",
    [
        {"samples": 0}, {"n_estimators": -1}, {"smoothing": 1.5}, {"leaf_cost": -1},
        {"max_levels": 1}, {"max_levels": 300}, {"n_cuts": 0}, {"time_limit": -1},
    ],
)  # fmt: skip
def test_wrong_options_are_refused(options):
    with pytest.raises(InvalidOptionError, match=next(iter(options))):
        CostTreeClassifier(**options).fit([[0], [1], [0], [1]], [0, 1, 0, 1])


def test_odd_data_is_learned(rng):
    n = 40
    frame = pd.DataFrame(
        {
            "constant": np.ones(n),
            "empty": np.full(n, np.nan),
            "blank": pd.Series([None] * n, dtype=object),
            "useful": rng.integers(0, 2, n).astype(float),
        }
    )
    y = np.where(frame["useful"] == 1, "yes", "no")
    tree = CostTreeClassifier(mistakes=10).fit(frame, y)
    assert np.array_equal(tree.predict(frame), y)
    # A class seen once, more classes than rows of most, and one class alone.
    y[0] = "once"
    CostTreeClassifier(mistakes=10).fit(frame, y).predict(frame)
    with pytest.warns(UserWarning, match="unique classes"):
        CostTreeClassifier(mistakes=10).fit(frame, np.arange(n)).predict(frame)
    alone = CostTreeClassifier(mistakes=10).fit(frame, ["only"] * n)
    assert set(alone.predict(frame)) == {"only"}
    assert np.all(alone.cost(frame) == 0)


def test_what_was_never_seen_goes_somewhere(rng):
    frame, y = make_rows(rng)
    tree = CostTreeClassifier(COSTS).fit(frame, y)
    strange = frame.head(3).copy()
    strange["pain"] = ["unheard of", None, "much"]
    strange["age"] = [np.nan, 1e9, -1e9]
    assert set(tree.predict(strange)) <= {"ill", "well"}
    assert np.all(tree.total_cost(strange, y[:3]) >= 0)


def test_mistakes_that_cost_nothing_are_not_avoided(rng):
    frame, y = make_rows(rng)
    tree = CostTreeClassifier(COSTS, mistakes=0).fit(frame, y)
    assert tree.policy_.n_nodes == 1


def test_prices_by_outcome_are_paid(rng):
    n = 300
    frame = pd.DataFrame(
        {"a": rng.choice(["x", "y"], n), "b": rng.choice(["x", "y"], n)}
    )
    y = (frame["a"] == frame["b"]).to_numpy()
    costs = Costs({"a": 1, "b": 1}, by_outcome={"a": {"x": 5, "y": 0}})
    tree = CostTreeClassifier(costs, 100).fit(frame, y)
    assert np.array_equal(tree.cost(frame), np.where(frame["a"] == "x", 6.0, 1.0))
