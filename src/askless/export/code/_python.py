"""Write a policy as a Python module that needs nothing but Python."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from askless.export._labels import summary_line
from askless.export.code._program import Program, Row, row_values, rows_text, to_program
from askless.export.ensemble._python import ensemble_to_python
from askless.policy import Ensemble, Policy

__all__ = ["to_python"]

HEAD = '''\
"""Decides one case. Written by Askless; needs nothing but Python.

{summary}

    decide({{"name of a test": outcome, ...}})    the decision
    explain(...)                                 also what was asked and spent

Instead of a mapping, pass a function: it is called with the name of a test whenever
its outcome is needed, and for nothing else. None stands for a missing outcome.
"""

'''

NODES = """\
# A row is a node:
#   ("<=", test, cut, at most, above, missing)      compares a number
#   ("level", test, cuts, rows by level, missing)   how many cuts are below a number
#   ("is", test, rows by outcome, missing, never seen)
"""
TREE_LEAF = '#   ("decide", class, spent)\n'
FOREST_LEAF = '#   ("decide", weights by class), added up over the trees\n'

WALK = '''

def _look(test, case, seen, asked):
    """Return the outcome of a test, asking for it the first time."""
    if test not in seen:
        value = case(test) if callable(case) else case.get(test)
        if hasattr(value, "item"):
            value = value.item()
        try:
            if value != value:
                value = None
        except TypeError:
            value = None
        seen[test] = value
        asked.append(test)
    return seen[test]


def _walk(rows, case, seen, asked):
    """Return the number of the row in which a case ends."""
    at = 0
    while rows[at][0] != "decide":
        kind, test, first, second = rows[at][:4]
        value = _look(test, case, seen, asked)
        if kind == "is":
            if value is None:
                at = second
            else:
                value = SPELLINGS.get(test, {}).get(value, value)
                at = first.get(value, rows[at][4])
            continue
        number = None if value is None else float(value)
        if number is None or number != number:
            at = rows[at][-1]
        elif kind == "<=":
            at = second if number <= first else rows[at][4]
        else:
            at = second[sum(cut < number for cut in first)]
    return at

'''

EXPLAIN_TREE = '''
def explain(case):
    """Return the decision, the row it was made in, what was asked and what it cost."""
    asked = []
    leaf = _walk(ROWS, case, {}, asked)
    _, decision, spent = ROWS[leaf]
    return {"decision": decision, "leaf": leaf, "asked": asked, "spent": spent}


def decide(case):
    """Return the decision for one case."""
    return explain(case)["decision"]
'''

EXPLAIN_FOREST = '''
def explain(case):
    """Return the decision, the row of each tree, what was asked and what it cost."""
    seen, asked = {}, []
    leaves = [_walk(rows, case, seen, asked) for rows in TREES]
    weights = [0.0] * len(CLASSES)
    for rows, leaf in zip(TREES, leaves):
        for label, weight in rows[leaf][1].items():
            weights[label] += weight
    if not any(weights):
        for rows, leaf in zip(TREES, leaves):
            for label in rows[leaf][1]:
                weights[label] += 1.0
    return {
        "decision": CLASSES[_best(weights)],
        "leaf": leaves,
        "asked": asked,
        "spent": _spent(asked),
    }


def decide(case):
    """Return the decision for one case."""
    return explain(case)["decision"]


def _best(weights):
    """Return the class of least expected mistake; on a tie, the first."""
    gains = weights
    if MISTAKES is not None:
        top = max(weights)
        gains = [
            -sum(w / top * row[d] for w, row in zip(weights, MISTAKES))
            for d in range(len(CLASSES))
        ]
    best = max(gains)
    return next(i for i, g in enumerate(gains) if g >= best - 1e-12 * abs(best))


def _spent(asked):
    """Return what the tests cost in this order; None if that depends on more."""
    if PRICES is None:
        return None
    spent, is_open = 0.0, set()
    for test in asked:
        full, discounted, group = PRICES[test]
        spent += discounted if group in is_open else full
        if group is not None:
            is_open.add(group)
    return spent
'''


def to_python(policy: Policy) -> str:
    """Return a module with the functions ``decide`` and ``explain``.

    Parameters
    ----------
    policy : Policy
        What to write; a tree or a forest.

    Notes
    -----
    The module gives the same leaf as :meth:`Policy.predict` for every case, whatever is
    missing or was never seen. It reads an outcome only when it is needed, so that a
    function that buys tests can stand in for the case.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> module = {}
    >>> exec(to_python(askless.solve(table).policy), module)
    >>> module["decide"]({"last bit": 1})
    'odd'
    """
    if isinstance(policy, Ensemble):
        return ensemble_to_python(policy)
    program = to_program(policy, "Python")
    head = HEAD.format(summary=_safe(summary_line(policy)))
    spellings = (
        f"# Other ways to write an outcome.\nSPELLINGS = {program.spellings!r}\n"
    )
    if not program.is_forest:
        rows = f"{NODES}{TREE_LEAF}ROWS = [\n{_rows_text(program.trees[0], 4)}]\n"
        return head + rows + spellings + WALK + EXPLAIN_TREE
    trees = "".join(f"    [\n{_rows_text(rows, 8)}    ],\n" for rows in program.trees)
    return (
        f"{head}{NODES}{FOREST_LEAF}TREES = [\n{trees}]\n{spellings}"
        f"{_forest_text(program)}{WALK}{EXPLAIN_FOREST}"
    )


def _safe(text: str) -> str:
    """Return text that can stand inside a docstring."""
    return text.replace("\\", "\\\\").replace('"', "'")


def _forest_text(program: Program) -> str:
    return (
        f"CLASSES = {list(program.classes)!r}\n"
        "# mistakes[true class][decision]\n"
        f"MISTAKES = {program.mistakes!r}\n"
        "# What a test charges: in full, once its group is open, and the group.\n"
        f"PRICES = {program.prices!r}\n"
    )


def _rows_text(rows: Iterable[Row], indent: int) -> str:
    return rows_text(rows, lambda row: " " * indent + _row_text(row), "  #")


def _row_text(row: Row) -> str:
    kind, *values = row_values(row)
    return f'("{kind}", {", ".join(map(_value, values))})'


def _value(value: Any) -> str:
    return 'float("inf")' if value == float("inf") else repr(value)
