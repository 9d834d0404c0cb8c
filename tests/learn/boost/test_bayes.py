"""Naive Bayes as trees: it says what counting says, also of half-bought rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import askless
from askless import BudgetBoostClassifier
from askless.learn._examples import KnownRows
from askless.learn.boost._bayes import ADDED_ROWS, blend, read_bayes
from askless.learn.boost._booster_rows import BoosterRows, choose_tests
from askless.learn.boost._compile import compile_source

FEW_VALUES = st.integers(0, 4).map(float) | st.just(float("nan"))


def count_slowly(x, y, n_classes, value):
    """Return what one value says for each class: log-odds against all rows."""

    def same(a, b):
        return a == b or (np.isnan(a) and np.isnan(b))

    if not any(same(a, value) for a in x):
        return np.zeros(n_classes)
    known = len({a for a in x if not np.isnan(a)})
    n_levels = known + 1  # one for no value
    every = sum(same(a, value) for a in x) / len(x)
    said = []
    for c in range(n_classes):
        rows = [a for a, b in zip(x, y, strict=True) if b == c]
        counted = sum(same(a, value) for a in rows) + ADDED_ROWS * n_levels * every
        said.append(np.log(counted / (len(rows) + ADDED_ROWS * n_levels) / every))
    return np.array(said)


@given(st.data())
def test_it_says_what_counting_says_of_whatever_was_bought(data):
    n_rows, n_columns = data.draw(st.integers(4, 20)), data.draw(st.integers(1, 3))
    n_classes = data.draw(st.integers(2, 3))
    cells = st.lists(FEW_VALUES, min_size=n_columns, max_size=n_columns)
    X = np.array(data.draw(st.lists(cells, min_size=n_rows, max_size=n_rows)))
    y = np.array([i % n_classes for i in range(n_rows)])
    # As many levels as values, so that none are joined.
    X = np.where(np.isnan(X), X, np.minimum(X, 2))
    tests = choose_tests(X, [f"x{i}" for i in range(n_columns)])
    source = read_bayes(BoosterRows.of(KnownRows(X, y), tests), tuple(range(n_classes)))
    policy = compile_source(source, None)
    # Of every column some value that a row has.
    row = [X[data.draw(st.integers(0, n_rows - 1)), i] for i in range(n_columns)]
    bought = data.draw(st.sets(st.integers(0, n_columns - 1)))
    expected = np.log(np.bincount(y, minlength=n_classes) / n_rows)
    answers = []
    for i in sorted(bought):
        if len({v for v in X[:, i] if not np.isnan(v)}) < 2:
            continue  # such a column has no tree
        expected = expected + count_slowly(X[:, i], y, n_classes, row[i])
        code = policy.tests[i].encode(np.array([row[i]]))[0]
        answers.append((i, int(code)))
    state = policy.state_after(tuple(answers))
    raw = state.raw if n_classes > 2 else np.array([0.0, *state.raw])
    assert raw - raw[0] == pytest.approx(expected - expected[0], abs=1e-5)


def test_categories_count_and_new_ones_say_nothing():
    colour = ["red", "red", "red", "blue", "blue", "green"] * 5
    y = np.array([0, 0, 0, 1, 1, 1] * 5)
    columns = {"colour": np.array(colour, dtype=object)}
    tests = choose_tests(columns, ["colour"])
    source = read_bayes(BoosterRows.of(KnownRows(columns, y), tests), ("no", "yes"))
    policy = compile_source(source, None, names=["colour"])
    rows = pd.DataFrame({"colour": ["red", "blue", "green", "pink", None]})
    found = policy.predict_proba(rows)[:, 1]
    assert found[0] < 0.2
    assert (found[1:3] > 0.8).all()
    assert found[3:] == pytest.approx(0.5)


def test_a_blend_lies_between():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), rng.integers(0, 3, 80)
    rows = BoosterRows.of(KnownRows(X, y), choose_tests(X, ["a", "b"]))
    one = read_bayes(rows, (0, 1, 2))
    other = read_bayes(rows.take(slice(0, 40)), (0, 1, 2))
    sums = [
        compile_source(source, None, is_complete=True).run_rows(X)[0]
        for source in (one, other, blend(one, other, 0.25))
    ]
    assert sums[2] == pytest.approx(0.75 * sums[0] + 0.25 * sums[1], abs=1e-6)


def test_columns_that_say_nothing_are_never_bought():
    X, y = np.ones((30, 2)), np.arange(30) % 2
    rows = BoosterRows.of(KnownRows(X, y), choose_tests(X, ["a", "b"]))
    policy = compile_source(read_bayes(rows, (0, 1)), None)
    assert policy.cost(X).tolist() == [0.0] * 30


def test_weights_count_as_rows_do():
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 3, (40, 2)).astype(float), np.arange(40) % 2
    counts = rng.integers(1, 3, 40)
    tests = choose_tests(X, ["a", "b"])
    weights = 2.0 * counts * 40 / counts.sum()
    heavy = BoosterRows.of(KnownRows(X, y, weights), tests)
    again = np.repeat(np.arange(40), counts)
    # The same shares; more rows would outweigh the added ones.
    some = BoosterRows.of(KnownRows(X[again], y[again]), tests)
    sums = [
        compile_source(read_bayes(rows, (0, 1)), None, is_complete=True).run_rows(X)[0]
        for rows in (heavy, some)
    ]
    assert np.sign(sums[0]).tolist() == np.sign(sums[1]).tolist()
    light = BoosterRows.of(KnownRows(X, y, weights / 7), tests)
    found = compile_source(read_bayes(light, (0, 1)), None, is_complete=True)
    assert found.run_rows(X)[0] == pytest.approx(sums[0])


def test_few_rows_are_given_naive_bayes_and_blends_to_choose_from():
    pytest.importorskip("lightgbm")
    cube = askless.datasets.make_cube(400, random_state=0)
    boost = BudgetBoostClassifier(n_estimators=5, n_folds=0, random_state=0)
    boost.fit(pd.DataFrame(cube.columns), cube.y)
    plans = boost._candidates.plans[: 2 * len(boost.models_) : 2]
    families = [plan.family for plan in plans]
    assert families.count("bayes") == 1
    assert families.count("blend") == 2
    # A blend is grown from the booster that stands alone, too.
    blended = [m for m, f in zip(boost.models_, families, strict=True) if f == "blend"]
    alone = {
        plan.tradeoff: model
        for plan, model in zip(plans, boost.models_, strict=True)
        if plan.family == "boost" and plan.is_own and plan.n_leaves == 16
    }
    n_bayes = boost.models_[families.index("bayes")].trees.n_trees
    n_boosted = [m.trees.n_trees - n_bayes for m in blended]
    assert n_boosted[0] > 0 == n_boosted[0] % 8  # a tree for each class
    assert n_boosted[1] == alone[0.03].trees.n_trees
