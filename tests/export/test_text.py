"""The text of a policy tells the numbers of the policy, line by line."""

import re

import numpy as np
import pytest
from hypothesis import given, settings

import askless
from askless.exceptions import InvalidOptionError, UnknownNameError
from askless.export import FORMATS, show
from askless.policy import Sequence
from askless.policy._file import dump
from askless.problem import Costs, PriceList, Table, Test
from tests.policy.examples import EXAMPLES, make_example
from tests.strategies import solved, tables_with_policies, tree_of

BRANCH = re.compile(
    r"^(?P<indent>(?:[│| ]  )*)(?:├─|└─|\|-|`-) "
    r"(?P<label>.*?)  \[(?P<share>[^ ]+) %, spent (?P<spent>[^\]]+)\]  (?P<rest>.*)$"
)
ASKS = re.compile(r"^(?P<name>.*)\?  (?P<charge>[^ ]+)$")
DECIDES = re.compile(r"^=> (?P<label>.*?)(?: \((?P<share>[^ ]+) %\))?$")


def close(text, value, digits):
    """Return whether a printed number is a number, to so many digits."""
    return float(text) == pytest.approx(value, rel=0.6 * 10 ** (1 - digits), abs=1e-12)


def check_node(tree, node, text):
    if tree.test[node] < 0:
        found = DECIDES.match(text)
        assert found["label"] == str(tree.classes[tree.node_decision[node]])
        share = tree.class_shares(node)[tree.node_decision[node]]
        if share > 1 - 1e-9:
            assert found["share"] is None
        else:
            assert close(found["share"], 100 * share, 3)
        return
    found = ASKS.match(text)
    assert found["name"] == tree.tests[tree.test[node]].name
    children = tree.branch_child[tree.branch_start[node] : tree.branch_start[node + 1]]
    charges = tree.spent[children] - tree.spent[node]
    low, _, high = found["charge"].partition("-")
    # Spent so far may be a million times the charge, and is known to 16 digits.
    slack = 1e-9 * (1 + tree.spent[node])
    assert float(low) == pytest.approx(charges.min(), rel=1e-5, abs=slack)
    assert float(high or low) == pytest.approx(charges.max(), rel=1e-5, abs=slack)


@settings(max_examples=200)
@given(drawn=tables_with_policies(kinds=("solved", "random")))
def test_every_line_says_what_the_tree_says(drawn):
    _, tree = drawn
    leaf_weight = np.where(tree.test < 0, tree.node_weight, 0.0)
    first, *lines = show(tree).split("\n")
    check_node(tree, 0, first)
    assert len(lines) == tree.n_nodes - 1
    for node, line in enumerate(lines, start=1):
        found = BRANCH.match(line)
        assert found, line
        assert len(found["indent"]) == 3 * (tree.node_depth[node] - 1)
        below = leaf_weight[node : tree.subtree_end[node]].sum()
        assert close(found["share"], 100 * below / leaf_weight.sum(), 3)
        assert close(found["spent"], tree.spent[node], 6)
        check_node(tree, node, found["rest"])


@given(drawn=tables_with_policies(kinds=("solved", "random")))
def test_ascii_is_the_same_text_in_other_characters(drawn):
    _, tree = drawn
    text = show(tree)
    for fancy, plain in (("├─", "|-"), ("└─", "`-"), ("│", "|")):
        text = text.replace(fancy, plain)
    assert show(tree, ascii=True) == text
    assert text.isascii()


@given(drawn=tables_with_policies(kinds=("solved", "random")))
def test_what_is_left_out_is_counted(drawn):
    _, tree = drawn
    whole = show(tree).split("\n")
    for max_depth in range(tree.depth + 2):
        lines = show(tree, max_depth=max_depth).split("\n")
        cut_off = [line for line in lines if "nodes below" in line]
        n_below = sum(int(re.search(r"(\d+) nodes below", x)[1]) for x in cut_off)
        assert len(lines) - len(cut_off) + n_below == tree.n_nodes
        shown = [line for line in lines if "nodes below" not in line]
        expected = [
            line
            for node, line in enumerate(whole)
            if tree.node_depth[node] <= max_depth
        ]
        assert shown == expected
    assert show(tree, max_depth=tree.depth) == show(tree)


def test_a_small_tree_by_hand():
    table = Table(
        {"lamp": ["dark", "dark", "dim"], "socket": ["dead", "live", "live"]},
        ["fuse", "bulb", "dimmer"],
        costs={"lamp": 1, "socket": 5},
        prior=[1, 2, 5],
    )
    tree = solved(table)
    assert show(tree).split("\n") == [
        "lamp?  1",
        "├─ dark  [37.5 %, spent 1]  socket?  5",
        "│  ├─ dead  [12.5 %, spent 6]  => fuse",
        "│  └─ live  [25 %, spent 6]  => bulb",
        "└─ dim  [62.5 %, spent 1]  => dimmer",
    ]
    assert show(tree, max_depth=1, ascii=True).split("\n") == [
        "lamp?  1",
        "|- dark  [37.5 %, spent 1]  socket?  5",
        "|  `- ... 2 nodes below",
        "`- dim  [62.5 %, spent 1]  => dimmer",
    ]
    assert show(tree, max_depth=0).split("\n") == ["lamp?  1", "└─ ... 4 nodes below"]


def test_a_decision_that_is_not_sure_has_its_share():
    table = Table({"t": [0, 0, 1]}, ["a", "b", "a"], prior=[1, 3, 4])
    assert show(solved(table)).split("\n") == [
        "t?  1",
        "├─ 0  [50 %, spent 1]  => b (75 %)",
        "└─ 1  [50 %, spent 1]  => a",
    ]


def test_a_single_leaf_is_one_line():
    table = Table({"t": [0, 0]}, ["a", "b"], prior=[1, 3])
    assert show(solved(table)) == "=> b (75 %)"
    assert show(solved(table), max_depth=0) == "=> b (75 %)"


def leaf(label):
    node = {"test": -1, "cut": -1, "codes": [], "children": [], "default": -1}
    return {**node, "weights": {label: 1.0}}


def test_numbers_are_compared_in_as_many_digits_as_it_takes():
    inner = {"test": 0, "codes": [0, 1], "default": 1, "weights": {0: 1.0, 1: 2.0}}
    cuts = (37.5, 16777216.0, 16777218.0)
    nodes = [
        {**inner, "cut": 1, "children": [1, 4]},
        {**inner, "cut": 0, "children": [2, 3]},
        leaf(0),
        leaf(1),
        {**inner, "cut": 2, "children": [5, 6]},
        leaf(1),
        {**inner, "cut": 3, "children": [7, 8]},
        leaf(0),
        leaf(1),
    ]
    test = Test("x", "number", cuts=cuts)
    tree = tree_of(nodes, [test], ["a", "b"], PriceList.plain([2.0]))
    labels = [BRANCH.match(line)["label"] for line in show(tree).split("\n")[1:]]
    assert labels == [
        "<= 16777216", "<= 37.5", "> 37.5", "> 16777216", "<= 16777218", "> 16777218",
        "known", "missing",
    ]  # fmt: skip
    charges = re.findall(r"x\?  (\S+)", show(tree))
    assert charges == ["2", "0", "0", "0"]


def test_levels_of_a_number_are_shown_as_ranges():
    table = Table({"x": [1.0, 2.0, 3.0]}, ["a", "b", "c"], levels=3)
    labels = [BRANCH.match(x)["label"] for x in show(solved(table)).split("\n")[1:]]
    assert labels == ["x <= 1.5", "1.5 < x <= 2.5", "x > 2.5"]


def test_a_test_priced_by_outcome_shows_its_range():
    table = Table(
        {"t": ["x", "y", "z"]},
        ["a", "b", "c"],
        costs=Costs([5], by_outcome={0: {"x": 1, "y": 2.5}}),
    )
    assert show(solved(table)).split("\n")[0] == "t?  1-5"


def test_rounding_alone_makes_no_range():
    table = Table(
        {"t": ["x", "y", "z"]},
        ["a", "b", "c"],
        costs=Costs([1e9], by_outcome={0: {"x": 1e9 + 0.1, "y": 1e9 + 0.3}}),
    )
    assert show(solved(table)).split("\n")[0] == "t?  1e+09"


def test_a_delayed_test_shows_all_that_it_orders():
    table = Table(
        {"quick": [0, 0, 0, 1], "slow": [0, 0, 1, 0], "slower": [0, 1, 0, 0]},
        list("abcd"),
        costs=Costs([1, 7, 10], delayed=["slow", "slower"]),
    )
    text = show(solved(table))
    assert "slow?  17" in text
    assert "slower?  0" in text


@pytest.mark.parametrize("name", ["two\nlines", "bell\a", "a\tb", "\u2028", "\0"])
def test_a_name_stays_on_its_line(name):
    table = Table({name: [name, "y"]}, [name + "?", "b"])
    for policy in (solved(table), Sequence.from_table(table)):
        text = show(policy)
        assert all(c.isprintable() or c == "\n" for c in text)
        assert repr(name)[1:-1] in text
    assert len(show(solved(table)).split("\n")) == 3


def test_letters_of_any_script_are_shown_as_they_are():
    table = Table({"größe 📏": ["π", "y"]}, ["a", "b"])
    text = show(solved(table))
    assert text.startswith("größe 📏?  1\n")
    assert "└─ π  [" in text


# Sequences.


def test_a_sequence_is_a_list():
    table = Table(np.eye(3, dtype=int), list("abc"), costs=[1, 2, 4])
    sequence = Sequence.from_table(table, [2, 0, 1])
    assert show(sequence).split("\n") == [
        "1. t2?  4  [spent 4]",
        "2. t0?  1  [spent 5]",
        "3. t1?  2  [spent 7]",
        "Decide as soon as one decision is left.",
    ]
    assert show(sequence, max_depth=1).split("\n") == [
        "1. t2?  4  [spent 4]",
        "... 2 tests below",
        "Decide as soon as one decision is left.",
    ]
    late = Sequence.from_table(table, [], stops_early=False)
    assert show(late) == "Decide at the end."


def test_a_sequence_shows_discounts_and_what_is_ordered_in_advance():
    table = Table(
        np.eye(4, dtype=int),
        list("abcd"),
        costs=Costs(
            [1, 2, 4, 8],
            groups={"g": [0, 1, 3]},
            discounted={1: 0.5, 3: 7},
            delayed=[2],
        ),
    )
    assert show(Sequence.from_table(table)).split("\n")[:4] == [
        "1. t0?  1  [spent 1]",
        "2. t1?  0.5  [spent 1.5]",
        "3. t2?  11  [spent 12.5]",
        "4. t3?  0  [spent 12.5]",
    ]


@given(drawn=tables_with_policies(kinds=("sequence",)))
def test_a_sequence_spends_what_its_lines_say(drawn):
    _, sequence = drawn
    lines = show(sequence).split("\n")[:-1]
    assert len(lines) == sequence.n_steps
    if not sequence.stops_early:
        session = sequence.start()
        for line in lines:
            price, spent = re.search(r"\?  (\S+)  \[spent (\S+)\]$", line).groups()
            assert close(price, session.price, 6)
            # An outcome that nobody has seen is charged at the plain price.
            session.answer(None)
            assert close(spent, session.spent, 6)


# Showing.


@pytest.mark.parametrize("name", EXAMPLES)
def test_json_is_the_content_of_the_file(name):
    policy = make_example(name)
    assert show(policy, "json").encode() == dump(policy)


def test_formats_are_listed_in_order():
    assert list(FORMATS) == sorted(FORMATS)
    assert askless.show is show


def test_an_unknown_format_is_named():
    policy = make_example("numbers")
    with pytest.raises(UnknownNameError, match=r"Got 'txt'\. Did you mean 'text'\?"):
        show(policy, "txt")


def test_a_negative_depth_is_refused():
    with pytest.raises(InvalidOptionError, match=r"max_depth must be >= 0.* Got -1"):
        show(make_example("numbers"), max_depth=-1)
