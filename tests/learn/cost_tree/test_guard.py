"""How much a cost tree guards against noise is chosen on rows that it has not seen."""

import numpy as np
import pytest

import askless
from askless.learn.cost_tree import _search
from askless.learn.cost_tree._guard import choose_guard, divide_patterns, list_guards
from askless.learn.cost_tree._soft_rows import MergedRows, take_rows
from askless.problem import Test


def merged(rng, n_rows):
    codes = np.sort(rng.integers(0, 40, (1, n_rows)).astype(np.uint16), axis=1)
    starts = np.flatnonzero(np.append(True, np.diff(codes[0].astype(int)) > 0))
    cuts = tuple(float(i) for i in range(39))
    return MergedRows(
        (Test("t", "number", cuts=cuts),), codes,
        rng.integers(0, 2, n_rows).astype(np.int32), np.ones(n_rows), starts, 2,
    )  # fmt: skip


def test_guards_above_the_noise_are_tried():
    assert list_guards(0.01) == [0.01, 0.25, 0.5, 1.0, 2.0]
    assert list_guards(1.0) == [1.0, 2.0]


def test_equal_codes_stay_together(rng):
    rows = merged(rng, 400)
    part = divide_patterns(rows, 3)
    assert not set(rows.codes[0, part]) & set(rows.codes[0, ~part])
    taken = take_rows(rows, part)
    assert taken.codes[0, taken.pattern_start].tolist() == sorted(
        set(rows.codes[0, part].tolist())
    )


@pytest.mark.parametrize(
    ("saved", "chosen"), [(0.5, 1.0), (-0.5, 0.1), (0.0, 0.1), (0.001, 0.1)]
)
def test_a_larger_guard_must_be_clearly_cheaper(rng, saved, chosen):
    rows = merged(rng, 2000)
    noise = rng.normal(0, 1, 2000)
    # Its mean would be more than 1.5 standard errors from 0 now and then.
    noise -= noise.mean()

    def price(guard, part):
        return noise[~part] - (saved + noise[~part] * 0.1 if guard == 1.0 else 0.0)

    assert choose_guard(rows, [0.1, 1.0], 0, price) == chosen
    # Of few rows the first one is kept, whatever they say.
    assert choose_guard(merged(rng, 100), [0.1, 1.0], 0, lambda *_: 1 / 0) == 0.1


def test_what_only_a_dear_test_tells_is_noise_to_a_cheap_tree(monkeypatch):
    # The last column tells the class and costs more than a mistake is worth; the cheap
    # ones hint at it. Trusting the forest, which sees all columns, is overfitting.
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 3000)
    cheap = y[:, None] * 0.5 + rng.normal(size=(3000, 6))
    X = np.column_stack([cheap, y + rng.normal(0, 0.05, 3000)])
    costs = [1.0] * 6 + [500.0]

    def total():
        model = askless.CostTreeClassifier(costs, mistakes=100).fit(X[:1000], y[:1000])
        decided, paid = model.predict_and_cost(X[1000:])
        return paid.mean() + 100 * (decided != y[1000:]).mean()

    guarded = total()
    monkeypatch.setattr(_search, "choose_guard", lambda rows, guards, *_: guards[0])
    assert guarded < 0.9 * total()
