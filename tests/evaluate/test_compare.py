"""Policies are compared row by row, and held against what they were made from."""

import dataclasses
import json

import numpy as np
import pandas
import pytest
from hypothesis import given, settings

import askless
from askless.evaluate import compare, diagnose
from askless.policy import Sequence, explain_degenerate
from askless.problem import Costs, Table
from tests.policy.examples import EXAMPLES, make_example
from tests.strategies import generators, level_value, solved, tables_with_policies


def rows_for(policies, n, rng):
    """Return columns that show what any of the policies knows."""
    columns = {}
    for policy in policies:
        for test in policy.tests:
            values = [level_value(test, i) for i in range(test.n_levels)] or [None]
            columns[test.name] = [values[i] for i in rng.integers(len(values), size=n)]
    return columns


@given(tables_with_policies(), generators())
@settings(max_examples=60)
def test_every_number_is_what_a_plain_loop_counts(pair, rng):
    table, policy = pair
    other = solved(table, method="gbs")
    X = rows_for([policy, other], 20, rng)
    y = [policy.classes[i] for i in rng.integers(len(policy.classes), size=20)]
    weights = rng.integers(1, 5, 20).astype(float)
    found = compare(policy, other, X, y, sample_weight=weights)
    old, new = policy.predict(X).tolist(), other.predict(X).tolist()
    share = weights / weights.sum()
    assert found.agreement == pytest.approx(
        sum(w for a, b, w in zip(old, new, share, strict=True) if a == b)
    )
    assert sum(found.changes.values()) == pytest.approx(1 - found.agreement, abs=1e-9)
    assert found.differs.tolist() == [a != b for a, b in zip(old, new, strict=True)]
    paid = [
        (float(p), float(q)) for p, q in zip(policy.cost(X), other.cost(X), strict=True)
    ]
    assert found.cheaper == pytest.approx(
        sum(w for (p, q), w in zip(paid, share, strict=True) if q < p)
    )
    assert found.dearer == pytest.approx(
        sum(w for (p, q), w in zip(paid, share, strict=True) if q > p)
    )
    for position, one in enumerate((policy, other)):
        if one.kind != "tree" or one.prices.delayed.any():
            continue
        bought = dict.fromkeys(one.test_names, 0.0)
        for row in range(20):
            result = one.run(lambda case, test, row=row: X[test][row])
            for name in result.bought:
                bought[name] += share[row]
        for name, shares in found.bought.items():
            assert shares[position] == pytest.approx(bought.get(name, 0.0), abs=1e-9)
    assert json.loads(json.dumps(found.to_dict()))["agreement"] == found.agreement
    assert str(found).startswith("20 rows, ")


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_policy_agrees_with_itself(name, rng):
    policy = make_example(name)
    found = compare(policy, policy, rows_for([policy], 50, rng))
    assert (found.agreement, found.changes, found.cheaper, found.dearer) == (
        1,
        {},
        0,
        0,
    )
    assert np.isnan(found.first.error)
    assert "error" not in str(found)


# Degenerate policies.


def test_a_policy_with_something_to_say_is_left_alone():
    for name in EXAMPLES:
        assert explain_degenerate(make_example(name)) is None, name


def test_one_class_is_named():
    policy = Sequence.from_table(Table([[0], [1]], ["same", "same"]))
    assert "Got one, 'same', so it decides that at once" in explain_degenerate(policy)


@pytest.mark.parametrize(
    ("mistakes", "reason"),
    [
        (
            0.5,
            "Being wrong costs 0.125 on average, and the cheapest test, 't0', costs 1",
        ),
        (100, "That is wrong in 25 %, and no test that was tried is worth its price"),
        (None, "That is wrong in 25 %"),
    ],
)
def test_a_policy_that_never_tests_says_why(mistakes, reason):
    table = Table(
        [[0], [0], [0], [1]], list("aaab"), costs=Costs([1], mistakes=mistakes)
    )
    policy = Sequence.from_table(table, [])
    found = explain_degenerate(policy)
    assert "Got one that decides 'a' at once." in found
    assert reason in found
    assert diagnose(policy) == [found]


def test_a_policy_that_always_decides_the_same_says_why():
    table = Table(
        [[0], [0], [1], [1]],
        ["toy", "bomb", "toy", "toy"],
        costs=Costs([2], mistakes=[[0, 1000], [1, 0]]),
        prior=[5, 1, 3, 1],
    )
    grown = solved(Table([[0], [1]], ["bomb", "toy"], costs=Costs([2])))
    nodes = dataclasses.replace(
        grown.nodes,
        weight_start=np.array([0, 2, 4, 6]),
        weight_class=np.array([0, 1, 0, 1, 0, 1], dtype=np.int32),
        weight=np.array([2.0, 8.0, 1.0, 5.0, 1.0, 3.0]),
        decision=None,
    )
    policy = askless.Tree(
        table.tests, table.classes, table.prices, nodes=nodes,
        mistakes=np.array([[0, 1e3], [1, 0]]),
    )  # fmt: skip
    found = explain_degenerate(policy)
    assert "pays 2 on average and decides 'bomb' whatever they show" in found
    assert "Nowhere is another class more than 83.3 %" in found


# Drift.


def drifting():
    table = Table(
        {"lamp": ["dark", "dark", "dim"], "volts": [0.0, 230.0, 230.0]},
        ["mains", "bulb", "dimmer"],
        costs=[1, 4],
        prior=[1, 4, 5],
        thresholds=True,
    )
    return solved(table)


def sample(n, share_dark, share_dead, rng):
    dark = rng.random(n) < share_dark
    dead = rng.random(n) < share_dead
    return {
        "lamp": np.where(dark, "dark", "dim").astype(object),
        "volts": np.where(dead, 0.0, 230.0),
    }


def test_rows_like_those_it_was_made_from_raise_no_note(rng):
    for source in rng.spawn(20):
        assert diagnose(drifting(), sample(500, 0.5, 0.2, source)) == []


def test_rows_that_have_changed_are_told(rng):
    notes = diagnose(drifting(), sample(500, 0.9, 0.7, rng))
    assert len(notes) == 3
    shown = " ".join(notes)
    assert "of the rows show lamp = dark; the policy was made for 50 %." in shown
    assert "After lamp = dark: " in shown
    assert "of the rows show volts <= 115; the policy was made for 20 %." in shown
    assert "the policy was made to cost 3." in notes[-1]


def test_strangers_and_missing_outcomes_are_told():
    rows = {"lamp": ["dark", "dim", "blue", "blue", None] * 4, "volts": [230.0] * 20}
    notes = diagnose(drifting(), rows)
    assert notes[0] == (
        "40 % of the rows show 'blue' for 'lamp', which the policy has never seen."
    )
    assert notes[1].startswith("20 % of the rows miss 'lamp'; the policy sends them")


def aged(n, share_dark, share_dead, age, rng):
    return {**sample(n, share_dark, share_dead, rng), "age": rng.normal(age, 10, n)}


def learn(model, rng, n):
    rows = aged(n, 0.5, 0.2, 50, rng)
    y = np.where((rows["volts"] < 100) ^ (rows["age"] > 55), "mains", "bulb")
    y = np.where(rng.random(n) < 0.1, "dimmer", y)
    return model.fit(pandas.DataFrame(rows), y).policy_


def test_a_tree_learned_from_few_rows_takes_chance_for_chance(rng):
    for own in rng.spawn(10):
        tree = learn(askless.C45Classifier(), own, 80)
        assert diagnose(tree, aged(2000, 0.5, 0.2, 50, own)) == []


def test_a_forest_tells_what_has_changed(rng):
    model = askless.BudgetForestClassifier(n_estimators=20, random_state=0)
    forest = learn(model, rng, 3000)
    assert diagnose(forest, aged(3000, 0.5, 0.2, 50, rng)) == []
    older = aged(3000, 0.5, 0.6, 70, rng)
    older["lamp"][:300] = "green"
    notes = diagnose(forest, older)
    assert notes[0] == (
        "10 % of the rows show 'green' for 'lamp', which the policy has never seen."
    )
    assert len(notes) == 6
    assert len(set(notes)) == 6
    assert all("; the policy was made for " in note for note in notes[1:])


def test_every_kind_of_policy_tells_strangers():
    table = Table({"lamp": ["dark", "dim"]}, ["bulb", "dimmer"])
    notes = diagnose(Sequence.from_table(table), {"lamp": ["dark", "green"]})
    assert notes == [
        "50 % of the rows show 'green' for 'lamp', which the policy has never seen."
    ]
    assert diagnose(Sequence.from_table(table), {"lamp": []}) == []


def test_the_command_compares_and_warns(tmp_path, rng):
    from click.testing import CliRunner

    from askless.cli import main

    policy = drifting()
    policy.save(tmp_path / "a.json")
    Sequence.from_table(Table({"lamp": ["dark", "dim"]}, ["bulb", "dimmer"]), []).save(
        tmp_path / "b.json"
    )
    lines = ["lamp,volts,cause", *["dark,0,mains"] * 30, *["dim,230,dimmer"] * 10]
    (tmp_path / "d.csv").write_text("\n".join(lines) + "\n")
    files = [str(tmp_path / name) for name in ("a.json", "b.json", "d.csv")]
    result = CliRunner().invoke(main, ["compare", *files, "--target", "cause"])
    assert result.exit_code == 0, result.output
    assert "40 rows, 0 % decided alike." in result.stdout
    assert "error          0 % -> 100 %" in result.stdout
    assert "b.json: A policy should test before it decides" in result.output
    assert "a.json: After lamp = dark: 100 % of the rows" in result.output
    as_json = CliRunner().invoke(main, ["compare", *files, "--json"])
    assert json.loads(as_json.stdout)["agreement"] == 0.0
    wrong = CliRunner().invoke(main, ["compare", *files, "--target", "caus"])
    assert wrong.exit_code == 1
    assert "Did you mean 'cause'?" in wrong.output
