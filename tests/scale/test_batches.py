"""Batches are scored as all rows at once, whatever they come as, and for every kind."""

import pickle

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import dataset, parquet

import askless
from askless.exceptions import DataFileError, InvalidOptionError, InvalidTableError
from askless.run import decide_rows
from askless.scale import _batches as batches_module
from askless.scale import score_batches
from tests.policy.examples import EXAMPLES, make_example
from tests.strategies import random_rows


def as_arrow(rows):
    """Return columns of raw values as an Arrow table; mixed kinds become text."""
    columns = {}
    for name, values in rows.items():
        values = [None if v is None or v != v else v for v in list(values)]
        values = [v.item() if isinstance(v, np.generic) else v for v in values]
        kinds = {type(v) for v in values if v is not None}
        if len(kinds) > 1 and not kinds <= {int, float}:
            values = [None if v is None else str(v) for v in values]
        elif kinds == {int, float}:
            values = [None if v is None else float(v) for v in values]
        columns[name] = pa.array(values)
    return pa.table(columns)


@pytest.fixture(params=EXAMPLES)
def example(request, rng):
    policy = make_example(request.param)
    rows = as_arrow(random_rows(rng, policy.tests, 60))
    return policy, rows.append_column("key", pa.array(range(60)))


def test_every_kind_of_policy_scores_as_at_once(example):
    policy, rows = example
    found = score_batches(policy, rows.to_batches(7), keep=["key"]).read_all()
    decided, paid = policy.predict_and_cost(rows)
    assert found["key"].to_pylist() == list(range(60))
    if len({type(label) for label in policy.classes}) > 1:
        decided = np.array([str(label) for label in decided])
    assert found["decision"].to_pylist() == decided.tolist()
    assert found["cost"].to_numpy().tobytes() == paid.tobytes()


def test_every_kind_of_policy_tells_more_on_request(example):
    policy, rows = example
    also = ["bought"]
    if policy.kind == "tree":
        also.append("leaf")
    if policy.classes:
        also.append("probabilities")
    found = score_batches(policy, rows, also=also).read_all()
    plain = decide_rows(policy, rows)
    assert [tuple(b) for b in found["bought"].to_pylist()] == plain.bought
    if policy.kind == "tree":
        assert found["leaf"].to_pylist() == plain.leaf.tolist()
    if policy.classes:
        names = [f"probability_{label}" for label in policy.classes]
        shares = np.column_stack([found[name].to_numpy() for name in names])
        assert shares.tobytes() == policy.predict_proba(rows).tobytes()


def test_only_columns_that_can_be_asked_are_needed(example):
    policy, rows = example
    asked = rows.select([*policy.columns, "key"])
    assert score_batches(policy, asked).read_all() == (
        score_batches(policy, rows).read_all()
    )


def test_a_policy_that_was_used_pickles_small_and_decides_the_same(example, tmp_path):
    policy, rows = example
    before = policy.predict_and_cost(rows)
    policy.save(tmp_path / "policy.json")
    shipped = pickle.dumps(policy)
    assert len(shipped) < 10_000 + 3 * (tmp_path / "policy.json").stat().st_size
    after = pickle.loads(shipped).predict_and_cost(rows)
    assert before[0].tolist() == after[0].tolist()
    assert before[1].tobytes() == after[1].tobytes()


@pytest.fixture
def lamps():
    table = askless.Table(
        [["dark", "dead"], ["dark", "live"], ["dim", "live"]],
        ["fuse", "bulb", "dimmer"],
        tests=["lamp", "socket"],
        costs={"lamp": 1, "socket": 5},
    )
    rows = pa.table(
        {
            "house": list(range(100)),
            "lamp": ["dim", "dark", None, "odd"] * 25,
            "socket": ["live", "dead", "live", None, None] * 20,
            "spare": [0.0] * 100,
        }
    )
    return askless.solve(table).policy, rows


def sources(rows, folder):
    """Return the same rows in every form that batches may have."""
    import duckdb
    import polars as pl

    parquet.write_table(rows, folder / "rows.parquet", row_group_size=30)
    with pa.ipc.new_file(str(folder / "rows.arrow"), rows.schema) as writer:
        writer.write_table(rows)
    (folder / "many").mkdir()
    parquet.write_table(rows[:50], folder / "many" / "a.parquet")
    parquet.write_table(rows[50:], folder / "many" / "b.parquet")
    return {
        "table": rows,
        "batch": rows.combine_chunks().to_batches()[0],
        "batches": rows.to_batches(9),
        "generator": (batch for batch in rows.to_batches(9)),
        "tables": [rows[:20], rows[20:]],
        "reader": rows.to_reader(9),
        "data set": dataset.dataset(folder / "rows.parquet"),
        "polars": pl.from_arrow(rows),
        "duckdb": duckdb.from_arrow(rows),
        "path": folder / "rows.parquet",
        "text path": str(folder / "rows.arrow"),
        "folder": folder / "many",
        "paths": [folder / "many" / "a.parquet", folder / "many" / "b.parquet"],
    }


def test_rows_may_come_in_many_forms(lamps, tmp_path):
    policy, rows = lamps
    expected = score_batches(policy, rows, keep=["house"]).read_all().to_pylist()
    assert len(expected) == 100
    for name, source in sources(rows, tmp_path).items():
        found = score_batches(policy, source, keep=["house"]).read_all()
        assert found.to_pylist() == expected, name


def test_text_by_a_dictionary_and_large_text_decide_the_same(lamps):
    policy, rows = lamps
    expected = score_batches(policy, rows).read_all()
    for kind in (pa.large_string(), pa.string_view(), pa.dictionary("int8", "string")):
        other = rows.set_column(1, "lamp", rows["lamp"].cast(kind))
        assert score_batches(policy, other).read_all() == expected


def test_a_batch_is_read_when_it_is_asked_for(lamps):
    policy, rows = lamps
    asked = []

    def read():
        for i, batch in enumerate(rows.to_batches(10)):
            asked.append(i)
            yield batch

    reader = score_batches(policy, read())
    assert asked == [0]
    reader.read_next_batch()
    assert asked == [0]
    reader.read_next_batch()
    assert asked == [0, 1]


def test_large_batches_are_scored_in_parts(lamps, monkeypatch):
    policy, rows = lamps
    expected = score_batches(policy, rows).read_all()
    monkeypatch.setattr(batches_module, "MOST_ROWS", 7)
    found = score_batches(policy, rows)
    assert found.read_all() == expected


def test_only_columns_that_can_be_asked_are_read(lamps, tmp_path, monkeypatch):
    policy, rows = lamps
    parquet.write_table(rows, tmp_path / "rows.parquet")
    read = []
    usual = batches_module._open_dataset

    def note(found, columns):
        schema, stream = usual(found, columns)
        return schema, (read.append(b.schema.names) or b for b in stream)

    monkeypatch.setattr(batches_module, "_open_dataset", note)
    score_batches(policy, tmp_path / "rows.parquet", keep=["house"]).read_all()
    assert read == [["lamp", "socket", "house"]]


def test_a_policy_that_asks_nothing_counts_rows(tmp_path):
    table = askless.Table({"lamp": [0, 1]}, ["a", "a"])
    policy = askless.solve(table).policy
    rows = pa.table({"lamp": [0, 1, 2]})
    parquet.write_table(rows, tmp_path / "rows.parquet")
    for source in (rows, tmp_path / "rows.parquet"):
        found = score_batches(policy, source).read_all().to_pylist()
        assert found == [{"decision": "a", "cost": 0.0}] * 3


def test_no_rows_are_no_error(lamps):
    policy, rows = lamps
    found = score_batches(policy, rows[:0], keep=["house"]).read_all()
    assert found.num_rows == 0
    assert found.column_names == ["house", "decision", "cost"]


def test_an_absent_column_is_named(lamps):
    policy, rows = lamps
    with pytest.raises(InvalidTableError, match="Got no column 'socket'"):
        score_batches(policy, rows.drop_columns("socket"))
    with pytest.raises(InvalidTableError, match="Got no column 'home'"):
        score_batches(policy, rows, keep=["home"])


def test_what_a_test_cannot_show_is_refused_as_ever():
    policy = make_example("numbers")
    rows = pa.table({"age": ["20", "old"], "fever": [36.0, 39.0]})
    with pytest.raises(InvalidTableError, match="Got 'old' in row 1"):
        score_batches(policy, rows).read_all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"keep": "house"}, "keep must be a list of names"),
        ({"also": ["proba"]}, "also must name some of"),
        ({"keep": ["cost"]}, "must not be called like what is told"),
    ],
)
def test_options_are_checked(lamps, options, words):
    policy, rows = lamps
    rows = rows.append_column("cost", rows["house"])
    with pytest.raises(InvalidOptionError, match=words):
        score_batches(policy, rows, **options)


def test_leaves_are_of_trees(lamps):
    policy = make_example("forest")
    with pytest.raises(InvalidOptionError, match="Rows end in a leaf of a tree"):
        score_batches(policy, lamps[1], also=["leaf"])


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (5, InvalidOptionError, "Got int"),
        ([], InvalidOptionError, "without any"),
        ([{"lamp": 1}], InvalidOptionError, "Got dict"),
        ("rows.csv", DataFileError, "askless decide"),
        ("nowhere.parquet", DataFileError, "must be there and whole"),
    ],
)
def test_what_is_no_batch_is_refused(lamps, given, error, words):
    with pytest.raises(error, match=words):
        score_batches(lamps[0], given)


def test_files_of_two_formats_are_not_read_together(lamps, tmp_path):
    sources(lamps[1], tmp_path)
    paths = [tmp_path / "rows.parquet", tmp_path / "rows.arrow"]
    with pytest.raises(DataFileError, match="Got ipc and parquet"):
        score_batches(lamps[0], paths)
