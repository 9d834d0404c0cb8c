"""Write a policy as JavaScript that needs nothing else, in a browser or in Node."""

from __future__ import annotations

from collections.abc import Iterable

from askless.export._labels import summary_line
from askless.export.code._javascript_values import VALUES, js_value
from askless.export.code._program import Program, Row, row_values, rows_text, to_program
from askless.export.ensemble._javascript import ensemble_to_javascript
from askless.policy import Ensemble, Policy

__all__ = ["to_javascript"]

HEAD = """\
// Decides one case. Written by Askless; needs nothing else.
//
// {summary}
//
//   decide({{"name of a test": outcome, ...}})   the decision
//   explain(...)                                also what was asked and spent
//
// Instead of an object, pass a function: it is called with the name of a test whenever
// its outcome is needed, and for nothing else. null, undefined and NaN stand for a
// missing outcome.
"use strict";

// A row is a node:
//   ["<=", test, cut, at most, above, missing]      compares a number
//   ["level", test, cuts, rows by level, missing]   how many cuts are below a number
//   ["is", test, rows by outcome, missing, never seen]
//   ["decide", ...]
"""

WALK = """
function look(test, state) {
  if (!state.seen.has(test)) {
    const found = state.ask(test);
    const isMissing = found === null || found === undefined || Number.isNaN(found);
    state.seen.set(test, isMissing ? null : found);
    state.asked.push(test);
  }
  return state.seen.get(test);
}

function walk(rows, state) {
  let at = 0;
  while (rows[at][0] !== "decide") {
    const row = rows[at];
    const [kind, test, first, second] = row;
    const value = look(test, state);
    if (kind === "is") {
      if (value === null) {
        at = second;
      } else {
        const other = find(SPELLINGS.get(test), value);
        const next = find(first, other === undefined ? value : other);
        at = next === undefined ? row[4] : next;
      }
      continue;
    }
    const number = value === null ? null : toNumber(value, test);
    if (number === null) at = row[row.length - 1];
    else if (kind === "<=") at = number <= first ? second : row[4];
    else at = second[first.filter((cut) => cut < number).length];
  }
  return at;
}

function open(given) {
  return { ask: asking(given), seen: new Map(), asked: [] };
}
"""

EXPLAIN_TREE = """
function explain(given) {
  const state = open(given);
  const leaf = walk(ROWS, state);
  const [, decision, spent] = ROWS[leaf];
  return { decision, leaf, asked: state.asked, spent };
}
"""

EXPLAIN_FOREST = """
function explain(given) {
  const state = open(given);
  const leaf = TREES.map((rows) => walk(rows, state));
  const weights = CLASSES.map(() => 0);
  leaf.forEach((at, i) => {
    for (const [label, weight] of TREES[i][at][1]) weights[label] += weight;
  });
  if (weights.every((weight) => weight === 0)) {
    leaf.forEach((at, i) => {
      for (const [label] of TREES[i][at][1]) weights[label] += 1;
    });
  }
  const decision = CLASSES[best(weights)];
  return { decision, leaf, asked: state.asked, spent: spentOn(state.asked) };
}

// The class of least expected mistake; on a tie, the first.
function best(weights) {
  let gains = weights;
  if (MISTAKES !== null) {
    const top = Math.max(...weights);
    gains = CLASSES.map((_, d) =>
      -weights.reduce((sum, weight, i) => sum + (weight / top) * MISTAKES[i][d], 0));
  }
  const most = Math.max(...gains);
  return gains.findIndex((gain) => gain >= most - 1e-12 * Math.abs(most));
}

function spentOn(asked) {
  if (PRICES === null) return null;
  const isOpen = new Set();
  let spent = 0;
  for (const test of asked) {
    const [full, discounted, group] = PRICES.get(test);
    spent += isOpen.has(group) ? discounted : full;
    if (group !== null) isOpen.add(group);
  }
  return spent;
}
"""

TAIL = """
function decide(given) {
  return explain(given).decision;
}
"""
SCRIPT_TAIL = """
if (typeof module !== "undefined") module.exports = { decide, explain };
"""
MODULE_TAIL = """
export { decide, explain };
"""


def to_javascript(policy: Policy, *, module: bool = False) -> str:
    """Return a script with the functions ``decide`` and ``explain``.

    Parameters
    ----------
    policy : Policy
        What to write; a tree or a forest.
    module : bool, default=False
        Write an ES module, to be imported; else a plain script, which Node can require
        and a page can include.

    Notes
    -----
    The script gives the same leaf as :meth:`Policy.predict` for every case, whatever is
    missing or was never seen. It reads an outcome only when it is needed.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> script = to_javascript(askless.solve(table).policy)
    >>> [line for line in script.splitlines() if line.startswith('  ["is"')]
    ['  ["is", "last bit", new Map([[0, 1], [1, 2]]), 1, 1], // 0']
    """
    if isinstance(policy, Ensemble):
        return ensemble_to_javascript(policy, module=module)
    program = to_program(policy, "JavaScript")
    summary = summary_line(policy)
    spellings = js_value(program.spellings)
    parts = [HEAD.format(summary=summary)]
    if program.is_forest:
        trees = "".join(f"  [\n{_rows_text(rows, 4)}  ],\n" for rows in program.trees)
        parts.append(f"const TREES = [\n{trees}];\n{_forest_text(program)}")
    else:
        parts.append(f"const ROWS = [\n{_rows_text(program.trees[0], 2)}];\n")
    parts.append(
        f"// Other ways to write an outcome.\nconst SPELLINGS = {spellings};\n"
    )
    explain = EXPLAIN_FOREST if program.is_forest else EXPLAIN_TREE
    tail = MODULE_TAIL if module else SCRIPT_TAIL
    return "".join([*parts, VALUES, WALK, explain, TAIL, tail])


def _forest_text(program: Program) -> str:
    return (
        f"const CLASSES = {js_value(list(program.classes))};\n"
        f"// MISTAKES[true class][decision]\nconst MISTAKES = "
        f"{js_value(program.mistakes)};\n"
        "// What a test charges: in full, once its group is open, and the group.\n"
        f"const PRICES = {js_value(program.prices)};\n"
    )


def _rows_text(rows: Iterable[Row], indent: int) -> str:
    return rows_text(rows, lambda row: " " * indent + js_value(row_values(row)), " //")
