"""The worked examples of the papers on ACT, LSID3, DTMC and ICET, number by number."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from askless import ACTClassifier, ICETClassifier
from askless._core.cost._errors import expected_errors
from askless._core.cost._induce import Inducer
from askless._core.cost._workspace import Workspace
from askless.learn.trees._genetic import decode_bits, encode_value
from askless.learn.trees._look_ahead import act_settings
from askless.problem import PriceList
from askless.testing import PlainGrower
from askless.testing._reference_trees import NOTHING_PAID
from tests.learn.trees.inducers import make_inducer


def induce(codes, classes, mistakes, prices, **options) -> Inducer:
    codes = np.ascontiguousarray(codes, dtype=np.uint8)
    classes = np.asarray(classes, dtype=np.int32)
    workspace = Workspace(
        codes, codes.max(axis=1).astype(np.int32) + 1, np.zeros(len(codes), np.uint8),
        np.arange(len(classes) + 1, dtype=np.int64), classes, np.ones(len(classes)),
        np.ascontiguousarray(mistakes, dtype=float), PriceList.plain(prices).engine,
    )  # fmt: skip
    return make_inducer(workspace, **{"criterion": "eg2", "value": "cost", **options})


def four_leaves(*leaves):
    """Return two binary tests whose four outcomes hold so many rows of each class."""
    rows = [
        (leaf >> 1, leaf & 1, k)
        for leaf, counts in enumerate(leaves)
        for k, count in enumerate(counts)
        for _ in range(count)
    ]
    first, second, classes = np.array(rows).T
    return np.array([first, second]), classes


T1 = four_leaves((5, 95), (95, 5), (5, 95), (95, 5))


@pytest.mark.parametrize(
    ("prices", "total"), [([10, 10], 27.332684), ([40, 10], 57.332684)]
)
def test_the_first_tree_of_the_figures_costs_what_it_should(prices, total):
    inducer = induce(*T1, [[0, 100], [100, 0]], prices, prunes=False)
    assert (inducer.grow()["test"] < 0).sum() == 4
    assert inducer.value / 400 == pytest.approx(total, abs=1e-6)


def test_the_second_tree_of_the_figures_costs_what_it_should():
    # Its leaves hold 0 and 50, and 100 and 50, twice. Grown here without the first
    # test, which tells nothing, it has each of them once, with twice the rows.
    none, many = expected_errors(50, 0, 0.25), expected_errors(150, 50, 0.25)
    assert 20 + (2 * none + 2 * many) * 100 / 400 == pytest.approx(47.933121, abs=1e-6)
    codes, classes = four_leaves((0, 100), (200, 100))
    inducer = induce(codes[1:], classes, [[0, 100], [100, 0]], [10], prunes=False)
    inducer.grow()
    none, many = expected_errors(100, 0, 0.25), expected_errors(300, 100, 0.25)
    assert inducer.value / 400 == pytest.approx(10 + (none + many) / 4, abs=1e-6)


def test_uneven_mistakes_of_the_figures():
    # False positives cost 1, false negatives 199. With the labels of the figures.
    counts = (100, 5), (50, 0), (150, 50)
    few, none, many = (expected_errors(m, s, 0.25) for m, s in counts)
    t1 = (2 * few * 1 + 2 * few * 199) / 400
    t2 = (2 * none * 199 + 2 * many * 1) / 400
    assert (t1, t2) == pytest.approx((7.332684, 1.632911), abs=1e-6)
    # A leaf of 50 negatives says so, and one of 50 and 100 calls all positive.
    for counts, value in (((50, 0), none * 199), ((50, 100), many * 1)):
        classes = np.repeat([0, 1], counts)
        leaf = induce(np.zeros((1, len(classes))), classes, [[0, 1], [199, 0]], [1])
        leaf.grow()
        assert leaf.value == pytest.approx(value, rel=1e-9)


def test_a_subtree_is_pruned_where_mistakes_are_cheap():
    dear = induce(*T1, [[0, 100], [100, 0]], [10, 10])
    # The whole tree is kept; its test that tells nothing is not.
    assert len(dear.grow()["test"]) == 3
    assert dear.value / 400 < 27.332684 < 51.809488
    cheap = induce(*T1, [[0, 10], [10, 0]], [10, 10])
    assert len(cheap.grow()["test"]) == 1
    assert cheap.value / 400 == pytest.approx(5.180949, abs=1e-6)
    alone = expected_errors(400, 200, 0.25) * 100 / 400
    assert alone == pytest.approx(51.809488, abs=1e-6)


@pytest.mark.parametrize(
    ("label", "value"), [(0, 132.4662), (1, 223.6315), (2, 829.1138)]
)
def test_a_leaf_of_three_classes_averages_its_mistakes(label, value):
    # mistakes[true][decision]; the paper writes the transpose. The other two labels are
    # made so dear that this one is decided.
    mistakes = np.array([[0, 10, 50], [20, 0, 30], [100, 5, 0]]).T
    mistakes = mistakes + 1e6 * (np.arange(3) != label) * (1 - np.eye(3))
    classes = [0] * 8 + [1] * 3 + [2]
    inducer = induce(np.zeros((1, 12)), classes, mistakes, [1])
    inducer.grow()
    assert inducer.value == pytest.approx(value, abs=1e-4)


def test_the_cheapest_samples_of_the_branches_add_up(monkeypatch):
    # A test of 0.4, and two samples in each of its branches.
    grower = PlainGrower(
        [[0, 1]], [2], [False], [0, 1], [1.0, 1.0], [[0, 9], [9, 0]],
        PriceList.plain([0.2]), n_samples=2,
    )  # fmt: skip
    samples = iter([4.7, 5.1, 8.9, 4.9])
    monkeypatch.setattr(
        grower, "price_sample", lambda *_, **__: (next(samples), NOTHING_PAID)
    )
    assert [total for *_, total in grower.price_tests()] == [pytest.approx(10.0)]


@pytest.mark.parametrize(
    ("x", "w", "confidence"),
    [
        (0, 1.5, 0.2),
        (0.1, 1.404837, 0.209091),
        (1, 0.867879, 0.25),
        (5 / 3, 0.688876, 0.2625),
        (10, 0.500045, 0.290909),
    ],
)
def test_settings_of_act(x, w, confidence):
    assert act_settings(x * 7, 7) == pytest.approx((w, confidence), abs=1e-6)


def test_settings_of_act_without_prices():
    assert act_settings(5, 0) == (0.5, 0.3)


BITS = np.array([[a >> 2 & 1, a >> 1 & 1, a & 1] for a in range(8)]).T
PARITY = BITS[0] ^ BITS[1]


@pytest.mark.parametrize(
    ("confidence", "right", "wrong", "alone"),
    [(0.25, 52, 78, 67.091657), (None, 47.494277, 73.291262, 64.837607)],
)
def test_act_on_a_parity(confidence, right, wrong, alone):
    if confidence is None:
        confidence = act_settings(100, 3)[1]
        assert confidence == pytest.approx(0.297087, abs=1e-6)
    options = {"confidence": confidence, "n_samples": 20, "seed": 1}
    mistakes = [[0, 100], [100, 0]]
    inducer = induce(BITS, PARITY, mistakes, [1, 1, 1], use_bounds=False, **options)
    totals = [total / 8 for _, _, total in inducer.price_tests()]
    assert totals == pytest.approx([right, right, wrong], abs=1e-6)
    inducer.grow()
    assert inducer.value / 8 == pytest.approx(right, abs=1e-6)
    leaf = induce(np.zeros((1, 8)), PARITY, mistakes, [1], confidence=confidence)
    leaf.grow()
    assert leaf.value / 8 == pytest.approx(alone, abs=1e-6)
    model = ACTClassifier([1, 1, 1], 100, confidence=confidence).fit(BITS.T, PARITY)
    assert model.expected_cost_ == pytest.approx(right, abs=1e-6)


@pytest.mark.parametrize("r", [1, 2, 3, 4, 5])
def test_chances_of_a_small_tree_for_a_parity(r):
    """With r trees that draw tests evenly, a branch finds its two leaves.

    The published chances are those of even draws. Draws that follow the gain always
    find them: once one bit is known, the other has all the gain.
    """
    n, hits = 1500, 0
    for seed in range(n):
        inducer = induce(
            BITS, PARITY, [[0, 1], [1, 0]], [1, 1, 1], w=1e6, value="errors",
            sample_value="leaves", greedy_first=False, n_samples=r, seed=seed,
            use_bounds=False,
        )  # fmt: skip
        totals = [total for _, _, total in inducer.price_tests()]
        hits += totals[0] == 4
        assert totals[2] == 8
    chance = (1 - 2.0**-r) ** 2
    assert abs(hits / n - chance) < 5 * math.sqrt(chance * (1 - chance) / n)
    by_gain = induce(
        BITS, PARITY, [[0, 1], [1, 0]], [1, 1, 1], criterion="gain", value="errors",
        sample_value="leaves", greedy_first=False, n_samples=r, use_bounds=False,
    )  # fmt: skip
    assert [total for _, _, total in by_gain.price_tests()] == [4, 4, 8]


def test_bits_of_icet_are_decoded():
    def decode(whole, low, high):
        bits = np.array([whole >> i & 1 for i in range(12)][::-1], dtype=np.uint8)
        return decode_bits(bits, low, high)

    assert decode(0, 1, 10_000) == 1
    assert decode(4095, 1, 10_000) == 10_000
    assert decode(2048, 1, 10_000) == pytest.approx(5001.7209, abs=1e-4)
    assert decode(2048, 0, 1) == pytest.approx(0.500122, abs=1e-6)
    assert decode(2048, 1, 100) == pytest.approx(50.512088, abs=1e-6)


def test_the_gray_code_of_2048_is_3072():
    bits = encode_value(2048, 0, 4095, gray=True)
    assert int("".join(map(str, bits)), 2) == 3072
    codes = [encode_value(n, 0, 4095, gray=True) for n in range(4096)]
    assert [decode_bits(b, 0, 4095, gray=True) for b in codes] == list(range(4096))
    assert all((a != b).sum() == 1 for a, b in pairwise(codes))


def test_icet_searches_in_a_gray_code_too():
    X = [[i, i % 7] for i in range(40)]
    y = [i > 19 for i in range(40)]
    model = ICETClassifier([1, 5], 50, trials=100, gray_code=True, random_state=0)
    assert model.fit(X, y).score(X, y) == 1


def test_numbers_of_icet_survive_coding(rng):
    for value in rng.uniform(1, 10_000, 100):
        again = decode_bits(encode_value(value, 1, 10_000), 1, 10_000)
        assert abs(again - value) <= 9999 / 4095 / 2 * (1 + 1e-9)
    assert decode_bits(encode_value(0.2, 1, 10_000), 1, 10_000) == 1
