"""Error against cost for many models: the points, the hull, the page, the table."""

import csv
import io
import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import KFold

from askless import BudgetForestClassifier, Costs, GreedyTreeClassifier, frontier
from askless.datasets import make_clinic
from askless.evaluate import Frontier, FrontierPoint
from askless.exceptions import DataFileError, InvalidOptionError


def rows(rng, n=240):
    X = rng.normal(size=(n, 4)).round(2)
    y = (X[:, 0] + 0.6 * X[:, 1] + 0.5 * rng.normal(size=n) > 0).astype(int)
    return X, y


def point(cost, error, model="m", setting=""):
    return FrontierPoint(model, setting, cost, cost, cost, error, error, error)


def of(*pairs):
    points = tuple(point(c, e, setting=str(i)) for i, (c, e) in enumerate(pairs))
    return Frontier(points, "error", 0.95, 10.0, 5)


def test_a_point_is_the_mean_over_the_folds(rng):
    X, y = rows(rng)
    costs = [1, 2, 3, 4]
    folds = KFold(3, shuffle=True, random_state=0)
    model = GreedyTreeClassifier(max_depth=2)
    found = frontier({"tree": model}, X, y, costs, cv=folds)
    by_hand = []
    for train, test in folds.split(X):
        fitted = GreedyTreeClassifier(costs, max_depth=2).fit(X[train], y[train])
        by_hand.append(
            (
                fitted.cost(X[test]).mean(),
                np.mean(fitted.predict(X[test]) != y[test]),
            )
        )
    cost, error = np.mean(by_hand, axis=0)
    (only,) = found.points
    assert np.isclose(only.cost, cost)
    assert np.isclose(only.error, error)
    # Student's t with two degrees of freedom, two-sided at 95 %.
    half = 4.302652729911275 * np.std([e for _, e in by_hand], ddof=1) / np.sqrt(3)
    assert np.isclose(only.error_high - only.error, half)
    assert found.n_folds == 3
    assert found.cost_of_all == 10.0


def test_budgets_give_a_curve_and_are_about_kept(rng):
    X, y = rows(rng, 600)
    model = BudgetForestClassifier(n_estimators=5, alpha=[0, 4, 16], random_state=0)
    found = frontier(model, X, y, [1, 2, 3, 4], cv=3, budgets=[1, 4, 10])
    assert [p.setting for p in found.points] == ["budget=1", "budget=4", "budget=10"]
    for budget, p in zip([1, 4, 10], found.points, strict=True):
        assert p.cost <= budget * 1.15
    assert found.points[-1].error <= found.points[0].error + 0.05


def test_a_model_that_cannot_tell_its_cost_buys_everything(rng):
    X, y = rows(rng)
    found = frontier(DummyClassifier(), X, y, [1, 2, 3, 4], cv=2)
    assert found.points[0].cost == 10.0
    assert found.points[0].model == "DummyClassifier"


@pytest.mark.parametrize("backend", ["pandas", "polars", "mapping"])
def test_frames_with_groups_and_categories(backend):
    clinic = make_clinic(300, random_state=1)
    X = clinic.to_frame("pandas" if backend == "mapping" else backend)
    if backend == "mapping":
        X = {name: X[name].to_numpy() for name in X.columns}
    model = {"tree": [GreedyTreeClassifier(max_depth=d) for d in (1, 3)]}
    found = frontier(model, X, clinic.y, clinic.costs, cv=2)
    assert found.points[0].cost < found.points[1].cost
    assert 0 < found.points[1].cost < found.cost_of_all


def test_any_metric_can_be_measured(rng):
    X, y = rows(rng)
    costs = Costs([1, 1, 1, 1], mistakes=[[0, 10], [1, 0]])
    tree = GreedyTreeClassifier(max_depth=2)
    mistakes = frontier(tree, X, y, costs, cv=2, metric="mistakes")
    assert mistakes.metric == "mistakes"
    missed = frontier(tree, X, y, costs, cv=2, metric=share_missed)
    assert missed.metric == "share_missed"
    assert 0 <= missed.points[0].error <= 1


def share_missed(true, decided):
    return float(np.mean((true == 1) & (decided == 0)))


def test_the_hull_lies_below_every_point(rng):
    pairs = [(float(c), float(e)) for c, e in rng.random((40, 2))]
    found = of(*pairs)
    hull = found.hull()
    assert set(hull) <= set(found.front()) <= set(found.points)
    costs = [p.cost for p in hull]
    errors = [p.error for p in hull]
    for p in found.points:
        if p.cost >= costs[0]:
            assert p.error >= np.interp(p.cost, costs, errors) - 1e-12
    assert min(p.error for p in found.points) == errors[-1]


def test_the_best_within_a_budget():
    found = of((1, 0.5), (5, 0.2), (9, 0.1), (9, 0.1))
    assert found.best(budget=6).cost == 5
    assert found.best().error == 0.1
    with pytest.raises(InvalidOptionError, match="cheapest costs 1"):
        found.best(budget=0.5)


def test_frames_csv_and_html_tell_the_same(tmp_path):
    found = of((1, 0.5), (5, 0.2), (7, 0.4))
    frame = found.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert isinstance(found.to_frame("polars"), pl.DataFrame)
    assert frame["on_hull"].tolist() == [True, True, False]
    listed = list(csv.DictReader(io.StringIO(found.to_csv(tmp_path / "f.csv"))))
    assert [float(row["error"]) for row in listed] == frame["error"].tolist()
    assert (tmp_path / "f.csv").read_text() == found.to_csv()
    with pytest.raises(DataFileError, match="must be there and writable"):
        found.to_csv(tmp_path / "none" / "f.csv")
    with pytest.raises(ValueError, match="'pandas' or 'polars'"):
        found.to_frame("dask")


class Reader(HTMLParser):
    """Count what a page holds, and what it would fetch."""

    def __init__(self):
        super().__init__()
        self.tags, self.links, self.data = [], [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [v for k, v in attrs if k in ("src", "href", "data", "action")]

    def handle_data(self, data):
        self.data += data


def test_the_page_is_whole_and_names_cannot_break_it(tmp_path):
    evil = '</script><script>alert("x")</script>'
    points = (point(1, 0.5, evil), point(5, 0.2, evil, "b&w"), point(3, 0.4, "plain"))
    found = Frontier(points, "error", 0.9, 10.0, 5)
    page = found.to_html(tmp_path / "f.html", title="<b>Curve</b>")
    reader = Reader()
    reader.feed(page)
    assert reader.tags.count("circle") == 3
    assert reader.tags.count("tr") == 4
    assert reader.tags.count("script") == 2
    assert reader.links == []
    assert "alert(" not in reader.data.split("const tip")[1]
    assert "http" not in page
    assert "&lt;b&gt;Curve" in page
    data = re.search(r'id="points">(.*?)</script>', page, re.S)[1]
    assert len(json.loads(data.replace("<\\/", "</"))) == 3
    assert (tmp_path / "f.html").read_text() == page


def test_the_plot_has_bars_a_hull_and_a_name_for_each_model(rng):
    X, y = rows(rng)
    trees = [GreedyTreeClassifier(max_depth=d) for d in (1, 2, 3)]
    found = frontier({"trees": trees, "none": DummyClassifier()}, X, y, cv=3)
    ax = found.plot()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert sorted(labels) == ["hull", "none", "trees"]
    assert ax.get_xlabel() == "mean cost of a case"
    assert ax.get_ylabel() == "error (%)"
    assert len(ax.containers) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": {}}, "There must be a model"),
        ({"models": object()}, "must have fit and predict"),
        ({"cv": 1}, "at least 2 folds"),
        ({"cv": 500}, "at least 2 folds"),
        ({"confidence": 1.0}, "confidence must be between"),
        ({"metric": "auc"}, "metric must be 'error'"),
        ({"metric": "mistakes"}, "where the costs price mistakes"),
        ({"budgets": [-1]}, "budgets must be numbers >= 0"),
        ({"budgets": 0}, "There must be a budget"),
        ({"y": [1, 2]}, "Every row must have a class"),
        ({"X": [1, 2, 3]}, "two dimensions"),
        ({"costs": {"age": 1}}, "age|x0"),
    ],
)
def test_bad_input_is_refused_in_words(rng, options, message):
    X, y = rows(rng, 60)
    given = {"models": GreedyTreeClassifier(), "X": X, "y": y, **options}
    with pytest.raises(ValueError, match=message):
        frontier(given.pop("models"), given.pop("X"), given.pop("y"), **given)
