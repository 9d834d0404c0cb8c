"""A learner that comes to nothing says so, and why."""

import warnings

import pytest

import askless
from askless.exceptions import DegeneratePolicyWarning

X = [[1.0], [2.0], [8.0], [9.0]]


def test_a_tree_that_never_tests_warns():
    with pytest.warns(
        DegeneratePolicyWarning, match="cheapest test, 'x0', costs 5: no"
    ) as caught:
        askless.DTMCClassifier([5], mistakes=2).fit(X, ["a", "a", "b", "b"])
    assert caught[0].filename == __file__


def test_a_tree_that_has_something_to_say_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        askless.DTMCClassifier([5], mistakes=100).fit(X, ["a", "a", "b", "b"])


def test_one_class_is_no_surprise():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        askless.C45Classifier().fit(X, ["a"] * 4)
