"""Packed nodes lead every row where the trees lead it, past the same tests."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from askless._core.ensemble._vote_trees import Layout

N_TESTS, N_CUTS = 5, 4


def _grow(rng, arrays, depth, n_classes):
    """Append a random tree in preorder; return the classes that it may name."""
    node = len(arrays["test"])
    for values in arrays.values():
        values.append(0)
    if depth == 0 or rng.random() < 0.2:
        arrays["test"][node] = -1
        arrays["classes"][node] = 1 << int(rng.integers(n_classes))
        return arrays["classes"][node]
    arrays["test"][node] = int(rng.integers(N_TESTS))
    arrays["cut"][node] = int(rng.integers(N_CUTS))
    arrays["missing_left"][node] = int(rng.integers(2))
    arrays["score"][node] = int(rng.integers(1, 2**14))
    classes = _grow(rng, arrays, depth - 1, n_classes)
    arrays["right"][node] = len(arrays["test"])
    classes |= _grow(rng, arrays, depth - 1, n_classes)
    arrays["classes"][node] = classes
    return classes


DTYPES = {
    "test": np.int32,
    "cut": np.int32,
    "right": np.int32,
    "missing_left": np.uint8,
    "classes": np.uint64,
    "score": np.int64,
}


def _random_trees(rng, n_trees, depth):
    arrays, starts = {name: [] for name in DTYPES}, [0]
    for _ in range(n_trees):
        _grow(rng, arrays, depth, n_classes=int(rng.integers(1, 9)))
        starts.append(len(arrays["test"]))
    packed = {name: np.array(arrays[name], dtype=d) for name, d in DTYPES.items()}
    return packed, np.array(starts, dtype=np.int64)


def _plain_notes(trees, node, codes):
    """Return the tests of a path at their first use, then what its leaf names."""
    notes, seen = [], set()
    while (test := trees["test"][node]) >= 0:
        if test not in seen:
            seen.add(test)
            notes.append((test, trees["classes"][node], trees["score"][node]))
        is_missing = codes[test] > N_CUTS
        goes_left = (
            trees["missing_left"][node]
            if is_missing
            else codes[test] <= trees["cut"][node]
        )
        node = node + 1 if goes_left else trees["right"][node]
    return [*notes, (N_TESTS, trees["classes"][node], 0)]


def _packed_notes(layout, node, codes):
    notes = []
    while True:
        word = int(layout.steps[node])
        test, ahead = word >> 8 & 255, word >> 48
        if ahead == 0 or word >> 17 & 1:
            notes.append((test, word & 255, word >> 18 & 2**14 - 1))
        if ahead == 0:
            return notes
        is_missing = codes[test] > N_CUTS
        bound = word >> 32 & 2**16 - 1
        goes_left = word >> 16 & 1 if is_missing else codes[test] < bound
        node += ahead + int(goes_left)


@given(seed=st.integers(0, 2**32 - 1))
def test_every_row_passes_the_same_tests_to_the_same_leaf(seed):
    rng = np.random.default_rng(seed)
    trees, starts = _random_trees(rng, n_trees=int(rng.integers(1, 4)), depth=6)
    layout = Layout(**trees, tree_start=starts, n_tests=N_TESTS)
    assert layout.fits
    for codes in rng.integers(0, N_CUTS + 2, size=(8, N_TESTS)):
        n_notes = 0
        for tree, start in enumerate(starts[:-1]):
            notes = _packed_notes(layout, int(layout.root[tree]), codes)
            assert notes == _plain_notes(trees, int(start), codes)
            n_notes += len(notes)
        assert n_notes <= layout.n_notes


def _full_tree(depth):
    """Return a tree whose 2 ** depth leaves name one of two classes by turns."""
    size = 2 ** (depth + 1) - 1
    trees = {name: np.zeros(size, dtype=dtype) for name, dtype in DTYPES.items()}
    trees["classes"][:] = 3
    nodes = np.zeros(1, dtype=np.int64)
    for below in range(depth, 0, -1):
        trees["right"][nodes] = nodes + 2**below
        trees["score"][nodes] = 1
        nodes = np.stack([nodes + 1, nodes + 2**below], axis=1).ravel()
    trees["test"][nodes] = -1
    trees["classes"][nodes] = 1 + np.arange(2**depth) % 2
    return trees, np.array([0, size], dtype=np.int64)


def test_leaves_below_a_last_test_are_kept_once():
    trees, starts = _full_tree(8)
    layout = Layout(**trees, tree_start=starts, n_tests=N_TESTS)
    # The root and the place beside it, two children of each node above the last ones,
    # and two leaves.
    assert len(layout.steps) == 2 + 2 * (2**7 - 1) + 2


def test_a_tree_may_be_longer_than_a_step():
    trees, starts = _full_tree(16)
    layout = Layout(**trees, tree_start=starts, n_tests=N_TESTS)
    assert layout.fits
    for codes in np.array([[0] * 5, [1] * 5, [N_CUTS + 1] * 5]):
        notes = _packed_notes(layout, int(layout.root[0]), codes)
        assert notes == _plain_notes(trees, 0, codes)
    # The whole of it, left and right: every place but the one beside the root.
    seen, ahead = np.zeros(len(layout.steps), dtype=bool), [int(layout.root[0])]
    while ahead:
        node = ahead.pop()
        seen[node] = True
        step = int(layout.steps[node]) >> 48
        if step and not seen[node + step]:
            ahead += [node + step, node + step + 1]
    assert seen.sum() == len(layout.steps) - 1


def test_what_does_not_fit_is_said():
    trees, starts = _full_tree(18)
    assert not Layout(**trees, tree_start=starts, n_tests=N_TESTS).fits
    trees, starts = _full_tree(3)
    trees["score"][0] = 2**14
    assert not Layout(**trees, tree_start=starts, n_tests=N_TESTS).fits
