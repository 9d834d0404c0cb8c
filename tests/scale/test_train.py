"""Trees that are grown by tasks, over trees or parts of rows, are the same trees."""

import pickle

import numpy as np
import pandas as pd
import pytest

import askless
from askless.exceptions import InvalidOptionError
from askless.learn import CodeStore
from askless.policy._file import policy_digest
from askless.scale import _rows
from askless.scale._train import LocalEngine, fit_on
from tests.cli.test_lazy import modules_after


def make_frame(rng, n=6000):
    frame = pd.DataFrame(rng.normal(size=(n, 4)).round(1), columns=list("abcd"))
    frame["bit"] = (rng.random(n) < 0.3).astype(float)
    frame["some"] = np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 5, n))
    frame["only"] = np.where(rng.random(n) < 0.5, np.nan, 7.0)
    noise = rng.normal(size=n)
    score = frame.a + frame.b * frame.c + frame.bit + frame.some.isna() + noise
    frame["y"] = np.clip(score.round(), -1, 2).astype(int)
    return frame


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    frame = make_frame(np.random.default_rng(5))
    return CodeStore.write([frame], "y", tmp_path_factory.mktemp("rows") / "store")


FORESTS = [
    {"n_estimators": 3},
    {"n_estimators": 2, "budget": 4.0},
    {"n_estimators": 2, "alpha": 3.0, "max_depth": 6, "min_weight": 30},
    {"n_estimators": 2, "max_features": 2, "costs": [1, 3, 2, 1, 5, 1, 1]},
    {"n_estimators": 2, "bootstrap": False, "voting": "counts", "mistakes": 9.0},
]


def same_arrays(found, expected):
    for name, array in expected.policy_.nodes.arrays().items():
        assert np.array_equal(getattr(found.policy_.nodes, name), array), name
    assert policy_digest(found.policy_) == policy_digest(expected.policy_)


@pytest.mark.parametrize("options", FORESTS)
def test_tasks_grow_the_same_trees(store, options, monkeypatch):
    expected = askless.BudgetForestClassifier(random_state=1, **options).fit(store)
    make = lambda: askless.BudgetForestClassifier(random_state=1, **options)  # noqa: E731
    same_arrays(fit_on(LocalEngine(), make(), store), expected)
    monkeypatch.setattr(_rows, "SMALL_ROWS", 500)
    # Room for counts of many nodes or few, and for some, all or none to be kept.
    for n_parts, room, kept in ((1, 26, 28), (8, 26, 0), (32, 16, 17)):
        monkeypatch.setattr(_rows, "MOST_COUNTS", 1 << room)
        monkeypatch.setattr(_rows, "MOST_KEPT", 1 << kept)
        found = fit_on(LocalEngine(), make(), store, split="rows", n_parts=n_parts)
        same_arrays(found, expected)
        assert found.point_ == expected.point_


def test_few_rows_of_which_none_is_drawn(tmp_path):
    frame = pd.DataFrame({"x": [1.0, 2.0], "y": [0, 1]})
    store = CodeStore.write([frame], "y", tmp_path / "store")
    options = {"n_estimators": 30, "random_state": 0}
    expected = askless.BudgetForestClassifier(**options).fit(store)
    made = askless.BudgetForestClassifier(**options)
    same_arrays(fit_on(LocalEngine(), made, store, split="rows", n_parts=2), expected)


def test_what_cannot_be_grown_says_so(store):
    forest = askless.BudgetForestClassifier(n_estimators=1, split="expected")
    with pytest.raises(InvalidOptionError, match='split="rows" must have numbers'):
        fit_on(LocalEngine(), forest, store, split="rows")
    assert "_grow_trees" not in vars(forest)
    with pytest.raises(InvalidOptionError, match='"trees" or "rows"'):
        fit_on(LocalEngine(), forest, store, split="columns")
    with pytest.raises(InvalidOptionError, match="BudgetForestClassifier"):
        fit_on(LocalEngine(), askless.GreedyTreeClassifier(), store)
    with pytest.raises(InvalidOptionError, match="CodeStore"):
        fit_on(LocalEngine(), forest, [[1.0]])


class Recorder(LocalEngine):
    """Keeps what workers would be sent."""

    def __init__(self):
        self.sent = []

    def map(self, function, items):
        self.sent.append((function, list(items)))
        return super().map(function, items)


def test_a_worker_that_grows_trees_imports_no_learner(store, tmp_path):
    # What a worker imports, the one that comes when it is lost imports again.
    engine = Recorder()
    forest = askless.BudgetForestClassifier(n_estimators=2, random_state=0)
    fit_on(engine, forest, store)
    path = tmp_path / "sent"
    path.write_bytes(pickle.dumps(engine.sent))
    code = (
        "import pickle, pathlib\n"
        f"sent = pathlib.Path({str(path)!r}).read_bytes()\n"
        "for function, items in pickle.loads(sent):"
        "\n    assert len([function(item) for item in items]) == 2"
    )
    assert not modules_after(code) & {"sklearn", "scipy", "pandas", "pyarrow"}
