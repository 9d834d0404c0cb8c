"""A store holds the codes that are made in memory, and learners grow the same on it."""

import json
import os
import pickle

import numpy as np
import pandas as pd
import pytest

import askless
from askless._core.bagging._samples import bundle_codes
from askless.exceptions import DataFileError, InvalidOptionError, InvalidTableError
from askless.learn import CodeStore
from askless.learn._examples import Examples
from askless.learn._reading import read_known_rows
from askless.learn._row_order import settle_order
from askless.learn.store import _draft, _summary
from askless.policy._file import policy_digest
from askless.problem import Costs


@pytest.fixture
def frame(rng):
    n = 3000
    found = pd.DataFrame(rng.normal(size=(n, 3)).round(2), columns=["a", "b", "c"])
    found["whole"] = rng.integers(0, 5000, n)
    found["flag"] = rng.random(n) < 0.3
    found["text"] = rng.choice(["x", "y", "z"], n)
    found["some"] = np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 9, n))
    found.loc[: n // 2, "late"] = np.nan
    found.loc[n // 2 :, "late"] = rng.normal(size=n - n // 2).round(1)
    found["y"] = np.where(found.a + found.b + found.flag > 0.3, "up", "down")
    found.loc[rng.random(n) < 0.05, "y"] = "left"
    # Rows that are alike.
    return pd.concat([found, found[:200]], ignore_index=True)


def in_memory(frame):
    """Return the codes that a forest is grown on."""
    X, y = frame.drop(columns="y"), frame["y"]
    model = askless.BudgetForestClassifier()
    rows, names, classes = read_known_rows(model, X, y.to_numpy(), None, reset=True)
    costs = Costs([1] * len(names))
    return settle_order(Examples(rows, names, tuple(classes.tolist()), costs)).code()


def check_equal(store, coded):
    assert store.tests == coded.tests
    assert np.array_equal(store.class_rows, coded.class_rows)
    assert store.codes.dtype == coded.codes.dtype
    assert np.array_equal(store.codes, coded.codes)


def pieces(frame, size=700):
    return [frame[start : start + size] for start in range(0, len(frame), size)]


@pytest.mark.parametrize("kind", ["frames", "parquet", "folder", "csv"])
def test_codes_are_those_made_in_memory(frame, tmp_path, kind):
    source = pieces(frame)
    if kind == "parquet":
        source = tmp_path / "rows.parquet"
        frame.to_parquet(source, row_group_size=1000)
    elif kind == "folder":
        source = tmp_path / "rows"
        source.mkdir()
        for i, part in enumerate(pieces(frame, 1300)):
            part.to_parquet(source / f"{i}.parquet")
    elif kind == "csv":
        frame["flag"] = frame["flag"].map({True: "T", False: "F"})
        source = tmp_path / "rows.csv"
        frame.to_csv(source, index=False)
    expected = in_memory(frame)
    for batch_rows in (250, 125_000):
        place = tmp_path / str(batch_rows)
        store = CodeStore.write(source, "y", place, batch_rows=batch_rows)
        check_equal(store, expected)
        assert store.classes == ("down", "left", "up")
        check_equal(CodeStore.open(place), expected)
    assert sorted(p.name for p in tmp_path.iterdir() if "draft" in p.name) == []


def test_many_rows_are_cut_by_the_same_sample(rng, tmp_path, monkeypatch):
    """More rows, some alike, than the sample that thresholds are chosen on."""
    monkeypatch.setattr("askless.learn._examples.SAMPLE_ROWS", 500)
    values = rng.normal(size=(4000, 2))
    frame = pd.DataFrame(values, columns=["a", "b"])
    frame["y"] = rng.integers(0, 3, 4000)
    frame = pd.concat([frame, frame[:900], frame[:50]], ignore_index=True)
    init = _summary.Sample.__init__
    monkeypatch.setattr(_summary.Sample, "__init__", lambda self: init(self, 500))
    store = CodeStore.write(pieces(frame, 333), "y", tmp_path / "store")
    check_equal(store, in_memory(frame))
    # Which rows it is does not depend on their order.
    shuffled = frame.sample(frac=1, random_state=1)
    assert in_memory(shuffled).tests == store.tests
    # Enough levels are left: a cut for about every two rows of the sample.
    assert 200 < len(store.tests[0].cuts) < 254


def test_a_column_of_numbers_that_ends_in_text_is_text(tmp_path):
    frame = pd.DataFrame({"a": [f"{i % 7}.50" for i in range(60)], "y": [0, 1] * 30})
    frame.loc[55, "a"] = "none"
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    store = CodeStore.write(path, "y", tmp_path / "store", batch_rows=60)
    assert store.tests[0].kind == "category"
    assert store.tests[0].outcomes[:2] == ("0.50", "1.50")
    check_equal(store, in_memory(frame))


FORESTS = {
    "plain": {},
    "budget": {"budget": 4.0},
    "out of bag": {"budget": 4.0, "out_of_bag": True},
    "features": {"max_features": 3, "alpha": 2},
    "general": {"split": "expected"},
    "every row": {"bootstrap": False, "budget": 3.0, "alpha": [0.0, 4.0]},
}


@pytest.mark.parametrize("name", FORESTS)
@pytest.mark.parametrize("only_numbers", [False, True])
def test_forests_grow_the_same_on_a_store(frame, tmp_path, name, only_numbers):
    if only_numbers:
        frame = frame.drop(columns=["text", "flag"])
    store = CodeStore.write(pieces(frame), "y", tmp_path / "store")
    options = {"n_estimators": 5, "random_state": 3, **FORESTS[name]}
    expected = askless.BudgetForestClassifier(**options)
    expected.fit(frame.drop(columns="y"), frame["y"])
    found = askless.BudgetForestClassifier(**options).fit(store)
    assert policy_digest(found.policy_) == policy_digest(expected.policy_)
    assert found.point_ == expected.point_
    assert not store.codes.flags.writeable


def test_a_tree_and_given_validation_rows(frame, tmp_path):
    store = CodeStore.write(pieces(frame), "y", tmp_path / "store")
    X, y = frame.drop(columns="y"), frame["y"]
    valid = {"X_valid": X[:500], "y_valid": y[:500]}
    for make in (
        askless.GreedyTreeClassifier,
        lambda: askless.BudgetForestClassifier(
            budget=3, n_estimators=4, random_state=0
        ),
    ):
        expected, found = make().fit(X, y, **valid), make().fit(store, **valid)
        assert policy_digest(found.policy_) == policy_digest(expected.policy_)
        assert found.point_ == expected.point_
        assert np.array_equal(found.predict(X), expected.predict(X))
        assert found.classes_.tolist() == expected.classes_.tolist()


def test_a_warm_start_goes_on(frame, tmp_path):
    store = CodeStore.write(pieces(frame), "y", tmp_path / "store")
    options = {"random_state": 3, "warm_start": True}
    forest = askless.BudgetForestClassifier(n_estimators=2, **options).fit(store)
    forest.set_params(n_estimators=4).fit(store)
    at_once = askless.BudgetForestClassifier(n_estimators=4, random_state=3).fit(store)
    assert policy_digest(forest.policy_) == policy_digest(at_once.policy_)
    other = CodeStore.write([frame[["a", "b", "y"]]], "y", tmp_path / "other")
    with pytest.raises((InvalidOptionError, InvalidTableError)):
        forest.fit(other)


class Killed(Exception):
    """What a stopped process is like."""


@pytest.mark.parametrize("when", ["rows", "merge"])
def test_what_was_stopped_goes_on(frame, tmp_path, monkeypatch, when):
    expected = in_memory(frame)
    source = tmp_path / "rows.parquet"
    frame.to_parquet(source, row_group_size=400)
    place = tmp_path / "store"
    n_done = []
    method = {"rows": "add", "merge": "_sorted_parts"}[when]
    plain = getattr(_draft.Draft, method)

    def stop(self, *args):
        n_done.append(1)
        if len(n_done) == 5:
            # Half a part is there already.
            with open(self._bucket(6), "ab") as file:
                file.write(b"half" * (when == "rows"))
            raise Killed
        return plain(self, *args)

    monkeypatch.setattr(_draft.Draft, method, stop)
    with pytest.raises(Killed):
        CodeStore.write(source, "y", place, batch_rows=400)
    assert not place.exists()
    monkeypatch.setattr(_draft.Draft, method, plain)
    monkeypatch.setattr(_summary.Summary, "add", None)  # not counted again
    coded = []
    add = _draft.Draft.add
    monkeypatch.setattr(
        _draft.Draft, "add", lambda self, *args: coded.append(1) or add(self, *args)
    )
    check_equal(CodeStore.write(source, "y", place, batch_rows=400), expected)
    assert len(coded) == (4 if when == "rows" else 0)


def test_a_source_that_changes_is_refused(frame, tmp_path):
    class Changing:
        n_times = 0

        def __iter__(self):
            self.n_times += 1
            yield frame[: len(frame) - self.n_times]

    with pytest.raises(DataFileError, match="same rows each time"):
        CodeStore.write(Changing(), "y", tmp_path / "store")
    with pytest.raises(InvalidOptionError, match="gone through twice"):
        CodeStore.write(iter([frame]), "y", tmp_path / "other")
    with pytest.raises(DataFileError, match="no file at"):
        CodeStore.write(tmp_path / "none.csv", "y", tmp_path / "other")
    with pytest.raises(InvalidTableError, match="no column 'z'"):
        CodeStore.write([frame], "z", tmp_path / "other")


def test_a_damaged_store_is_refused(frame, tmp_path):
    place = tmp_path / "store"
    store = CodeStore.write([frame], "y", place)
    with pytest.raises(DataFileError, match="new folder"):
        CodeStore.write([frame], "y", place)
    with open(place / "codes.bin", "r+b") as file:
        file.seek(store.n_rows + 3)
        byte = file.read(1)
        file.seek(store.n_rows + 3)
        file.write(bytes([byte[0] ^ 1]))
    CodeStore.open(place, check=False)
    with pytest.raises(DataFileError, match="other codes of 'b'"):
        CodeStore.open(place)
    os.truncate(place / "codes.bin", 100)
    with pytest.raises(DataFileError, match="100 bytes of codes"):
        CodeStore.open(place)
    header = json.loads((place / "store.json").read_text())
    (place / "store.json").write_text(json.dumps({**header, "format": 99}))
    with pytest.raises(DataFileError, match="format 2"):
        CodeStore.open(place)
    with pytest.raises(DataFileError, match=r"CodeStore\.write made"):
        CodeStore.open(tmp_path)


def test_tests_of_two_outcomes_are_kept_eight_to_a_byte(rng, tmp_path):
    frame = pd.DataFrame(rng.integers(0, 2, (500, 11)), columns=list("abcdefghijk"))
    frame["n"], frame["y"] = rng.normal(size=500), rng.integers(0, 3, 500)
    frame.loc[7, "c"] = np.nan
    place = tmp_path / "store"
    store = CodeStore.write(pieces(frame, 90), "y", place, batch_rows=90)
    for price in (np.ones(12), rng.random(12)):
        found, made = (
            bundles.by_price(price)
            for bundles in (store.bundles, bundle_codes(store.codes, price))
        )
        for name in ("codes", "bits", "column", "bit", "whole"):
            assert np.array_equal(getattr(found, name), getattr(made, name)), name
    assert len(store.bundles.bits) == 10
    assert (place / "bits.bin").stat().st_size == 1000
    assert isinstance(store.bundles.codes, np.memmap)
    content = bytearray((place / "bits.bin").read_bytes())
    content[700] ^= 1
    (place / "bits.bin").write_bytes(content)
    with pytest.raises(DataFileError, match="other tests of two outcomes"):
        CodeStore.open(place)
    (place / "bits.bin").write_bytes(content[1:])
    with pytest.raises(DataFileError, match="999 bytes of tests"):
        CodeStore.open(place, check=False)


def test_a_store_travels_by_name(frame, tmp_path):
    store = CodeStore.write([frame], "y", tmp_path / "store", drop=["text"])
    assert "text" not in store.names
    again = pickle.loads(pickle.dumps(store))
    assert again.digest == store.digest
    assert len(pickle.dumps(store)) < 1000
    assert "3,200 rows, 7 tests, 3 classes" in repr(store)


def test_learners_that_need_rows_say_so(frame, tmp_path):
    store = CodeStore.write([frame], "y", tmp_path / "store")
    with pytest.raises(InvalidOptionError, match="must be given rows"):
        askless.CostTreeClassifier().fit(store)
    with pytest.raises(InvalidOptionError, match="given alone"):
        askless.GreedyTreeClassifier().fit(store, frame["y"])
