"""The kernels of the cost tree against their plain twins, choice by choice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askless._core.cost._workspace import Workspace
from askless._core.soft._out_of_bag import OutOfBag
from askless._core.soft._rollout import Rollouts
from askless.learn.cost_tree._grower import Grower
from askless.learn.cost_tree._soft_rows import SoftRows
from askless.problem import Costs, Test
from askless.testing import PlainCostTree, PlainForest

CRITERIA = ["eg2", "dtmc", "two-step", "rollout"]


@st.composite
def coded_rows(draw, most_rows=40):
    """Tests and codes, some numbers, some categories, some outcomes missing."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = draw(st.integers(1, most_rows))
    tests, codes = [], []
    for i in range(draw(st.integers(1, 4))):
        n_levels = int(rng.integers(1, 6))
        if rng.random() < 0.5:
            cuts = tuple(float(c) for c in range(n_levels - 1))
            tests.append(Test(f"t{i}", "number", cuts=cuts))
        else:
            outcomes = tuple(f"o{c}" for c in range(n_levels))
            tests.append(Test(f"t{i}", "category", outcomes=outcomes))
        has_missing = rng.random() < 0.5
        codes.append(rng.integers(0, n_levels + has_missing, n_rows))
    return rng, tests, np.array(codes, dtype=np.uint16)


def draw_costs(rng, tests):
    """Costs with groups, delays or prices by outcome."""
    names = [test.name for test in tests]
    full = {name: float(rng.choice([0.0, 0.5, 1.0, 2.0, 4.0])) for name in names}
    groups, discounted = {}, {}
    if len(names) > 2 and rng.random() < 0.6:
        groups = {"g": names[:2]}
        discounted = {name: full[name] * 0.25 for name in names[:2]}
    kind = rng.choice(["plain", "delayed", "by outcome"])
    delayed = [n for n in names if rng.random() < 0.5] if kind == "delayed" else []
    by_outcome = {}
    if kind == "by outcome":
        by_outcome = {
            test.name: {o: float(rng.integers(0, 4)) for o in test.outcomes}
            for test in tests
            if test.outcomes and test.name not in groups.get("g", [])
        }
    return Costs(
        full, groups=groups, discounted=discounted, delayed=delayed,
        by_outcome=by_outcome,
    )  # fmt: skip


def to_plain(node):
    """Return a grown tree as the twin writes it."""
    if not node.children:
        return {}
    branches = zip(node.codes, node.children, strict=True)
    return {
        "test": node.test,
        "cut": node.cut,
        "branches": {code: to_plain(child) for code, child in branches},
    }


@settings(max_examples=150)
@given(
    data=coded_rows(),
    criterion=st.sampled_from(CRITERIA),
    n_samples=st.integers(0, 2),
    n_jobs=st.integers(1, 2),
    use_floors=st.booleans(),
)
def test_the_look_ahead_chooses_as_its_twin(
    data, criterion, n_samples, n_jobs, use_floors
):
    rng, tests, codes = data
    n_classes = int(rng.integers(1, 4))
    weights = rng.random((codes.shape[1], n_classes)) * rng.integers(1, 4)
    weights[rng.random(weights.shape) < 0.3] = 0.0
    weights[:, 0] += 0.01
    mistakes = rng.integers(1, 9, (n_classes, n_classes)).astype(float)
    if rng.random() < 0.5:
        # The same for all mistakes on a class: a shorter way through the kernel.
        mistakes[:] = mistakes[:, :1]
    np.fill_diagonal(mistakes, 0.0)
    prices = draw_costs(rng, tests).price_list(tests)
    leaf_cost, exponent = float(rng.choice([0.0, 0.3, 1.0])), 0.8
    levels = np.array([test.n_levels for test in tests], dtype=np.int32)
    ordered = np.array([test.kind == "number" for test in tests], dtype=np.uint8)
    where, classes = np.nonzero(weights)
    starts = np.append(0, np.cumsum(np.count_nonzero(weights, axis=1)))
    soft = SoftRows(
        codes,
        starts.astype(np.int64),
        classes.astype(np.int32),
        weights[where, classes],
    )
    workspace = Workspace(
        soft.codes, levels, ordered, soft.entry_start, soft.entry_class,
        soft.entry_weight, mistakes, prices.engine,
    )  # fmt: skip
    rollouts = Rollouts(workspace, leaf_cost, exponent, n_jobs, use_floors)
    grower = Grower(
        soft, prices, rollouts, levels, seed=7, n_cuts=2,
        stop=np.zeros(1, dtype=np.int32),
    )  # fmt: skip
    root = grower.grow(criterion, n_samples)
    twin = PlainCostTree(
        codes.tolist(), levels.tolist(), ordered.tolist(), weights.tolist(),
        mistakes.tolist(), leaf_cost, exponent, prices, seed=7,
    )  # fmt: skip
    tree, cost = twin.grow(criterion, n_samples)
    assert root.cost == pytest.approx(cost, rel=1e-9)
    assert to_plain(root) == tree


@settings(max_examples=60)
@given(data=coded_rows(), n_tried=st.integers(1, 4), n_jobs=st.integers(1, 2))
def test_the_forest_says_what_its_twin_says(data, n_tried, n_jobs):
    rng, tests, codes = data
    n_rows, n_classes = codes.shape[1], int(rng.integers(1, 4))
    class_ids = rng.integers(0, n_classes, n_rows).astype(np.int32)
    weights = rng.choice([0.5, 1.0, 2.0, 40.0], n_rows)
    ordered = np.array([test.kind == "number" for test in tests], dtype=np.uint8)
    levels = np.array([test.n_levels for test in tests], dtype=np.int32)
    scale = rng.choice([0.0, 0.25, 1.0], n_classes)
    forest = OutOfBag(
        codes, levels, ordered, class_ids, weights, scale, 2.0, n_tried, 11
    )
    while forest.n_trees < 11:
        forest.add_trees(11 - forest.n_trees, n_jobs)
    twin = PlainForest(
        codes.tolist(), ordered.tolist(), class_ids.tolist(), weights.tolist(),
        scale.tolist(), 2.0, n_tried, 11,
    )  # fmt: skip
    np.testing.assert_allclose(forest.shares(), twin.shares(11), atol=1e-12)
