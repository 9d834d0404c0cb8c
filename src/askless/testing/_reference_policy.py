"""Plain twins of policies: walk one row, charge it, evaluate a table by enumeration.

Obvious and slow, written by the definitions in plain Python. They read the arrays that
a policy is made of, and use neither its machine nor the compiled core.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from collections.abc import Sequence as Listed
from typing import Any, NamedTuple

from askless.policy import Forest, Policy, Sequence, Tree
from askless.problem import Table, Test

__all__ = [
    "PlainEvaluation",
    "PlainRun",
    "plain_evaluate",
    "plain_run",
    "plain_walk",
]

Codes = Listed[int]


class PlainRun(NamedTuple):
    """What becomes of one row: the tests it is asked, what it pays, the decision."""

    asked: tuple[int, ...]
    cost: float
    decision: int
    class_weights: tuple[float, ...]


class PlainEvaluation(NamedTuple):
    """What becomes of a table; ``costs`` maps each cost to its weight."""

    expected_cost: float
    worst_cost: float
    error: float
    mistake_cost: float | None
    case_cost: tuple[float, ...]
    case_worst: tuple[float, ...]
    case_error: tuple[float, ...]
    costs: dict[float, float]


def plain_walk(tree: Tree, codes: Codes) -> list[int]:
    """Return the nodes that a row visits, from the root to a leaf.

    Parameters
    ----------
    tree : Tree
        What to walk down.
    codes : sequence of int
        The code that each test of the tree shows for the row.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> plain_walk(askless.solve(table).policy, [1])
    [0, 2]
    """
    node, path = 0, [0]
    while tree.test[node] >= 0:
        test = tree.tests[tree.test[node]]
        code = codes[int(tree.test[node])]
        children = {
            int(tree.branch_code[b]): int(tree.branch_child[b])
            for b in range(tree.branch_start[node], tree.branch_start[node + 1])
        }
        default = list(children.values())[tree.default_branch[node]]
        if tree.cut[node] < 0:
            node = children.get(code, default)
        elif code < test.n_levels:
            node = children[0] if code <= tree.cut[node] else children[1]
        else:
            node = default
        path.append(node)
    return path


def _subtree_tests(tree: Tree, node: int) -> list[int]:
    """Return the tests of a subtree in preorder."""
    if tree.test[node] < 0:
        return []
    first, end = tree.branch_start[node], tree.branch_start[node + 1]
    below = [
        test
        for child in tree.branch_child[first:end].tolist()
        for test in _subtree_tests(tree, child)
    ]
    return [int(tree.test[node]), *below]


def _charge(
    policy: Policy, steps: list[tuple[int, list[int]]], codes: Codes
) -> tuple[tuple[int, ...], float]:
    """Charge for tests asked one after another; each comes with all that are ahead."""
    prices = policy.prices
    paid: set[int] = set()
    opened: set[str] = set()

    def buy(test: int, code: int | None) -> float:
        group = prices.group[test]
        amount = float(prices.full[test])
        listed = prices.by_outcome.get(test)
        if test in paid:
            amount = 0.0
        elif listed is not None and code is not None and code < len(listed):
            amount = float(listed[code])
        elif group is not None and group in opened:
            amount = float(prices.discounted[test])
        paid.add(test)
        if group is not None:
            opened.add(group)
        return amount

    spent = 0.0
    for test, ahead in steps:
        if prices.delayed[test] and test not in paid:
            # Ordered together, so added up before they are added to what was spent.
            together = 0.0
            for later in ahead:
                together += buy(later, None)
            spent += together
        else:
            spent += buy(test, codes[test])
    return tuple(test for test, _ in steps), spent


def _run_tree(tree: Tree, codes: Codes) -> PlainRun:
    *inner, leaf = plain_walk(tree, codes)
    steps = [(int(tree.test[n]), _subtree_tests(tree, n)) for n in inner]
    asked, cost = _charge(tree, steps, codes)
    weights = [0.0] * len(tree.classes)
    for entry in range(tree.weight_start[leaf], tree.weight_start[leaf + 1]):
        weights[tree.weight_class[entry]] = float(tree.weight[entry])
    return PlainRun(asked, cost, int(tree.node_decision[leaf]), tuple(weights))


def _run_sequence(sequence: Sequence, codes: Codes) -> PlainRun:
    order = sequence.order.tolist()
    alive = list(range(len(sequence.case_class)))
    steps: list[tuple[int, list[int]]] = []
    for step, test in enumerate(order):
        classes_left = {int(sequence.case_class[case]) for case in alive}
        if sequence.stops_early and len(classes_left) == 1:
            break
        steps.append((test, order[step:]))
        shown = sequence.case_codes[step].tolist()
        unknown = sequence.tests[test].unknown_code
        missing = sequence.tests[test].missing_code
        code = codes[test]
        if code == unknown or (code == missing and missing not in shown):
            continue
        alive = [case for case in alive if shown[case] in (code, unknown)] or alive
    asked, cost = _charge(sequence, steps, codes)
    weights = [0.0] * len(sequence.classes)
    for case in alive:
        weights[sequence.case_class[case]] += float(sequence.case_weights[case])
    belief = weights
    if not any(weights):
        belief = [0.0] * len(weights)
        for case in alive:
            belief[sequence.case_class[case]] += 1.0
    return PlainRun(asked, cost, _decide(belief, sequence.mistakes), tuple(weights))


def _run_forest(forest: Forest, codes: Codes) -> PlainRun:
    steps: list[tuple[int, list[int]]] = []
    weights = [0.0] * len(forest.classes)
    listed = [0.0] * len(forest.classes)
    for index in range(forest.n_trees):
        tree = forest.tree(index)
        *inner, leaf = plain_walk(tree, codes)
        for node in inner:
            test = int(tree.test[node])
            if test not in {asked for asked, _ in steps}:
                steps.append((test, _subtree_tests(tree, node)))
        if forest.voting == "votes":
            weights[tree.node_decision[leaf]] += 1.0
        for entry in range(tree.weight_start[leaf], tree.weight_start[leaf + 1]):
            listed[tree.weight_class[entry]] += 1.0
            if forest.voting == "counts":
                weights[tree.weight_class[entry]] += float(tree.weight[entry])
    asked, cost = _charge(forest, steps, codes)
    mistakes = forest.mistakes if forest.voting == "counts" else None
    belief = weights if any(weights) else listed
    return PlainRun(asked, cost, _decide(belief, mistakes), tuple(weights))


def _decide(weights: list[float], mistakes: Any) -> int:
    """Return the class of least mistake cost; of those within rounding, the first."""
    n = len(weights)
    if mistakes is None:
        losses = [-weight for weight in weights]
    else:
        losses = [
            math.fsum(
                weights[true] * float(mistakes[true][decision]) for true in range(n)
            )
            for decision in range(n)
        ]
    least = min(losses)
    return next(i for i in range(n) if losses[i] <= least + 1e-12 * abs(least))


def plain_run(policy: Policy, codes: Codes) -> PlainRun:
    """Run a policy on one row, given the code that each test shows.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], costs=[3])
    >>> plain_run(askless.solve(table).policy, [1])[:3]
    ((0,), 3.0, 1)
    """
    if isinstance(policy, Tree):
        return _run_tree(policy, codes)
    if isinstance(policy, Forest):
        return _run_forest(policy, codes)
    assert isinstance(policy, Sequence)
    return _run_sequence(policy, codes)


def _value_of(test: Test, code: int) -> Any:
    """Return a raw value that has the code of a level, None for "missing"."""
    if code == test.missing_code:
        return None
    if test.kind == "category":
        return test.outcomes[code]
    if code < len(test.cuts):
        return test.cuts[code]
    return math.inf


def _worlds(table: Table, case: int) -> Iterator[tuple[float, dict[str, Any]]]:
    """Yield every way in which the unknown outcomes of a case may turn out.

    Each comes with its chance, and with what every test then shows, by name. A test
    without levels shows something that nobody has seen before.
    """
    choices: list[list[tuple[float, Any]]] = []
    for i, test in enumerate(table.tests):
        code = int(table.codes[i, case])
        if code != test.unknown_code:
            choices.append([(1.0, _value_of(test, code))])
        elif test.n_levels == 0:
            choices.append([(1.0, object)])
        else:
            choices.append(
                [
                    (float(chance), _value_of(test, level))
                    for level, chance in enumerate(_cell_chances(table, i, case))
                    if chance > 0
                ]
            )
    for world in itertools.product(*choices):
        chance = math.prod(part for part, _ in world)
        values = [value for _, value in world]
        yield chance, dict(zip(table.test_names, values, strict=True))


def _cell_chances(table: Table, test: int, case: int) -> list[float]:
    """Return the chances of an outcome that is not known: its own, or the test's."""
    own = table.likelihoods[test]
    return [float(p) for p in (table.chances[test] if own is None else own[:, case])]


def _codes_of(policy: Policy, world: dict[str, Any]) -> list[int]:
    values = [world.get(test.name, object) for test in policy.tests]
    return [
        test.unknown_code if value is object else test.code_of(value)
        for test, value in zip(policy.tests, values, strict=True)
    ]


def _mean(weights: list[float], values: list[float]) -> float:
    return math.fsum(w * v for w, v in zip(weights, values, strict=True))


def plain_evaluate(policy: Policy, table: Table) -> PlainEvaluation:
    """Evaluate a policy by trying every completion of the unknown outcomes.

    An unknown outcome is drawn once for a case and then stays what it is, however often
    it is asked for. Takes time exponential in the unknown outcomes of a case.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0, 0], [None, 1]], ["a", "b"], costs=[1, 2])
    >>> plain_evaluate(askless.solve(table).policy, table).expected_cost
    2.0
    """
    true = [policy.classes.index(label) for label in table.case_classes]
    n = table.n_cases
    cost, worst, error, mistake = [0.0] * n, [0.0] * n, [0.0] * n, [0.0] * n
    costs: dict[float, float] = {}
    for case in range(n):
        for chance, world in _worlds(table, case):
            run = plain_run(policy, _codes_of(policy, world))
            cost[case] += chance * run.cost
            worst[case] = max(worst[case], run.cost)
            error[case] += chance * (run.decision != true[case])
            if policy.mistakes is not None:
                mistake[case] += chance * policy.mistakes[true[case]][run.decision]
            weight = chance * float(table.prior[case])
            costs[run.cost] = costs.get(run.cost, 0.0) + weight
    prior = [float(p) for p in table.prior]
    return PlainEvaluation(
        expected_cost=_mean(prior, cost),
        worst_cost=max(worst),
        error=_mean(prior, error),
        mistake_cost=None if policy.mistakes is None else _mean(prior, mistake),
        case_cost=tuple(cost),
        case_worst=tuple(worst),
        case_error=tuple(error),
        costs=costs,
    )
