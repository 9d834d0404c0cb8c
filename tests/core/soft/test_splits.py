"""Cuts of rows that have a share of every class: scores, and switches."""

from __future__ import annotations

import numpy as np
import pytest

from askless._core.cost._workspace import Workspace
from askless._core.soft._rollout import Rollouts
from askless._core.soft._splits import CRITERIA, score_cuts, use_wide_registers
from askless.problem import PriceList


@pytest.fixture(params=[True, False], ids=["wide registers", "plain"])
def registers(request):
    use_wide_registers(request.param)
    yield request.param
    use_wide_registers(True)


class Soft:
    """Random rows; the last code of each test stands for missing."""

    def __init__(self, rng, n_rows, n_classes, n_levels, missing=0.0, even=True):
        self.n_levels = np.array(n_levels, np.int32)
        n_tests = len(n_levels)
        self.codes = np.array([rng.integers(0, n, n_rows) for n in n_levels])
        gone = rng.random(self.codes.shape) < missing
        self.codes[gone] = np.repeat(n_levels, n_rows).reshape(-1, n_rows)[gone]
        self.weights = rng.dirichlet(np.full(n_classes, 0.5), n_rows)
        self.weights[self.weights < 0.05] = 0.0
        self.weights *= rng.choice([0.3, 1.0, 4.0], (n_rows, 1))
        self.mistakes = rng.integers(1, 30, (n_classes, n_classes)).astype(float)
        if even:
            self.mistakes[:] = self.mistakes[:, :1]
        np.fill_diagonal(self.mistakes, 0.0)
        self.is_ordered = np.ones(n_tests, np.uint8)
        self.prices = PriceList.plain(rng.uniform(0, 0.1, n_tests))

    def workspace(self, dtype=np.uint8, more_classes=0) -> Workspace:
        """Return them in a workspace; perhaps with classes that never occur."""
        where, classes = np.nonzero(self.weights)
        starts = np.append(0, np.cumsum(np.count_nonzero(self.weights, axis=1)))
        return Workspace(
            self.codes.astype(dtype), self.n_levels, self.is_ordered,
            starts.astype(np.int64), classes.astype(np.int32),
            self.weights[where, classes],
            np.pad(self.mistakes, (0, more_classes), mode="edge"), self.prices.engine,
        )  # fmt: skip


def plain_bits(weights) -> float:
    total = weights.sum()
    return sum(w * np.log2(total / w) for w in weights if w > 0)


def plain_cuts(soft, leaf_cost):
    """Return code, where missing goes, cost and gain of each cut of the first test."""
    column, missing = soft.codes[0], int(soft.n_levels[0])
    weight = soft.weights.sum(axis=1)
    levels = sorted({code for code in column.tolist() if code < missing})
    is_gone = column == missing
    cuts = [(code, None) for code in levels[:-1]]
    if is_gone.any():
        cuts.append((missing - 1, True))
    for code, right in cuts:
        if right is None:
            low = weight[column <= code].sum()
            right = weight[~is_gone & (column > code)].sum() > low
        goes_left = np.where(is_gone, not right, column <= code)
        sides = [
            soft.weights[goes_left].sum(axis=0),
            soft.weights[~goes_left].sum(axis=0),
        ]
        cost = sum((side @ soft.mistakes).min() + leaf_cost for side in sides)
        bits = plain_bits(soft.weights.sum(axis=0)) - sum(map(plain_bits, sides))
        yield code, right, cost, bits / weight.sum()


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("n_classes", [1, 2, 3, 6, 7, 29, 33])
def test_cuts_are_worth_what_plain_sums_say(rng, registers, n_classes, missing, even):
    for n_rows in (2, 5, 40, 300):
        n_levels = int(rng.choice([2, 9, 40]))
        soft = Soft(rng, n_rows, n_classes, [n_levels], missing, even)
        found = score_cuts(soft.workspace(), 0.3, 0)
        expected = list(plain_cuts(soft, 0.3)) if len(set(soft.codes[0])) > 1 else []
        assert [cut[:2] for cut in found] == [cut[:2] for cut in expected]
        for (*_, cost, gain, guess), (*_, true_cost, true_gain) in zip(
            found, expected, strict=True
        ):
            assert cost == pytest.approx(true_cost, rel=1e-12)
            assert gain == pytest.approx(true_gain, abs=1e-12)
            # A tenth of what is allowed for; see GUESS_ERROR.
            assert guess == pytest.approx(gain, abs=4e-7 * (n_classes + 4))


def test_guesses_are_good_for_shares_of_any_size(rng):
    soft = Soft(rng, 200, 6, [30])
    soft.weights *= 10.0 ** rng.uniform(-12, 6, soft.weights.shape)
    for *_, gain, guess in score_cuts(soft.workspace(), 0.0, 0):
        assert guess == pytest.approx(gain, abs=4e-6)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_neither_layout_nor_registers_change_what_is_chosen(rng, criterion):
    never = np.zeros(1, np.int32)
    for n_rows in (5, 60, 250):
        soft = Soft(rng, n_rows, 4, [3, 20, 60], missing=0.1)
        soft.is_ordered[0] = 0
        rows = np.arange(n_rows, dtype=np.int32)
        where = (rows, np.zeros(4, np.uint8), np.zeros(1, np.uint8), 0.0)
        chosen = set()
        for use in (True, False):
            use_wide_registers(use)
            for options in ({}, {"dtype": np.uint16}, {"more_classes": 30}):
                rollouts = Rollouts(soft.workspace(**options), 0.2, 0.8)
                chosen.add(rollouts.choose(*where, CRITERIA[criterion], 2, 2, 7, never))
        use_wide_registers(True)
        assert len(chosen) == 1


@pytest.mark.parametrize("criterion", ["two-step", "rollout"])
def test_screening_on_all_rows_changes_nothing(rng, criterion):
    never = np.zeros(1, np.int32)
    for n_rows in (5, 60, 250):
        soft = Soft(rng, n_rows, 3, [3, 8, 12], missing=0.1)
        soft.is_ordered[0] = 0
        rows = np.arange(n_rows, dtype=np.int32)
        where = (rows, np.zeros(4, np.uint8), np.zeros(1, np.uint8), 0.0)
        # Eight times the levels is all cuts, for both criteria.
        asked = (*where, CRITERIA[criterion], 1, 12, 7, never)
        rollouts = Rollouts(soft.workspace(), 0.2, 0.8)
        assert rollouts.choose(*asked, rows, 1) == rollouts.choose(*asked)


def test_screening_does_not_depend_on_threads(rng):
    never = np.zeros(1, np.int32)
    for _ in range(5):
        soft = Soft(rng, 200, 4, [3, 20, 30], missing=0.1)
        rows = np.arange(200, dtype=np.int32)
        where = (rows, np.zeros(4, np.uint8), np.zeros(1, np.uint8), 0.0)
        asked = (*where, CRITERIA["rollout"], 2, 2, 7, never, rows[::4].copy(), 3)
        chosen = {
            Rollouts(soft.workspace(), 0.2, 0.8, n_jobs).choose(*asked)
            for n_jobs in (1, 2, 3)
        }
        assert len(chosen) == 1
