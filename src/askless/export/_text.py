"""Show a policy as text: what each branch means, how many get there, what is spent.

Needs nothing but characters, so it works in a terminal, a log and an e-mail.
"""

from __future__ import annotations

from typing import NamedTuple

from askless._text import escape_unprintable
from askless.export._fold import MOST_NODES, check_nodes, find_folded, fold_note
from askless.export._labels import (
    branch_label,
    charge_text,
    check_depth,
    children_of,
    decision_text,
    node_shares,
    number_text,
    percent_text,
)
from askless.policy import Ensemble, Forest, Policy, Posterior, Rule, Sequence, Tree

__all__ = ["to_text"]


class Glyphs(NamedTuple):
    """The lines of a tree, in one alphabet."""

    branch: str
    last: str
    through: str
    blank: str


UNICODE = Glyphs("├─ ", "└─ ", "│  ", "   ")
ASCII = Glyphs("|- ", "`- ", "|  ", "   ")


def to_text(
    policy: Policy,
    *,
    max_depth: int | None = None,
    max_trees: int | None = 3,
    max_nodes: int | None = MOST_NODES,
    ascii: bool = False,
) -> str:
    """Return a policy as an indented tree.

    Parameters
    ----------
    policy : Policy
        What to show.
    max_depth : int, optional
        Show only this many levels of tests; what is left out is counted.
    max_trees : int, default=3
        Of a forest, show only this many trees; None for all.
    max_nodes : int, default=10_000
        Of a tree, show only this many nodes, those that most cases pass; None for all.
    ascii : bool, default=False
        Draw with plain ASCII characters; names stay as they are.

    Notes
    -----
    After each test stands what it charges there; in brackets, how much of the weight
    gets to a branch and what a case has spent by then. A decision that is not certain
    is followed by its share. What does not print, such as a line break in a name, is
    shown as an escape.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"])
    >>> print(to_text(askless.solve(table).policy, max_depth=1))
    t0?  1
    ├─ 0  [66.7 %, spent 1]  t1?  1
    │  └─ ... 2 nodes below
    └─ 1  [33.3 %, spent 1]  => c
    """
    check_depth(max_depth)
    check_nodes(max_nodes)
    glyphs = ASCII if ascii else UNICODE
    if isinstance(policy, Tree):
        return "\n".join(_tree_lines(policy, Limits(max_depth, max_nodes), glyphs))
    if isinstance(policy, Ensemble):
        return "\n".join(_ensemble_lines(policy))
    if isinstance(policy, Forest):
        limits = Limits(max_depth, max_nodes)
        return "\n".join(_forest_lines(policy, limits, max_trees, glyphs))
    if isinstance(policy, Rule):
        return "\n".join(_rule_lines(policy, glyphs))
    if isinstance(policy, Posterior):
        return "\n".join(_posterior_lines(policy, glyphs))
    assert isinstance(policy, Sequence)
    return "\n".join(_sequence_lines(policy, max_depth))


class Limits(NamedTuple):
    """How much of a tree is shown."""

    max_depth: int | None
    max_nodes: int | None


def _tree_lines(tree: Tree, limits: Limits, glyphs: Glyphs) -> list[str]:
    lines = [_node_text(tree, 0)]
    # Each entry: a node, the lines in front of it, whether it is the last of its kind.
    stack = [(child, "", is_last) for child, is_last in _children(tree, 0)][::-1]
    shares = node_shares(tree)
    folded = find_folded(tree, shares, **limits._asdict())
    if folded is not None and folded[0]:
        return [*lines, f"{glyphs.last}... {tree.n_nodes - 1} nodes below"]
    n_shown = 1
    while stack:
        node, indent, is_last = stack.pop()
        n_shown += 1
        lines.append(
            f"{indent}{glyphs.last if is_last else glyphs.branch}"
            f"{branch_label(tree, node)}  [{percent_text(shares[node])}, spent "
            f"{number_text(tree.spent[node])}]  {_node_text(tree, node)}"
        )
        below = indent + (glyphs.blank if is_last else glyphs.through)
        if folded is not None and folded[node]:
            n_below = tree.subtree_end[node] - node - 1
            lines.append(f"{below}{glyphs.last}... {n_below} nodes below")
            continue
        stack.extend(
            (child, below, last) for child, last in reversed(_children(tree, node))
        )
    note = fold_note(tree, n_shown, limits.max_nodes)
    return [*lines, note] if note else lines


def _forest_lines(
    forest: Forest, limits: Limits, max_trees: int | None, glyphs: Glyphs
) -> list[str]:
    """Show trees one by one, each at the price that it would charge alone."""
    n_shown = forest.n_trees if max_trees is None else min(max_trees, forest.n_trees)
    lines = []
    for index in range(n_shown):
        lines.append(f"Tree {index + 1} of {forest.n_trees}")
        lines.extend(_tree_lines(forest.tree(index), limits, glyphs))
        lines.append("")
    if n_shown < forest.n_trees:
        lines.append(f"... {forest.n_trees - n_shown} more trees")
    rule = "the most votes" if forest.voting == "votes" else "the largest sum of counts"
    return [*lines, f"Decide by {rule}; a test is paid for once."]


def _ensemble_lines(ensemble: Ensemble) -> list[str]:
    """Show what is bought and when it stops; nobody follows a sum of trees by eye."""
    starts = ensemble.trees.users(len(ensemble.tests))[1]
    n_users = starts[1:] - starts[:-1]
    first = ensemble.next_test(ensemble.initial_state())
    names = [escape_unprintable(test.name) for test in ensemble.tests]
    width = max((len(names[test]) for test in ensemble.used_tests), default=0)
    lines = [
        f"{ensemble.trees.n_trees} trees of {ensemble.n_nodes} nodes, which ask "
        f"{len(ensemble.used_tests)} of {len(names)} tests"
    ]
    for test in sorted(ensemble.used_tests, key=lambda test: -n_users[test]):
        lines.append(
            f"  {names[test]:{width}}  {ensemble.prices.full[test]:.6g}  in "
            f"{n_users[test]} trees{', asked first' if test == first else ''}"
        )
    if ensemble.threshold is not None and ensemble.answers_number:
        # The deviation of what is open; a threshold of 0 stops at once.
        least = 1 / max(ensemble.threshold, 1e-300)
        stop = f"what is open would change the number by about {least:.4g} or less"
    elif ensemble.threshold is not None:
        stop = f"the lead is {ensemble.threshold:.4g} deviations of what is open"
        if ensemble.varies_together:
            stop += ", taken to vary all at once"
    elif ensemble.is_complete:
        stop = "every tree has ended"
    elif ensemble.answers_number:
        stop = f"the number is known to within {ensemble.tolerance:g}"
    else:
        stop = "no other decision is possible"
    if ensemble.max_cost is not None:
        stop += f", or the next test may cost more than {ensemble.max_cost:g} in all"
    wait = "wait for most"
    if ensemble.eagerness is not None:
        wait += ", each test by its own factor"
    return [*lines, f"Buy what the open trees {wait}; stop when {stop}."]


def _children(tree: Tree, node: int) -> list[tuple[int, bool]]:
    children = children_of(tree, node)
    return [(child, i == len(children) - 1) for i, child in enumerate(children)]


def _node_text(tree: Tree, node: int) -> str:
    if tree.test[node] >= 0:
        name = escape_unprintable(tree.tests[tree.test[node]].name)
        return f"{name}?  {charge_text(tree, node)}"
    decided, share = decision_text(tree, node)
    return f"=> {decided} ({share})" if share else f"=> {decided}"


def _sequence_lines(sequence: Sequence, max_depth: int | None) -> list[str]:
    bill = sequence.prices.open_bill()
    order = sequence.order.tolist()
    lines = []
    for step, test in enumerate(order[:max_depth]):
        if sequence.prices.delayed[test] and not bill.has_paid(test):
            price = bill.charge_together(order[step:])
        else:
            price = bill.charge(test)
        name = escape_unprintable(sequence.tests[test].name)
        lines.append(f"{step + 1}. {name}?  {price:.6g}  [spent {bill.spent:.6g}]")
    n_below = len(order) - len(lines)
    if n_below:
        lines.append(f"... {n_below} tests below")
    rule = "as soon as one decision is left" if sequence.stops_early else "at the end"
    return [*lines, f"Decide {rule}."]


def _rule_lines(rule: Rule, glyphs: Glyphs) -> list[str]:
    """Show the first test and what comes next; a rule has no tree to show."""
    state = rule.initial_state()
    first = rule.next_test(state)
    n_cases = f"{len(rule.case_class):,} case{'s' * (len(rule.case_class) != 1)}"
    how = f"by {rule.rule}" if rule.order is None else "in a fixed order, if it helps"
    last = f"Ask what comes next {how}, among {n_cases}; decide when one class is left."
    if first is None:
        return ["Nothing to ask.", last]
    test = rule.tests[first]
    lines = [f"{escape_unprintable(test.name)}?  {rule.prices.full[first]:.6g}"]
    for code in range(test.n_levels):
        is_last = code == test.n_levels - 1
        after = rule.advance(state, code)
        then = rule.next_test(after)
        says = "decide" if then is None else f"{rule.tests[then].name}?"
        lines.append(
            f"{glyphs.last if is_last else glyphs.branch}"
            f"{escape_unprintable(test.label(code))}  [{len(after.cases):,} left]  "
            f"{escape_unprintable(says)}"
        )
    return [*lines, last]


def _posterior_lines(policy: Posterior, glyphs: Glyphs) -> list[str]:
    """Show the first test and what comes next, with the likeliest class after each."""
    state = policy.initial_state()
    first = policy.next_test(state)
    n_cases = policy.model.n_cases
    last = (
        f"Ask what comes next by {policy.criterion}, among {n_cases:,} "
        f"case{'s' * (n_cases != 1)}; decide when no test is worth its price."
    )
    if first is None:
        return ["Nothing to ask.", last]
    test = policy.tests[first]
    lines = [f"{escape_unprintable(test.name)}?  {policy.prices.full[first]:.6g}"]
    for code in range(test.n_levels):
        after = policy.advance(state, code)
        then = policy.next_test(after)
        says = "decide" if then is None else f"{policy.tests[then].name}?"
        shares = policy.class_shares(after)
        likeliest = f"{policy.classes[int(shares.argmax())]} {shares.max():.1%}"
        lines.append(
            f"{glyphs.last if code == test.n_levels - 1 else glyphs.branch}"
            f"{escape_unprintable(test.label(code))}  "
            f"[{escape_unprintable(likeliest)}]  {escape_unprintable(says)}"
        )
    return [*lines, last]
