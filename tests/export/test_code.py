"""Code that is exported: rules, SQL and programs, beside what the parity tests say."""

import re
import shutil
import subprocess

import numpy as np
import pytest

import askless
from askless.exceptions import InvalidOptionError, UnknownNameError
from askless.export import show
from askless.export.code._dialects import DIALECTS
from askless.policy import Forest
from askless.problem import Costs, PriceList, Table, Test
from tests.export.grown import adversarial_rows, grow_to_depth, mixed_tests
from tests.policy.examples import EXAMPLES, make_example
from tests.strategies import solved

RULE = re.compile(
    r"(?:IF (?P<reason>.*) THEN|ALWAYS) (?P<decision>\S+)  "
    r"\[n (?P<n>\S+), (?P<share>\S+) %, purity (?P<purity>\S+) %, cost (?P<cost>\S+)\]"
)


def holds(condition, test, value):
    """Return whether a value fulfils a condition of a rule."""
    words = condition.removeprefix(f"{test.name} ")
    is_missing = value is None or value != value
    code = test.code_of(value)
    if "<" in condition or ">" in condition:
        number = condition.removesuffix(" (or missing)")
        if is_missing:
            return number != condition
        options = number.strip("()").split(" OR ")
        return any(eval(o.replace(test.name, "v"), {"v": value}) for o in options)
    if words == "is known":
        return not is_missing
    words = words.removeprefix("is ")
    if words in ("missing", "never seen", "missing or never seen"):
        return code - test.n_levels in {
            "missing": {0}, "never seen": {1}, "missing or never seen": {0, 1},
        }[words]  # fmt: skip
    also = set()
    if words.endswith("*"):
        words, also = words[:-1], {0, 1}
    for number, suffix in enumerate((" (or missing)", " (or never seen)")):
        if words.endswith(suffix):
            words, also = words.removesuffix(suffix), {number}
    if code >= test.n_levels:
        return code - test.n_levels in also
    return test.label(code) in words.removeprefix("one of ").split(", ")


def short(cuts):
    return np.clip(np.round(np.array(cuts) * 2), -999, 999) / 2


def test_each_row_fulfils_the_rule_of_its_leaf_and_no_other(rng):
    tests = tuple(
        Test(f"t{i}", t.kind, tuple(f"o{o}" for o in t.outcomes), t.cuts[:6])
        for i, t in enumerate(mixed_tests(rng, 7))
    )
    # Cuts that are written in full, so that a rule can be read back.
    tests = tuple(
        Test(t.name, t.kind, t.outcomes, tuple(np.unique(short(t.cuts)).tolist()))
        for t in tests
    )
    tree = grow_to_depth(rng, tests, ("a", "b", "c"), 6, 60)
    note, *lines = show(tree, "rules").split("\n")
    assert note == "# * or missing or never seen"
    rules = [RULE.fullmatch(line) for line in lines]
    shares = [float(rule["share"]) for rule in rules]
    assert shares == sorted(shares, reverse=True)
    rows = adversarial_rows(rng, tests, 150)
    decided = tree.predict(rows)
    costs = tree.cost(rows)
    by_name = {test.name: test for test in tests}
    for row in range(150):
        values = {name: column[row] for name, column in rows.items()}
        fulfilled = [
            rule
            for rule in rules
            if all(
                holds(
                    c,
                    by_name[re.search(r"t\d+", c)[0]],
                    values[re.search(r"t\d+", c)[0]],
                )
                for c in (rule["reason"] or "").split(" AND ")
                if c
            )
        ]
        assert len(fulfilled) == 1
        assert fulfilled[0]["decision"] == decided[row]
        assert float(fulfilled[0]["cost"]) == pytest.approx(costs[row], rel=1e-5)


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
@pytest.mark.parametrize("kind", ["tree", "forest"])
def test_sql_is_read_in_each_dialect(dialect, kind, rng):
    sqlglot = pytest.importorskip("sqlglot")
    tests = mixed_tests(rng, 8)
    prices = PriceList.plain(np.ones(8))
    grown = [
        grow_to_depth(rng, tests, ("it's", "b\\"), 7, 200, prices=prices)
        for _ in range(3)
    ]
    policy = grown[0] if kind == "tree" else Forest.from_trees(grown)
    query = show(policy, "sql", dialect=dialect, table="lab.cases", key=["id", "day"])
    name = {"postgresql": "postgres"}.get(dialect, dialect)
    parsed = sqlglot.parse_one(query, read=name)
    # Nothing is nested: a CASE stands inside no other.
    for case in parsed.find_all(sqlglot.exp.Case):
        assert case.find_ancestor(sqlglot.exp.Case) is None
    strings = {literal.this for literal in parsed.find_all(sqlglot.exp.Literal)}
    assert {"it's", "b\\"} <= strings


def test_numbers_in_sql_are_exact(rng):
    sqlite3 = pytest.importorskip("sqlite3")
    duckdb = pytest.importorskip("duckdb")
    drawn = (rng.normal(size=300) * 10.0 ** rng.integers(-37, 37, 300)).astype(
        np.float32
    )
    values = [float(v) for v in drawn] + [0.0, 1.0, -2.5, 1e-45, 1e300, 1 / 3, 1e15]
    connection = sqlite3.connect(":memory:")
    for value in values:
        written = DIALECTS["sqlite"].number(value)
        assert connection.execute(f"SELECT {written}").fetchone()[0] == value
    listed = ", ".join(DIALECTS["duckdb"].number(value) for value in values)
    found = duckdb.connect().execute(f"SELECT {listed}").fetchone()
    assert list(found) == values
    assert {type(v) for v in found} == {float}


def test_sql_keeps_all_columns_or_those_asked_for():
    duckdb = pytest.importorskip("duckdb")
    tree = solved(Table([["a"], ["b"]], [1, 2], tests=["x"]))
    connection = duckdb.connect()
    connection.execute("CREATE TABLE cases AS SELECT 'b' AS x, 5 AS other")
    every = connection.execute(show(tree, "sql"))
    assert [d[0] for d in every.description] == [
        "x", "other", "askless_leaf", "askless_decision", "askless_cost",
    ]  # fmt: skip
    assert every.fetchall() == [("b", 5, 2, 2, 1.0)]
    connection.execute("CREATE TABLE patients AS SELECT 'b' AS y, 7 AS id")
    query = show(
        tree, "sql", table="patients", key="id", columns={"x": "y"}, leaves=False
    )
    assert connection.execute(query).fetchall() == [(7, 2, 1.0)]


def test_sql_refuses_what_it_cannot_say():
    tree = solved(Table([["a"], ["b"]], [1, 2], tests=["x"]))
    with pytest.raises(UnknownNameError, match=r"one of bigquery.*Got 'oracle'"):
        show(tree, "sql", dialect="oracle")
    with pytest.raises(InvalidOptionError, match=r"columns must name tests.*'z'"):
        show(tree, "sql", columns={"z": "y"})
    with pytest.raises(InvalidOptionError, match=r"zero character"):
        show(tree, "sql", table="a\0b")
    assert show(tree, "sql", dialect="postgres") == show(
        tree, "sql", dialect="postgresql"
    )


@pytest.mark.parametrize("name", EXAMPLES)
def test_programs_tell_what_was_asked_and_spent(name, rng):
    policy = make_example(name)
    if policy.kind not in ("tree", "forest"):
        pytest.skip("programs are made from trees and forests")
    module = {}
    exec(show(policy, "python"), module)
    rows = adversarial_rows(rng, policy.tests, 200)
    costs, decided = policy.cost(rows), policy.predict(rows)
    for row in range(200):
        values = {
            name: None if (v := column[row]) is None or v != v else v
            for name, column in rows.items()
        }
        asked = []

        def buy(test, asked=asked, values=values):
            asked.append(test)
            return values[test]

        told = module["explain"](buy)
        assert told["decision"] == decided[row]
        assert told["asked"] == asked
        assert len(set(asked)) == len(asked)
        if told["spent"] is not None:
            assert told["spent"] == pytest.approx(costs[row], rel=1e-12)


def test_a_forest_of_groups_is_charged_as_askless_charges(rng):
    names = [f"t{i}" for i in range(4)]
    table = Table(
        {n: rng.choice(["u", "v", "w"], 40).tolist() for n in names},
        rng.choice(["a", "b"], 40).tolist(),
        costs=Costs(
            dict.fromkeys(names, 3.3), groups={"g": names[:3]}, discounted={"t1": 1.1}
        ),
    )
    tests, prices = table.tests, table.prices
    forest = Forest.from_trees(
        [grow_to_depth(rng, tests, ("a", "b"), 4, 12, prices=prices) for _ in range(7)]
    )
    module = {}
    exec(show(forest, "python"), module)
    rows = adversarial_rows(rng, tests, 100)
    for row, cost in enumerate(forest.cost(rows)):
        told = module["explain"]({name: column[row] for name, column in rows.items()})
        assert told["spent"] == pytest.approx(cost, rel=1e-12)


def test_an_es_module_can_be_imported(tmp_path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node")
    tree = solved(Table([["a"], ["b"]], ["one", "two"], tests=["x"]))
    tmp_path.joinpath("p.mjs").write_text(show(tree, "javascript", module=True))
    script = 'import {decide} from "./p.mjs"; console.log(decide({x: "b"}))'
    found = subprocess.run(
        [node, "--input-type=module", "-e", script],
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    assert found.stdout.decode() == "two\n"


def test_names_cannot_break_out_of_a_program(tmp_path):
    odd = ['"""', "\\", "'", "${x}", "</script>", "\n", "\u2028", "{", "%s"]
    table = Table(
        {name: [name, "other"] for name in odd}, ['a"""', "b\\"], costs=[1] * len(odd)
    )
    tree = solved(table)
    module = {}
    exec(show(tree, "python"), module)
    case = {name: name for name in odd}
    assert module["decide"](case) == 'a"""'
    assert "</script>" not in show(tree, "javascript")
    node = shutil.which("node")
    if node:
        tmp_path.joinpath("p.js").write_text(show(tree, "javascript"), "utf-8")
        subprocess.run([node, "--check", "p.js"], cwd=tmp_path, check=True)


def test_onnx_outputs_do_not_clash_with_tests():
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    tree = solved(Table([["a"], ["b"]], ["one", "two"], tests=["leaf"]))
    session = onnxruntime.InferenceSession(show(tree, "onnx"))
    names = [output.name for output in session.get_outputs()]
    assert names == ["decision", "probabilities", "leaf_", "cost"]
    given = {"leaf": np.array([["b"], [""]], dtype=object)}
    decision, shares, leaf, cost = session.run(None, given)
    assert decision.tolist() == ["two", "one"]
    assert shares.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert leaf.tolist() == [2, 1]
    assert cost.tolist() == [1.0, 1.0]


def test_onnx_shares_and_costs_are_those_of_the_policy(rng):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    clinic = askless.datasets.make_clinic(300, random_state=0)
    frame = clinic.to_frame()
    tree = askless.GreedyTreeClassifier(clinic.costs, max_depth=5)
    policy = tree.fit(frame, clinic.y).policy_
    session = onnxruntime.InferenceSession(show(policy, "onnx"))
    given = {}
    for wanted in session.get_inputs():
        column = frame[wanted.name]
        if wanted.type == "tensor(string)":
            column = np.array(
                ["" if v != v or v is None else v for v in column], object
            )
        given[wanted.name] = np.asarray(column)[:, None]
        if wanted.type == "tensor(double)":
            given[wanted.name] = given[wanted.name].astype(float)
    decision, shares, leaf, cost = session.run(None, given)
    assert (decision == policy.predict(frame)).all()
    assert (leaf == policy.apply(frame)).all()
    np.testing.assert_array_equal(shares, policy.predict_proba(frame))
    np.testing.assert_array_equal(cost, policy.cost(frame))
