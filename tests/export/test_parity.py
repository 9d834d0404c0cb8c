"""Whatever a policy is exported to decides as the policy does, in the engine itself.

Rows lie on every cut and beside it, in single and in double precision; values are
missing, infinite, or were never seen. Leaves are compared, not only decisions.
"""

import numpy as np
import pandas
import pytest

import askless
from askless.policy import Forest
from askless.problem import PriceList
from tests.export.engines import ENGINES, TRANSLATED, expected
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
    # What is run in DuckDB in any case need not be that large again.
    n_trees = 10 if engine in TRANSLATED else 100
    rng = rng.spawn(2)[rule == "counts"]
    tests = mixed_tests(rng, 9)
    prices = PriceList.plain(np.ones(9))
    trees = [
        grow_to_depth(rng, tests, CLASSES, 6, 20, prices=prices, mistakes=MISTAKES)
        for _ in range(n_trees)
    ]
    forest = Forest.from_trees(trees, voting=rule)
    rows = adversarial_rows(rng, tests, N_ROWS)
    if engine == "onnx":
        rows = without_empty_text(rows)
    check(engine, forest, rows, tmp_path)


@pytest.fixture(scope="module")
def learned():
    """Return policies learned from rows of every kind, and these rows."""
    rng = np.random.default_rng(7)
    age, dose = rng.normal(50, 20, N_ROWS).round(1), rng.gamma(2, 3, N_ROWS)
    colour = rng.choice(["red", "green", "it's"], N_ROWS).astype(object)
    visits = rng.integers(0, 9, N_ROWS).astype(float)
    risk = np.where(colour == "red", age - 60, 9 * (dose - 7)) + 8 * (visits % 3)
    y = np.where(risk + rng.normal(0, 9, N_ROWS) > 0, CLASSES[0], CLASSES[1])
    age[rng.random(N_ROWS) < 0.1] = np.nan
    colour[rng.random(N_ROWS) < 0.1] = None
    rows = {"age": age, "dose": dose, "colour": colour, "visits": visits}
    costs = askless.Costs({"age": 1, "dose": 5, "colour": 2, "visits": 1})
    X = pandas.DataFrame(rows)
    return rows, {
        "tree": askless.CostTreeClassifier(costs, random_state=0).fit(X, y).policy_,
        "forest": askless.BudgetForestClassifier(
            costs, n_estimators=15, max_depth=7, random_state=0
        )
        .fit(X, y)
        .policy_,
    }


@pytest.mark.parametrize("kind", ["tree", "forest"])
@pytest.mark.parametrize("engine", ENGINES)
def test_the_rows_it_was_learned_from(engine, kind, learned, tmp_path):
    rows, policies = learned
    assert policies[kind].n_nodes > 20
    check(engine, policies[kind], rows, tmp_path)


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
