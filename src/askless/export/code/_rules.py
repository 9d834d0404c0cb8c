"""Show a policy as rules: one line for each leaf, if this and that then a decision.

Rules do not overlap and leave nothing out, so their order does not matter.
"""

from __future__ import annotations

from askless._text import escape_unprintable
from askless.export._labels import (
    decision_text,
    node_shares,
    number_text,
    one_tree,
    percent_text,
)
from askless.export.code._conditions import Meaning, leaf_conditions, meaning_of
from askless.policy import Policy, Tree
from askless.problem import Test

__all__ = ["to_rules"]

NOTE = "# * or missing or never seen"


def to_rules(policy: Policy, *, tree: int | None = None) -> str:
    """Return a tree as rules, the commonest first.

    Parameters
    ----------
    policy : Policy
        What to show; a tree, or a forest of which one tree is chosen.
    tree : int, optional
        Which tree of a forest, counted from 0.

    Notes
    -----
    In brackets: ``n``, the weight of the cases that a rule is for, and which share of
    all that is; purity, the share of the decision among them; what such a case pays.
    A star marks the outcomes that also stand for one that is missing or was never seen;
    where only one of these is meant, it is written out.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> print(to_rules(askless.solve(table).policy))
    # * or missing or never seen
    IF last bit is 0* THEN even  [n 0.5, 50 %, purity 100 %, cost 1]
    IF last bit is 1 THEN odd  [n 0.5, 50 %, purity 100 %, cost 1]
    """
    shown = one_tree(policy, "Rules", tree)
    shares = node_shares(shown)
    lines = [NOTE]
    for leaf, condition in sorted(
        leaf_conditions(shown), key=lambda rule: -shares[rule[0]]
    ):
        words = [_words(shown.tests[test], runs) for test, runs in condition.items()]
        lines.append(_rule_text(shown, leaf, list(filter(None, words)), shares[leaf]))
    return "\n".join(lines)


def _rule_text(tree: Tree, leaf: int, conditions: list[str], share: float) -> str:
    decided, purity = decision_text(tree, leaf)
    # A number has no share.
    sure = "" if tree.answers_number else f"purity {purity or '100 %'}, "
    reason = f"IF {' AND '.join(conditions)} THEN " if conditions else "ALWAYS "
    return (
        f"{reason}{decided}  "
        f"[n {number_text(tree.node_weight[leaf])}, {percent_text(share)}, "
        f"{sure}cost {number_text(tree.spent[leaf])}]"
    )


def _words(test: Test, runs: tuple[tuple[int, int], ...]) -> str:
    """Return a condition on one test in words; nothing if it may show anything."""
    meaning = meaning_of(test, runs)
    name = escape_unprintable(test.name)
    if meaning.takes_all_values:
        return "" if meaning.takes_missing else f"{name} is known"
    if meaning.takes_no_value:
        return f"{name} is missing"
    if meaning.ranges is None:
        return _outcome_words(test, meaning, name)
    values = _range_words(meaning, name)
    return f"{values} (or missing)" if meaning.takes_missing else values


def _range_words(meaning: Meaning, name: str) -> str:
    words = []
    for low, high in meaning.ranges or ():
        below = f"{_cut_text(low)} < " if low is not None and high is not None else ""
        if high is not None:
            words.append(f"{below}{name} <= {_cut_text(high)}")
        else:
            assert low is not None
            words.append(f"{name} > {_cut_text(low)}")
    return words[0] if len(words) == 1 else f"({' OR '.join(words)})"


def _cut_text(cut: float) -> str:
    # Labelled as if it were the only cut, in as many digits as it takes.
    return Test("", "number", cuts=(cut,)).label(0).removeprefix("x <= ")


def _outcome_words(test: Test, meaning: Meaning, name: str) -> str:
    labels = [escape_unprintable(test.label(code)) for code in meaning.inside or ()]
    also = [
        words
        for takes, words in (
            (meaning.takes_missing, "missing"),
            (meaning.takes_unseen, "never seen"),
        )
        if takes
    ]
    if not labels:
        return f"{name} is {' or '.join(also)}"
    listed = labels[0] if len(labels) == 1 else f"one of {', '.join(labels)}"
    star = "*" if len(also) == 2 else f" (or {also[0]})" if also else ""
    return f"{name} is {listed}{star}"
