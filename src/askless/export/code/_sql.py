"""Write a policy as SQL: one query that decides every row of a table.

Nothing is nested deeply, because engines give up on that: however deep a tree, each
leaf is one flat condition, and a large tree is walked in a few steps of one common
table expression each. Missing values, NaN and categories never seen go where the
policy itself sends them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from askless._text import escape_unprintable
from askless.export._labels import summary_line, trees_of
from askless.export.code._conditions import BinaryTree
from askless.export.code._dialects import Dialect, find_dialect
from askless.export.code._sql_answer import Answer, class_literal, greatest
from askless.export.code._sql_names import ADDED, check_added
from askless.export.code._sql_walk import Walk, by_leaf
from askless.export.ensemble._sql import binary_trees, ensemble_answer
from askless.policy import Ensemble, Forest, NumberTree, Policy, Tree

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
    Columns must have the type of the outcomes: numbers, text or booleans. A column that
    the table does not have is an error in every engine. Without ``key`` all columns are
    kept, by PostgreSQL and SQLite also those that the steps need, and a table that has
    a column called like one that the query adds is an error: the name is ambiguous.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["bit"])
    >>> print(to_sql(askless.solve(table).policy, key="id"))
    -- Decides each row of cases. Written by Askless for duckdb.
    -- A tree of 3 nodes and depth 1. Expected cost 1, at worst 1.
    WITH askless_values AS MATERIALIZED (
      SELECT askless_source."id",
        NULLIF(CAST(askless_source."bit" AS DOUBLE), CAST('NaN' AS DOUBLE)) AS askless_0
      FROM "cases" AS askless_source
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
    keys = [key] if isinstance(key, str) else key
    known = [*table.split("."), *(keys or ())]
    if isinstance(policy, Ensemble):
        trees: Sequence[Tree | BinaryTree] = binary_trees(policy)
    else:
        trees = trees_of(policy, "SQL")
    is_sum = isinstance(policy, Ensemble)
    # What a small tree adds to one sum is a term of it; to more, looked up by its leaf.
    has_leaves = not isinstance(policy, Ensemble) or policy.trees.value.shape[1] > 1
    walk = Walk(policy, trees, engine, columns or {}, known, has_leaves=has_leaves)
    finish = _answer(policy, walk)
    answer = (_leaves(walk) if leaves and not is_sum else []) + finish.selected
    added = [f"{ADDED}{name}" for name, _ in answer]
    check_added(added, walk.columns_read if keys is None else keys)
    steps = walk.steps(table, keys, [*finish.helpers, *added])
    for name, expressions in finish.steps:
        steps.append((name, _select_more(expressions, steps[-1][0])))
    kept = "*" if keys is None else ", ".join(map(engine.identifier, keys))
    helpers = walk.helpers + finish.helpers
    if keys is None and engine.star_except is not None and helpers:
        kept = engine.star_except.format(", ".join(helpers))
    written = ",\n".join(
        f"{name} {engine.materialized} (\n{query}\n)" for name, query in steps
    )
    selected = [f"{expression} AS {ADDED}{name}" for name, expression in answer]
    return (
        f"-- Decides each row of {escape_unprintable(table)}. Written by Askless for "
        f"{engine.name}.\n-- {summary_line(policy)}\nWITH {written}\n"
        f"SELECT {kept},\n  " + ",\n  ".join(selected) + f"\nFROM {steps[-1][0]}"
    )


def _answer(policy: Policy, walk: Walk) -> Answer:
    if isinstance(policy, Ensemble):
        return ensemble_answer(policy, walk)
    if isinstance(policy, Forest):
        return _forest_answer(policy, walk)
    assert isinstance(policy, Tree)
    return Answer([], _tree_answer(policy, walk), [])


def _leaves(walk: Walk) -> list[tuple[str, str]]:
    if len(walk.trees) == 1:
        return [("leaf", walk.leaf(0))]
    return [(f"leaf_{i + 1}", walk.leaf(i)) for i in range(len(walk.trees))]


def _tree_answer(tree: Tree, walk: Walk) -> list[tuple[str, str]]:
    dialect, leaf = walk.dialect, walk.leaf(0)

    def literal(node: int) -> str:
        if isinstance(tree, NumberTree):
            return dialect.number(float(tree.values[node]))
        return class_literal(dialect, tree, tree.classes[tree.node_decision[node]])

    decision = by_leaf(tree, leaf, literal)
    answer = [("decision", decision)]
    if not tree.prices.engine.has_outcome_prices:
        spent = by_leaf(tree, leaf, lambda node: dialect.number(tree.spent[node]))
        answer.append(("cost", spent))
    return answer


def _forest_answer(forest: Forest, walk: Walk) -> Answer:
    """Return the steps that add up the trees, and what to select."""
    dialect, prefix = walk.dialect, walk.prefix
    trees = [forest.tree(i) for i in range(forest.n_trees)]
    classes = range(len(forest.classes))
    weights = [f"{prefix}weight_{k}" for k in classes]
    sums = [
        _sum_of(
            [
                _weight_at(tree, walk.leaf(i), k, forest.voting, dialect)
                for i, tree in enumerate(trees)
            ]
        )
        for k in classes
    ]
    sums = [f"{total} AS {weights[k]}" for k, total in enumerate(sums)]
    steps = [(f"{prefix}weights", sums)]
    gains, helpers = weights, list(weights)
    if forest.voting == "counts" and forest.mistakes is not None:
        gains = [f"{prefix}gain_{k}" for k in classes]
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
        steps.append((f"{prefix}gains", mistaken))
        helpers += gains
    best = f"{prefix}best"
    steps.append((f"{prefix}top", [f"{greatest(gains, dialect)} AS {best}"]))
    helpers.append(best)
    margin = f"{best} - 1e-12 * ABS({best})"
    cases = [
        f"    WHEN {gains[k]} >= {margin} THEN "
        f"{class_literal(dialect, forest, forest.classes[k])}"
        for k in classes
    ]
    decision = "\n".join(["CASE", *cases, "  END"])
    return Answer(steps, [("decision", decision)], helpers)


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

    return by_leaf(tree, leaf, literal)


def _sum_of(terms: list[str]) -> str:
    """Return a sum in brackets of halves: a chain would be as deep as it is long."""
    if len(terms) == 1:
        return terms[0]
    middle = len(terms) // 2
    return f"({_sum_of(terms[:middle])} + {_sum_of(terms[middle:])})"
