"""The steps of a query that walk rows down trees: clean values, then leaf by leaf.

This module does not know what a leaf decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from askless.exceptions import InvalidOptionError, suggest_name
from askless.export.code._conditions import (
    BinaryTree,
    Condition,
    Meaning,
    Runs,
    leaf_conditions,
    meaning_of,
    parts_of,
)
from askless.export.code._dialects import Dialect
from askless.export.code._sql_names import choose_prefix, collision_check
from askless.policy import Policy, Tree
from askless.problem import Test
from askless.problem._column import EXACT_WHOLE

__all__ = ["Walk", "by_leaf"]

# Leaves that one step tells apart. A row is compared with one after another, so fewer
# are faster, but take more steps.
PART_EXITS = 64
# Engines take conditions that are a thousand deep, and a chain is as deep as long.
MOST_TERMS = 400


class Walk:
    """Writes the steps that find the leaf of each row in each tree.

    Parameters
    ----------
    policy : Policy
        Whose tests are asked.
    trees : sequence of Tree or BinaryTree
        What is walked.
    dialect : Dialect
        The engine.
    columns : mapping of str to str
        The column of a test, where it is not called like the test.
    names : sequence of str
        Other names that the query uses: the table and the columns that are kept.
    has_leaves : bool, default=True
        Whether every tree has a column for its leaf; else only those too large for
        :meth:`value`.
    """

    def __init__(
        self,
        policy: Policy,
        trees: Sequence[Tree | BinaryTree],
        dialect: Dialect,
        columns: Mapping[str, str],
        names: Sequence[str] = (),
        *,
        has_leaves: bool = True,
    ) -> None:
        for name in columns:
            if name not in policy.test_names:
                raise InvalidOptionError(
                    f"columns must name tests of the policy. Got {name!r}. "
                    f"{suggest_name(name, policy.test_names)}Leave it out."
                )
        self.tests = policy.tests
        self.used_tests = sorted({test for tree in trees for test in tree.used_tests})
        self.trees = trees
        self.dialect = dialect
        self.column_of = {name: columns.get(name, name) for name in policy.test_names}
        self.stages = [parts_of(tree, PART_EXITS) for tree in trees]
        if not has_leaves:
            self.stages = [s if len(s) > 1 else [] for s in self.stages]
        self.prefix = choose_prefix([*names, *self.column_of.values()])

    @property
    def columns_read(self) -> list[str]:
        """The columns of the table that the steps read."""
        return [self.column_of[self.tests[test].name] for test in self.used_tests]

    @property
    def helpers(self) -> list[str]:
        """The columns that the steps add."""
        values = [self._value(test) for test in self.used_tests]
        leaves = [
            self._at(tree, stage)
            for tree, stages in enumerate(self.stages)
            for stage in range(1, len(stages) + 1)
        ]
        return values + leaves

    def value(self, tree: int, literal_of: Callable[[int], str]) -> str:
        """Return an expression with the literal of the leaf of a tree."""
        walked = self.trees[tree]
        if self.stages[tree]:
            return by_leaf(walked, self.leaf(tree), literal_of)
        if walked.test[0] < 0:
            return literal_of(0)
        cases = [
            f"    WHEN {' AND '.join(self._conditions(condition)) or '1 = 1'} THEN "
            f"{literal_of(node)}\n"
            for node, condition in leaf_conditions(walked)
        ]
        return f"CASE\n{''.join(cases)}  END"

    def leaf(self, tree: int) -> str:
        """Return the column that holds the leaf of a tree in the end."""
        stages = self.stages[tree]
        return self._at(tree, len(stages)) if stages else "0"

    def steps(
        self, table: str, keys: Sequence[str] | None, added: Sequence[str]
    ) -> list[tuple[str, str]]:
        """Return the name and the query of each step.

        Parameters
        ----------
        table : str
            What to read.
        keys : sequence of str or None
            Columns to keep; None for all, whatever they are called.
        added : sequence of str
            Columns that are added after these steps.
        """
        source = ".".join(map(self.dialect.identifier, table.split(".")))
        steps = []
        if keys is None:
            names = [*self.helpers, *added]
            query = collision_check(self.dialect, source, self.prefix, names)
            steps.append((f"{self.prefix}check", query))
        steps.append((f"{self.prefix}values", self._values(source, keys)))
        for stage in range(1, max(map(len, self.stages), default=0) + 1):
            walked = [
                self._stage(tree, stage)
                for tree, stages in enumerate(self.stages)
                if stage <= len(stages)
            ]
            query = f"  SELECT *, {', '.join(walked)}\n  FROM {steps[-1][0]}"
            steps.append((f"{self.prefix}step_{stage}", query))
        return steps

    def _value(self, test: int) -> str:
        return f"{self.prefix}{test}"

    def _at(self, tree: int, stage: int) -> str:
        return f"{self.prefix}tree_{tree + 1}_{stage}"

    def _column(self, name: str) -> str:
        """Return a column of the table, with the table's name before it.

        SQLite takes a bare name that it does not know for a text.
        """
        return f"{self.prefix}source.{self.dialect.identifier(name)}"

    def _values(self, source: str, keys: Sequence[str] | None) -> str:
        """Return the step that gives every test's value a name and a clean type."""
        kept = [f"{self.prefix}source.*"] if keys is None else map(self._column, keys)
        values = [
            f"    {self._clean(self.tests[test])} AS {self._value(test)}"
            for test in self.used_tests
        ]
        selected = ",\n".join([f"  SELECT {', '.join(kept)}", *values])
        query = f"{selected}\n  FROM {source} AS {self.prefix}source"
        if keys is not None:
            return query
        return f"{query}\n  WHERE NOT EXISTS (SELECT 1 FROM {self.prefix}check)"

    def _clean(self, test: Test) -> str:
        column = self._column(self.column_of[test.name])
        kinds = {type(outcome) for outcome in test.outcomes}
        if kinds == {bool}:
            return column
        if test.kind == "category" and not kinds <= {int, float}:
            return f"CAST({column} AS {self.dialect.text_type})"
        if any(isinstance(o, int) and abs(o) > EXACT_WHOLE for o in test.outcomes):
            return column
        return self.dialect.number_of.format(column)

    def _stage(self, tree: int, stage: int) -> str:
        """Return the expression that walks each row through one part of a tree."""
        before = self._at(tree, stage - 1)
        cases = []
        for root, exits in self.stages[tree][stage - 1]:
            here = [f"{before} = {root}"] if stage > 1 else []
            for node, condition in leaf_conditions(self.trees[tree], root, exits):
                holds = " AND ".join([*here, *self._conditions(condition)])
                cases.append(f"      WHEN {holds or '1 = 1'} THEN {node}\n")
        otherwise = f"      ELSE {before}\n" if stage > 1 else ""
        return f"CASE\n{''.join(cases)}{otherwise}    END AS {self._at(tree, stage)}"

    def _conditions(self, condition: Condition) -> list[str]:
        written = [self._holds(test, runs) for test, runs in condition.items()]
        return [text for text in written if text]

    def _holds(self, index: int, runs: Runs) -> str:
        """Return when a value is in a set of codes; nothing if it always is."""
        test, value = self.tests[index], self._value(index)
        meaning = meaning_of(test, runs)
        if meaning.takes_all_values:
            return "" if meaning.takes_missing else f"{value} IS NOT NULL"
        if meaning.takes_no_value:
            return f"{value} IS NULL"
        if meaning.ranges is None:
            texts = [self._among(value, test, meaning)]
        else:
            texts = [self._in_range(value, low, high) for low, high in meaning.ranges]
        if meaning.takes_missing:
            texts.append(f"{value} IS NULL")
        if len(texts) == 1:
            return texts[0]
        return f"({' OR '.join(f'({t})' if ' AND ' in t else t for t in texts)})"

    def _among(self, value: str, test: Test, meaning: Meaning) -> str:
        """Return when a category is one of the outcomes, or none of the others."""
        codes = meaning.outside if meaning.takes_unseen else meaning.inside or ()
        listed = [text for code in codes for text in self._literals(test, code)]
        is_except = meaning.takes_unseen
        longest = self.dialect.longest_list
        if len(listed) == 1 or (longest and longest < len(listed) <= MOST_TERMS):
            sign, link = ("<>", " AND ") if is_except else ("=", " OR ")
            terms = link.join(f"{value} {sign} {text}" for text in listed)
            return terms if is_except or len(listed) == 1 else f"({terms})"
        negation = "NOT " if is_except else ""
        return f"{value} {negation}IN ({', '.join(listed)})"

    def _in_range(self, value: str, low: float | None, high: float | None) -> str:
        number = self.dialect.number
        ends = [] if low is None else [f"{value} > {number(low)}"]
        ends += [] if high is None else [f"{value} <= {number(high)}"]
        return " AND ".join(ends)

    def _literals(self, test: Test, code: int) -> list[str]:
        """Return the literals that stand for an outcome in a column of its type."""
        kinds = {type(outcome) for outcome in test.outcomes}
        if kinds in ({bool}, {str}) or kinds <= {int, float}:
            return [self.dialect.literal(test.outcomes[code])]
        # Mixed outcomes are compared as text, in each of their spellings.
        return [
            self.dialect.text(spelling)
            for spelling, found in test.lookup.items()
            if found == code and isinstance(spelling, str)
        ]


def by_leaf(
    tree: Tree | BinaryTree, leaf: str, literal_of: Callable[[int], str]
) -> str:
    """Return an expression with the literal of the leaf."""
    # In order of the leaves: one comparison for each run of equal ones. An
    # engine joins with a list of leaves, which takes much longer.
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
