"""Precision in the first places, as the paper on budgeted forests counts it."""

import numpy as np
import pytest

from askless import BudgetForestClassifier, precision_at
from askless.exceptions import InvalidTableError


@pytest.mark.parametrize(
    ("places", "expected"),
    [("11111", 1.0), ("11011", 0.4), ("01111", 0.0), ("11110", 0.8), ("111110", 1.0)],
)
def test_the_papers_examples(places, expected):
    relevant = [place == "1" for place in places]
    scores = np.arange(len(places), 0, -1)
    assert precision_at(relevant, scores) == expected
    shuffled = np.random.default_rng(0).permutation(len(places))
    assert precision_at(np.array(relevant)[shuffled], scores[shuffled]) == expected


@pytest.mark.parametrize(("places", "expected"), [("11", 1.0), ("10", 0.2), ("0", 0.0)])
def test_short_queries(places, expected):
    relevant = [place == "1" for place in places]
    assert precision_at(relevant, np.arange(len(places), 0, -1)) == expected


def test_queries_count_the_same_however_many_documents_they_have():
    relevant = [1, 1, 1, 1, 1, 0, 0]
    queries = ["a"] * 6 + ["b"]
    scores = [6, 5, 4, 3, 2, 1, 9]
    assert precision_at(relevant, scores, queries) == 0.5
    assert precision_at(relevant, scores, queries, k=6) == (5 / 6 + 0) / 2


def test_the_confidence_of_a_forest_ranks(rng):
    X = rng.normal(size=(500, 3))
    y = (X[:, 0] + 0.3 * rng.normal(size=500) > 0).astype(int)
    queries = rng.integers(0, 25, 500)
    forest = BudgetForestClassifier(n_estimators=10, alpha=2, random_state=0).fit(X, y)
    ranked = precision_at(y, forest.confidence(X)[:, 1], queries)
    at_random = precision_at(y, rng.random(500), queries)
    assert ranked > 0.9 > at_random


def test_bad_input_is_refused_in_words():
    with pytest.raises(InvalidTableError, match="one entry for each document"):
        precision_at([1, 0], [1.0])
    with pytest.raises(InvalidTableError, match="There must be documents"):
        precision_at([], [])
    with pytest.raises(InvalidTableError, match="Got NaN"):
        precision_at([1], [np.nan])
