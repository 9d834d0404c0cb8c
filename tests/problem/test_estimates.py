"""Likelihoods estimated from past cases."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askless import evaluate, show
from askless.exceptions import InvalidTableError
from askless.problem import Costs, Table
from askless.testing import plain_likelihoods
from tests.strategies import generators, grow_at_random

values = st.sampled_from(["low", "mid", "high", None])
rows = st.lists(st.tuples(values, st.sampled_from("abc")), min_size=1, max_size=25)


@given(rows, st.sampled_from([0, 1, Fraction(1, 2), 10]))
def test_an_estimate_is_that_of_the_plain_twin(rows, smoothing):
    shown, classes = map(list, zip(*rows, strict=True))
    if not any(shown):
        return
    table = Table.from_examples({"x": shown}, classes, smoothing=float(smoothing))
    plain = plain_likelihoods(shown, classes, smoothing)
    chances = table.possible.outcome_chances(0)
    assert table.classes == tuple(sorted(set(classes)))
    for case, one in enumerate(table.cases):
        for level, outcome in enumerate(table.tests[0].outcomes):
            if plain[one]:
                assert chances[level, case] == pytest.approx(float(plain[one][outcome]))
            else:
                # Nothing is known of this class: any outcome may be seen.
                assert chances[level, case] == table.chances[0][level]


@given(generators(), st.integers(2, 6))
def test_numbers_are_cut_into_levels_of_about_equally_many_rows(rng, levels):
    column = rng.normal(size=60)
    classes = rng.integers(0, 2, 60)
    table = Table.from_examples({"x": column}, classes, levels=levels, smoothing=0)
    test = table.tests[0]
    assert test.kind == "number"
    assert test.n_levels == levels
    codes = test.encode(column)
    assert np.bincount(codes, minlength=levels).min() >= 60 // levels - 1
    for case in range(table.n_cases):
        own = codes[classes == table.classes[case]]
        shares = np.bincount(own, minlength=levels) / len(own)
        assert np.allclose(table.possible.outcome_chances(0)[:-1, case], shares)


@given(generators())
def test_a_weight_of_two_is_two_rows(rng):
    X = pd.DataFrame({"x": rng.choice(["a", "b"], 12), "n": rng.integers(0, 9, 12)})
    y, weight = rng.integers(0, 3, 12), rng.integers(1, 4, 12)
    once = Table.from_examples(X, y, sample_weight=weight, levels=9)
    often = Table.from_examples(
        X.loc[X.index.repeat(weight)], y.repeat(weight), levels=9
    )
    assert np.allclose(once.prior, often.prior)
    for test in range(2):
        one, other = (t.possible.outcome_chances(test) for t in (once, often))
        assert np.allclose(one, other)


def test_a_spreadsheet_becomes_a_table():
    frame = pd.DataFrame(
        {
            "age": [30, 40, 50, 60, 70, 80],
            "fever": [True, True, False, False, False, True],
            "ill": ["flu", "flu", "flu", "no", "no", "no"],
        }
    )
    costs = Costs({"age": 0, "fever": 2}, mistakes=9)
    table = Table.from_examples(frame, "ill", costs, levels=2, repeatable={"fever": 2})
    assert table.cases == table.classes == ("flu", "no")
    assert table.prior.tolist() == [0.5, 0.5]
    assert table.test_names == ("age", "fever", "fever (2)")
    assert table.prices.full.tolist() == [0, 2, 2]
    assert "estimated from 6 rows" in table.notes[0]
    other = Table.from_examples(
        frame, "ill", prior={"flu": 1, "no": 4}, tests=["fever"]
    )
    assert other.prior.tolist() == [0.2, 0.8]
    assert other.test_names == ("fever",)


def test_a_policy_takes_raw_values_of_estimated_tests():
    rng = np.random.default_rng(0)
    table = Table.from_examples({"x": rng.normal(size=40)}, rng.integers(0, 2, 40))
    tree = grow_at_random(rng, table.tests, table.classes, table.prices)
    assert 0 <= evaluate(tree, table).error <= 1
    assert len(tree.predict({"x": [0.5, -3.0]})) == 2
    assert show(tree)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"levels": 1}, "levels must be a whole number from 2"),
        ({"smoothing": -1}, "smoothing must be a finite number >= 0. Got -1"),
        ({"smoothing": float("nan")}, "smoothing must be a finite number"),
        ({"sample_weight": [1]}, "sample_weight must have 2 finite values"),
        ({"sample_weight": [0, 0]}, "not all 0"),
        ({"sample_weight": "ab"}, "sample_weight must have 2"),
    ],
)
def test_options_out_of_range_are_refused(options, match):
    with pytest.raises(InvalidTableError, match=match):
        Table.from_examples({"x": [1, 2]}, ["a", "b"], **options)


@pytest.mark.parametrize(
    ("X", "y", "match"),
    [
        ({"x": [None, None]}, ["a", "b"], "Got no value of 'x' in any row"),
        ({"x": [1.0, np.inf]}, ["a", "b"], "Got an infinite value of 'x'"),
        ({"x": [1, 2]}, ["a", None], "Every case must have a class"),
        ({"x": [1, 2]}, ["a"], "There must be a class for each case. Got 1 for 2"),
        ({"x": []}, [], "at least one case"),
    ],
)
def test_rows_that_make_no_table_are_refused(X, y, match):
    with pytest.raises(InvalidTableError, match=match):
        Table.from_examples(X, y)
