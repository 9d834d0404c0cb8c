"""Counts of rows in parts, and splits by counts, against their plain twins."""

import numpy as np
import pytest

from askless._core.bagging._histograms import (
    CountSearch,
    count_codes,
    list_places,
    route_rows,
    take_columns,
)
from askless._core.bagging._samples import bundle_codes, draw_bag, draw_rows
from askless._core.greedy._options import GrowthRows
from askless.testing._reference_histograms import (
    plain_counts,
    plain_cut,
    plain_places,
)


def random_rows(rng):
    n_tests, n_rows = int(rng.integers(1, 14)), int(rng.integers(0, 60))
    n_levels = rng.integers(1, 7, n_tests).astype(np.int32)
    codes = np.array([rng.integers(0, n + 1, n_rows) for n in n_levels], dtype=np.uint8)
    # Some tests of two outcomes, or of one and missing values.
    codes[n_levels <= 2] %= 2
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
        bundles = bundle_codes(codes, rng.random(len(codes)))
        # In two parts, which are added up.
        half = codes.shape[1] // 2
        ends = np.cumsum(class_rows)
        for first, last in ((0, half), (half, codes.shape[1])):
            part = slice(first, last)
            inside = np.diff(np.clip(ends, first, last), prepend=first)
            count_codes(
                codes[:, part], bundles.codes[:, part], bundles.bits, bundles.whole,
                counts[part], found[part], inside.astype(np.int64), start, cells,
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
        none = bundle_codes(codes, price, use_bits=False)
        count_codes(
            codes, none.codes, none.bits, none.whole, counts, place, class_rows, start,
            cells,
        )  # fmt: skip
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


def test_some_rows_are_drawn_as_among_all(rng):
    rows = np.sort(rng.choice(1000, 70, replace=False)).astype(np.uint32)
    assert np.array_equal(draw_rows(rows, 9), draw_bag(1000, 9)[rows])


def test_rows_are_listed_by_place_and_taken(rng):
    for _ in range(20):
        n_rows, n_places = int(rng.integers(0, 40)), int(rng.integers(0, 4))
        place = rng.integers(-1, n_places, n_rows).astype(np.int32)
        rows, lengths = list_places(place, n_places, 100)
        expected = [np.flatnonzero(place == i) + 100 for i in range(n_places)]
        assert rows.tolist() == [row for some in expected for row in some.tolist()]
        assert lengths.tolist() == [len(some) for some in expected]
    codes = rng.integers(0, 255, (5, 60)).astype(np.uint8)
    columns, rows = np.array([3, 0], dtype=np.int32), np.array([2, 5], dtype=np.uint32)
    taken = take_columns(codes[:, 10:50], columns, rows)
    assert np.array_equal(taken, codes[:, 10:50][np.ix_(columns, rows)])
    assert take_columns(codes, columns, rows[:0]).shape == (2, 0)
