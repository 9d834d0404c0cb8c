from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from askless import BudgetBoostClassifier
from askless.learn.boost import _budget_boost
from askless.learn.boost._boosters import BoosterPlan
from askless.learn.boost._candidates import Goal
from askless.learn.boost._shortlist import list_best, rank_rows


def rank_plainly(losses):
    """Take all that are first somewhere, then all that are second, and so on."""
    found = []
    for place in range(len(losses)):
        for column in losses.T:
            by_loss = sorted(range(len(column)), key=lambda i: (column[i], i))
            if by_loss[place] not in found:
                found.append(by_loss[place])
    return found


@given(
    arrays(
        float,
        st.tuples(st.integers(1, 6), st.integers(1, 5)),
        elements=st.sampled_from([0.0, 0.5, 1.0, np.inf]),
    )
)
def test_rows_are_ranked_by_their_best_place(losses):
    assert rank_rows(losses) == rank_plainly(losses)


class FewCurves:
    """What is asked of candidates: costs and losses of boosters, twice each."""

    def __init__(self, *curves):
        self.found = [tuple(map(np.array, c)) for c in curves for _ in range(2)]

    def curves(self, goal):
        assert goal.budget is None
        return self.found


CHEAP, DEAR, NEVER = ([0, 1, 2], [4, 2, 2]), ([0, 8, 9], [4, 3, 1]), ([0, 9], [4, 3])


def test_what_is_best_at_some_budget_is_kept():
    candidates = FewCurves(NEVER, CHEAP, DEAR)
    assert list_best(candidates, Goal(5.0), 2, n_ways=2) == [1, 2]
    assert list_best(candidates, Goal(5.0), 9, n_ways=2) == [0, 1, 2]


def test_where_nothing_is_bought_the_first_ones_are_kept():
    candidates = FewCurves(*[([0], [4])] * 3)
    assert list_best(candidates, Goal(), 2, n_ways=2) == [0, 1]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_only_the_best_are_grown_on_folds(monkeypatch, n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = (X[:, 0] + X[:, 1] > 0) * 1 + (X[:, 2] > 0) * (n_classes - 2)
    batches, asked, grown = [], [], []
    grow = _budget_boost.grow_all

    def count(plans, grown_on, *rest, **options):
        batches.append((len(plans), len(grown_on)))
        asked.append(plans)
        grown.append(grow(plans, grown_on, *rest, **options))
        return grown[-1]

    monkeypatch.setattr(_budget_boost, "grow_all", count)
    boost = BudgetBoostClassifier(budget=2, n_estimators=10, random_state=0).fit(X, y)
    (n_listed, one), (n_kept, n_folds) = batches
    assert one == 1
    assert n_listed > n_kept == (12 if n_classes == 2 else 10) == len(boost.models_)
    assert n_folds == (5 if n_classes == 2 else 3)
    assert boost._candidates.groups.max() == n_folds
    # Boosters of folds have as many rounds as those that they are like.
    first = dict(zip(asked[0], grown[0][0].values(), strict=True))
    assert len(asked[1]) == n_kept
    for i, plan in enumerate(asked[1]):
        if not isinstance(plan, BoosterPlan):
            assert plan in first
            continue
        assert plan.n_fixed == first[replace(plan, n_fixed=None)].n_rounds
        assert {some[i].n_rounds for some in grown[1]} <= set(range(plan.n_fixed + 1))
