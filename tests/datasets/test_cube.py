"""CUBE, as its paper defines it."""

import numpy as np
import pytest

from askless.datasets import make_cube
from askless.exceptions import InvalidOptionError


def test_three_tests_of_each_class_show_its_bits_and_all_others_are_uniform():
    cube = make_cube(8000, random_state=0)
    X = np.column_stack(list(cube.columns.values()))
    for c in range(8):
        rows = X[cube.y == c]
        bits = [(c >> 2) & 1, (c >> 1) & 1, c & 1]
        np.testing.assert_allclose(rows[:, c : c + 3].mean(axis=0), bits, atol=0.02)
        np.testing.assert_allclose(rows[:, c : c + 3].std(axis=0), 0.1, atol=0.02)
        others = np.delete(rows, [c, c + 1, c + 2], axis=1)
        assert others.min() >= 0
        assert others.max() <= 1
        np.testing.assert_allclose(others.mean(axis=0), 0.5, atol=0.05)


def test_the_same_state_draws_the_same_cases():
    one, other = make_cube(50, random_state=3), make_cube(50, random_state=3)
    assert one.y.tolist() == other.y.tolist()
    assert one.columns["t4"].tolist() == other.columns["t4"].tolist()
    assert make_cube(5, n_tests=12, random_state=0).columns.keys() == {
        f"t{i}" for i in range(12)
    }


def test_too_few_tests_are_refused():
    with pytest.raises(InvalidOptionError, match="n_tests must be at least 10"):
        make_cube(n_tests=9)
