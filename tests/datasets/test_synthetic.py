"""The synthetic table of 1024 cases, as its paper defines it."""

import itertools

import numpy as np

from askless.datasets import make_synthetic_1024


def test_classes_are_quarters_but_for_four_outliers():
    table = make_synthetic_1024()
    classes = np.array(table.case_classes)
    assert [classes[n] for n in (0, 256, 512, 768)] == [2, 3, 4, 1]
    for quarter in range(4):
        inner = classes[256 * quarter + 1 : 256 * (quarter + 1)]
        assert set(inner.tolist()) == {quarter + 1}


def test_outcomes_are_the_bits_with_the_first_test_first():
    table = make_synthetic_1024()
    rows = np.array(list(table.rows().values()), dtype=int)
    places = 2 ** np.arange(9, -1, -1)
    assert (places @ rows).tolist() == list(range(1024))
    assert table.test_names[0] == "t1"


def test_it_has_393216_pairs_of_different_class():
    classes = make_synthetic_1024().case_classes
    counts = [classes.count(name) for name in (1, 2, 3, 4)]
    assert sum(a * b for a, b in itertools.combinations(counts, 2)) == 393_216


def test_two_tests_decide_all_but_four():
    table = make_synthetic_1024()
    rows = table.rows()
    sides = list(zip(rows["t1"], rows["t2"], table.case_classes, strict=True))
    wrong = sum(2 * first + second + 1 != name for first, second, name in sides)
    assert wrong == 4


def test_case_zero_differs_in_one_bit_from_ten_cases_of_another_class():
    classes = make_synthetic_1024().case_classes
    assert all(classes[2**bit] != classes[0] for bit in range(10))


def test_costs_are_one_and_cases_equally_likely():
    table = make_synthetic_1024()
    assert set(table.prices.full.tolist()) == {1.0}
    assert np.allclose(table.prior, 1 / 1024)
