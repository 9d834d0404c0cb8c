"""What is printed of results is short, and frames have the rest."""

from __future__ import annotations

import pytest

import askless
from askless.datasets import make_clinic
from askless.exceptions import UnknownNameError


@pytest.fixture(scope="module")
def clinic():
    return make_clinic(300, random_state=0)


@pytest.fixture(scope="module")
def result(clinic):
    X = clinic.to_frame()
    tree = askless.CostTreeClassifier(clinic.costs, 300, n_estimators=9)
    return askless.evaluate(tree.fit(X, clinic.y).policy_, X, clinic.y)


@pytest.fixture(scope="module")
def found(clinic):
    trees = [askless.GreedyTreeClassifier(max_depth=d) for d in (1, 2, 4)]
    return askless.frontier(
        {"tree": trees}, clinic.to_frame(), clinic.y, clinic.costs, cv=3
    )


def test_an_evaluation_prints_in_five_lines(result):
    lines = str(result).splitlines()
    assert len(lines) == 5
    assert lines[0] == "300 cases"
    assert f"expected cost  {result.expected_cost:.4g}" in lines[1]
    assert f"{100 * result.error:.3g} %" in lines[3]
    assert f"{result.total_cost:.4g}" in lines[4]
    assert len(repr(result)) < 100


def test_an_evaluation_is_a_frame_of_cases(result):
    for backend in ("pandas", "polars"):
        frame = result.to_frame(backend)
        assert frame.shape == (300, 3)
        assert frame["cost"].mean() == pytest.approx(result.expected_cost)
        assert frame["error"].mean() == pytest.approx(result.error)


def test_a_frontier_prints_its_best_points(found):
    lines = str(found).splitlines()
    assert lines[0].startswith("3 points of 1 models, means of 3 folds")
    assert 2 <= len(lines) <= 4
    assert "max_depth" in lines[1]
    assert repr(found) == "Frontier(3 points of 1 models, 3 folds)"
    assert found.to_frame().shape == (3, 9)


def test_a_long_hull_is_thinned_out(found):
    points = [
        found.points[0]._replace(cost=float(i), error=1 / (1 + i)) for i in range(99)
    ]
    many = askless.Frontier(tuple(points), "error", 0.95, 99.0, 3)
    assert len(str(many).splitlines()) <= 13


def test_no_other_frames_are_known(result, found):
    for one in (result, found):
        with pytest.raises(UnknownNameError, match="pandas"):
            one.to_frame("excel")
