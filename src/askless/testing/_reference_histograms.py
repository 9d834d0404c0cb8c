"""Count rows by node, test, code and class, and split by counts, one at a time.

The twins of the kernels that grow trees on rows in parts; nothing compiled is called.
"""

from __future__ import annotations

from collections.abc import Sequence

from askless.testing._reference_keys import plain_key

__all__ = ["plain_counts", "plain_cut", "plain_places"]

TIE = 1e-12


def plain_places(
    codes: Sequence[Sequence[int]],
    counts: Sequence[int],
    tree: Sequence[tuple[int, int, tuple[int, int]]],
    place: Sequence[int],
) -> list[int]:
    """Return the place of the node that each row gets to, -1 for rows left out.

    Parameters
    ----------
    codes : sequence of sequence of int
        A list of codes for each test.
    counts : sequence of int
        How often each row counts.
    tree : sequence of (test, cut, children)
        The nodes; the test is -1 where the tree ends.
    place : sequence of int
        What is wanted of each node.

    Examples
    --------
    >>> tree = [(0, 1, (1, 2)), (-1, -1, (-1, -1)), (-1, -1, (-1, -1))]
    >>> plain_places([[0, 1, 2, 2]], [1, 1, 2, 0], tree, [-1, 5, 7])
    [5, 5, 7, -1]
    """
    found = []
    for row, count in enumerate(counts):
        node = 0
        while tree[node][0] >= 0:
            test, cut, children = tree[node]
            node = children[codes[test][row] > cut]
        found.append(place[node] if count else -1)
    return found


def plain_counts(
    codes: Sequence[Sequence[int]],
    counts: Sequence[int],
    places: Sequence[int],
    class_ids: Sequence[int],
) -> dict[tuple[int, int, int, int], int]:
    """Return how often each place, test, code and class is met.

    Examples
    --------
    >>> plain_counts([[4, 4]], [2, 1], [0, 0], [1, 1])
    {(0, 0, 4, 1): 3}
    """
    found: dict[tuple[int, int, int, int], int] = {}
    for test, column in enumerate(codes):
        for row, code in enumerate(column):
            if places[row] >= 0:
                key = (places[row], test, code, class_ids[row])
                found[key] = found.get(key, 0) + counts[row]
    return found


def _impurity(weights: Sequence[float], alpha: float) -> float:
    total = 0.0
    for i, one in enumerate(weights):
        for other in weights[:i]:
            if alpha == 0:
                total += one * other
            else:
                beyond = max(one - alpha, 0.0) * max(other - alpha, 0.0)
                total += max(beyond - alpha * alpha, 0.0)
    return total


def plain_cut(
    counts: dict[tuple[int, int, int], int],
    price: Sequence[float],
    alpha: float,
    max_tests: int,
    key: int,
) -> tuple[int, int, float] | None:
    """Return the best test, cut and ratio of price to reduction, by trying every cut.

    Parameters
    ----------
    counts : dict
        How often each test, code and class is met.
    price : sequence of float
        What each test costs.
    alpha : float
        How many rows of a class do not count.
    max_tests : int
        How many tests that can split are tried, in an order drawn by the key; 0 for
        all of them.
    key : int
        Draws that order.

    Examples
    --------
    >>> plain_cut({(0, 1, 0): 5, (0, 3, 1): 4}, [2.0], 0.0, 0, 1)
    (0, 1, 0.1)
    """
    classes = sorted({k for _, _, k in counts})
    tests = sorted({test for test, _, _ in counts}, key=lambda t: (price[t], t))
    if max_tests and max_tests < len(price):
        tests.sort(key=lambda t: plain_key(key, t))
    best: tuple[int, int, float] | None = None
    n_tried = 0
    for test in tests:
        found = {(c, k): n for (t, c, k), n in counts.items() if t == test}
        codes = sorted({code for code, _ in found})
        if len(codes) < 2 or (max_tests and n_tried >= max_tests):
            continue
        n_tried += 1
        whole = _impurity([_sum(found, k, codes[-1]) for k in classes], alpha)
        for cut in codes[:-1]:
            left = [_sum(found, k, cut) for k in classes]
            right = [
                _sum(found, k, codes[-1]) - n
                for k, n in zip(classes, left, strict=True)
            ]
            reduction = whole - max(_impurity(left, alpha), _impurity(right, alpha))
            if reduction <= TIE * whole:
                continue
            ratio = price[test] / reduction
            if best is None or ratio < best[2] * (1 - TIE):
                best = (test, cut, ratio)
    return best


def _sum(found: dict[tuple[int, int], int], k: int, cut: int) -> int:
    return sum(n for (code, other), n in found.items() if other == k and code <= cut)
