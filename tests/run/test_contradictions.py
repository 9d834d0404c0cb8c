"""Answers that no case shows are said to be so; chances are those of the picture."""

import numpy as np
import pytest
from hypothesis import given, settings

import askless
from askless.export._labels import node_shares
from askless.policy import Rule, Sequence, Tree
from askless.problem import Table
from askless.run import Interview, Session, describe
from askless.run._ahead import look_ahead
from tests.strategies import solved, tables, tables_with_policies, tree_of


@pytest.fixture
def chest():
    """No case of sharp pain has it by exertion."""
    return Table(
        {
            "pain": ["sharp", "sharp", "sharp", "crushing", "crushing"],
            "trigger": ["breath", "touch", "meal", "exertion", "rest"],
        },
        ["anti-inflammatory", "rest", "antacid", "nitro", "heparin"],
        costs={"pain": 1, "trigger": 5},
        prior=[3, 1, 1, 1, 1],
    )


def answered(policy, **answers):
    interview = Interview(policy)
    while not interview.is_over:
        interview.answer(answers[interview.session.test])
    return interview


def pain_then_trigger(chest):
    """Return a tree that asks for the pain first, as a solver need not."""
    codes = {name: i for i, name in enumerate(chest.tests[1].outcomes)}
    kinds = {name: i for i, name in enumerate(chest.tests[0].outcomes)}
    label = {name: i for i, name in enumerate(chest.classes)}

    def leaf(name, weight):
        return {
            "test": -1, "cut": -1, "codes": [], "children": [], "default": -1,
            "weights": {label[name]: weight},
        }  # fmt: skip

    def ask(test, listed, children, default, weights):
        return {
            "test": test, "cut": -1, "codes": listed, "children": children,
            "default": default, "weights": weights,
        }  # fmt: skip

    crushing = {label["nitro"]: 1.0, label["heparin"]: 1.0}
    sharp = {label["anti-inflammatory"]: 3.0, label["rest"]: 1.0, label["antacid"]: 1.0}
    nodes = [
        ask(0, [kinds["crushing"], kinds["sharp"]], [1, 4], 1, {**crushing, **sharp}),
        ask(1, [codes["exertion"], codes["rest"]], [2, 3], 0, crushing),
        leaf("nitro", 1.0),
        leaf("heparin", 1.0),
        ask(1, [codes["breath"], codes["meal"], codes["touch"]], [5, 6, 7], 0, sharp),
        leaf("anti-inflammatory", 3.0),
        leaf("antacid", 1.0),
        leaf("rest", 1.0),
    ]
    return tree_of(nodes, chest.tests, chest.classes, chest.prices)


# What is said.


def test_a_tree_says_that_no_case_shows_the_answers(chest):
    interview = answered(pain_then_trigger(chest), pain="sharp", trigger="exertion")
    session = interview.session
    assert session.contradictions == {"trigger": "breath"}
    # The leaf of most weight that one answer keeps the case out of.
    assert session.recheck == ("trigger",)
    assert len(chest.recheck({"pain": "sharp", "trigger": "exertion"})) == 1
    assert session.decision == "anti-inflammatory"
    shown = describe(interview)
    assert shown["conflict"] == {
        "taken_as": {"trigger": "breath"},
        "recheck": ["trigger"],
    }
    # As if the answer that no case shows was not given.
    assert shown["certainty"] == pytest.approx(3 / 5)
    assert "no case fits all answers; look again at 'trigger'" in session.why()
    session.undo()
    assert session.contradictions == {}
    assert session.recheck == ()
    assert describe(interview)["conflict"] is None


def test_the_answers_to_look_at_again_are_the_fewest(chest):
    policy = pain_then_trigger(chest)
    codes = {test.name: test.lookup for test in policy.tests}
    said = {0: codes["pain"]["crushing"], 1: codes["trigger"]["rest"]}
    assert policy.recheck(said) == ()
    said[1] = codes["trigger"]["breath"]
    assert policy.recheck(said) == (0,)
    # A missing outcome says nothing where no case is known to show it.
    said[1] = policy.tests[1].missing_code
    assert policy.recheck(said) == ()


def test_a_rule_takes_what_no_case_shows_as_skipped():
    table = Table([[0, 0], [0, 1], [1, 2]], ["a", "b", "c"], costs=[1, 1.5])
    session = Session(Rule.from_table(table))
    assert session.test == "t0"
    session.answer(0)
    session.answer(2)
    assert session.contradictions == {"t1": None}
    assert len(session.recheck) == 1


def test_a_sequence_takes_what_no_case_shows_as_skipped():
    table = Table([[0, 0, 0], [1, 1, 1]], ["a", "b"])
    session = Sequence.from_table(table, stops_early=False).start()
    for outcome in (1, 1, 0):
        session.answer(outcome)
    assert session.contradictions == {"t2": None}
    assert session.recheck == ("t2",)


@given(tables(unknown=True))
@settings(deadline=None)
def test_no_case_of_the_table_contradicts_its_policy(table):
    policy = solved(table)
    rng = np.random.default_rng(0)
    for case in range(table.n_cases):
        session = policy.start()
        drawn = {}
        while (name := session.test) is not None:
            test = policy.test_names.index(name)
            code = drawn.setdefault(test, table.possible.draw(test, case, rng))
            step = session._plan(code, {"test": name}, shown=code)
            session.take(step)
        assert session.contradictions == {}
        assert session.recheck == ()


@pytest.mark.parametrize("name", ["CostTreeClassifier", "C45Classifier"])
def test_no_example_contradicts_a_tree_that_was_learned_from_it(name):
    rng = np.random.default_rng(0)
    X = rng.choice(["a", "b", "c", "d"], (60, 4))
    X = [dict(zip("wxyz", row.tolist(), strict=True)) for row in X]
    y = [f"{row['w'] in 'ab'}{row['x'] == 'c'}" for row in X]
    columns = {key: [row[key] for row in X] for key in "wxyz"}
    policy = getattr(askless, name)().fit(columns, y).policy_
    for row in X:
        result = policy.start()
        while result.test is not None:
            result.answer(row[result.test])
        assert result.contradictions == {}


# Chances.


def check_chances(tree):
    pictured = node_shares(tree)
    for node in np.flatnonzero(tree.test >= 0).tolist():
        branches = look_ahead(tree, node)
        if pictured[node] == 0:
            assert all(branch.share is None for branch in branches)
            continue
        assert sum(branch.share for branch in branches) == pytest.approx(1.0)
        drawn = [
            pictured[child] / pictured[node] for child in tree.nodes.children(node)
        ]
        own = [branch.share for branch in branches if branch.taken_as is None]
        assert own == pytest.approx(drawn)
        assert all(b.share == 0 for b in branches if b.taken_as is not None)


@given(tables_with_policies(kinds=("solved", "random")))
@settings(deadline=None)
def test_chances_of_outcomes_sum_to_one_and_agree_with_the_picture(pair):
    check_chances(pair[1])


def test_chances_of_a_learned_tree_agree_with_the_picture():
    clinic = askless.datasets.make_clinic(300, random_state=0)
    tree = askless.CostTreeClassifier(clinic.costs).fit(clinic.to_frame(), clinic.y)
    assert isinstance(tree.policy_, Tree)
    assert tree.policy_.n_nodes > 3
    check_chances(tree.policy_)


def test_an_outcome_without_a_branch_has_no_share_of_the_default(chest):
    tree = pain_then_trigger(chest)
    sharp = tree.advance(0, tree.tests[0].lookup["sharp"])
    shares = {b.label: (b.share, b.taken_as) for b in look_ahead(tree, sharp)}
    assert shares == {
        "breath": (pytest.approx(0.6), None),
        "exertion": (0.0, "breath"),
        "meal": (pytest.approx(0.2), None),
        "rest": (0.0, "breath"),
        "touch": (pytest.approx(0.2), None),
    }
