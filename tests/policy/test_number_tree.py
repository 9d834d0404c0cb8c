"""A tree that says numbers: it walks and charges as a tree, and has no classes."""

from __future__ import annotations

import json
import shutil
import subprocess

import numpy as np
import pytest

import askless
from askless.exceptions import InvalidOptionError, InvalidPolicyError, InvalidTableError
from askless.policy import NumberTree
from askless.policy._file import dump, parse
from askless.testing import check_policy, make_hard_rows
from tests.policy.examples import make_example


@pytest.fixture
def tree():
    return make_example("number tree")


@pytest.fixture(scope="module")
def learned():
    rng = np.random.default_rng(0)
    X = {
        "size": rng.uniform(0, 9, 400).round(1),
        "town": rng.choice(["a", "b", "c"], 400),
    }
    X["size"][::17] = np.nan
    y = np.nan_to_num(X["size"]) * 2.5 + (X["town"] == "b") * 4.0 + rng.normal(size=400)
    return askless.CostTreeRegressor({"size": 1, "town": 3}).fit(X, y).policy_


def test_it_keeps_every_promise_of_a_policy(tree, learned):
    check_policy(tree)
    check_policy(learned)


def test_it_asks_and_charges_as_the_tree_that_it_is_made_of(tree):
    like, X = make_example("outcome prices"), make_hard_rows(tree)
    assert tree.cost(X).tolist() == like.cost(X).tolist()
    assert tree.apply(X).tolist() == like.apply(X).tolist()
    assert tree.predict(X).tolist() == tree.values[like.apply(X)].tolist()
    assert repr(tree).startswith("NumberTree(")


def test_a_session_says_what_to_expect_and_then_the_number(learned):
    session = learned.start()
    assert session.decision is None
    assert session.decision_now == learned.values[0]
    assert session.why().endswith(f"{learned.values[0]:g} is expected so far.")
    while session.test is not None:
        session.answer({"size": 4.0, "town": "b"}[session.test])
    assert session.decision == learned.predict({"size": [4.0], "town": ["b"]})[0]
    assert session.probabilities == {}
    assert session.certainty == 1.0


def test_it_has_no_probabilities(tree):
    with pytest.raises(InvalidOptionError, match=r"predict_proba .* Use predict\."):
        tree.predict_proba(make_hard_rows(tree))
    with pytest.raises(InvalidOptionError, match=r"Use by='gain'\."):
        tree.importances([[0]], [1.0], by="saving", mistakes=3)
    assert sum(tree.importances().values()) == pytest.approx(1.0)


@pytest.mark.parametrize("values", [[1.0], [np.nan] * 6, [1e300] * 6])
def test_numbers_that_are_none_are_refused(tree, values):
    with pytest.raises(InvalidPolicyError, match="Every node must say a number"):
        NumberTree(tree.tests, tree.prices, nodes=tree.nodes, values=np.array(values))


def test_a_file_with_classes_is_refused(tree):
    content = dump(tree).replace(b'"classes": []', b'"classes": ["a"]')
    with pytest.raises(askless.exceptions.PolicyFileError, match="neither classes nor"):
        parse(content, edited=True)
    assert json.loads(dump(tree))["values"] == tree.values.tolist()


@pytest.mark.parametrize("format", ["text", "rules", "svg", "html", "dot", "mermaid"])
def test_pictures_show_the_numbers(learned, format):
    shown = askless.show(learned, format)
    leaves = learned.values[learned.test < 0]
    assert all(f"{value:.6g}" in shown for value in leaves)
    assert "purity" not in shown


def test_boxes_are_coloured_by_bands_of_numbers(learned):
    from askless.export._kinds import kinds_of

    kinds = kinds_of(learned)
    assert 2 <= len(kinds.labels) <= 5
    assert len(set(kinds.colours)) == len(kinds.labels)
    leaves = learned.test < 0
    # Larger numbers are in later bands, and shares are those of the leaves below.
    order = np.argsort(learned.values[leaves])
    assert (np.diff(kinds.of_node[leaves][order]) >= 0).all()
    for node in range(learned.n_nodes):
        assert kinds.shares_at(node).sum() == pytest.approx(1.0)


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_javascript_says_the_same(learned, tmp_path):
    X = make_hard_rows(learned)
    rows = [
        {n: None if v is None or v != v else v for n, v in zip(X, values, strict=True)}
        for values in zip(*(np.asarray(c).tolist() for c in X.values()), strict=True)
    ]
    script = tmp_path / "policy.mjs"
    script.write_text(
        askless.show(learned, "javascript", module=True)
        + f"\nconsole.log(JSON.stringify({json.dumps(rows)}.map(decide)));\n"
    )
    said = subprocess.run(["node", script], capture_output=True, check=True, text=True)
    assert json.loads(said.stdout) == learned.predict(X).tolist()


def test_sql_says_the_same(learned):
    duckdb = pytest.importorskip("duckdb")
    pd = pytest.importorskip("pandas")
    X = {"size": [0.5, None, 4.0, 8.9], "town": ["a", "b", None, "never seen"]}
    cases = pd.DataFrame(X)  # noqa: F841 - read by name
    found = duckdb.sql(askless.show(learned, "sql", table="cases")).fetchdf()
    assert found["askless_decision"].tolist() == learned.predict(X).tolist()
    assert found["askless_cost"].tolist() == learned.cost(X).tolist()


def test_onnx_says_the_same(learned):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    X = {"size": np.array([0.5, 4.0, 8.9]), "town": np.array(["a", "b", "c"])}
    session = runtime.InferenceSession(askless.show(learned, "onnx"))
    feed = {}
    for given in session.get_inputs():
        kind = object if "string" in given.type else np.float64
        feed[given.name] = X[given.name].astype(kind).reshape(-1, 1)
        if "float" in given.type:
            feed[given.name] = feed[given.name].astype(np.float32)
    names = [output.name for output in session.get_outputs()]
    found = dict(zip(names, session.run(None, feed), strict=True))
    assert found["decision"].tolist() == learned.predict(X).tolist()


def test_c_is_refused_in_words(learned):
    with pytest.raises(InvalidOptionError, match="C must be made from an ensemble"):
        askless.show(learned, "c")


# Evaluating.


def test_errors_are_told_by_their_size(learned):
    X, y = {"size": [1.0, 8.0], "town": ["a", "b"]}, [3.0, 20.0]
    gaps = np.abs(learned.predict(X) - y)
    found = askless.evaluate(learned, X, y, sample_weight=[1, 3])
    assert np.isnan(found.error)
    assert found.absolute_error == pytest.approx(gaps @ [0.25, 0.75])
    assert found.squared_error == pytest.approx(gaps**2 @ [0.25, 0.75])
    assert found.case_error.tolist() == gaps.tolist()
    assert "squared" in str(found)
    assert "absolute error" in repr(found)
    assert found.to_dict()["squared_error"] == found.squared_error


def test_what_is_no_number_cannot_be_judged_by(learned):
    X = {"size": [1.0], "town": ["a"]}
    with pytest.raises(
        InvalidTableError, match=r"must be judged by numbers\. Got 'dear'"
    ):
        askless.evaluate(learned, X, ["dear"])
    table = askless.Table(X, ["a"])
    with pytest.raises(InvalidTableError, match=r"Got a table, which has classes\."):
        askless.evaluate(learned, table)


def test_two_policies_of_numbers_are_compared(learned):
    X, y = {"size": [1.0, 8.0], "town": ["a", "b"]}, [3.0, 20.0]
    found = askless.compare(learned, learned, X, y)
    assert found.agreement == 1.0
    assert "on average" in str(found)
    with pytest.raises(
        InvalidOptionError, match=r"or both say numbers\. Got one of each"
    ):
        askless.compare(learned, make_example("numbers"), X, y)
