"""Random tables are complete and repeatable, and keep to their sizes."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from askless.datasets import make_random_table
from askless.exceptions import InvalidOptionError, UnknownNameError

seeds = st.integers(0, 2**32 - 1)


def as_rows(table):
    return list(map(list, table.rows().values()))


@given(
    n_cases=st.integers(1, 20),
    n_tests=st.integers(1, 8),
    n_outcomes=st.integers(2, 4),
    n_classes=st.integers(1, 20),
    seed=seeds,
)
def test_cases_of_different_class_can_be_told_apart(
    n_cases, n_tests, n_outcomes, n_classes, seed
):
    assume(n_classes <= min(n_cases, n_outcomes**n_tests))
    table = make_random_table(
        n_cases,
        n_tests,
        n_outcomes=n_outcomes,
        n_classes=n_classes,
        random_state=seed,
    )
    assert (table.n_cases, table.n_tests) == (n_cases, n_tests)
    assert table.classes == tuple(range(n_classes))
    assert table.indistinct == []


@given(seed=seeds, share=st.floats(0, 0.4))
def test_unknown_outcomes_leave_it_complete(seed, share):
    table = make_random_table(12, 10, n_classes=3, unknown=share, random_state=seed)
    assert int(table.is_unknown.sum()) == round(share * 120)
    assert table.indistinct == []


@given(seed=seeds)
def test_the_same_seed_gives_the_same_table(seed):
    options = {
        "n_outcomes": 3,
        "n_classes": 4,
        "costs": "uniform",
        "prior": "random",
        "unknown": 0.1,
        "random_state": seed,
    }
    one, two = make_random_table(9, 7, **options), make_random_table(9, 7, **options)
    assert as_rows(one) == as_rows(two)
    assert one.case_classes == two.case_classes
    assert one.costs == two.costs
    assert one.prior.tolist() == two.prior.tolist()


def test_all_profiles_can_be_used_up():
    table = make_random_table(16, 4, n_classes=16, random_state=0)
    profiles = set(zip(*as_rows(table), strict=True))
    assert len(profiles) == 16


def test_more_cases_than_profiles_share_those_of_their_class():
    table = make_random_table(200, 2, n_classes=4, random_state=0)
    assert table.n_cases == 200
    assert table.indistinct == []


def test_many_tests_make_no_trouble():
    table = make_random_table(40, 100, n_classes=40, random_state=0)
    assert table.indistinct == []


def test_an_incomplete_table_is_drawn_freely():
    table = make_random_table(
        50, 2, n_classes=8, unknown=0.25, complete=False, random_state=0
    )
    assert int(table.is_unknown.sum()) == 25
    assert table.indistinct != []


def test_costs_are_of_the_kind_asked_for():
    def drawn(kind):
        table = make_random_table(8, 60, costs=kind, random_state=1)
        return table.prices.full

    assert set(drawn("unit").tolist()) == {1.0}
    assert set(drawn("integers").tolist()) == set(map(float, range(1, 11)))
    uniform = drawn("uniform")
    assert 1 <= uniform.min() < uniform.max() <= 10
    assert not np.any(uniform == np.round(uniform))


def test_outcome_costs_price_every_outcome_and_the_test_by_the_dearest():
    table = make_random_table(
        8, 5, n_outcomes=3, costs="integers", outcome_costs=True, random_state=1
    )
    by_outcome = table.costs.by_outcome
    assert set(by_outcome) == {"t1", "t2", "t3", "t4", "t5"}
    for test in table.tests:
        prices = by_outcome[test.name]
        assert tuple(prices) == test.outcomes
        assert table.costs.costs[test.name] == max(prices.values())


def test_a_random_prior_is_positive_and_uneven():
    prior = make_random_table(30, 6, prior="random", random_state=1).prior
    assert prior.sum() == pytest.approx(1)
    assert 0 < prior.min() < prior.max()


def test_too_few_tests_are_refused():
    with pytest.raises(
        InvalidOptionError, match=r"Got 2 \*\* 3 = 8 for 9 classes\. Take more tests"
    ):
        make_random_table(9, 3, n_classes=9)


def test_too_many_unknown_outcomes_are_refused():
    with pytest.raises(InvalidOptionError, match="outcomes too many for 8 cases"):
        make_random_table(8, 3, n_classes=8, unknown=0.5, random_state=0)


@pytest.mark.parametrize(
    ("sizes", "match"),
    [
        ({"n_cases": 0, "n_tests": 3}, "Got 0 cases, 3 tests"),
        ({"n_cases": 3, "n_tests": 3, "n_outcomes": 1}, "and 1 outcomes"),
        ({"n_cases": 3, "n_tests": 3, "n_classes": 4}, "Got 4 classes and 3 cases"),
        ({"n_cases": 3, "n_tests": 3, "unknown": 1.5}, r"in \[0, 1\]\. Got 1\.5"),
        (
            {"n_cases": 3, "n_tests": 3, "likelihoods": -1},
            r"likelihoods must .* Got -1",
        ),
    ],
)
def test_sizes_that_cannot_be_are_refused(sizes, match):
    with pytest.raises(InvalidOptionError, match=match):
        make_random_table(**sizes)


def test_unknown_kinds_are_refused():
    with pytest.raises(UnknownNameError, match=r"costs must be .* Got 'cheap'"):
        make_random_table(4, 4, costs="cheap")
    with pytest.raises(UnknownNameError, match=r"prior must be .* Got 'even'"):
        make_random_table(4, 4, prior="even")


def test_some_cells_have_chances_of_their_own():
    plain = make_random_table(6, 5, n_outcomes=3, unknown=0.1, random_state=3)
    table = make_random_table(
        6, 5, n_outcomes=3, unknown=0.1, likelihoods=0.4, random_state=3
    )
    own = [
        (test, case)
        for test, likelihoods in enumerate(table.likelihoods)
        if likelihoods is not None
        for case in range(table.n_cases)
        if table.is_unknown[test, case]
        and not np.array_equal(likelihoods[:, case], table.chances[test])
    ]
    assert len(own) == round(0.4 * 30)
    # All other cells are those of the table without likelihoods.
    others = np.ones(table.codes.shape, dtype=bool)
    others[tuple(np.array(own).T)] = False
    assert np.array_equal(table.codes[others], plain.codes[others])
    assert not plain.has_likelihoods
