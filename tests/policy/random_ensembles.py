"""Random ensembles: every kind of split, leaf and link, ties on purpose."""

import numpy as np

from askless.policy import Ensemble, EnsembleTrees, Output
from askless.policy.ensemble._parts import IS_SET, MISSING_LEFT
from askless.problem import Costs, Test

LINKS = ("logit", "share", "softmax", "votes", "number")


def random_tests(rng, n_tests, share_of_numbers=0.6):
    """Return numbers and categories by turns."""
    tests = []
    for i in range(n_tests):
        if rng.random() < share_of_numbers:
            cuts = np.unique(rng.integers(-4, 5, rng.integers(1, 6)).astype(float))
            tests.append(Test(f"t{i}", "number", cuts=tuple(cuts.tolist())))
        else:
            outcomes = tuple("abcdefg"[: rng.integers(2, 8)])
            tests.append(Test(f"t{i}", "category", outcomes=outcomes))
    return tuple(tests)


def random_costs(rng, tests, is_plain=False, amounts=range(6)):
    """Return costs; sometimes with a free test, a group, or a delayed test."""
    prices = {
        test.name: float(amounts[rng.integers(0, len(amounts))]) for test in tests
    }
    if is_plain:
        return Costs(prices)
    groups, discounted, delayed = {}, {}, []
    if len(tests) > 2 and rng.random() < 0.5:
        members = [t.name for t in tests[:2]]
        groups = {"lab": members}
        discounted = {name: prices[name] / 2 for name in members}
    if rng.random() < 0.2:
        delayed = [tests[-1].name]
    return Costs(prices, groups=groups, discounted=discounted, delayed=delayed)


class _Builder:
    def __init__(self, rng, tests, leaf, is_plain=False):
        self.rng, self.tests, self.leaf = rng, tests, leaf
        self.share_of_sets = 0.0 if is_plain else 0.2
        self.test, self.cut, self.right, self.flags = [], [], [], []
        self.words, self.weight, self.value = [], [], []

    def grow(self, depth):
        node = len(self.test)
        self.weight.append(float(self.rng.integers(1, 9)))
        is_leaf = depth == 0 or self.rng.random() < 0.25
        which = -1 if is_leaf else int(self.rng.integers(len(self.tests)))
        self.test.append(which)
        self.cut.append(0)
        self.right.append(0)
        self.flags.append(0)
        self.value.append(self.leaf() if is_leaf else self.leaf() * 0)
        if is_leaf:
            return
        test = self.tests[which]
        self.flags[node] = MISSING_LEFT if self.rng.random() < 0.5 else 0
        if test.kind == "category" or self.rng.random() < self.share_of_sets:
            self.flags[node] |= IS_SET
            self.cut[node] = len(self.words)
            self.words.append(int(self.rng.integers(0, 2**63)))
        else:
            self.cut[node] = int(self.rng.integers(test.n_levels))
        self.grow(depth - 1)
        self.right[node] = len(self.test)
        self.grow(depth - 1)


def random_ensemble(
    rng, link=None, bounds="auto", is_plain=False, amounts=range(6), sizes=None,
    **options,
):  # fmt: skip
    """Return a small ensemble; leaves are often equal, so that sums tie.

    A plain one has numbers only, cuts only, and neither groups nor delays. ``sizes``
    are how many tests and trees there are, and how deep a tree is at most.
    """
    link = link or LINKS[rng.integers(len(LINKS))]
    n_tests, most_trees, depth = sizes or (int(rng.integers(1, 6)), None, 4)
    tests = random_tests(rng, n_tests, 1.0 if is_plain else 0.6)
    n_classes = int(rng.integers(2, 5))
    n_outputs = 1 if link in ("logit", "number") else n_classes
    width = n_outputs if link in ("share", "votes") else 1
    whole = rng.random() < 0.5

    def leaf():
        if link == "votes":
            return np.eye(n_classes)[rng.integers(n_classes)]
        if link == "share":
            counts = rng.integers(0, 4, n_classes) + 1e-9
            return counts / counts.sum()
        return (
            rng.integers(-2, 3, width).astype(float)
            if whole
            else rng.normal(size=width)
        )

    builder = _Builder(rng, tests, leaf, is_plain)
    starts, n_trees = [0], most_trees or int(rng.integers(1, 9))
    for _ in range(n_trees):
        builder.grow(int(rng.integers(0, depth + 1)))
        starts.append(len(builder.test))
    adds_to = np.arange(n_trees) % n_outputs if width == 1 else np.zeros(n_trees)
    trees = EnsembleTrees(
        test=np.array(builder.test, dtype=np.int32),
        cut=np.array(builder.cut, dtype=np.int32),
        right=np.array(builder.right, dtype=np.int32),
        flags=np.array(builder.flags, dtype=np.int32),
        words=np.array(builder.words, dtype=np.uint64),
        tree_start=np.array(starts, dtype=np.int64),
        output=adds_to.astype(np.int32),
        weight=np.array(builder.weight),
        value=np.array(builder.value, dtype=np.float64).reshape(-1, width),
    )
    offset = (0.0,) * n_outputs
    if width == 1 and rng.random() < 0.5:
        offset = tuple(rng.integers(-1, 2, n_outputs).astype(float).tolist())
    output = Output(
        "share" if link == "votes" else link,
        offset,
        divisor=float(n_trees) if width > 1 else 1.0,
        decides_by=("raw", "probability")[rng.integers(2)],
    )
    classes = (
        () if link == "number" else tuple(range(2 if n_outputs == 1 else n_classes))
    )
    costs = random_costs(rng, tests, is_plain, amounts)
    if rng.random() < 0.5:
        options.setdefault("eagerness", rng.choice([0.3, 1.0, 2.0, 5.0], n_tests))
    return Ensemble(
        tests, classes, costs.price_list(tests), trees=trees, output=output,
        bounds=bounds, **options,
    )  # fmt: skip


def random_rows(rng, policy, n_rows):
    """Return raw columns with missing values, categories never seen and their codes."""
    columns, codes = {}, []
    for test in policy.tests:
        if test.kind == "number":
            # Values on cuts, beside them, and missing.
            values = rng.choice([*test.cuts, -9.0, 9.0], n_rows)
            values = np.nextafter(values, values + rng.integers(-1, 2, n_rows))
            values[rng.random(n_rows) < 0.15] = np.nan
        else:
            values = rng.choice([*test.outcomes, "never seen"], n_rows).astype(object)
            values[rng.random(n_rows) < 0.15] = None
        columns[test.name] = values
        codes.append(test.encode(values))
    return columns, np.array(codes).T.astype(int)
