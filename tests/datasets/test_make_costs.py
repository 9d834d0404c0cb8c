"""Drawn costs: the published numbers, and that valuable tests tend to cost more."""

import numpy as np
import pytest

from askless.datasets import make_clinic, make_costs
from askless.datasets._costs import _information_gain, _to_levels, discount_group
from askless.exceptions import InvalidOptionError


def test_a_group_of_10_20_50_shares_8_and_costs_64_in_all():
    later = discount_group([10, 20, 50], 0.8)
    assert later == [2, 12, 42]
    # Whichever test comes first pays in full.
    for first, full in enumerate((10, 20, 50)):
        assert full + sum(later) - later[first] == 64


def test_the_same_seed_gives_the_same_costs():
    clinic = make_clinic(200, random_state=0)
    one = make_costs(clinic.columns, clinic.y, random_state=4)
    assert one == make_costs(clinic.columns, clinic.y, random_state=4)
    assert one != make_costs(clinic.columns, clinic.y, random_state=5)


def test_gain_is_measured_in_bits():
    y = np.array([0, 1] * 50)
    assert _information_gain(y, y) == pytest.approx(1)
    assert _information_gain(np.zeros(100, dtype=int), y) == 0
    # Three quarters told apart from a mixed quarter: 1 - 1/2.
    half = np.array([0, 1, 2, 2] * 25)
    assert _information_gain(half, np.array([0, 1, 0, 1] * 25)) == pytest.approx(0.5)


def test_numbers_are_cut_into_ten_equal_steps():
    values = np.arange(101, dtype=float)
    levels = _to_levels(values)
    assert (levels.min(), levels.max()) == (0, 9)
    assert levels[[0, 9, 10, 99, 100]].tolist() == [0, 0, 1, 9, 9]


def test_a_missing_value_is_a_level_of_its_own():
    numbers = np.append(np.arange(50, dtype=float), [np.nan, np.nan])
    assert _to_levels(numbers)[-2:].tolist() == [10, 10]
    text = np.array(["a", None, "b", None, float("nan")], dtype=object)
    assert _to_levels(text).tolist() == [0, 1, 2, 1, 1]


def many_tests(rng, n_tests=200):
    """Return columns of which the later ones tell more about y."""
    y = rng.integers(2, size=400)
    noise = np.linspace(0.5, 0, n_tests)
    columns = {f"t{i}": y ^ (rng.random(400) < p) for i, p in enumerate(noise)}
    return {name: column.astype(int) for name, column in columns.items()}, y


def test_tests_that_tell_more_cost_more(rng):
    columns, y = many_tests(rng)
    costs = list(make_costs(columns, y, random_state=rng).costs.values())
    assert np.mean(costs[-40:]) > np.mean(costs[:40]) + 30


def test_without_correlation_costs_are_uniform(rng):
    columns, y = many_tests(rng, 400)
    drawn = make_costs(columns, y, gain_correlation=0, random_state=rng)
    costs = np.array(list(drawn.costs.values()))
    assert 40 < costs.mean() < 61
    assert abs(np.mean(costs[-200:]) - np.mean(costs[:200])) < 15


def test_costs_keep_to_the_range(rng):
    columns, y = many_tests(rng)
    costs = make_costs(columns, y, low=5, high=6, random_state=rng).costs.values()
    assert 5 <= min(costs) <= max(costs) <= 6


def test_groups_have_two_tests_or_more_and_share_a_part_of_the_cheapest(rng):
    columns, y = many_tests(rng)
    drawn = make_costs(columns, y, group_share=0.2, random_state=rng)
    assert 0 < len(drawn.groups) <= 40
    for tests in drawn.groups.values():
        assert len(tests) > 1
        full = [drawn.costs[test] for test in tests]
        saved = [drawn.costs[test] - drawn.discounted[test] for test in tests]
        assert saved == pytest.approx([0.8 * min(full)] * len(tests))


def test_no_share_means_no_groups_and_no_delays(rng):
    columns, y = many_tests(rng, 10)
    drawn = make_costs(columns, y, group_share=0, random_state=rng)
    assert (drawn.groups, drawn.discounted, drawn.delayed) == ({}, {}, ())


def test_the_share_of_delayed_tests_is_kept(rng):
    columns, y = many_tests(rng, 50)
    drawn = make_costs(columns, y, delayed_share=0.3, random_state=rng)
    assert len(set(drawn.delayed)) == 15


def test_arrays_and_frames_are_taken():
    clinic = make_clinic(60, random_state=0)
    by_name = make_costs(clinic.columns, clinic.y, random_state=1)
    assert make_costs(clinic.to_frame("pandas"), clinic.y, random_state=1) == by_name
    assert make_costs(clinic.to_frame("polars"), clinic.y, random_state=1) == by_name
    array = make_costs(np.eye(4), [0, 1, 0, 1], random_state=1)
    assert list(array.costs) == ["t0", "t1", "t2", "t3"]


def test_tests_that_tell_nothing_still_get_a_cost():
    drawn = make_costs({"a": [1, 1, 1], "b": [2, 2, 2]}, [0, 1, 0], random_state=0)
    assert all(1 <= cost <= 100 for cost in drawn.costs.values())


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"group_share": 2}, r"group_share must be in \[0, 1\]\. Got 2"),
        ({"discount": -1}, r"discount must be in \[0, 1\]\. Got -1"),
        ({"gain_correlation": 1.5}, "gain_correlation must be in"),
        ({"delayed_share": 1.5}, "delayed_share must be in"),
        ({"low": 9, "high": 3}, "low=9 and high=3. Exchange"),
    ],
)
def test_options_out_of_range_are_refused(options, match):
    with pytest.raises(InvalidOptionError, match=match):
        make_costs({"a": [0, 1]}, [0, 1], **options)
