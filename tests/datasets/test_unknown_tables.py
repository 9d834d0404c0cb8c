"""Generators of tables with unknown outcomes, and what is wrong with a table."""

from __future__ import annotations

import numpy as np
import pytest

import askless
from askless.datasets import make_classifiers, make_sparse_table
from askless.exceptions import InvalidOptionError, InvalidTableError


def test_classifiers_are_the_same_for_every_margin():
    tables = [
        make_classifiers(margin, n_points=40, n_drawn=200, random_state=1)
        for margin in (0, 10, 30)
    ]
    assert len({table.cases for table in tables}) == 1
    assert len({table.classes for table in tables}) == 1
    shares = [table.is_unknown.mean() for table in tables]
    assert shares[0] == 0
    assert shares == sorted(shares)
    for table in tables:
        assert table.indistinct == []
    known = ~tables[2].is_unknown
    assert np.array_equal(tables[0].codes[known], tables[2].codes[known])


def test_sparse_tables_know_as_much_as_was_asked():
    table = make_sparse_table(20, 50, n_known=4, random_state=0)
    known = ~table.is_unknown
    assert (known.sum(axis=1) == 8).all()
    assert ((table.codes == 0).sum(axis=1) == 4).all()


@pytest.mark.parametrize("options", [{"margin": -1}, {"margin": 31}, {"n_points": 0}])
def test_classifiers_refuse(options):
    with pytest.raises(InvalidOptionError):
        make_classifiers(**options)


@pytest.mark.parametrize("known", [0, 11])
def test_sparse_tables_refuse(known):
    with pytest.raises(InvalidOptionError):
        make_sparse_table(20, 50, n_known=known)


# Noisy tables that cannot be, or hardly.


@pytest.mark.parametrize("chance", [-0.1, 1.5, float("nan"), "half"])
def test_chances_must_be_chances(chance):
    with pytest.raises(InvalidTableError, match="chances of a test"):
        askless.Table([[0], [1]], ["a", "b"], chances={"t0": {0: chance, 1: 0.5}})


def test_outcomes_must_be_in_the_alphabet():
    with pytest.raises(InvalidTableError, match="alphabet"):
        askless.Table([[0], [2]], ["a", "b"], tests=["t"], alphabet={"t": [0, 1]})
    with pytest.raises(InvalidTableError, match="'u'"):
        askless.Table([[0], [1]], ["a", "b"], tests=["t"], alphabet={"u": [0, 1]})
    with pytest.raises(InvalidTableError, match="outcomes of the test"):
        askless.Table([[0], [1]], ["a", "b"], tests=["t"], chances={"t": {5: 1.0}})


def test_a_prior_of_zeros_is_refused():
    with pytest.raises(InvalidTableError, match="more than 0"):
        askless.Table([[0], [1]], ["a", "b"], prior=[0, 0])


def test_a_case_that_cannot_occur_is_carried():
    table = askless.Table([[0, 0], [1, 0], [None, 1]], ["a", "b", "c"], prior=[1, 1, 0])
    for method in ("exact", "elimination", "odtn-h", "information"):
        solution = askless.solve(table, method=method)
        assert solution.error == 0
        assert solution.expected_cost >= 1


@pytest.mark.filterwarnings("ignore::askless.exceptions.IndistinctCasesWarning")
@pytest.mark.parametrize("method", ["exact", "elimination", "odtn-r", "gbs", "sparse"])
def test_a_case_of_which_nothing_is_known_is_never_told(method):
    table = askless.Table([[None, None], [0, 0], [1, 1]], ["a", "b", "c"])
    assert [pair[0] for pair in table.indistinct] == [0, 0]
    solution = askless.solve(table, method=method)
    check = askless.evaluate(solution.policy, table)
    assert check.error == pytest.approx(solution.error)
    assert 0 < solution.error < 1


@pytest.mark.filterwarnings("ignore::askless.exceptions.IndistinctCasesWarning")
def test_identical_cases_are_explained():
    table = askless.Table([[None, 0], [None, 0], [1, 1]], ["a", "b", "c"])
    assert "is known to differ" in table.explain_indistinct()[0]
    same = askless.Table([[1, 0], [1, 0]], ["a", "b"])
    assert "only a new test" in same.explain_indistinct()[0]
    assert askless.solve(table, method="exact").error == pytest.approx(1 / 3)


def test_outcomes_that_are_never_drawn_tell_cases_apart():
    chances = {"t0": {"x": 0.5, "y": 0.5, "z": 0.0}}
    table = askless.Table([["z"], [None], ["x"]], ["a", "b", "c"], chances=chances,
                          alphabet={"t0": "xyz"})  # fmt: skip
    assert table.indistinct == [(1, 2)]
