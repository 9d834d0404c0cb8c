"""Links of other libraries, one number at a time, with the C library's functions."""

import math

import numpy as np
import pytest

from askless._core.ensemble._links import (
    exp_each,
    log_each,
    sigmoid_each,
    softmax_rows,
)


def random_scores(rng):
    edges = [0.0, -0.0, 1e-300, 37.0, -37.0, 709.0, -745.0]
    return np.concatenate([edges, 10 * rng.normal(size=200), rng.normal(size=200)])


def test_doubles_are_those_of_the_c_library(rng):
    scores = random_scores(rng)
    assert exp_each(scores).tolist() == [math.exp(x) for x in scores]
    assert log_each(np.abs(scores) + 0.1).tolist() == [
        math.log(x) for x in np.abs(scores) + 0.1
    ]
    assert sigmoid_each(scores[:5], 0.7).tolist() == [
        1.0 / (1.0 + math.exp(-0.7 * x)) for x in scores[:5]
    ]


def test_a_row_of_shares_is_added_from_the_first_on(rng):
    for n_classes in (1, 2, 3, 11):
        scores = 5 * rng.normal(size=(50, n_classes))
        found = softmax_rows(scores)
        for row, shares in zip(scores.tolist(), found.tolist(), strict=True):
            powers = [math.exp(x - max(row)) for x in row]
            total = 0.0
            for power in powers:
                total += power
            assert shares == [power / total for power in powers]


@pytest.mark.parametrize("link", [exp_each, sigmoid_each])
def test_single_precision_is_near_double_precision(link, rng):
    scores = np.clip(random_scores(rng), -80, 80).astype(np.float32)
    doubles = scores.astype(np.float64)
    found = link(doubles, is_single=True)
    assert (found == found.astype(np.float32)).all()
    np.testing.assert_allclose(found, link(doubles), rtol=1e-6)


def test_the_sigmoid_of_single_precision_stays_above_zero():
    found = sigmoid_each(np.array([-1e30, 1e30]), is_single=True)
    assert 0 < found[0] < 1e-38
    assert found[1] == 1.0
