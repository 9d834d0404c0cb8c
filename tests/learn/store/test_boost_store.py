"""Boosters grow on the codes of a store; their policies decide alike on raw rows."""

import itertools
import warnings

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import askless
from askless.exceptions import DegeneratePolicyWarning, InvalidOptionError
from askless.learn import CodeStore
from askless.learn._examples import KnownRows, StoredExamples
from askless.learn.boost import _boosters, _families
from askless.learn.boost._coded_rows import CodedRows, cut_source, level_values
from askless.learn.boost._split import split_rows
from askless.learn.sources._source import Source, SourceTree
from askless.policy import Output
from askless.problem import Costs, Test

lightgbm = pytest.importorskip("lightgbm")

# Few models to choose from, so that a test takes seconds.
FEW = {"family": "boost", "tradeoffs": (0.01, 0.1), "bagged_tradeoffs": (0.008,)}


def make_frame(rng, n=4000, n_classes=2, only_numbers=False):
    found = pd.DataFrame(rng.normal(size=(n, 3)).round(2), columns=["a", "b", "c"])
    found["whole"] = rng.integers(0, 5000, n)
    found["some"] = np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 9, n))
    # It tells only by whether it is there.
    found["seldom"] = np.where(rng.random(n) < 0.4, np.nan, 7.0)
    if not only_numbers:
        found["flag"] = rng.random(n) < 0.3
        found["text"] = rng.choice(["x", "y", "z", "w"], n)
        found.loc[rng.random(n) < 0.1, "text"] = None
    score = found.a + found.b * found.c + (found.some > 4) + found.seldom.isna()
    if not only_numbers:
        score += found.flag + found.text.isin(["x", "w"])
    noisy = score + 0.3 * rng.normal(size=n)
    found["y"] = pd.qcut(noisy, n_classes, labels=list("pqrs")[:n_classes]).astype(str)
    return found


def split_columns(frame):
    return frame.drop(columns="y"), frame["y"]


def code_slowly(X, tests):
    """Return what LightGBM is given for raw values: a code, or NaN."""
    columns = []
    for test in tests:
        codes = [test.code_of(value) for value in X[test.name].tolist()]
        columns.append([c if c < test.n_levels else np.nan for c in codes])
    return np.array(columns, dtype=np.float64).T


def hard_rows(X, tests, rng):
    """Return rows at and beside every cut, without values, and with unseen ones."""
    parts = []
    for test in tests:
        values = [None, "never seen"]
        if test.kind == "number":
            cuts = np.array(test.cuts)
            values = [*cuts, *np.nextafter(cuts, np.inf), *np.nextafter(cuts, -np.inf)]
            values += [np.nan, np.inf, -np.inf, 1e305, -1e305, 0.0]
        part = X.iloc[rng.integers(0, len(X), len(values))].copy()
        part[test.name] = values
        parts.append(part)
    nothing = {test.name: [np.nan if test.kind == "number" else None] for test in tests}
    return pd.concat([*parts, pd.DataFrame(nothing)], ignore_index=True)


@pytest.fixture
def grown(monkeypatch):
    """The models that are grown, in order, as their libraries have them."""
    models = []
    train, forest = lightgbm.train, _boosters.RandomForestClassifier

    def record(*args, **kwargs):
        models.append(train(*args, **kwargs))
        return models[-1]

    class Recorded(forest):
        def fit(self, *args):
            models.append(super().fit(*args))
            return self

    monkeypatch.setattr(lightgbm, "train", record)
    monkeypatch.setattr(_boosters, "RandomForestClassifier", Recorded)
    return models


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("only_numbers", [False, True])
def test_policies_decide_as_boosters_do_on_codes(
    rng, tmp_path, grown, monkeypatch, n_classes, only_numbers
):
    # Bagged boosters, too, are LightGBM's, to compare with.
    monkeypatch.setattr(_families, "can_grow", lambda *_: False)
    frame = make_frame(rng, n_classes=n_classes, only_numbers=only_numbers)
    store = CodeStore.write([frame], "y", tmp_path / "store")
    X = split_columns(frame)[0]
    model = askless.BudgetBoostClassifier(
        family="forest", tradeoffs=(0.0, 0.01), bagged_tradeoffs=(0.002,),
        n_estimators=25, random_state=0,
    ).fit(store)  # fmt: skip
    assert len(grown) == len(model.models_) == 3 + only_numbers
    hard = hard_rows(X, store.tests, rng)
    assert len(hard) > 1000
    for rows in (X, hard):
        codes = code_slowly(rows, store.tests)
        for policy, booster in zip(model.models_, grown, strict=True):
            found = policy.predict(rows)
            if hasattr(booster, "predict_proba"):
                expected = booster.predict_proba(codes)
            else:
                expected = booster.predict(codes)
            if expected.ndim == 1:
                expected = np.column_stack([1 - expected, expected])
            assert len(set(found)) == n_classes
            decided = model.classes_[expected.argmax(axis=1)]
            assert np.count_nonzero(found != decided) == 0
            whole = policy.with_stop(is_complete=True)
            np.testing.assert_allclose(whole.predict_proba(rows), expected, atol=1e-9)


def test_a_fit_gives_the_same_file(rng, tmp_path):
    frame = make_frame(rng)
    files = set()
    pieces = [frame[start : start + 700] for start in range(0, len(frame), 700)]
    options = {"budget": 3, "n_estimators": 10, "random_state": 2, **FEW}
    for name, source, batch_rows in (
        ("a", [frame], 125_000),
        ("b", pieces, 250),
        ("c", [frame[::-1]], 999),
    ):
        store = CodeStore.write(source, "y", tmp_path / name, batch_rows=batch_rows)
        for _ in range(2):
            model = askless.BudgetBoostClassifier(**options).fit(store)
            model.policy_.save(tmp_path / "policy.json")
            files.add((tmp_path / "policy.json").read_bytes())
    assert len(files) == 1
    X = split_columns(frame)[0]
    again = askless.load(tmp_path / "policy.json")
    assert np.array_equal(again.predict(X), model.predict(X))
    other = askless.BudgetBoostClassifier(**options | {"random_state": 3}).fit(store)
    other.policy_.save(tmp_path / "policy.json")
    assert (tmp_path / "policy.json").read_bytes() not in files


def test_the_error_is_nearly_that_of_a_fit_in_memory(rng, tmp_path):
    frame, new = make_frame(rng, 6000), make_frame(rng, 6000)
    X, y = split_columns(new)
    store = CodeStore.write([frame], "y", tmp_path / "store")
    options = {"budget": 5, "n_estimators": 60, "random_state": 0, **FEW}
    in_memory = askless.BudgetBoostClassifier(**options).fit(*split_columns(frame))
    on_disk = askless.BudgetBoostClassifier(**options).fit(store)
    errors = [1 - model.score(X, y) for model in (in_memory, on_disk)]
    assert abs(errors[0] - errors[1]) < 0.02
    assert max(errors) < 0.2
    assert on_disk.cost(X).mean() <= 5.1
    assert on_disk.at_budget(2).cost(X).mean() < 2.2


def test_given_validation_rows_are_measured_as_they_are(rng, tmp_path):
    """Levels stand for raw values: what is traced is what the policy does on these."""
    frame, valid = make_frame(rng), make_frame(rng, 900)
    valid.loc[:20, "text"] = "never seen"
    valid.loc[10:30, "y"] = "no such class"
    store = CodeStore.write([frame], "y", tmp_path / "store")
    X, y = split_columns(valid)
    options = {"n_estimators": 20, "random_state": 0, **FEW}
    model = askless.BudgetBoostClassifier(budget=4, **options)
    model.fit(store, X_valid=X, y_valid=y)
    decided, paid = model.predict_and_cost(X)
    assert model.point_.n_rows == 900
    assert model.point_.error == pytest.approx(np.mean(decided != y))
    assert model.point_.cost == pytest.approx(paid.mean())


def test_validation_rows_are_drawn_by_random_state(rng, tmp_path):
    store = CodeStore.write([make_frame(rng)], "y", tmp_path / "store")
    none = KnownRows(np.empty((0, 8)), np.zeros(0, dtype=np.uint8))
    costs = Costs([1] * 8)
    examples = StoredExamples(
        none, store.names, store.classes, costs, coded=store.code()
    )
    train, valid = split_rows(examples, 0.2, 5)
    again = split_rows(examples, 0.2, 5)
    other = split_rows(examples, 0.2, 6)
    assert valid.matrix.dtype == np.float32
    assert np.array_equal(valid.matrix, again[1].matrix, equal_nan=True)
    assert np.array_equal(train.matrix, again[0].matrix, equal_nan=True)
    assert not np.array_equal(valid.matrix, other[1].matrix, equal_nan=True)
    # Each row is on one side, with its class.
    both = np.vstack([train.matrix, valid.matrix])
    class_ids = np.concatenate([train.rows.class_ids, valid.rows.class_ids])
    found = np.nan_to_num(np.column_stack([class_ids, both]), nan=-1.0)
    every = CodedRows.read(store.code(), np.arange(store.n_rows))
    expected = np.column_stack([every.rows.class_ids, every.matrix])
    expected = np.nan_to_num(expected, nan=-1.0)
    assert sorted(map(tuple, found)) == sorted(map(tuple, expected))
    assert np.bincount(valid.rows.class_ids).tolist() == [400, 400]
    # The first rows are of all classes.
    assert 0.4 < train.rows.class_ids[:500].mean() < 0.6


@pytest.mark.parametrize("n_rows", [2, 3, 30])
def test_few_rows(tmp_path, n_rows):
    frame = pd.DataFrame({"a": np.arange(float(n_rows)), "b": 1.0})
    frame["y"] = np.where(frame.a < n_rows / 2, "low", "high")
    store = CodeStore.write([frame], "y", tmp_path / "store")
    with warnings.catch_warnings():
        # Of so few rows nothing can be learned.
        warnings.simplefilter("ignore", DegeneratePolicyWarning)
        model = askless.BudgetBoostClassifier(random_state=0).fit(store)
    assert set(model.predict(frame[["a", "b"]])) <= {"low", "high"}


def test_one_class_buys_nothing(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "y": ["only"] * 3})
    store = CodeStore.write([frame], "y", tmp_path / "store")
    model = askless.BudgetBoostClassifier().fit(store)
    assert model.predict(frame[["a"]]).tolist() == ["only"] * 3
    assert model.cost(frame[["a"]]).sum() == 0


def test_what_has_no_place_in_a_store_is_refused(rng, tmp_path):
    frame = make_frame(rng, 200)
    store = CodeStore.write([frame], "y", tmp_path / "store")
    with pytest.raises(InvalidOptionError, match="given alone"):
        askless.BudgetBoostClassifier(class_weight="balanced").fit(store)
    with pytest.raises(InvalidOptionError, match="classes and no numbers"):
        askless.BudgetBoostRegressor().fit(store)


cuts = st.lists(
    st.floats(-1e6, 1e6, width=32), min_size=1, max_size=6, unique=True
).map(sorted)


@given(cuts, st.floats(0, 9), st.lists(st.floats(allow_nan=False), max_size=9))
def test_a_threshold_of_codes_is_a_cut_of_values(cuts, threshold, values):
    test = Test("x", "number", cuts=tuple(cuts))
    tree = SourceTree(
        feature=np.array([0, -1, -1]), threshold=np.array([threshold, -2.0, 0.0]),
        left=np.array([1, -1, -1]), right=np.array([2, -1, -1]),
        missing_left=np.zeros(3, dtype=bool), value=np.zeros((3, 1)),
        weight=np.ones(3),
    )  # fmt: skip
    source = Source(None, 1, ("p", "q"), [tree], Output("logit", (0.0,)))
    cut = cut_source(source, (test,)).trees[0].threshold[0]
    beside = itertools.chain(cuts, np.nextafter(cuts, np.inf))
    for value in [*values, *beside]:
        assert (value <= cut) == (test.code_of(value) <= threshold)
    codes = np.array([*range(test.n_levels), np.nan])[:, None]
    back = test.encode(level_values(codes, (test,))[:, 0])
    assert back.tolist() == list(range(test.n_levels + 1))
