"""The car: its facts, and that every repair can be found."""

import itertools

import numpy as np
import pytest

from askless.datasets import _car, load_car
from askless.exceptions import InvalidTableError


@pytest.fixture(scope="module")
def car():
    return load_car()


def shown(table, case):
    """Return what each test shows for a case, by name."""
    index = table.cases.index(case)
    return {name: column[index] for name, column in table.rows().items()}


def test_it_is_large_enough_to_be_interesting(car):
    assert (car.n_cases, car.n_tests, car.n_classes) == (30, 28, 23)
    assert len(set(car.cases)) == 30
    assert car.prior.sum() == pytest.approx(1)
    assert car.prior.min() > 0


def test_some_repairs_have_several_causes(car):
    classes = car.case_classes
    assert classes.count("new fuse or relay") == 4
    assert classes.count("new starter") == 3
    assert classes.count("drain the tank") == 2


def test_causes_of_different_repair_are_told_apart_by_a_check_known_for_both(car):
    columns = list(car.rows().values())
    classes = car.case_classes
    for a, b in itertools.combinations(range(car.n_cases), 2):
        if classes[a] != classes[b]:
            assert any(
                column[a] is not None
                and column[b] is not None
                and column[a] != column[b]
                for column in columns
            ), f"{car.cases[a]} looks like {car.cases[b]}"
    assert car.indistinct == []
    assert car.notes == []


def test_nine_outcomes_are_unknown(car):
    assert int(car.is_unknown.sum()) == 9


def test_several_checks_have_more_than_two_outcomes(car):
    outcomes = {test.name: set(test.outcomes) for test in car.tests}
    assert outcomes["battery voltage"] == {"low", "weak", "good"}
    assert outcomes["cranking"] == {"none", "slow", "normal", "fast"}
    assert sum(len(values) > 2 for values in outcomes.values()) >= 10


def test_every_check_costs_minutes_and_shared_work_is_paid_once(car):
    costs = car.costs
    assert set(costs.groups) == set(_car._SHARED_MINUTES)
    assert costs.delayed == ()
    assert min(costs.costs.values()) > 0
    for group, tests in costs.groups.items():
        for test in tests:
            saved = costs.costs[test] - costs.discounted[test]
            assert saved == _car._SHARED_MINUTES[group]
            assert costs.discounted[test] > 0


def test_a_flat_battery_looks_flat_everywhere(car):
    seen = shown(car, "lights left on")
    assert seen["cranking"] == "none"
    assert seen["headlights"] == "dim"
    assert seen["battery voltage"] == "low"
    assert seen["jump start"] == "starts"
    assert seen["charging"] == "good"


def test_an_engine_that_does_not_turn_shows_nothing_that_needs_turning(car):
    rows = car.rows()
    assert "none" in rows["cranking"]
    for case in range(car.n_cases):
        if rows["cranking"][case] == "none":
            assert rows["exhaust smell"][case] == "none"
            assert rows["spark"][case] == "none"
            assert rows["compression"][case] == "none"
            assert rows["engine speed"][case] in ("zero", "no link")
            assert rows["starter sound"][case] != "turning"


def test_an_engine_that_turns_is_not_helped_by_a_jump_start(car):
    rows = car.rows()
    assert {"normal", "fast"} <= set(rows["cranking"])
    for case in range(car.n_cases):
        if rows["cranking"][case] in ("normal", "fast"):
            assert rows["jump start"][case] == "turns only"
            assert rows["starter sound"][case] == "turning"


def test_without_fuel_pressure_no_fuel_comes_out(car):
    rows = car.rows()
    none = np.array(rows["fuel pressure"]) == "none"
    nothing = np.array(rows["fuel sample"]) == "nothing"
    assert np.array_equal(none, nothing)


@pytest.mark.parametrize("keys", ["no_such_cause", "worn worn"])
def test_a_slip_in_the_table_is_found(keys):
    check = _car._Check("smell", 1, "none", {"burnt": keys})
    with pytest.raises(
        InvalidTableError, match=r"named once in a check. Got .* 'smell'"
    ):
        _car._outcomes_of(check)
