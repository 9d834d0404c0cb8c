"""What the forest is worth by the rows that it has not seen."""

import numpy as np
import pytest

from askless import CostTreeClassifier
from askless._core.soft._out_of_bag import OutOfBag
from askless.learn.cost_tree import _search
from askless.learn.cost_tree._class_noise import (
    measure_noise,
    scale_classes,
    sharpen_shares,
)


def draw_shares(rng, n=300, k=3, power=1.0):
    """Return shares, and classes drawn from these shares to a power."""
    shares = rng.dirichlet(np.full(k, 0.7), n)
    true = shares**power
    true /= true.sum(axis=1, keepdims=True)
    classes = np.array([rng.choice(k, p=p) for p in true], dtype=np.int32)
    return shares, classes


@pytest.mark.parametrize("power", [0.6, 1.0, 2.5])
def test_shares_are_sharpened_as_much_as_the_classes_say(rng, power):
    shares, classes = draw_shares(rng, 3_000, power=power)
    sharp = sharpen_shares(shares, classes, np.ones(len(classes)))
    np.testing.assert_allclose(sharp.sum(axis=1), 1.0)
    wanted = shares**power
    wanted /= wanted.sum(axis=1, keepdims=True)
    assert np.abs(sharp - wanted).mean() < 0.03


def test_few_rows_change_little(rng):
    shares = np.array([[0.7, 0.3], [0.3, 0.7]])
    sharp = sharpen_shares(shares, np.array([0, 1], dtype=np.int32), np.ones(2))
    many = sharpen_shares(
        np.repeat(shares, 50, axis=0),
        np.repeat([0, 1], 50).astype(np.int32),
        np.ones(100),
    )
    assert shares[0, 0] < sharp[0, 0] < many[0, 0]


def test_a_weight_is_so_many_rows(rng):
    shares, classes = draw_shares(rng, 60)
    weights = rng.integers(1, 4, 60)
    by_weight = sharpen_shares(shares, classes, weights.astype(float))
    by_rows = sharpen_shares(
        np.repeat(shares, weights, axis=0), np.repeat(classes, weights),
        np.ones(weights.sum()),
    )  # fmt: skip
    np.testing.assert_allclose(np.repeat(by_weight, weights, axis=0), by_rows)


def test_noise_is_what_cannot_be_told():
    classes, ones = np.repeat([0, 1], 50).astype(np.int32), np.ones(100)
    certain = np.eye(2)[classes]
    mistakes = 3.0 * (1.0 - np.eye(2))
    assert measure_noise(certain, classes, ones, mistakes) == 0.0
    assert measure_noise(np.full((100, 2), 0.5), classes, ones, mistakes) == 1.0
    assert measure_noise(1.0 - certain, classes, ones, mistakes) == 1.0


def test_a_few_dear_mistakes_are_noise():
    """One row in fifty is wrong, but a mistake on it is what almost all costs are."""
    classes = np.array([0] * 98 + [1] * 2, dtype=np.int32)
    shares = np.tile([0.99, 0.01], (100, 1))
    shares[99] = [0.0, 1.0]
    cheap, dear = (np.array([[0.0, 1.0], [m, 0.0]]) for m in (1.0, 49.0))
    noise = [measure_noise(shares, classes, np.ones(100), m) for m in (cheap, dear)]
    assert noise[1] == 1.0
    assert noise[0] <= noise[1]


@pytest.mark.parametrize("mistakes", [np.zeros((1, 1)), np.zeros((2, 2))])
def test_nothing_to_lose_is_no_error(mistakes):
    k = len(mistakes)
    classes, shares = np.zeros(5, dtype=np.int32), np.full((5, k), 1.0 / k)
    assert 0.0 <= measure_noise(shares, classes, np.ones(5), mistakes) <= 1.0
    np.testing.assert_array_equal(scale_classes(mistakes), np.ones(k))
    assert np.isfinite(sharpen_shares(shares, classes, np.ones(5))).all()


def test_a_class_that_matters_more_is_told_from_the_others(rng):
    """A cut that separates no class that matters is not made."""
    n = 600
    common, rare = rng.integers(0, 2, (2, n))
    rare[rng.random(n) < 0.9] = 0
    classes = np.where(rare == 1, 2, common).astype(np.int32)
    codes = np.array([common, rare], dtype=np.uint16)
    levels, ordered = np.full(2, 2, dtype=np.int32), np.zeros(2, dtype=np.uint8)

    def share_of_rare(scale):
        forest = OutOfBag(
            codes, levels, ordered, classes, np.ones(n), np.array(scale), 3.0, 2, 5
        )
        forest.add_trees(8)
        return forest.shares()[classes == 2, 2].mean()

    assert share_of_rare([0.001, 0.001, 1.0]) > 0.9
    assert share_of_rare([1.0, 1.0, 0.0]) < 0.5


def test_a_leaf_costs_less_where_classes_are_clear(rng, monkeypatch):
    X = rng.integers(0, 2, (400, 4))
    y = X[:, 0] ^ X[:, 1]
    model = CostTreeClassifier([1.0] * 4, mistakes=60.0)
    clear = model.fit(X, y).expected_cost_
    monkeypatch.setattr(_search, "measure_noise", lambda *_: 1.0)
    assert clear < model.fit(X, y).expected_cost_
