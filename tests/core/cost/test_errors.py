"""Expected errors of a leaf: printed values, and scipy's limit of a proportion."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from askless._core.cost._errors import ErrorTable, expected_errors, expected_errors_c45


@pytest.mark.parametrize(
    ("m", "s", "confidence", "errors"),
    [
        (100, 5, 0.25, 7.332684),
        (50, 0, 0.25, 1.367253),
        (150, 50, 0.25, 54.498989),
        (6, 0, 0.25, 1.237797),
        (9, 0, 0.25, 1.284804),
        (1, 0, 0.25, 0.75),
        (16, 1, 0.25, 2.553771),
        (100, 5, 0.2, 7.791107),
        (100, 5, 0.3, 6.935172),
        (2, 0, 0.25, 1.0),
        (14, 5, 0.25, 6.769184),
        (10, 10, 0.25, 10.0),
    ],
)
def test_the_exact_limit_has_the_known_values(m, s, confidence, errors):
    assert expected_errors(m, s, confidence) == pytest.approx(errors, abs=1e-6)


@pytest.mark.parametrize(
    ("m", "s", "errors"),
    [(100, 5, 7.3016), (50, 0, 1.3673), (150, 50, 54.5805), (16, 1, 2.5069)],
)
def test_the_approximation_of_c45_has_the_known_values(m, s, errors):
    assert expected_errors_c45(m, s, 0.25) == pytest.approx(errors, abs=5e-5)


def test_the_book_on_c45_prunes_its_example():
    # Three leaves of 6, 9 and 1 rows without an error, against one leaf of 16 with one.
    leaves = sum(expected_errors_c45(m, 0, 0.25) for m in (6, 9, 1))
    assert leaves == pytest.approx(3.2726, abs=5e-5)
    assert expected_errors_c45(16, 1, 0.25) <= leaves + 0.1


def test_the_exact_limit_is_that_of_scipy(rng):
    for _ in range(500):
        m = int(rng.integers(1, 30_000 if rng.random() < 0.5 else 40))
        s = int(rng.integers(0, m))
        confidence = rng.uniform(0.01, 0.9)
        expected = m * beta.ppf(1 - confidence, s + 1, m - s)
        assert expected_errors(m, s, confidence) == pytest.approx(expected, rel=1e-10)


def test_counts_need_not_be_whole(rng):
    for _ in range(100):
        m = rng.uniform(0.1, 50)
        s = rng.uniform(0, m)
        expected = m * beta.ppf(0.75, s + 1, m - s)
        assert expected_errors(m, s, 0.25) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("is_c45", [False, True])
def test_the_table_changes_nothing(is_c45, rng):
    direct = expected_errors_c45 if is_c45 else expected_errors
    table = ErrorTable(0.25, is_c45)
    # More pairs than the table has places, so that some are overwritten and return.
    pairs = [(m, s) for m in range(1, 260) for s in range(m + 1)]
    for i in rng.permutation(len(pairs))[:20_000].tolist():
        assert table.expected(*pairs[i]) == direct(*pairs[i], 0.25)
    assert np.isfinite(table.expected(3, 1))
