"""Boosters whose trees charge rows: as policies they say what their growers add up."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest

from askless.learn import CodeStore
from askless.learn._examples import KnownRows, StoredExamples
from askless.learn.boost import _levels, _rounds
from askless.learn.boost._booster_rows import BoosterRows, choose_tests
from askless.learn.boost._compile import compile_source
from askless.learn.boost._levels import can_grow
from askless.learn.boost._priced import grow_source
from askless.learn.boost._rounds import PricedPlan
from askless.learn.boost._split import split_rows
from askless.problem import Costs
from askless.problem._frames import clean_columns
from askless.testing import plain_log_loss

PLAN = PricedPlan(tradeoff=0.02, n_rounds=40, n_leaves=6, learning_rate=0.3)
# Each round of some of the rows, each split from some of the columns.
DRAWN = replace(PLAN, row_share=0.6, column_share=0.5)
APART = replace(PLAN, is_apart=True)
PRICES = np.array([3.0, 2.0, 1.0, 5.0, 1.0])
CLASSES = ("p", "q", "r", "s", "t")


def make_frame(rng, n_rows, *, only_numbers=False):
    """Return columns with missing values, and how high each row scores."""
    found = pd.DataFrame(rng.normal(size=(n_rows, 3)).round(2), columns=["a", "b", "c"])
    found["some"] = rng.integers(0, 9, n_rows).astype(float)
    found["text"] = rng.choice(["x", "y", "z", "w", "v", "u"], n_rows)
    if only_numbers:
        found["text"] = found["text"].isin(["x", "w", "u"]).astype(float)
    score = found.a + found.b * found.c + found.text.isin(["x", "w", "u", 1.0])
    score += found.some.isin([5, 6, 7, 8])
    gone = rng.random(found.shape) < [0.1, 0.0, 0.1, 0.2, 0.1]
    # It tells by being missing, too.
    gone[:, 3] &= score > 1
    return found.mask(gone, None if not only_numbers else np.nan), score


def class_ids_of(score, n_classes):
    return pd.qcut(score, n_classes, labels=False).to_numpy()


def values_of(frame):
    is_matrix = frame.select_dtypes("number").shape == frame.shape
    return frame.to_numpy(dtype=float) if is_matrix else clean_columns(frame)


def rows_of(frame, class_ids, weights=None):
    """Return rows as learners have them: a matrix, or columns if there is text."""
    values = values_of(frame)
    tests = choose_tests(values, list(frame))
    return BoosterRows.of(KnownRows(values, class_ids, weights), tests)


@dataclass
class Problem:
    train: BoosterRows
    valid: BoosterRows
    raw: pd.DataFrame
    n_classes: int

    @property
    def classes(self):
        return CLASSES[: self.n_classes]

    @property
    def n_sums(self):
        return 1 if self.n_classes == 2 else self.n_classes

    def grow(self, plan, prices=PRICES):
        return self.grow_and_count(plan, prices)[0]

    def grow_and_count(self, plan, prices=PRICES):
        # Nothing that was kept of another booster is used.
        train, valid = self.train.take(slice(None)), self.valid.take(slice(None))
        return grow_source(plan, train, valid, self.classes, prices)

    def compile(self, source, **options):
        costs, names = Costs(PRICES.tolist()), list(self.raw)
        source = self.train.to_raw(source)
        return compile_source(source, costs, names=names, **options)


def make_problem(rng, n_classes=3, n_rows=700, *, only_numbers=False):
    frame, score = make_frame(rng, n_rows, only_numbers=only_numbers)
    class_ids = class_ids_of(score + 0.3 * rng.normal(size=n_rows), n_classes)
    train = rows_of(frame, class_ids)
    raw, score = make_frame(rng, n_rows // 2, only_numbers=only_numbers)
    raw = put_on_cuts(rng, raw, train, n_classes)
    if not only_numbers:
        raw.loc[rng.random(len(raw)) < 0.05, "text"] = "never seen"
    known = KnownRows(values_of(raw), class_ids_of(score, n_classes))
    return Problem(train, BoosterRows.of(known, train.tests), raw, n_classes)


def put_on_cuts(rng, raw, train, n_classes):
    """Return rows of which many lie on a cut, or next to it."""
    raw = raw.copy()
    tests = _levels.choose_levels(train, n_classes, PLAN.n_leaves)
    for test in tests:
        if test.kind == "number":
            cuts = np.array(test.cuts)
            beside = np.nextafter(cuts, np.inf), np.nextafter(cuts, -np.inf)
            chosen = np.flatnonzero(rng.random(len(raw)) < 0.15)
            pool = np.concatenate([cuts, *beside, [np.inf, -np.inf, 1e300]])
            values = rng.choice(pool, len(chosen))
            raw.loc[raw.index[chosen], test.name] = values
    return raw


@dataclass
class Rounds:
    """The sums of rows to grow on and of validation rows, and the loss of these.

    First before there is any tree, then after each round.
    """

    grown: list
    held: list
    losses: list

    @property
    def n_kept(self):
        """How many rounds are kept."""
        best = 0
        for number, loss in enumerate(self.losses):
            if loss < self.losses[best] * (1 - _rounds.LEAST_FALL):
                best = number
        return best


@pytest.fixture
def rounds(monkeypatch):
    """What growers add up, round by round."""
    added = Rounds([], [], [])

    class Recorded(_rounds._Booster):
        def loss(self):
            added.grown.append(self.sums.copy())
            added.held.append(self.held_sums.copy())
            added.losses.append(super().loss())
            return added.losses[-1]

    monkeypatch.setattr(_rounds, "_Booster", Recorded)
    return added


def shares_of(sums):
    """Return the probability of each class, given the sums of a booster."""
    logs = np.hstack([np.zeros_like(sums), sums]) if sums.shape[1] == 1 else sums
    parts = np.exp(logs - logs.max(axis=1, keepdims=True))
    return parts / parts.sum(axis=1, keepdims=True)


def assert_same_trees(one, other, *, is_same=True):
    found = [_list_numbers(source) for source in (one, other)]
    assert (found[0] == found[1]) == is_same


def _list_numbers(source):
    """Return all that the trees of a source do, in lists that can be compared."""
    found = []
    for tree in source.trees:
        sets = {node: s.goes_left.goes_left.tolist() for node, s in tree.sets.items()}
        arrays = (
            tree.feature, tree.threshold, tree.left, tree.missing_left, tree.value,
        )  # fmt: skip
        found.append((tree.output, sets, *(array.tolist() for array in arrays)))
    return found


@pytest.mark.parametrize("only_numbers", [False, True], ids=["columns", "matrix"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("plan", [PLAN, DRAWN, APART], ids=["all", "drawn", "apart"])
def test_a_policy_says_what_the_grower_adds_up(
    rng, rounds, plan, n_classes, only_numbers
):
    problem = make_problem(rng, n_classes, only_numbers=only_numbers)
    source = problem.grow(plan)
    n_rounds = rounds.n_kept
    assert n_rounds > 3
    assert len(source.trees) <= n_rounds * problem.n_sums
    assert source.output.link == ("logit" if n_classes == 2 else "softmax")
    whole = problem.compile(source, is_complete=True)
    found = whole.predict_proba(problem.train.rows.values)
    expected = shares_of(rounds.grown[n_rounds])
    np.testing.assert_allclose(found, expected, atol=1e-9)
    expected = shares_of(rounds.held[n_rounds])
    np.testing.assert_allclose(whole.predict_proba(problem.raw), expected, atol=1e-9)
    # A row that stops once it is settled decides alike, and pays less.
    policy = problem.compile(source)
    decided = np.array(problem.classes)[expected.argmax(axis=1)]
    found, paid = policy.predict_and_cost(problem.raw)
    assert found.tolist() == decided.tolist()
    assert (paid <= whole.cost(problem.raw)).all()
    truth = np.array(problem.classes)[problem.valid.rows.class_ids]
    assert np.mean(found == truth) > 1 / n_classes + 0.1


def test_no_tree_is_kept_that_validation_rows_do_not_want(rng, rounds):
    problem = make_problem(rng)
    class_ids = problem.valid.rows.class_ids.tolist()
    source = problem.grow(replace(PLAN, n_rounds=300, learning_rate=0.6))
    weights = [1.0] * len(class_ids)
    losses = [plain_log_loss(sums.tolist(), class_ids, weights) for sums in rounds.held]
    n_kept = len(source.trees) // problem.n_sums
    assert losses == pytest.approx(rounds.losses)
    assert n_kept == rounds.n_kept
    assert losses[n_kept] * (1 - _rounds.LEAST_FALL) <= min(losses)
    assert n_kept < len(losses) <= n_kept + 1 + _rounds.PATIENCE


def test_validation_rows_of_no_known_class_are_left_out(rng, rounds):
    problem = make_problem(rng, n_rows=300)
    known = problem.valid.rows.class_ids
    unknown = rng.random(len(known)) < 0.4
    all_rows = replace(problem.valid.rows, class_ids=np.where(unknown, -1, known))
    tests = problem.train.tests
    some = replace(problem, valid=BoosterRows.of(all_rows.take(~unknown), tests))
    both = replace(problem, valid=BoosterRows.of(all_rows, tests))
    assert_same_trees(both.grow(PLAN), some.grow(PLAN))
    assert {len(sums) for sums in rounds.held} == {np.count_nonzero(~unknown)}


def test_a_round_has_a_tree_for_each_class_if_they_are_apart(rng, rounds):
    problem = make_problem(rng, n_classes=3)
    source = problem.grow(APART)
    found = [tree.output for tree in source.trees]
    assert len(found) == 3 * rounds.n_kept
    assert found == [0, 1, 2] * rounds.n_kept
    columns = {tuple(tree.feature.tolist()) for tree in source.trees[:3]}
    assert len(columns) > 1
    # Of two classes there is one sum, whatever the plan says.
    two = make_problem(rng, n_classes=2)
    assert_same_trees(two.grow(APART), two.grow(PLAN))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_rows_and_columns_are_drawn_alike_each_time(rng, n_classes):
    problem = make_problem(rng, n_classes)
    assert_same_trees(problem.grow(DRAWN), problem.grow(DRAWN))
    some_rows, some_columns = (
        replace(PLAN, row_share=0.6),
        replace(PLAN, column_share=0.5),
    )
    sources = [problem.grow(plan) for plan in (PLAN, some_rows, some_columns, DRAWN)]
    for i, source in enumerate(sources):
        for other in sources[:i]:
            assert_same_trees(source, other, is_same=False)


def test_rounds_that_draw_nothing_of_use_are_passed_over(rng, rounds):
    # One of two columns says all; a split may ask for the other one alone.
    class_ids = np.arange(400) % 2
    frame = pd.DataFrame({"a": class_ids + 0.0, "none": np.zeros(400)})
    rows = rows_of(frame, class_ids)
    problem = Problem(rows, rows, frame, 2)
    source = problem.grow(replace(PLAN, column_share=0.5), np.ones(2))
    assert rounds.n_kept > len(source.trees) > 3
    # Without drawing, the first idle round ends it.
    rounds.losses.clear()
    nothing = problem.grow(replace(PLAN, tradeoff=1e9), np.ones(2))
    assert len(rounds.losses) == 1
    assert len(nothing.trees) == 1


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_class_without_a_row_to_grow_on_is_next_to_impossible(rng, n_classes):
    problem = make_problem(rng, n_classes)
    problem.train = problem.train.take(problem.train.rows.class_ids != 1)
    policy = problem.compile(problem.grow(PLAN), is_complete=True)
    found = policy.predict_proba(problem.raw)
    assert found.sum(axis=1) == pytest.approx(1)
    assert found[:, 1].max() < 1e-6
    # The other classes are told apart, if there are several.
    assert (np.ptp(found[:, 0]) > 0.1) == (n_classes > 2)


def test_the_more_costs_count_the_less_rows_pay(rng):
    problem = make_problem(rng, n_rows=1500)
    truth = np.array(problem.classes)[problem.valid.rows.class_ids]
    paid, hits = [], []
    for tradeoff in (0.0, 0.15, 1e6):
        policy = problem.compile(problem.grow(replace(PLAN, tradeoff=tradeoff)))
        found, costs = policy.predict_and_cost(problem.raw)
        paid.append(costs.mean())
        hits.append(np.mean(found == truth))
    assert paid[0] - 1 > paid[1] >= paid[2] == 0
    assert hits[0] > hits[-1] + 0.15


def test_only_what_prices_are_beside_each_other_matters(rng):
    problem = make_problem(rng)
    expected = problem.grow(PLAN)
    for factor in (2.0**9, 2.0**-900, 2.0**1021):
        assert_same_trees(problem.grow(PLAN, PRICES * factor), expected)
    assert_same_trees(problem.grow(PLAN, PRICES[::-1].copy()), expected, is_same=False)
    free = problem.grow(replace(PLAN, tradeoff=0.0))
    assert_same_trees(problem.grow(PLAN, np.zeros(5)), free)


def test_of_two_columns_that_tell_the_same_the_cheap_one_is_bought(rng):
    frame, score = make_frame(rng, 600)
    frame = pd.DataFrame({"dear": frame.a, "cheap": frame.a, "noise": frame.b})
    rows = rows_of(frame, class_ids_of(score, 3))
    problem = Problem(rows, rows, frame, 3)
    for prices, cheap in (([5.0, 1.0, 1.0], 1), ([1.0, 5.0, 1.0], 0)):
        source = problem.grow(replace(PLAN, tradeoff=0.05), np.array(prices))
        asked = {f for tree in source.trees for f in tree.feature.tolist()}
        assert cheap in asked
        assert 1 - cheap not in asked


def test_threads_do_not_change_trees(rng):
    # Rows of a tree, times columns, are enough for all threads.
    problem = make_problem(rng, n_rows=45_000)
    assert problem.train.matrix.size > 200_000
    for plan in (PLAN, DRAWN, APART):
        few = replace(plan, n_rounds=3)
        one, two = (problem.grow(replace(few, n_jobs=n_jobs)) for n_jobs in (1, 2))
        assert_same_trees(one, two)
        assert len(one.trees) == 9


def test_only_the_columns_of_the_plan_are_bought(rng):
    problem = make_problem(rng)
    free = replace(PLAN, tradeoff=0.0)
    for columns in ((3,), (4, 1, 0), (0, 1, 2, 3, 4)):
        policy = problem.compile(problem.grow(replace(free, columns=columns)))
        assert policy.used_tests
        assert set(policy.used_tests) <= set(columns)
    assert len(policy.used_tests) > 2


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_booster_to_which_nothing_is_worth_its_price_buys_nothing(rng, n_classes):
    problem = make_problem(rng, n_classes)
    known = problem.train.rows
    weights = rng.choice([0.5, 1.0, 4.0], known.n_rows)
    problem.train = BoosterRows.of(replace(known, weights=weights), problem.train.tests)
    source = problem.grow(replace(PLAN, tradeoff=1e9))
    assert all(tree.feature.tolist() == [-1] for tree in source.trees)
    policy = problem.compile(source)
    assert policy.cost(problem.raw).max() == 0
    totals = np.bincount(known.class_ids, weights)
    shares = np.tile(totals / totals.sum(), (len(problem.raw), 1))
    np.testing.assert_allclose(policy.predict_proba(problem.raw), shares, atol=1e-9)


def test_weights_say_which_rows_count(rng):
    problem = make_problem(rng, n_classes=2)
    rows = problem.train.rows
    # Rows that score by "a" alone outweigh all others by far.
    by_a = rng.random(rows.n_rows) < 0.4
    class_ids = np.where(by_a, problem.train.matrix[:, 0] > 0, rows.class_ids)
    weights = np.where(by_a, 1000.0, 0.001)
    heavy = KnownRows(rows.values, class_ids.astype(int), weights)
    train = BoosterRows.of(heavy, problem.train.tests)
    problem = replace(problem, train=train, valid=train)
    policy = problem.compile(problem.grow(replace(PLAN, tradeoff=0.0)))
    found = policy.predict(heavy.values)
    assert np.mean((found == "q") == class_ids, where=by_a) == 1.0


@pytest.mark.parametrize("n_classes", [2, 4])
def test_rows_of_a_store_are_decided_alike_by_codes_and_by_raw_values(
    rng, rounds, tmp_path, n_classes
):
    frame, score = make_frame(rng, 900)
    frame["y"] = np.array(CLASSES)[class_ids_of(score, n_classes)]
    store = CodeStore.write([frame], "y", tmp_path / "store")
    raw, score = make_frame(rng, 500)
    for test in store.tests:
        if test.kind == "number":
            cuts = np.array(test.cuts)
            both = np.concatenate([cuts, np.nextafter(cuts, np.inf)])
            raw.loc[:99, test.name] = rng.choice(both, 100)
    raw.loc[200:300, "text"] = "never seen"
    known = KnownRows(values_of(raw), class_ids_of(score, n_classes))
    none = KnownRows(np.empty((0, 5)), np.zeros(0, dtype=np.uint8))
    examples = StoredExamples(
        none, store.names, store.classes, Costs(PRICES.tolist()), valid=known,
        coded=store.code(),
    )  # fmt: skip
    train, valid = split_rows(examples, 0.2, 0)
    problem = Problem(train, valid, raw, n_classes)
    source = problem.grow(PLAN)
    assert rounds.n_kept > 3
    policy = problem.compile(source, is_complete=True)
    found = policy.predict_proba(raw)
    expected = shares_of(rounds.held[rounds.n_kept])
    np.testing.assert_allclose(found, expected, atol=1e-9)
    by_level = policy.predict_proba(valid.raw_rows.values)
    np.testing.assert_allclose(by_level, found, atol=1e-12)


def test_levels_that_would_fill_the_memory_are_not_grown_on(rng):
    frame = pd.DataFrame(
        {"a": rng.normal(size=300), "text": rng.choice(list("xy"), 300)}
    )
    frame["wide"] = np.arange(300).astype(str)
    rows = BoosterRows.of(
        KnownRows(values_of(frame), np.zeros(300, dtype=np.uint8)),
        choose_tests(values_of(frame), list(frame)),
    )
    # 8 levels of a number, 2 and 300 of categories, and two codes more of each.
    n_sums = (8 + 2 + 300 + 6) * 31 * (2 * 5 + 1)
    assert can_grow(rows, 5, 31)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_levels, "MOST_CELLS", n_sums - 1)
        assert not can_grow(rows, 5, 31)
        patch.setattr(_levels, "MOST_CELLS", n_sums)
        assert can_grow(rows, 5, 31)
        patch.setattr(_levels, "MOST_LEVELS", 299)
        assert not can_grow(rows, 5, 31)
