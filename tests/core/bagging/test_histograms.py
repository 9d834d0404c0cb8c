"""Counts of rows in parts, and splits by counts, against their plain twins."""

import numpy as np
import pytest

from askless._core.bagging._histograms import CountSearch, count_codes, route_rows
from askless._core.bagging._samples import draw_bag
from askless._core.greedy._options import GrowthRows
from askless.testing._reference_histograms import (
    plain_counts,
    plain_cut,
    plain_places,
)


def random_rows(rng):
    n_tests, n_rows = int(rng.integers(1, 6)), int(rng.integers(0, 60))
    n_levels = rng.integers(1, 7, n_tests).astype(np.int32)
    codes = np.array([rng.integers(0, n + 1, n_rows) for n in n_levels], dtype=np.uint8)
    n_classes = int(rng.integers(1, 5))
    class_rows = np.bincount(
        rng.integers(0, n_classes, n_rows), minlength=n_classes
    ).astype(np.int64)
    counts = rng.integers(0, 4, n_rows).astype(np.uint8)
    return codes, n_levels, class_rows, counts


def test_counts_are_those_of_one_row_at_a_time(rng):
    for _ in range(40):
        codes, n_levels, class_rows, counts = random_rows(rng)
        cuts = rng.integers(0, 5, 2)
        tests = rng.integers(0, len(codes), 2)
        tree = [
            (int(tests[0]), int(cuts[0]), (1, 2)),
            (-1, -1, (-1, -1)),
            (int(tests[1]), int(cuts[1]), (3, 4)),
            (-1, -1, (-1, -1)),
            (-1, -1, (-1, -1)),
        ]
        place = np.array([-1, 0, -1, -1, 1], dtype=np.int32)
        test, cut = (np.array([n[i] for n in tree], dtype=np.int32) for i in (0, 1))
        child = np.array([n[2] for n in tree], dtype=np.int32)
        found = route_rows(codes, counts, test, cut, child, place)
        listed = codes.tolist()
        expected = plain_places(listed, counts.tolist(), tree, place.tolist())
        assert found.tolist() == expected
        start = np.cumsum([0, *(n_levels + 1)]).astype(np.int64)
        class_ids = np.repeat(np.arange(len(class_rows)), class_rows)
        cells = np.zeros((2, start[-1] * len(class_rows)), dtype=np.uint32)
        # In two parts, which are added up.
        half = codes.shape[1] // 2
        ends = np.cumsum(class_rows)
        for first, last in ((0, half), (half, codes.shape[1])):
            part = slice(first, last)
            inside = np.diff(np.clip(ends, first, last), prepend=first)
            count_codes(
                codes[:, part], counts[part], found[part], inside.astype(np.int64),
                start, cells,
            )  # fmt: skip
        plain = plain_counts(listed, counts.tolist(), expected, class_ids.tolist())
        seen = cells.reshape(2, -1, len(class_rows))
        total = 0
        for (where, which, code, k), n in plain.items():
            assert seen[where, start[which] + code, k] == n
            total += n
        assert seen.sum() == total


@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_splits_are_those_of_trying_every_cut(rng, alpha):
    n_split = 0
    for _ in range(60):
        codes, n_levels, class_rows, counts = random_rows(rng)
        n_classes = len(class_rows)
        price = rng.choice([1.0, 2.0, 5.0], len(codes))
        start = np.cumsum([0, *(n_levels + 1)]).astype(np.int64)
        cells = np.zeros((1, start[-1] * n_classes), dtype=np.uint32)
        place = np.zeros(codes.shape[1], dtype=np.int32)
        count_codes(codes, counts, place, class_rows, start, cells)
        ordered = np.ones(len(codes), dtype=np.uint8)
        rows = GrowthRows(codes, class_rows, n_levels, ordered)
        class_ids = np.repeat(np.arange(n_classes), class_rows).tolist()
        plain = plain_counts(codes.tolist(), counts.tolist(), place.tolist(), class_ids)
        met = {key[1:]: n for key, n in plain.items() if n}
        for max_tests in (0, 2):
            search = CountSearch(
                rows, price, alpha=alpha, max_tests=max_tests, start=start,
                n_classes=n_classes,
            )  # fmt: skip
            found = search.find(cells[0], 77)
            best = plain_cut(met, price.tolist(), alpha, max_tests, 77)
            assert (found is None) == (best is None)
            if found is None:
                continue
            n_split += 1
            test, cut, has_missing = found
            # Several cuts may tie; the best ratio is one.
            alone = {key: n for key, n in met.items() if key[0] == test}
            ratios = plain_cut(alone, price.tolist(), alpha, 0, 77)
            assert ratios is not None
            assert np.isclose(ratios[2], best[2])
            assert any(key[1] == cut for key in alone)
            assert has_missing == (max(key[1] for key in alone) == n_levels[test])
    assert n_split > 30


def test_a_part_is_drawn_as_among_all():
    whole = draw_bag(1000, 9)
    assert np.array_equal(
        np.concatenate([draw_bag(400, 9), draw_bag(600, 9, 400)]), whole
    )
