"""Write a policy as SQL: one query that decides every row of a table.

Nothing is nested deeply, because engines give up on that: however deep a tree, each
leaf is one flat condition, and a large tree is walked in a few steps of one common
table expression each. Missing values, NaN and categories never seen go where the
policy itself sends them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from askless.export._dialects import Dialect, find_dialect
from askless.export._labels import escape_unprintable, summary_line, trees_of
from askless.export._sql_walk import PREFIX, Walk
from askless.policy import Forest, Policy, Tree
from askless.problem import Outcome

__all__ = ["to_sql"]

# What a leaf without any weight counts: nothing, unless all leaves are like it.
TINY = 1e-300


def to_sql(
    policy: Policy,
    *,
    dialect: str = "duckdb",
    table: str = "cases",
    key: str | Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    leaves: bool = True,
) -> str:
    """Return a query that decides every row of a table.

    Parameters
    ----------
    policy : Policy
        What to write; a tree or a forest.
    dialect : {"duckdb", "postgresql", "sqlite", "bigquery", "snowflake"}
        The engine that will run it.
    table : str, default="cases"
        The table to read, a column for each test that the policy asks for. Dots
        separate a schema from a name.
    key : str or sequence of str, optional
        Columns to keep beside the answer; all by default.
    columns : mapping of str to str, optional
        The column of a test, where it is not called like the test.
    leaves : bool, default=True
        Also return the leaf of each row; of a forest, the leaf in each tree.

    Returns
    -------
    str
        The query. Its last columns are the leaves, ``askless_decision`` and, for a tree
        whose tests are not priced by outcome, ``askless_cost``.

    Notes
    -----
    Columns must have the type of the outcomes: numbers, text or booleans. Without
    ``key``, PostgreSQL and SQLite also return the columns that the steps need.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["bit"])
    >>> print(to_sql(askless.solve(table).policy, key="id"))
    -- Decides each row of cases. Written by Askless for duckdb.
    -- A tree of 3 nodes and depth 1. Expected cost 1, at worst 1.
    WITH askless_values AS MATERIALIZED (
      SELECT "id",
        NULLIF(CAST("bit" AS DOUBLE), CAST('NaN' AS DOUBLE)) AS askless_0
      FROM "cases"
    ),
    askless_step_1 AS MATERIALIZED (
      SELECT *, CASE
          WHEN (askless_0 <> 1 OR askless_0 IS NULL) THEN 1
          WHEN askless_0 = 1 THEN 2
        END AS askless_tree_1_1
      FROM askless_values
    )
    SELECT "id",
      askless_tree_1_1 AS askless_leaf,
      CASE
        WHEN askless_tree_1_1 <= 1 THEN 'even'
        ELSE 'odd'
      END AS askless_decision,
      1e0 AS askless_cost
    FROM askless_step_1
    """
    engine = find_dialect(dialect)
    trees = trees_of(policy, "SQL")
    walk = Walk(policy, trees, engine, columns or {})
    keys = [key] if isinstance(key, str) else key
    kept = "*" if keys is None else ", ".join(map(engine.identifier, keys))
    steps = walk.steps(table, kept)
    helpers = walk.helpers
    if isinstance(policy, Forest):
        more, answer, added = _forest_answer(policy, walk, steps[-1][0])
        steps += more
        helpers = helpers + added
    else:
        answer = _tree_answer(trees[0], walk)
    if leaves:
        names = (
            ["leaf"]
            if len(trees) == 1
            else [f"leaf_{i + 1}" for i in range(len(trees))]
        )
        listed = [f"{walk.leaf(i)} AS {PREFIX}{name}" for i, name in enumerate(names)]
        answer = [*listed, *answer]
    if keys is None and engine.star_except is not None and helpers:
        kept = engine.star_except.format(", ".join(helpers))
    written = ",\n".join(
        f"{name} {engine.materialized} (\n{query}\n)" for name, query in steps
    )
    return (
        f"-- Decides each row of {escape_unprintable(table)}. Written by Askless for "
        f"{engine.name}.\n-- {summary_line(policy)}\nWITH {written}\n"
        f"SELECT {kept},\n  " + ",\n  ".join(answer) + f"\nFROM {steps[-1][0]}"
    )


def _tree_answer(tree: Tree, walk: Walk) -> list[str]:
    dialect, leaf = walk.dialect, walk.leaf(0)
    labels = [_class_literal(dialect, tree, label) for label in tree.classes]
    decision = _by_leaf(tree, leaf, lambda node: labels[tree.node_decision[node]])
    answer = [f"{decision} AS {PREFIX}decision"]
    if not tree.prices.engine.has_outcome_prices:
        spent = _by_leaf(tree, leaf, lambda node: dialect.number(tree.spent[node]))
        answer.append(f"{spent} AS {PREFIX}cost")
    return answer


def _forest_answer(
    forest: Forest, walk: Walk, source: str
) -> tuple[list[tuple[str, str]], list[str], list[str]]:
    """Return the steps that add up the trees, what to select, and columns added."""
    dialect = walk.dialect
    classes = range(len(forest.classes))
    weights = [f"{PREFIX}weight_{k}" for k in classes]
    sums = [
        _sum_of(
            [
                _weight_at(tree, walk.leaf(i), k, forest.voting, dialect)
                for i, tree in enumerate(walk.trees)
            ]
        )
        for k in classes
    ]
    sums = [f"{total} AS {weights[k]}" for k, total in enumerate(sums)]
    steps = [(f"{PREFIX}weights", _select_more(sums, source))]
    gains, added = weights, list(weights)
    if forest.voting == "counts" and forest.mistakes is not None:
        gains = [f"{PREFIX}gain_{k}" for k in classes]
        losses = [
            _sum_of(
                [
                    f"{weights[true]} * {dialect.number(float(row[k]))}"
                    for true, row in enumerate(forest.mistakes)
                ]
            )
            for k in classes
        ]
        mistaken = [f"-({loss}) AS {gains[k]}" for k, loss in enumerate(losses)]
        steps.append((f"{PREFIX}gains", _select_more(mistaken, steps[-1][0])))
        added += gains
    best = f"{PREFIX}best"
    greatest = _greatest(gains, dialect)
    steps.append(
        (f"{PREFIX}top", _select_more([f"{greatest} AS {best}"], steps[-1][0]))
    )
    added.append(best)
    margin = f"{best} - 1e-12 * ABS({best})"
    cases = [
        f"    WHEN {gains[k]} >= {margin} THEN "
        f"{_class_literal(dialect, forest, forest.classes[k])}"
        for k in classes
    ]
    decision = "\n".join(["CASE", *cases, f"  END AS {PREFIX}decision"])
    return steps, [decision], added


def _select_more(expressions: list[str], source: str) -> str:
    listed = ",\n    ".join(expressions)
    return f"  SELECT *,\n    {listed}\n  FROM {source}"


def _weight_at(tree: Tree, leaf: str, k: int, rule: str, dialect: Dialect) -> str:
    """Return what the leaf of a tree gives to a class."""

    def literal(node: int) -> str:
        if rule == "votes":
            return "1" if tree.node_decision[node] == k else "0"
        start, end = tree.weight_start[node], tree.weight_start[node + 1]
        found = tree.weight[start:end][tree.weight_class[start:end] == k]
        if not found.size:
            return dialect.number(0.0)
        is_empty = not tree.weight[start:end].any()
        return dialect.number(TINY if is_empty else float(found[0]))

    return _by_leaf(tree, leaf, literal)


def _by_leaf(tree: Tree, leaf: str, literal_of: Callable[[int], str]) -> str:
    """Return an expression with the literal of the leaf."""
    # In order of the leaves: one comparison for each run of equal ones. Lists of
    # leaves would be joined with, which takes an engine much longer.
    runs: list[tuple[str, int]] = []
    for node in np.flatnonzero(tree.test < 0).tolist():
        literal = literal_of(node)
        if runs and runs[-1][0] == literal:
            runs.pop()
        runs.append((literal, node))
    *others, (last, _) = runs
    if not others:
        return last
    cases = [f"    WHEN {leaf} <= {node} THEN {literal}" for literal, node in others]
    return "\n".join(["CASE", *cases, f"    ELSE {last}", "  END"])


def _sum_of(terms: list[str]) -> str:
    """Return a sum in brackets of halves: a chain would be as deep as it is long."""
    if len(terms) == 1:
        return terms[0]
    middle = len(terms) // 2
    return f"({_sum_of(terms[:middle])} + {_sum_of(terms[middle:])})"


def _greatest(values: list[str], dialect: Dialect) -> str:
    """Return the largest of some columns, a few at a time."""
    name = "MAX" if dialect.name == "sqlite" else "GREATEST"
    while len(values) > 1:
        values = [
            f"{name}({', '.join(part)})" if len(part) > 1 else part[0]
            for part in (values[i : i + 50] for i in range(0, len(values), 50))
        ]
    return values[0]


def _class_literal(dialect: Dialect, policy: Policy, label: Outcome) -> str:
    # One column has one type.
    if len({type(c) for c in policy.classes}) > 1:
        return dialect.text(str(label))
    return dialect.label(label)
