"""A column is cleaned once on its way in, whoever hands it on."""

import pandas as pd
import pytest

import askless
from askless.problem import _column, _frames, _outcomes, _table_parts, _tests
from askless.problem._frames import Columns, as_columns, clean_columns

FRAME = pd.DataFrame(
    {
        "lamp": ["dark", "dark", "dim"] * 4,
        "socket": ["dead", "live", "live"] * 4,
        "volts": [0.5, 2.0, None] * 4,
        "cause": ["fuse", "bulb", "dimmer"] * 4,
    }
)
ROWS, CAUSES = FRAME.drop(columns="cause"), FRAME["cause"].tolist()


@pytest.fixture
def cleaned(monkeypatch):
    """Return the names of the columns that are cleaned, each as often as it is."""
    names = []
    clean = _column.clean_column

    def listen(values, name=""):
        names.append(name)
        return clean(values, name)

    for module in (_frames, _outcomes, _table_parts, _tests):
        monkeypatch.setattr(module, "clean_column", listen)
    return names


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "lamp.csv"
    FRAME.to_csv(path, index=False)
    return path


def test_a_table_cleans_each_column_once(cleaned):
    askless.Table(ROWS, CAUSES)
    assert sorted(cleaned) == ["classes", "lamp", "socket", "volts"]


def test_a_table_with_a_target_cleans_what_it_takes_once(cleaned):
    askless.Table(FRAME, "cause", tests=["socket", "lamp"])
    assert sorted(cleaned) == ["cause", "lamp", "socket"]


def test_cells_that_are_marked_are_looked_at_again(cleaned):
    askless.Table(ROWS, CAUSES, unknown="dead")
    assert sorted(cleaned) == ["classes", "lamp", "socket", "socket", "volts"]


def test_what_was_parsed_from_csv_is_clean(cleaned, csv):
    askless.read_table(csv, "cause")
    assert cleaned == []


def test_a_learner_cleans_each_column_once(cleaned):
    model = askless.C45Classifier().fit(ROWS, CAUSES)
    assert sorted(cleaned) == ["lamp", "socket", "volts"]
    cleaned.clear()
    model.predict(ROWS)
    assert sorted(cleaned) == ["lamp", "socket", "volts"]
    cleaned.clear()
    # As objects: text of Arrow, which newer pandas holds, is coded without cleaning.
    model.policy_.predict({name: ROWS[name].tolist() for name in ROWS})
    assert len(cleaned) == len(set(cleaned)) == len(model.policy_.used_tests)


def test_evaluating_cleans_each_column_once(cleaned):
    policy = askless.solve(askless.Table(ROWS, CAUSES, costs=[1, 5, 9])).policy
    cleaned.clear()
    askless.evaluate(policy, ROWS, CAUSES)
    assert sorted(cleaned) == sorted(set(cleaned))


def test_callers_get_a_dict_that_they_may_change():
    columns = as_columns(ROWS)
    assert type(columns) is dict
    columns["lamp"] = ["dim", float("nan"), None] * 4
    assert type(clean_columns(columns)) is Columns
    assert clean_columns(columns)["lamp"].tolist() == ["dim", None, None] * 4
