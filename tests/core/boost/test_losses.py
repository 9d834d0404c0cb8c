"""The log loss of boosted sums, its derivatives, and what rows count when charged."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askless._core.boost._losses import log_loss, write_charges, write_derivatives
from askless.testing import plain_charges, plain_derivatives, plain_log_loss
from tests.strategies import generators

# Log-odds from even to beyond what exp can hold.
SCALES = (0.0, 1.0, 30.0, 2000.0)
N_SUMS = st.integers(1, 6)


def random_sums(rng, n_sums, n_rows=12):
    """Return sums of every size, the classes of rows and their weights."""
    scales = rng.choice(SCALES, (n_rows, 1))
    class_ids = rng.integers(0, max(n_sums, 2), n_rows).astype(np.int32)
    weights = rng.choice([0.0, 0.5, 1.0, 7.0], n_rows)
    return rng.normal(size=(n_rows, n_sums)) * scales, class_ids, weights


def derive(sums, class_ids, weights):
    out = np.full((len(sums), 2 * sums.shape[1]), np.nan)
    write_derivatives(sums, class_ids, weights, out)
    return out


def charge(sums, weights):
    out = np.full(len(sums), np.nan)
    # Charges are made of second derivatives, which no class changes.
    derivatives = derive(sums, np.zeros(len(sums), np.int32), weights)
    write_charges(derivatives, weights, out)
    return out


def listed(*arrays):
    return [array.tolist() for array in arrays]


@given(rng=generators(), n_sums=N_SUMS)
def test_derivatives_are_those_of_the_plain_twin(rng, n_sums):
    sums, class_ids, weights = random_sums(rng, n_sums)
    plain = np.array(plain_derivatives(*listed(sums, class_ids, weights)))
    np.testing.assert_allclose(derive(sums, class_ids, weights), plain, atol=1e-12)


@given(rng=generators(), n_sums=N_SUMS)
def test_the_loss_is_that_of_the_plain_twin(rng, n_sums):
    rows = random_sums(rng, n_sums)
    expected = plain_log_loss(*listed(*rows))
    assert log_loss(*rows) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(rng=generators(), n_sums=N_SUMS)
def test_charges_are_those_of_the_plain_twin(rng, n_sums):
    sums, _, weights = random_sums(rng, n_sums)
    # One minus next to one leaves 1e-16, of which this is the root.
    expected = plain_charges(*listed(sums, weights))
    np.testing.assert_allclose(charge(sums, weights), expected, atol=1e-6)


@given(rng=generators(), n_sums=N_SUMS)
def test_derivatives_say_how_the_loss_changes(rng, n_sums):
    n_classes, step = max(n_sums, 2), 1e-4
    factor = 1.0 if n_sums == 1 else n_classes / (n_classes - 1)
    sums = rng.normal(size=(1, n_sums)) * 2
    class_ids, weights = rng.integers(0, n_classes, 1).astype(np.int32), np.array([3.0])
    found = derive(sums, class_ids, weights)[0]
    for k in range(n_sums):
        moves = np.zeros((3, n_sums))
        moves[:, k] = -step, 0.0, step
        # The loss is a mean: one row of weight 3 loses three times as much.
        low, here, high = (3 * log_loss(sums + m, class_ids, weights) for m in moves)
        assert found[k] == pytest.approx((high - low) / (2 * step), abs=1e-6)
        second = (high - 2 * here + low) / step**2
        assert found[n_sums + k] == pytest.approx(factor * second, abs=1e-4)


@given(rng=generators())
def test_one_sum_is_the_second_of_two(rng):
    one, class_ids, weights = random_sums(rng, 1)
    two = np.hstack([np.zeros_like(one), one])
    rows = class_ids, weights
    expected = log_loss(two, *rows)
    assert log_loss(one, *rows) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(charge(one, weights), charge(two, weights), atol=1e-6)
    alone, beside = derive(one, *rows), derive(two, *rows)
    np.testing.assert_allclose(alone[:, 0], beside[:, 1], atol=1e-12)
    # Those of two sums are multiplied by 2 / (2 - 1).
    np.testing.assert_allclose(2 * alone[:, 1], beside[:, 3], atol=1e-12)


@given(rng=generators(), n_sums=st.integers(2, 6), moved=st.floats(-500, 500))
def test_only_differences_of_sums_count(rng, n_sums, moved):
    sums, class_ids, weights = random_sums(rng, n_sums)
    other = sums + moved
    expected = log_loss(sums, class_ids, weights)
    found = log_loss(other, class_ids, weights)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
    found = derive(other, class_ids, weights)
    np.testing.assert_allclose(found, derive(sums, class_ids, weights), atol=1e-9)
    np.testing.assert_allclose(charge(other, weights), charge(sums, weights), atol=1e-5)


@pytest.mark.parametrize("n_sums", [1, 2, 3, 7])
def test_an_open_row_counts_as_it_weighs_and_a_sure_one_nothing(n_sums):
    # Surer and surer of the first class, or of the second of two.
    sums = np.zeros((5, n_sums))
    sums[:, 0] = 0.0, 1.0, 2.0, 8.0, 800.0
    found = charge(sums, np.full(5, 2.5))
    assert found[0] == pytest.approx(2.5)
    assert found[-1] == pytest.approx(0.0, abs=1e-6)
    assert (np.diff(found) < 0).all()


def test_of_no_rows_the_loss_is_nothing():
    none = np.zeros(0, dtype=np.int32)
    assert log_loss(np.zeros((0, 3)), none, np.zeros(0)) == 0.0
    one = np.zeros(1, dtype=np.int32)
    assert log_loss(np.zeros((1, 3)), one, np.zeros(1)) == 0.0
    # A row that weighs nothing has no say.
    sums = np.array([[9.0], [0.0]])
    class_ids, weights = np.array([0, 1], dtype=np.int32), np.array([0.0, 2.0])
    assert log_loss(sums, class_ids, weights) == pytest.approx(np.log(2))
