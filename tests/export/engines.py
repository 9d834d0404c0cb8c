"""Run exported policies where they will be run: in the engines themselves.

Each function takes a policy and columns by name, and returns the leaf and the decision
of each row: leaves of shape (n,), or (n, n_trees) for a forest.
"""

import json
import shutil
import sqlite3
import subprocess
from functools import partial

import numpy as np
import pytest

from askless.export import show
from askless.policy import Forest

__all__ = ["ENGINES", "TRANSLATED", "expected"]


def expected(policy, rows):
    """Return what Askless itself says."""
    leaves = policy.apply(rows)
    if isinstance(policy, Forest):
        leaves = leaves - policy.tree_start[:-1]
    return leaves, policy.predict(rows)


def _plain(value):
    """Return a value as a database or JSON would hold it."""
    if value is None or value != value:
        return None
    return value.item() if isinstance(value, np.generic) else value


def _records(rows):
    columns = [[_plain(v) for v in column] for column in rows.values()]
    return list(zip(*columns, strict=True))


def _answers(policy, found):
    """Return leaves and decisions of (leaf..., decision) rows."""
    leaves = np.array([row[:-1] for row in found], dtype=np.int64)
    if not isinstance(policy, Forest):
        leaves = leaves[:, 0]
    return leaves, np.array([row[-1] for row in found], dtype=object)


def _answer_columns(policy):
    if not isinstance(policy, Forest):
        return "askless_leaf, askless_decision"
    names = [f"askless_leaf_{i + 1}" for i in range(policy.n_trees)]
    if policy.n_trees == 1:
        names = ["askless_leaf"]
    return ", ".join([*names, "askless_decision"])


def run_python(policy, rows):
    module = {}
    exec(show(policy, "python"), module)
    explain = module["explain"]
    found = []
    for record in _records(rows):
        told = explain(dict(zip(rows, record, strict=True)))
        leaf = told["leaf"]
        found.append((*(leaf if isinstance(leaf, list) else [leaf]), told["decision"]))
    return _answers(policy, found)


NODE = """
const { explain } = require("./policy.js");
const { names, records } = require("./rows.json");
const big = { "+": Infinity, "-": -Infinity };
const found = records.map((record) => {
  const given = {};
  record.forEach((value, i) => {
    const isBig = value !== null && typeof value === "object";
    given[names[i]] = isBig ? big[value.inf] : value;
  });
  const { leaf, decision } = explain(given);
  return [...(Array.isArray(leaf) ? leaf : [leaf]), decision];
});
require("fs").writeFileSync("found.json", JSON.stringify(found));
"""


def run_javascript(policy, rows, folder):
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node")
    folder.joinpath("policy.js").write_text(show(policy, "javascript"), "utf-8")
    folder.joinpath("main.js").write_text(NODE, "utf-8")
    records = [[_for_json(value) for value in record] for record in _records(rows)]
    content = {"names": list(rows), "records": records}
    folder.joinpath("rows.json").write_text(json.dumps(content), "utf-8")
    subprocess.run([node, "main.js"], cwd=folder, check=True, timeout=120)
    return _answers(policy, json.loads(folder.joinpath("found.json").read_text()))


def _for_json(value):
    if isinstance(value, float) and value in (np.inf, -np.inf):
        return {"inf": "+" if value > 0 else "-"}
    return value


def run_duckdb(policy, rows):
    return _ask_duckdb(policy, rows, show(policy, "sql", dialect="duckdb", key="id"))


def run_translated(dialect, policy, rows):
    """Read SQL as its own engine would, and run what it says in DuckDB.

    That is as far as one gets without the engine: what the words mean is taken from the
    dialect, how numbers and missing values are compared from DuckDB.
    """
    sqlglot = pytest.importorskip("sqlglot")
    written = show(policy, "sql", dialect=dialect, key="id")
    name = {"postgresql": "postgres"}.get(dialect, dialect)
    (query,) = sqlglot.transpile(written, read=name, write="duckdb")
    return _ask_duckdb(policy, rows, query)


def _ask_duckdb(policy, rows, query):
    duckdb = pytest.importorskip("duckdb")
    pyarrow = pytest.importorskip("pyarrow")
    # Through Arrow NaN stays NaN, which DuckDB does not take for NULL.
    columns = {
        name: pyarrow.array(column.tolist() if column.dtype == object else column)
        for name, column in rows.items()
    }
    columns["id"] = pyarrow.array(range(len(next(iter(rows.values())))))
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    connection.register("cases", pyarrow.table(columns))
    found = connection.execute(
        f"SELECT {_answer_columns(policy)} FROM ({query}) ORDER BY id"
    ).fetchall()
    return _answers(policy, found)


def run_sqlite(policy, rows):
    if sqlite3.sqlite_version_info < (3, 35):
        pytest.skip("needs SQLite 3.35")
    connection = sqlite3.connect(":memory:")
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in rows)
    connection.execute(f"CREATE TABLE cases (id INTEGER PRIMARY KEY, {names})")
    marks = ", ".join("?" for _ in rows)
    connection.executemany(
        f"INSERT INTO cases ({names}) VALUES ({marks})", _records(rows)
    )
    query = show(policy, "sql", dialect="sqlite", key="id")
    found = connection.execute(
        f"SELECT {_answer_columns(policy)} FROM ({query}) ORDER BY id"
    ).fetchall()
    return _answers(policy, found)


def run_onnx(policy, rows):
    pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(show(policy, "onnx"), options)
    given = {}
    for wanted in session.get_inputs():
        column = rows[wanted.name]
        if wanted.type == "tensor(string)":
            column = np.array(["" if v is None else v for v in column], dtype=object)
        else:
            column = np.array([np.nan if v is None else v for v in column], dtype=float)
        given[wanted.name] = column[:, None]
    decision, leaf = session.run(["decision", "leaf"], given)
    return leaf, decision


TRANSLATED = ("bigquery", "postgresql", "snowflake")
ENGINES = {
    **{dialect: partial(run_translated, dialect) for dialect in TRANSLATED},
    "duckdb": run_duckdb,
    "javascript": run_javascript,
    "onnx": run_onnx,
    "python": run_python,
    "sqlite": run_sqlite,
}
