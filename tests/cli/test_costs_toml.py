"""Costs written as TOML are read again as they were."""

from pathlib import Path
from tempfile import TemporaryDirectory

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from askless import Costs, read_costs
from askless.cli.files._costs_toml import costs_to_toml

prices = st.floats(0, 1e18, allow_subnormal=True)
names = st.text(min_size=1, max_size=8)


def read_again(costs, tests):
    with TemporaryDirectory() as folder:
        path = Path(folder, "costs.toml")
        path.write_bytes(costs_to_toml(costs, tests).encode())
        return read_costs(path)


@st.composite
def any_costs(draw):
    plain = draw(st.dictionaries(names, prices, min_size=1, max_size=6))
    tests = list(plain)
    grouped = tests[:2] if len(tests) > 1 and draw(st.booleans()) else []
    late = tests[2:] if draw(st.booleans()) else []
    mistakes = st.one_of(
        st.none(),
        prices,
        st.dictionaries(names, st.dictionaries(names, prices, min_size=1), min_size=1),
    )
    return Costs(
        plain,
        groups={draw(names): grouped} if grouped else None,
        discounted={test: plain[test] / 2 for test in grouped[:1]},
        delayed=late,
        by_outcome=None if late else {t: {"x\x7f": 1.5, "y": 2} for t in tests[2:]},
        mistakes=draw(mistakes),
    )


@given(costs=any_costs())
def test_any_costs_come_back(costs):
    assert read_again(costs, list(costs.costs)) == costs


def test_a_matrix_of_mistakes_comes_back():
    costs = Costs({"a": 1}, mistakes=[[0, 1.5], [2, 0]])
    again = read_again(costs, ["a"])
    np.testing.assert_array_equal(again.mistakes, costs.mistakes)


def test_costs_by_position_are_written_by_name():
    again = read_again(Costs([1, 2], delayed=[1]), ["iron", "x-ray"])
    assert again == Costs({"iron": 1, "x-ray": 2}, delayed=["x-ray"])


@pytest.mark.parametrize(
    ("value", "text"),
    [(3.0, "a = 3"), (0.1, "a = 0.1"), (1e300, "a = 1e+300"), (5e-324, "a = 5e-324")],
)
def test_numbers_are_written_in_full_and_whole_ones_short(value, text):
    assert costs_to_toml(Costs({"a": value}), ["a"]).splitlines()[1] == text
