"""Compare a policy with its source, bit by bit, on rows made to tell them apart."""

import tempfile
import warnings
from pathlib import Path

import numpy as np

import askless

N_FEATURES = 5


def make_rows(rng, n_rows, has_missing=True):
    """Return numbers with few digits, so that zeros and equal values are common."""
    X = rng.normal(size=(n_rows, N_FEATURES)).round(1)
    if has_missing:
        X[rng.random(X.shape) < 0.15] = np.nan
    return X


def make_target(X, kind):
    """Return classes, numbers, positive numbers or shares that follow from rows."""
    filled = np.nan_to_num(X, posinf=1.0, neginf=-1.0)
    score = filled[:, 0] + filled[:, 1] * filled[:, 2] + 0.3 * (filled[:, 3] == 0)
    if kind == "two":
        return (score > 0.1).astype(int)
    if kind == "many":
        return np.digitize(score, [-1.5, -1, -0.7, -0.4, -0.1, 0.2, 0.5, 0.9, 1.4])
    if kind == "three":
        return np.digitize(score, [-0.5, 0.5])
    if kind == "positive":
        return np.abs(score) + 0.1
    return 1 / (1 + np.exp(-score)) if kind == "share" else score


def adversarial_rows(policy, rng, n_rows, *, special=(), has_missing=True):
    """Return rows whose values lie on cuts, and beside them in both precisions."""
    X = np.empty((n_rows, len(policy.tests)))
    for i, test in enumerate(policy.tests):
        near = [0.0, -0.0, 1e-36, -1e-36, 1e-35, 1e-50, -1e-50, 1e9, -1e9, *special]
        values = rng.choice([*test.cuts, *near], n_rows)
        values[: n_rows // 3] = rng.choice([*test.cuts, 0.0], n_rows // 3)
        way = rng.choice([-np.inf, np.inf], n_rows)
        with np.errstate(over="ignore"):
            single = values.astype(np.float32)
            beside = np.nextafter(single, way.astype(np.float32)).astype(np.float64)
        kind = rng.integers(0, 5, n_rows)
        values = np.where(kind == 1, np.nextafter(values, way), values)
        values = np.where(kind == 2, single, values)
        X[:, i] = np.where(kind == 3, beside, values)
    if has_missing:
        X[rng.random(X.shape) < 0.15] = np.nan
    return X


def to_single(rows):
    """Return rows in single precision, the largest of them infinite."""
    with np.errstate(over="ignore"):
        return rows.astype(np.float32)


def check_equal(model, rows_list, own, **options):
    """Check decisions of a lossless run, and all that a complete run says.

    ``own`` returns what the source predicts, and its probabilities or None.
    """
    lossless = askless.AdaptiveEnsemble(model, **options).fit()
    complete = askless.AdaptiveEnsemble(model, stop="complete", **options).fit()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "policy.json")
        complete.policy_.save(path)
        loaded = askless.load(path)
    for rows in rows_list:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            decisions, probabilities = own(rows)
        np.testing.assert_array_equal(lossless.predict(rows), decisions)
        np.testing.assert_array_equal(complete.predict(rows), decisions)
        if probabilities is not None:
            np.testing.assert_array_equal(complete.predict_proba(rows), probabilities)
            np.testing.assert_array_equal(loaded.predict_proba(rows), probabilities)
        np.testing.assert_array_equal(loaded.predict(rows), decisions)
        assert (lossless.cost(rows) <= complete.cost(rows)).all()
