"""Trees of a given depth and bounded size, and rows that try to walk off their path."""

import numpy as np

from askless.problem import PriceList, Test
from tests.strategies import tree_of

__all__ = ["adversarial_rows", "grow_to_depth", "mixed_tests"]


def mixed_tests(rng, n_tests):
    """Return tests of every kind: numbers, text, flags, counts and fractions."""
    kinds = [
        lambda: ("number", (), _cuts(rng, 40)),
        lambda: ("category", ("no", "yes", "it's", 'say "x"', "ünï — 雪"), ()),
        lambda: ("number", (), _cuts(rng, 3)),
        lambda: ("category", (False, True), ()),
        lambda: ("category", (0, 1, 2, 7), ()),
        lambda: ("category", (0.25, 0.5, 1.0), ()),
        lambda: ("category", ("1", "2", "03"), ()),
    ]
    tests = []
    for i in range(n_tests):
        kind, outcomes, cuts = kinds[i % len(kinds)]()
        tests.append(Test(f"test {i}", kind, outcomes, cuts))
    return tuple(tests)


def _cuts(rng, n):
    """Return cuts exact in single precision, of all sizes."""
    scales = rng.choice([1.0, 1.0, 1.0, 1e-3, 1e6, 1e-38, 1e30], n)
    drawn = (rng.normal(size=n) * scales).astype(np.float32)
    return tuple(np.unique(drawn).astype(np.float64).tolist())


def grow_to_depth(
    rng, tests, classes, depth, n_nodes, *, prices=None, mistakes=None, numbers=False
):
    """Return a tree of exactly this depth and about so many nodes.

    Nodes compare numbers, branch on levels, or branch on some of the outcomes; the same
    test is asked again and again, so that some leaves cannot be reached.
    """
    root = {"depth": 0, "children": []}
    leaves, total, deepest = [root], 1, root
    while leaves and (total < n_nodes or deepest["depth"] < depth):
        # Down first, until the depth is there; then anywhere.
        node = (
            deepest if deepest["depth"] < depth else leaves[rng.integers(len(leaves))]
        )
        leaves = [leaf for leaf in leaves if leaf is not node]
        if node["depth"] == depth:
            continue
        _ask(rng, tests, node, numbers)
        node["children"] = [
            {"depth": node["depth"] + 1, "children": []} for _ in node["codes"]
        ]
        leaves += node["children"]
        total += len(node["children"])
        if node is deepest:
            deepest = node["children"][rng.integers(len(node["children"]))]
    nodes = _preorder(rng, root, len(classes))
    if prices is None:
        prices = PriceList.plain(rng.choice([0.1, 1.0, 2.5, 1 / 3], len(tests)))
    return tree_of(nodes, tests, classes, prices, mistakes=mistakes)


def _ask(rng, tests, node, numbers):
    index = int(rng.integers(len(tests)))
    test = tests[index]
    if test.kind == "number" and (numbers or rng.random() < 0.85):
        cut = int(rng.integers(len(test.cuts) + 1))
        default = 1 if cut == len(test.cuts) else int(rng.integers(2))
        node.update(test=index, cut=cut, codes=[0, 1], default=default)
        return
    size = int(rng.integers(1, min(test.n_levels, 6) + 2))
    codes = sorted(rng.permutation(test.n_levels + 1)[:size].tolist())
    node.update(test=index, cut=-1, codes=codes, default=int(rng.integers(size)))


def _preorder(rng, root, n_classes):
    nodes, stack = [], [(root, None)]
    while stack:
        node, parent = stack.pop()
        number = len(nodes)
        if parent is not None:
            parent["children"].append(number)
        entry = {
            "test": node.get("test", -1),
            "cut": node.get("cut", -1),
            "codes": node.get("codes", []),
            "default": node.get("default", -1),
            "children": [],
        }
        weights = rng.choice([0.0, 0.5, 1.0, 3.0], n_classes)
        weights[rng.integers(n_classes)] += 1.0
        entry["weights"] = dict(enumerate(weights.tolist()))
        nodes.append(entry)
        stack.extend((child, entry) for child in reversed(node["children"]))
    return nodes


def adversarial_rows(rng, tests, n):
    """Return columns whose values lie on and beside every cut, or were never seen.

    A column keeps one type, as it would in a database: numbers are doubles, among them
    the neighbours of each cut in single and in double precision.
    """
    return {test.name: _column(rng, test, n) for test in tests}


def _column(rng, test, n):
    if test.kind == "number":
        cuts = np.array([0.0, *test.cuts])
        with np.errstate(all="ignore"):
            single = cuts.astype(np.float32)
            pool = [cuts, [np.nan, np.inf, -np.inf]]
            for end in (-np.inf, np.inf):
                pool.append(np.nextafter(single, np.float32(end)).astype(float))
                pool.append(np.nextafter(cuts, end))
        return rng.choice(np.concatenate(pool), n)
    kinds = {type(outcome) for outcome in test.outcomes}
    pool = [*test.outcomes, None]
    if kinds == {str}:
        pool += ["never seen", "", "NO", " no", "null"]
    elif kinds != {bool}:
        pool += [99, -1, 0.3]
        return np.array([np.nan if v is None else v for v in pool], dtype=float)[
            rng.integers(0, len(pool), n)
        ]
    values = np.empty(n, dtype=object)
    values[:] = [pool[i] for i in rng.integers(0, len(pool), n)]
    return values
