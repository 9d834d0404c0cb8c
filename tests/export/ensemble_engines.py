"""Run exported ensembles where they will be run, and what Askless itself says.

An answer of the adaptive run is what was asked, in order, what was spent and what was
decided; one of the full model its decision, its probabilities and, where the format
tells them, its sums.
"""

import ctypes
import json
import shutil
import sqlite3
import subprocess
from typing import Any, NamedTuple

import numpy as np
import pytest

from askless.export import show

__all__ = ["FULL_ENGINES", "RUN_ENGINES", "Full", "Run", "full_model", "own_run"]


class Run(NamedTuple):
    """What an adaptive run came to, a row for each case."""

    asked: list
    spent: list
    decision: list


class Full(NamedTuple):
    """What the full model says, a row for each case."""

    decision: list
    probabilities: Any
    sums: Any


def own_run(policy, rows):
    """Return what Askless itself buys and decides, state by state."""
    codes = {
        i: policy.tests[i].encode(rows[policy.tests[i].name]) for i in policy.used_tests
    }
    names = policy.test_names
    n_rows = len(next(iter(rows.values())))
    asked, decided = [], []
    for row in range(n_rows):
        state, bought = policy.initial_state(), []
        while (test := policy.next_test(state)) is not None:
            bought.append(names[test])
            state = policy.advance(state, int(codes[test][row]))
        asked.append(bought)
        decided.append(policy.answer(state))
    assert decided == policy.predict(rows).tolist()
    return Run(asked, policy.cost(rows).tolist(), decided)


def full_model(policy, rows):
    """Return what the full model says."""
    full = policy.with_stop(is_complete=True)
    sums = full.run_rows(rows)[0]
    shares = None if policy.answers_number else full.predict_proba(rows)
    return Full(full.predict(rows).tolist(), shares, sums)


def _records(rows):
    columns = [[_plain(value) for value in column] for column in rows.values()]
    return [
        dict(zip(rows, record, strict=True)) for record in zip(*columns, strict=True)
    ]


def _plain(value):
    if value is None or value != value:
        return None
    return value.item() if isinstance(value, np.generic) else value


def _shares_of(policy, full):
    return None if policy.answers_number else np.array(full)


def run_python(policy, rows, folder):
    module = {}
    exec(show(policy, "python"), module)
    records = _records(rows)
    found = [module["explain"](record) for record in records]
    full = [module["full"](record) for record in records]
    shares = [list((f["probabilities"] or {}).values()) for f in full]
    return (
        Run(*([f[key] for f in found] for key in ("asked", "spent", "decision"))),
        Full(
            [f["decision"] for f in full],
            _shares_of(policy, shares),
            np.array([f["sums"] for f in full]),
        ),
    )


NODE = """
const { explain, full } = require("./policy.js");
const big = { "+": Infinity, "-": -Infinity };
const found = require("./rows.json").map((record) => {
  for (const [name, value] of Object.entries(record)) {
    if (value !== null && typeof value === "object") record[name] = big[value.inf];
  }
  const { asked, spent, decision } = explain(record);
  return [[asked, spent, decision], full(record)];
});
require("fs").writeFileSync("found.json", JSON.stringify(found));
"""


def run_javascript(policy, rows, folder):
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node")
    folder.joinpath("policy.js").write_text(show(policy, "javascript"), "utf-8")
    folder.joinpath("main.js").write_text(NODE, "utf-8")
    records = [
        {name: _for_json(value) for name, value in record.items()}
        for record in _records(rows)
    ]
    folder.joinpath("rows.json").write_text(json.dumps(records), "utf-8")
    subprocess.run([node, "main.js"], cwd=folder, check=True, timeout=1800)
    found = json.loads(folder.joinpath("found.json").read_text("utf-8"))
    full = [f for _, f in found]
    return (
        Run(*map(list, zip(*(run for run, _ in found), strict=True))),
        Full(
            [f["decision"] for f in full],
            _shares_of(policy, [f["probabilities"] for f in full]),
            np.array([f["sums"] for f in full]),
        ),
    )


def _for_json(value):
    if isinstance(value, float) and value in (np.inf, -np.inf):
        return {"inf": "+" if value > 0 else "-"}
    return value


C_MAIN = """
size_t size_of_case(void) { return sizeof(askless_case); }
"""


def compile_c(policy, folder):
    """Return the library of an ensemble in C; warnings are errors."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("needs a C compiler")
    source, library = folder / "policy.c", folder / "policy.so"
    source.write_text(show(policy, "c") + C_MAIN, "utf-8")
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    subprocess.run(
        [compiler, *flags, "-shared", "-fPIC", source, "-o", library, "-lm"], check=True
    )
    found = ctypes.CDLL(str(library))
    found.size_of_case.restype = ctypes.c_size_t
    for name in ("spent", "number", "price"):
        getattr(found, f"askless_{name}").restype = ctypes.c_double
    found.askless_answer_number.argtypes = [ctypes.c_void_p, ctypes.c_double]
    found.askless_answer_text.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    return found


def run_c(policy, rows, folder):
    library = compile_c(policy, folder)
    case = ctypes.create_string_buffer(library.size_of_case())
    tests = [policy.tests[i] for i in policy.used_tests]
    n_classes, n_outputs = len(policy.classes), policy.output.n_outputs
    runs, fulls, shares, sums = [], [], [], []
    for record in _records(rows):
        library.askless_start(case)
        asked = []
        while (test := library.askless_next(case)) >= 0:
            asked.append(tests[test].name)
            value = record[asked[-1]]
            if value is None or isinstance(value, str):
                text = None if value is None else value.encode()
                assert library.askless_answer_text(case, text) == 0
            else:
                assert library.askless_answer_number(case, value) == 0
        spent = library.askless_spent(case)
        decided = library.askless_decide(case)
        number = library.askless_number(case)
        runs.append((asked, spent, policy.classes[decided] if decided >= 0 else number))
        values = (ctypes.c_double * max(len(tests), 1))(
            *(_c_value(test, record[test.name]) for test in tests)
        )
        share = (ctypes.c_double * max(n_classes, 1))()
        total = (ctypes.c_double * n_outputs)()
        found = ctypes.c_double()
        decided = library.askless_full(case, values, share, total, ctypes.byref(found))
        fulls.append(policy.classes[decided] if decided >= 0 else found.value)
        shares.append(list(share)[:n_classes])
        sums.append(list(total))
    return (
        Run(*map(list, zip(*runs, strict=True))),
        Full(fulls, _shares_of(policy, shares), np.array(sums)),
    )


def _c_value(test, value):
    if value is None:
        return np.nan
    if test.kind == "number":
        return value
    code = test.code_of(value)
    return code if code < test.n_levels else -1


def run_onnx(policy, rows, folder):
    pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(show(policy, "onnx"), options)
    given = {}
    for wanted in session.get_inputs():
        column = rows.get(wanted.name, np.zeros(len(next(iter(rows.values())))))
        if wanted.type == "tensor(string)":
            column = np.array(["" if v is None else v for v in column], dtype=object)
        else:
            column = np.array([np.nan if v is None else v for v in column], dtype=float)
        given[wanted.name] = column[:, None]
    names = [output.name for output in session.get_outputs()]
    found = dict(zip(names, session.run(names, given), strict=True))
    return None, Full(
        found["decision"].tolist(), found.get("probabilities"), found["sums"]
    )


def _from_rows(policy, found):
    shares = None if policy.answers_number else np.array([row[1:] for row in found])
    return None, Full([row[0] for row in found], shares, None)


def _wanted_columns(policy):
    n_classes = len(policy.classes)
    shares = [f"askless_probability_{k}" for k in range(1, n_classes + 1)]
    return ", ".join(["askless_decision", *shares])


def run_duckdb(policy, rows, folder):
    duckdb = pytest.importorskip("duckdb")
    pyarrow = pytest.importorskip("pyarrow")
    columns = {
        name: pyarrow.array([_plain(v) for v in column])
        for name, column in rows.items()
    }
    columns["id"] = pyarrow.array(range(len(next(iter(rows.values())))))
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    connection.register("cases", pyarrow.table(columns))
    query = show(policy, "sql", dialect="duckdb", key="id")
    found = connection.execute(
        f"SELECT {_wanted_columns(policy)} FROM ({query}) ORDER BY id"
    ).fetchall()
    return _from_rows(policy, found)


def run_sqlite(policy, rows, folder):
    if policy.output.is_single:
        pytest.skip("SQLite has no single precision")
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("SELECT EXP(1)")
    except sqlite3.OperationalError:
        pytest.skip("this SQLite was built without mathematical functions")
    names = ", ".join(f'"{name}"' for name in rows)
    connection.execute(f"CREATE TABLE cases (id INTEGER PRIMARY KEY, {names})")
    marks = ", ".join("?" for _ in rows)
    connection.executemany(
        f"INSERT INTO cases ({names}) VALUES ({marks})",
        [tuple(record.values()) for record in _records(rows)],
    )
    query = show(policy, "sql", dialect="sqlite", key="id")
    found = connection.execute(
        f"SELECT {_wanted_columns(policy)} FROM ({query}) ORDER BY id"
    ).fetchall()
    return _from_rows(policy, found)


RUN_ENGINES = {"c": run_c, "javascript": run_javascript, "python": run_python}
FULL_ENGINES = {"duckdb": run_duckdb, "onnx": run_onnx, "sqlite": run_sqlite}
