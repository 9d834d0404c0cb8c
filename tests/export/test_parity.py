"""Whatever a policy is exported to decides as the policy does, in the engine itself.

Rows lie on every cut and beside it, in single and in double precision; values are
missing, infinite, or were never seen. Leaves are compared, not only decisions.
"""

import numpy as np
import pytest

from askless.policy import Forest
from askless.problem import PriceList
from tests.export.engines import ENGINES, expected
from tests.export.grown import adversarial_rows, grow_to_depth, mixed_tests

N_ROWS = 10_000
DEPTHS = (1, 2, 4, 8, 14, 25)
CLASSES = ("it's", "b", 'c "d"')
MISTAKES = np.array([[0.0, 1.0, 2.5], [3.0, 0.0, 1.0], [1.0, 9.0, 0.0]])


def run(engine, policy, rows, folder):
    extra = (folder,) if engine == "javascript" else ()
    return ENGINES[engine](policy, rows, *extra)


def check(engine, policy, rows, folder):
    wanted_leaves, wanted = expected(policy, rows)
    leaves, decisions = run(engine, policy, rows, folder)
    assert np.count_nonzero(leaves != wanted_leaves) == 0
    assert np.count_nonzero(decisions != wanted) == 0


def without_empty_text(rows):
    """Return rows in which an empty text is missing, as it is for ONNX."""
    return {
        name: np.array([None if v == "" else v for v in column], dtype=object)
        if column.dtype == object
        else column
        for name, column in rows.items()
    }


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("engine", ENGINES)
def test_trees_of_every_depth(engine, depth, rng, tmp_path):
    rng = rng.spawn(len(DEPTHS))[DEPTHS.index(depth)]
    tests = mixed_tests(rng, 9)
    tree = grow_to_depth(rng, tests, CLASSES, depth, 300)
    assert tree.depth == depth
    rows = adversarial_rows(rng, tests, N_ROWS)
    if engine == "onnx":
        rows = without_empty_text(rows)
    check(engine, tree, rows, tmp_path)


@pytest.mark.parametrize("rule", ["votes", "counts"])
@pytest.mark.parametrize("engine", ENGINES)
def test_forests_of_100_trees(engine, rule, rng, tmp_path):
    rng = rng.spawn(2)[rule == "counts"]
    tests = mixed_tests(rng, 9)
    prices = PriceList.plain(np.ones(9))
    trees = [
        grow_to_depth(rng, tests, CLASSES, 6, 20, prices=prices, mistakes=MISTAKES)
        for _ in range(100)
    ]
    forest = Forest.from_trees(trees, rule=rule)
    rows = adversarial_rows(rng, tests, N_ROWS)
    if engine == "onnx":
        rows = without_empty_text(rows)
    check(engine, forest, rows, tmp_path)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_tree_of_one_leaf(engine, rng, tmp_path):
    tests = mixed_tests(rng, 2)
    tree = grow_to_depth(rng, tests, CLASSES, 0, 1)
    rows = adversarial_rows(rng, tests, 5)
    if engine == "onnx":
        rows["rows"] = np.zeros(5)
    check(engine, tree, rows, tmp_path)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_large_tree_is_walked_in_steps(engine, rng, tmp_path):
    tests = mixed_tests(rng, 9)
    tree = grow_to_depth(rng, tests, CLASSES, 14, 3000)
    rows = adversarial_rows(rng, tests, 2000)
    if engine == "onnx":
        rows = without_empty_text(rows)
    check(engine, tree, rows, tmp_path)
