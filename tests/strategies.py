"""Random problems, policies and rows for property tests, small and of every kind.

Sizes and options are drawn by hypothesis, so that they shrink; contents come from a
generator whose seed it draws, which is many times faster than drawing each cell.
"""

import warnings

import numpy as np
from hypothesis import strategies as st

import askless
from askless.policy import Forest, NodesBuilder, Sequence, Tree
from askless.problem import Costs, PriceList, Table, Test

# Sums of these depend on their order, so that an engine that adds up differently shows.
PRICES = (0.0, 0.1, 0.2, 0.3, 0.7, 1.0, 1 / 3, 2.5, 7.0, 1e6 + 0.1)
UNKNOWN = "?"


def generators():
    return st.integers(0, 2**32 - 1).map(np.random.default_rng)


# Costs.


@st.composite
def all_costs(draw, tests, n_classes):
    """Costs of given tests: plain, grouped, delayed, by outcome; mistakes or none."""
    rng = draw(generators())
    names = [test.name for test in tests]
    full = {name: float(rng.choice(PRICES)) for name in names}
    groups = {}
    if draw(st.booleans()) and len(names) > 1:
        shuffled = rng.permutation(names).tolist()
        middle = int(rng.integers(2, len(names) + 1))
        groups["first"] = shuffled[:middle]
        if len(names) - middle > 1:
            groups["second"] = shuffled[middle:]
    grouped = [name for members in groups.values() for name in members]
    discounted = {
        name: full[name] * float(rng.choice([0.0, 0.5, 0.9, 1.0]))
        for name in grouped
        if rng.random() < 0.8
    }
    by_outcome = {}
    if draw(st.booleans()):
        by_outcome = {
            test.name: {o: float(rng.choice(PRICES)) for o in test.outcomes}
            for test in tests
            if test.outcomes and test.name not in grouped and rng.random() < 0.7
        }
    delayed = []
    if not by_outcome and draw(st.booleans()):
        delayed = [name for name in names if rng.random() < 0.4]
    mistakes = draw(st.sampled_from([None, "one", "matrix"]))
    if mistakes == "one":
        mistakes = float(rng.choice([1.0, 50.0]))
    elif mistakes == "matrix":
        mistakes = rng.integers(0, 9, (n_classes, n_classes)).astype(float)
        np.fill_diagonal(mistakes, 0.0)
    return Costs(
        full,
        groups=groups or None,
        discounted=discounted or None,
        delayed=delayed,
        by_outcome=by_outcome or None,
        mistakes=mistakes,
    )


# Tables.


def _random_column(rng, kind, n):
    if kind == "text":
        return [f"{c}" for c in rng.choice(["no", "yes", "1", "maybe"], n)]
    if kind == "flag":
        return [bool(v) for v in rng.integers(0, 2, n)]
    if kind == "count":
        return [int(v) for v in rng.integers(0, 3, n)]
    return [float(v) for v in rng.choice([-1.5, 0.0, 0.1, 2.0, 2.5, 30.0], n)]


@st.composite
def tables(draw, *, unknown=True, max_cases=7, max_tests=4, max_unknown=8):
    """Tables with every kind of column, missing and unknown cells, priors and costs."""
    n_cases = draw(st.integers(1, max_cases))
    kinds = draw(
        st.lists(
            st.sampled_from(["text", "flag", "count", "number"]),
            min_size=1,
            max_size=max_tests,
        )
    )
    rng = draw(generators())
    columns = {
        f"{kind} {i}": _random_column(rng, kind, n_cases)
        for i, kind in enumerate(kinds)
    }
    missing = draw(st.sampled_from(["unknown", "outcome"]))
    n_holes = draw(st.integers(0, max_unknown)) if unknown else 0
    for _ in range(n_holes):
        column = columns[str(rng.choice(list(columns)))]
        column[rng.integers(n_cases)] = UNKNOWN
    if missing == "outcome" and draw(st.booleans()):
        for column in columns.values():
            column[rng.integers(n_cases)] = None
    n_classes = draw(st.integers(1, 3))
    classes = [f"class {c}" for c in rng.integers(0, n_classes, n_cases)]
    prior = None
    if draw(st.booleans()):
        prior = rng.choice([0.0, 1.0, 1.0, 2.0, 7.0], n_cases)
        prior[rng.integers(n_cases)] = 3.0
    options = {
        "missing": missing,
        "unknown": UNKNOWN,
        "prior": prior,
        "levels": draw(st.sampled_from([None, None, 2, 3])),
        "thresholds": draw(st.booleans()),
    }
    bare = Table(columns, classes, **options)
    return Table(
        columns,
        classes,
        costs=draw(all_costs(bare.tests, bare.n_classes)),
        chances=_random_chances(rng, bare) if draw(st.booleans()) else None,
        **options,
    )


def _random_chances(rng, table):
    chances = {}
    for test in table.tests:
        if test.n_levels and rng.random() < 0.7:
            values = [level_value(test, level) for level in range(test.n_levels)]
            parts = random_shares(rng, test.n_levels)
            chances[test.name] = dict(zip(values, parts, strict=True))
    return chances


@st.composite
def likelihood_tables(draw, *, max_likelihoods=4, **options):
    """Tables like the others, in which some cells have chances of their own."""
    table = draw(tables(**{"max_cases": 5, "max_unknown": 3} | options))
    rng = draw(generators())
    cells = {}
    for _ in range(draw(st.integers(0, max_likelihoods))):
        test = table.tests[int(rng.integers(table.n_tests))]
        if test.n_levels:
            values = [level_value(test, level) for level in range(test.n_levels)]
            shares = dict(zip(values, random_shares(rng, test.n_levels), strict=True))
            cells.setdefault(test.name, {})[int(rng.integers(table.n_cases))] = shares
    return table.with_likelihoods(cells)


def random_shares(rng, n):
    """Return chances that sum to one; some may be 0."""
    parts = rng.choice([0, 1, 1, 2, 5], n).astype(float)
    parts[rng.integers(n)] += 1
    return (parts / parts.sum()).tolist()


def level_value(test, level):
    """Return a raw value of a level."""
    if test.kind == "category":
        return test.outcomes[level]
    return test.cuts[level] if level < len(test.cuts) else 1e9


# Policies.


def solved(table, *, method="greedy", **options):
    """Return the greedy policy of a table, however odd the table is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return askless.solve(table, method=method, **options).policy


def grow_at_random(
    rng, tests, classes, prices, *, mistakes=None, max_depth=4, cuts_only=False
):
    """Return a tree that asks whatever it likes, the same test again and again.

    Branches stand for some of the outcomes, so that defaults matter; leaves may weigh
    nothing, all but the first.
    """
    nodes = []

    def grow(depth):
        node = len(nodes)
        nodes.append(
            {"test": -1, "cut": -1, "codes": [], "children": [], "default": -1}
        )
        if not tests or depth == max_depth or rng.random() < 0.25:
            listed = np.flatnonzero(rng.random(len(classes)) < 0.5).tolist()
            listed = listed or [int(rng.integers(len(classes)))]
            weights = rng.choice([0.0, 0.5, 1.0, 3.0], len(listed))
            if not any(any(n.get("weights", {}).values()) for n in nodes):
                weights[0] = 1.0
            nodes[node]["weights"] = dict(zip(listed, weights.tolist(), strict=True))
            return node
        index = int(rng.integers(len(tests)))
        test = tests[index]
        nodes[node]["test"] = index
        if test.kind == "number" and (cuts_only or rng.random() < 0.8):
            cut = int(rng.integers(len(test.cuts) + 1))
            nodes[node]["cut"], codes = cut, [0, 1]
            default = 1 if cut == len(test.cuts) else int(rng.integers(2))
        else:
            size = int(rng.integers(1, test.n_levels + 2))
            codes = sorted(rng.permutation(test.n_levels + 1)[:size].tolist())
            default = int(rng.integers(size))
        nodes[node].update(codes=codes, default=default)
        children = [grow(depth + 1) for _ in codes]
        weights = {}
        for child in children:
            for label, weight in nodes[child]["weights"].items():
                weights[label] = weights.get(label, 0.0) + weight
        nodes[node].update(children=children, weights=weights)
        return node

    grow(0)
    return tree_of(nodes, tests, classes, prices, mistakes=mistakes)


def tree_of(nodes, tests, classes, prices, *, mistakes=None):
    """Return the tree of a list of nodes, each a dict; see ``grow_at_random``."""

    builder = NodesBuilder()
    for node in nodes:
        weights = dict(sorted(node["weights"].items()))
        if node["test"] < 0:
            builder.add_leaf(weights)
            continue
        builder.add_test(
            node["test"],
            node["codes"],
            weights,
            default=node["default"],
            cut=node["cut"],
        )
    made = builder.build()
    children = [child for node in nodes for child in node["children"]]
    assert made.branch_child.tolist() == children, "nodes are not in preorder"
    return Tree(tuple(tests), tuple(classes), prices, nodes=made, mistakes=mistakes)


@st.composite
def policies(draw, table, kinds=("solved", "random", "sequence")):
    """Policies for a table: what the solver finds, and what it never would."""
    kind = draw(st.sampled_from(kinds))
    if kind == "solved":
        return solved(table)
    rng = draw(generators())
    if kind == "sequence":
        order = rng.permutation(table.n_tests)[: rng.integers(table.n_tests + 1)]
        return Sequence.from_table(table, order, stops_early=draw(st.booleans()))
    grow = forest_at_random if kind == "forest" else grow_at_random
    return grow(
        rng,
        table.tests,
        table.classes,
        table.prices,
        mistakes=table.costs.mistake_matrix(table.classes),
        max_depth=draw(st.integers(0, 4)),
    )


def forest_at_random(rng, tests, classes, prices, *, mistakes=None, **options):
    """Return a forest of a few random trees that decides by either rule."""
    trees = [
        grow_at_random(rng, tests, classes, prices, mistakes=mistakes, **options)
        for _ in range(rng.integers(1, 6))
    ]
    return Forest.from_trees(trees, voting=str(rng.choice(["votes", "counts"])))


@st.composite
def tables_with_policies(draw, kinds=("solved", "random", "sequence"), **options):
    table = draw(tables(**options))
    return table, draw(policies(table, kinds))


@st.composite
def number_trees(draw, max_depth=5, grow=grow_at_random, max_tests=4, prices=PRICES):
    """Trees that compare numbers only, which are walked without coding."""
    rng = draw(generators())
    tests = tuple(
        Test(f"x{i}", "number", cuts=random_cuts(rng))
        for i in range(draw(st.integers(1, max_tests)))
    )
    return grow(
        rng,
        tests,
        ("a", "b", "c"),
        PriceList.plain(rng.choice(prices, len(tests))),
        max_depth=max_depth,
        cuts_only=True,
    )


def random_cuts(rng):
    """Return ascending thresholds that are exact in single precision."""
    drawn = rng.choice([0.0, 0.1, -2.5, 1e-40, 1e30, 16777217.0, 3.3], rng.integers(6))
    return tuple(np.unique(drawn.astype(np.float32)).astype(np.float64).tolist())


# Rows.


def random_values(rng, test, n):
    """Return raw values of a test: seen, unseen and missing; on and beside each cut."""
    if test.kind == "category":
        pool = [*test.outcomes, *map(str, test.outcomes), None, "never seen"]
    else:
        cuts = np.array([0.0, *test.cuts])
        with np.errstate(all="ignore"):
            beside = [
                np.nextafter(cuts.astype(np.float32), np.float32(end))
                for end in (-np.inf, np.inf)
            ]
            finest = [np.nextafter(cuts, end) for end in (-np.inf, np.inf)]
        pool = np.concatenate([cuts, *beside, *finest, [np.nan, np.inf, -np.inf]])
        pool = [float(v) for v in pool]
    return [pool[i] for i in rng.integers(0, len(pool), n)]


def random_rows(rng, tests, n):
    """Return raw columns by name, as plain lists."""
    return {test.name: random_values(rng, test, n) for test in tests}
