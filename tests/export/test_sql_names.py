"""A query is never wrong in silence: columns that are absent, or called alike."""

import sqlite3

import pytest

import askless
from askless import Table, show
from askless.exceptions import InvalidOptionError
from askless.export.code._dialects import DIALECTS

LAMP = Table(
    [["dark", "dead"], ["dark", "live"], ["dim", "live"]],
    ["fuse", "bulb", "dimmer"],
    tests=["lamp", "socket"],
    costs={"lamp": 1, "socket": 5},
)
ROWS = [(1, "dark", "live"), (2, "dim", "live"), (3, "dark", "dead")]
DECISIONS = ["bulb", "dimmer", "fuse"]


@pytest.fixture
def policy():
    return askless.solve(LAMP).policy


@pytest.fixture(params=["sqlite", "duckdb"])
def base(request):
    """Return a function that runs a query on a table, by column names and rows."""
    engine = request.param
    if engine == "sqlite":
        if sqlite3.sqlite_version_info < (3, 35):
            pytest.skip("needs a newer SQLite")
        connection = sqlite3.connect(":memory:")
    else:
        connection = pytest.importorskip("duckdb").connect()

    def run(query_of, columns, rows, table="cases"):
        kinds = ", ".join(
            f'"{name}" {"INTEGER" if name == "id" else "TEXT"}' for name in columns
        )
        connection.execute(f'CREATE TABLE "{table}" ({kinds})')
        marks = ", ".join("?" * len(columns))
        connection.executemany(f'INSERT INTO "{table}" VALUES ({marks})', rows)
        found = connection.execute(query_of(engine))
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    return run


def decisions(found):
    return [row["askless_decision"] for row in sorted(found, key=lambda r: r["id"])]


@pytest.mark.parametrize("key", ["id", None])
def test_a_column_that_is_not_there_is_an_error(base, policy, key):
    with pytest.raises(Exception, match=r"(?i)socket"):
        base(
            lambda engine: show(policy, "sql", dialect=engine, key=key),
            ["id", "lamp", "sockt"],
            ROWS,
        )


def test_a_key_that_is_not_there_is_an_error(base, policy):
    with pytest.raises(Exception, match=r"(?i)askless_source.*idd|idd.*not"):
        base(
            lambda engine: show(policy, "sql", dialect=engine, key="idd"),
            ["id", "lamp", "socket"],
            ROWS,
        )


@pytest.mark.parametrize(
    "other", ["askless_0", "ASKLESS_1", "askless_tree_1_1", "askless_decision"]
)
def test_a_column_called_like_a_helper_is_never_taken_for_it(base, policy, other):
    rows = [(*row, "dim") for row in ROWS]
    with pytest.raises(Exception, match=rf"(?i)ambiguous.*{other}"):
        base(
            lambda engine: show(policy, "sql", dialect=engine),
            ["id", "lamp", "socket", other],
            rows,
        )


@pytest.mark.parametrize(
    "other", ["askless_0", "ASKLESS_1", "askless_tree_1_1", "askless_decision"]
)
def test_columns_that_are_not_kept_do_no_harm(base, policy, other):
    found = base(
        lambda engine: show(policy, "sql", dialect=engine, key="id"),
        ["id", "lamp", "socket", other],
        [(*row, "dim") for row in ROWS],
    )
    assert decisions(found) == DECISIONS


@pytest.mark.parametrize("key", ["id", None])
def test_without_such_columns_nothing_is_refused(base, policy, key):
    found = base(
        lambda engine: show(policy, "sql", dialect=engine, key=key),
        ["id", "lamp", "socket"],
        ROWS,
    )
    assert decisions(found) == DECISIONS


@pytest.mark.parametrize("key", [["id", "askless_0"], None])
def test_tests_and_keys_may_be_called_like_helpers(base, key):
    table = Table({"askless_0": ["a", "b"], "Askless_2_0": ["x", "x"]}, ["one", "two"])
    policy = askless.solve(table).policy
    found = base(
        lambda engine: show(policy, "sql", dialect=engine, key=key),
        ["id", "askless_0", "Askless_2_0"],
        [(1, "a", "x"), (2, "b", "x")],
    )
    assert decisions(found) == ["one", "two"]
    assert [row["askless_0"] for row in found] == ["a", "b"]


def test_a_table_may_be_called_like_a_step(base, policy):
    found = base(
        lambda engine: show(
            policy, "sql", dialect=engine, table="askless_values", key="id"
        ),
        ["id", "lamp", "socket"],
        ROWS,
        table="askless_values",
    )
    assert decisions(found) == DECISIONS


@pytest.mark.parametrize("key", ["askless_decision", "ASKLESS_LEAF", "askless_cost"])
def test_a_key_called_like_a_result_is_refused(policy, key):
    message = rf"must not be called like one that the query adds\. Got '{key}'\. Keep"
    with pytest.raises(InvalidOptionError, match=message):
        show(policy, "sql", key=["id", key])
    show(policy, "sql", key="id", columns={"lamp": key})
    with pytest.raises(InvalidOptionError, match=message):
        show(policy, "sql", columns={"lamp": key})


def test_forests_keep_to_their_names_too(base):
    X = {"id": list(range(40)), "lamp": ["on", "off"] * 20, "volts": ["1", "2"] * 20}
    y = ["fuse", "bulb"] * 20
    rows = list(zip(*X.values(), strict=True))
    forest = (
        askless.BudgetForestClassifier(n_estimators=3, random_state=0)
        .fit({name: X[name] for name in ("lamp", "volts")}, y)
        .policy_
    )
    found = base(
        lambda engine: show(forest, "sql", dialect=engine),
        list(X),
        rows,
    )
    assert decisions(found) == y
    with pytest.raises(Exception, match=r"(?i)ambiguous.*askless_weight_0"):
        base(
            lambda engine: show(forest, "sql", dialect=engine, table="more"),
            [*X, "askless_weight_0"],
            [(*row, "9") for row in rows],
            table="more",
        )


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_every_column_is_named_with_its_table(policy, dialect):
    sqlglot = pytest.importorskip("sqlglot")
    name = {"postgresql": "postgres"}.get(dialect, dialect)
    parsed = sqlglot.parse_one(show(policy, "sql", dialect=dialect), read=name)
    (values,) = [c for c in parsed.ctes if c.alias == "askless_values"]
    read = list(values.find_all(sqlglot.exp.Column))
    assert {column.name for column in read} >= {"lamp", "socket"}
    assert {column.table for column in read} == {"askless_source"}
