"""What a solution hangs on, against plain ways to work the same out."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import askless
from askless import Costs, Table, solve
from askless.exceptions import InvalidOptionError
from askless.solve._solve import make_task
from askless.solve.sensitivity._fixed import FixedPolicy
from askless.solve.sensitivity._parameters import list_parameters, list_probabilities
from askless.testing import reference_total
from tests.solve.total.tables import build

FEATURES = [
    {},
    {"mixed": False},
    {"groups": True},
    {"outcome_prices": True},
    {"delays": True},
]
DRAWS = settings(max_examples=25, deadline=None)


def parameters_of(table):
    task = make_task(table, "total", "class")
    return [*list_parameters(task, 10.0), *list_probabilities(task)]


def clinic(**options):
    return Table.from_likelihoods(
        {
            "smear": {"ill": 0.95, "well": 0.04, "cold": 0.2},
            "scan": {"ill": 0.99, "well": 0.02, "cold": 0.3},
            "blood": {"ill": 0.9, "well": 0.3, "cold": 0.6},
        },
        prior={"ill": 1, "well": 5, "cold": 2},
        costs=Costs({"smear": 3, "scan": 8, "blood": 1}, mistakes=50),
        **options,
    )


# The policy as it is.


@pytest.mark.parametrize("features", FEATURES, ids=str)
@DRAWS
@given(seed=st.integers(0, 2**32 - 1))
def test_the_cost_elsewhere_is_that_of_an_evaluation_there(features, seed):
    table = build(np.random.default_rng(seed), **features)
    solution = solve(table, objective="total", n_jobs=1)
    fixed = FixedPolicy(solution.policy, make_task(table, "total", "class"))
    assert fixed.cost == pytest.approx(solution.total_cost)
    for parameter in parameters_of(table):
        for value in parameter.swung(0.5):
            task = parameter.at(value)
            policy = solution.policy._with_prices(task.table.prices)
            policy.mistakes = task.mistakes
            there = askless.evaluate(policy, task.table)
            assert fixed.cost_at(parameter, value) == pytest.approx(
                there.expected_cost + there.mistake_cost, abs=1e-9
            ), parameter.name


def worst_margin(tree, task):
    """Return how much the best other decisions of all leaves save, at most 0."""
    fixed = FixedPolicy(tree, task)
    return min(float(leaf.margin.min()) for leaf in fixed.leaves)


@pytest.mark.parametrize("features", FEATURES[:1], ids=str)
@DRAWS
@given(seed=st.integers(0, 2**32 - 1))
def test_a_decision_is_best_up_to_its_change_and_not_beyond(features, seed):
    table = build(np.random.default_rng(seed), **features)
    tree = solve(table, objective="total", n_jobs=1).policy
    fixed = FixedPolicy(tree, make_task(table, "total", "class"))
    for parameter in parameters_of(table):
        below, above = fixed.decision_changes(parameter)
        for change, end in ((below, parameter.low), (above, parameter.high)):
            last = end if change is None else change.value
            if parameter.kind in ("prior", "probability"):
                inside = worst_margin(tree, parameter.at(last))
                assert inside >= -1e-9, parameter.name
            if change is not None and abs(last - end) > 1e-6:
                beyond = last + 0.01 * (end - last)
                assert worst_margin(tree, parameter.at(beyond)) < 0, parameter.name
                assert change.to in table.classes


# The first test.


def best_with(task, first):
    """Return the least cost of a policy that asks a test first; None asks nothing."""
    table = task.table
    if first is None:
        shares = np.bincount(table.class_ids, table.prior, table.n_classes)
        return float((shares @ task.mistakes).min())
    full = table.prices.full.copy()
    full[first] = 1e7  # It has been asked.
    asked = replace(table.prices, full=full, discounted=full, by_outcome={})
    total = 0.0
    for chances in table.possible.outcome_chances(first):
        weight = table.prior * chances
        if weight.sum() > 0:
            left = table._changed(prior=weight / weight.sum(), prices=asked)
            total += weight.sum() * (table.prices.full[first] + reference_total(left))
    return total


@DRAWS
@given(seed=st.integers(0, 2**32 - 1))
def test_both_first_tests_are_best_where_the_first_test_changes(seed):
    table = build(np.random.default_rng(seed), mistakes=9.0)
    solution = solve(table, objective="total", n_jobs=1)
    found = solution.sensitivity(time_limit=60, most_probabilities=2, n_jobs=1)
    by_name = {p.name: p for p in parameters_of(table)}
    tests = {name: i for i, name in enumerate(table.test_names)}
    first = tests.get(found.first_test)
    for row in found.rows:
        assert row.is_searched
        parameter = by_name[row.name]
        for change, far in zip(
            row.first_test, (parameter.low, parameter.high), strict=True
        ):
            task = parameter.at(far if change is None else change.value)
            least = reference_total(task.table)
            assert best_with(task, first) == pytest.approx(least, abs=1e-5), row.name
            if change is not None:
                other = best_with(task, tests.get(change.to))
                assert other == pytest.approx(least, abs=1e-5), row.name
                assert change.is_proved
                assert change.to != found.first_test


def test_a_test_is_asked_until_its_price_is_what_it_saves():
    table = Table.from_likelihoods(
        {"swab": {"ill": 0.9, "well": 0.1}},
        prior={"ill": 1, "well": 3},
        costs=Costs({"swab": 2}, mistakes=20),
    )
    found = solve(table, objective="total").sensitivity()
    rows = {row.name: row for row in found.rows}
    # Deciding at once is wrong in a quarter, after the swab in a tenth.
    assert rows["price of swab"].first_test[1].value == pytest.approx(0.15 * 20)
    assert rows["price of swab"].first_test[1].to == "decide at once"
    assert rows["price of swab"].first_test[0] is None
    assert rows["mistakes"].first_test[0].value == pytest.approx(2 / 0.15)
    # 20 % on either side of the price.
    assert rows["price of swab"].cost_low == pytest.approx(1.6 + 2)
    assert rows["price of swab"].cost_high == pytest.approx(2.4 + 2)
    # After "yes" both are as likely if 0.9 p = 0.1 (1 - p).
    assert rows["prior of ill"].decision[0].value == pytest.approx(0.1)
    assert rows["prior of ill"].decision[0].where == "swab yes"
    assert rows["prior of ill"].decision[0].to == "well"


def test_error_free_policies_have_no_mistakes_to_move():
    table = Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"], costs=[1, 3])
    found = solve(table).sensitivity()
    assert {row.kind for row in found.rows} == {"price", "prior"}
    rows = {row.name: row for row in found.rows}
    # Both orders ask both tests for two cases of three; they tie at equal prices.
    assert rows["price of t0"].first_test[1].value == pytest.approx(3)
    assert rows["price of t1"].first_test[0].value == pytest.approx(1)


def test_repeats_move_with_the_test_that_they_repeat():
    table = clinic(repeatable={"blood": 3})
    found = solve(table, objective="total").sensitivity(time_limit=0)
    names = [row.name for row in found.rows]
    assert "price of blood" in names
    assert not any("(2)" in name for name in names)
    parameter = next(p for p in parameters_of(table) if p.name == "price of blood")
    assert parameter.at(4.0).table.prices.full.tolist() == [3, 8, 4, 4, 4]


# The report.


def test_rows_come_by_effect_and_say_everything():
    found = solve(clinic(), objective="total").sensitivity(time_limit=60)
    effects = [row.effect for row in found.rows]
    assert effects == sorted(effects, reverse=True)
    shown = str(found).splitlines()
    assert shown[0] == f"Cost {found.cost:.4g}, first: {found.first_test}."
    assert len(shown) == len(found.rows) + 3
    assert all(
        row.name in line for row, line in zip(found.rows, shown[3:], strict=True)
    )
    slacks = [row.slack for row in found.changes()]
    assert slacks == sorted(slacks)
    assert found.to_dicts()[0]["effect"] == effects[0]


def test_without_time_the_first_test_is_not_looked_at():
    found = solve(clinic(), objective="total").sensitivity(time_limit=0)
    unused = [row for row in found.rows if not row.is_searched]
    assert unused
    assert "not looked at" in str(found)


def test_a_tornado_has_a_bar_for_each_end():
    pytest.importorskip("matplotlib")
    found = solve(clinic(), objective="total").sensitivity(time_limit=0)
    ax = found.plot(most=4)
    bars = [(bar.get_x(), bar.get_width()) for bar in ax.patches]
    assert len(bars) == 8
    ends = [cost for row in found.rows[:4] for cost in (row.cost_low, row.cost_high)]
    assert [x + width for x, width in bars] == pytest.approx(ends)
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert labels[0].startswith(found.rows[0].name)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"swing": 0}, "swing must be a share above 0"),
        ({"span": 1}, "span must be above 1"),
        ({"time_limit": -1}, "time_limit must be a number of seconds"),
        ({"max_error": 0.1}, "Got max_error"),
    ],
)
def test_what_cannot_be_is_refused(options, said):
    solution = solve(clinic(), objective="total")
    with pytest.raises(InvalidOptionError, match=said):
        solution.sensitivity(**options)


def test_other_costs_and_other_policies_are_refused():
    table = Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"])
    with pytest.raises(InvalidOptionError, match="Got objective='worst'"):
        solve(table, objective="worst").sensitivity()
    with pytest.raises(InvalidOptionError, match="a policy that is a rule"):
        solve(table, method="information", online=True).sensitivity()
    with pytest.raises(InvalidOptionError, match="must come from solve"):
        replace(solve(table), _task=None).sensitivity()
