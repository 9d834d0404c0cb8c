"""Weights of any size: learners end, and a factor out of range changes nothing."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from askless.learn.trees._row_weights import scale_weights, settle_weights

# Prints what each learner makes of each set of weights. In a process of its own: a
# learner that never ends must not take the tests with it.
SCRIPT = """
import json, warnings
import numpy as np
import askless
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.normal(size=(40, 4)).round(1)
y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
rare = np.where(np.arange(40) % 4, 2 / 3, 2.0)
weights = {
    "one": np.ones(40), "huge": np.full(40, 1e300), "largest": np.full(40, 1.7e308),
    "tiny": np.full(40, 1e-300), "least": np.full(40, 5e-324),
    "rare": rare, "huge rare": 1e300 * rare, "tiny rare": 1e-300 * rare,
    "whole": np.full(40, 1e7),
    "mixed": np.where(np.arange(40) % 2, 1e300, 1e-300),
}
options = {"costs": [1, 2, 3, 4], "mistakes": 50}
learners = {
    "c45": askless.C45Classifier(**options),
    "eg2": askless.EG2Classifier(**options),
    "idx": askless.IDXClassifier(**options),
    "csid3": askless.CSID3Classifier(**options),
    "dtmc": askless.DTMCClassifier(**options),
    "lsid3": askless.LSID3Classifier(**options, samples=2, random_state=0),
    "act": askless.ACTClassifier(**options, samples=2, random_state=0),
    "tuned": askless.ACTClassifier(**options, samples=1, cost_weight="tuned"),
    "icet": askless.ICETClassifier(**options, trials=20, population=10, random_state=0),
    "cost-tree": askless.CostTreeClassifier(
        **options, n_estimators=5, class_weight="balanced", random_state=0
    ),
}
for name, learner in learners.items():
    for kind, weight in weights.items():
        learner.fit(X, y, weight)
        shares = learner.predict_proba(X).round(12).tolist()
        costs = learner.cost(X).tolist()
        print(json.dumps([name, kind, learner.policy_.n_leaves, shares, costs]))
"""
LEARNERS = [
    "c45", "eg2", "idx", "csid3", "dtmc", "lsid3", "act", "tuned", "icet", "cost-tree",
]  # fmt: skip


@pytest.fixture(scope="module")
def trees():
    """What each learner made of each set of weights."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {(name, kind): rest for name, kind, *rest in lines}


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_common_factor_out_of_range_changes_nothing(trees, learner):
    for kind in ("huge", "largest", "tiny", "least"):
        assert trees[learner, kind] == trees[learner, "one"], kind
    for kind in ("huge rare", "tiny rare"):
        assert trees[learner, kind] == trees[learner, "rare"], kind


def test_more_whole_weights_than_can_be_drawn_are_scaled(trees):
    assert trees["cost-tree", "whole"] == trees["cost-tree", "one"]


@pytest.mark.parametrize("learner", LEARNERS)
def test_rows_beyond_compare_leave_the_others_to_decide(trees, learner):
    n_leaves, shares, costs = trees[learner, "mixed"]
    assert n_leaves > 1
    assert np.isfinite(costs).all()
    assert np.allclose(np.sum(shares, axis=1), 1.0)


def test_ordinary_weights_are_left_as_they_are(rng):
    for scale in (1e-9, 1.0, 1e6):
        weights = scale * rng.uniform(0.1, 3.0, 50)
        assert settle_weights(weights, 50) is weights
        assert scale_weights(weights).tolist() == (weights / weights.mean()).tolist()
    assert settle_weights(None, 3).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("size", [1e-320, 1e-100, 1e40, 1e308])
def test_others_are_scaled_to_one_a_row(size):
    weights = settle_weights(np.array([size, size, 0.5 * size]), 3)
    assert weights == pytest.approx([1.2, 1.2, 0.6], rel=1e-3)
