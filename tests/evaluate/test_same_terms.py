"""Policies are priced with the prior and the prices that are asked for."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings

import askless
from askless import Costs, Table, compare, evaluate, solve
from askless.cli import main
from askless.exceptions import InvalidCostsError, InvalidTableError
from askless.policy import Rule
from tests.policy.examples import EXAMPLES, make_example
from tests.strategies import solved, tables

LAMP = """\
lamp,socket,cause,prior
dark,dead,fuse,1
dark,live,bulb,1
dim,live,dimmer,8
"""


def invoke(*args):
    result = CliRunner().invoke(main, [str(arg) for arg in args])
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture
def lamp(tmp_path):
    """A policy at lamp 1, socket 5, one at other prices, and new prices in a file."""
    (tmp_path / "lamp.csv").write_text(LAMP)
    (tmp_path / "new.csv").write_text("test,cost\nlamp,4\nsocket,2\nspare,9\n")
    table = askless.read_table(
        tmp_path / "lamp.csv", "cause", costs={"lamp": 1, "socket": 5}
    )
    dear = askless.read_table(
        tmp_path / "lamp.csv", "cause", costs={"lamp": 2, "socket": 1}
    )
    solve(table).policy.save(tmp_path / "old.json")
    solve(dear).policy.save(tmp_path / "new.json")
    return tmp_path, table


# The prior.


def test_comparing_says_what_solving_and_evaluating_say(lamp):
    folder, table = lamp
    files = [folder / "old.json", folder / "old.json", folder / "lamp.csv"]
    found = json.loads(invoke("compare", *files, "--target", "cause", "--json").stdout)
    alone = json.loads(
        invoke("evaluate", *files[1:], "--target", "cause", "--json").stdout
    )
    expected = solve(table).expected_cost
    assert found["first"]["expected_cost"] == pytest.approx(expected)
    assert alone["expected_cost"] == pytest.approx(expected)
    assert found["notes"] == {str(files[0]): []}
    equal = json.loads(
        invoke("compare", *files, "--target", "cause", "--json", "--prior", "").stdout
    )
    assert equal["first"]["expected_cost"] == pytest.approx((6 + 6 + 1) / 3)


def test_weighted_rows_are_as_sure_as_fewer_rows(rng):
    policy = solved(Table({"x": [0, 1]}, ["a", "b"]))
    rows = {"x": [0] * 50 + [1] * 50}
    assert askless.diagnose(policy, {"x": [0] * 100}) != []
    heavy = np.r_[np.full(50, 1.0), np.full(50, 1e-9)]
    assert askless.diagnose(policy, rows, sample_weight=heavy) != []
    assert askless.diagnose(policy, rows, sample_weight=np.r_[1.0, [1e-9] * 99]) == []


# Prices.


def test_both_policies_are_priced_alike(lamp):
    folder, table = lamp
    old, new = askless.load(folder / "old.json"), askless.load(folder / "new.json")
    found = compare(old, new, table)
    assert found.notes == (
        "The policies have different prices for 'lamp', 'socket'; both are priced as "
        "the second one says.",
    )
    assert found.first.expected_cost == pytest.approx(
        evaluate(old, table, costs={"lamp": 2, "socket": 1}).expected_cost
    )
    assert found.second.expected_cost == new.expected_cost
    assert compare(old, old, table).notes == ()
    told = invoke(
        "compare", folder / "old.json", folder / "new.json", folder / "lamp.csv"
    )
    assert "both are priced as the second one says." in told.output
    assert "--costs prices both as a file says." in told.output


def test_an_old_policy_is_priced_at_new_prices(lamp):
    folder, table = lamp
    files = [folder / "old.json", folder / "lamp.csv"]
    options = ["--target", "cause", "--costs", folder / "new.csv", "--json"]
    found = json.loads(invoke("evaluate", *files, *options).stdout)
    # Dim after the lamp, else the socket too.
    assert found["expected_cost"] == pytest.approx(0.8 * 4 + 0.2 * 6)
    both = json.loads(invoke("compare", files[0], *files, *options).stdout)
    assert both["second"]["expected_cost"] == found["expected_cost"]
    with pytest.raises(InvalidCostsError, match="Got none for 'socket'"):
        evaluate(askless.load(files[0]), table, costs={"lamp": 1})


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_same_costs_change_nothing(name, rng):
    policy = make_example(name)
    prices = policy.prices
    same = policy._with_prices(prices)
    doubled = policy.with_costs(
        dict(zip(policy.test_names, 2 * prices.full, strict=True))
    )
    rows = {t.name: (list(t.outcomes) or [0.5, 99.0]) * 4 for t in policy.tests}
    n = min(map(len, rows.values()))
    rows = {key: column[:n] for key, column in rows.items()}
    assert same.cost(rows).tolist() == policy.cost(rows).tolist()
    assert doubled is not policy
    assert policy.prices is prices
    plain = policy.with_costs(dict(zip(policy.test_names, prices.full, strict=True)))
    if not isinstance(policy, Rule):
        assert doubled.cost(rows) == pytest.approx(2 * plain.cost(rows))
    assert doubled.prices.full == pytest.approx(2 * prices.full)


def test_mistakes_come_with_the_costs(lamp):
    _, table = lamp
    hasty = solve(table, budget=0).policy
    found = evaluate(hasty, table, costs=Costs({"lamp": 1, "socket": 1}, mistakes=10))
    assert found.mistake_cost == pytest.approx(10 * found.error)
    assert found.error > 0


# Unknown outcomes.


@given(tables(max_unknown=4))
@settings(deadline=None, max_examples=30)
def test_a_table_is_compared_with_its_prior_and_its_unknowns(table):
    policy = solved(table)
    found = compare(policy, policy, table)
    assert found.agreement == pytest.approx(1)
    exact = evaluate(policy, table)
    assert found.first.expected_cost == exact.expected_cost
    assert found.second.error == exact.error


def test_empty_cells_can_be_any_outcome(lamp):
    folder, _ = lamp
    (folder / "gap.csv").write_text(LAMP.replace("dim,live", ",live"))
    files = [folder / "old.json", folder / "old.json", folder / "gap.csv"]
    options = ["--target", "cause", "--missing", "unknown", "--json"]
    found = json.loads(invoke("compare", *files, *options).stdout)
    alone = json.loads(invoke("evaluate", *files[1:], *options).stdout)
    assert found["first"]["expected_cost"] == alone["expected_cost"]
    assert 0.01 < found["first"]["error"] == alone["error"]


def test_a_table_brings_its_own_classes(lamp):
    _, table = lamp
    policy = solve(table).policy
    with pytest.raises(InvalidTableError, match="brings its own classes and weights"):
        compare(policy, policy, table, table.case_classes)
