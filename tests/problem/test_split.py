"""Unknown outcomes with chances of their own: cases split by what they show."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import askless
from askless.exceptions import InvalidTableError
from askless.testing import PlainUnknown, _reference_unknown, brute_force_unknown
from tests.solve.unknown.tables import draw_unknown, solve_quietly


def make_own_chances(own):
    """Return a twin in which some cases have chances of their own."""

    class OwnChances(PlainUnknown):
        def chance(self, test, code, case):
            if (test, case) in own and self.codes[test][case] == self.unknown[test]:
                shares = own[test, case]
                return shares[code] if code < len(shares) else Fraction(0)
            return super().chance(test, code, case)

    return OwnChances


@pytest.mark.parametrize("objective", ["expected", "worst"])
def test_splitting_is_drawing_by_chances_of_ones_own(rng, monkeypatch, objective):
    n_split = 0
    for own_rng in rng.spawn(30):
        table = draw_unknown(own_rng, max_cases=5, max_tests=4, complete=True)
        split, own = table, {}
        for test, case in np.argwhere(table.is_unknown)[:2].tolist():
            # With the same outcomes possible, the same cases are sure to be told.
            parts = own_rng.integers(1, 5, table.tests[test].n_levels)
            parts *= table.chances[test] > 0
            shares = [Fraction(int(p), int(parts.sum())) for p in parts]
            own[test, case] = shares
            name, names = table.test_names[test], split.cases
            # What was split before begins with the name of its case.
            for found in [c for c in names if c.split(",")[0] == table.cases[case]]:
                given = dict(
                    zip(table.tests[test].outcomes, map(float, shares), strict=True)
                )
                split = split.split_unknown(found, name, given)
        n_split += len(own)
        with monkeypatch.context() as patch:
            patch.setattr(_reference_unknown, "PlainUnknown", make_own_chances(own))
            best = brute_force_unknown(table, objective)
        assert brute_force_unknown(split, objective) == pytest.approx(best, abs=1e-9)
        found = solve_quietly(split, method="exact", objective=objective)
        cost = found.worst_cost if objective == "worst" else found.expected_cost
        assert cost == pytest.approx(best, abs=1e-9)
    assert n_split > 20


def test_chances_of_the_test_may_be_split_as_well():
    table = askless.Table(
        [[0, 0], [None, 1], [1, 0]], list("abc"), chances={"t0": {0: 0.25, 1: 0.75}}
    )
    split = table.split_unknown(1, "t0", {0: 0.25, 1: 0.75})
    assert split.n_cases == 4
    assert split.n_classes == 3
    one, other = askless.solve(table), askless.solve(split)
    assert one.expected_cost == pytest.approx(other.expected_cost)
    assert not split.codes.flags.writeable
    # An outcome that never comes needs no case.
    assert table.split_unknown(1, "t0", {1: 1}).n_cases == 3


@pytest.mark.parametrize(
    ("case", "test", "chances", "message"),
    [
        (9, "t0", {0: 1}, "0 to 2"),
        ("nobody", "t0", {0: 1}, "names 0"),
        (1, "t9", {0: 1}, "one of the table's"),
        (0, "t0", {0: 1}, "known to be"),
        (1, "t0", {0: 0.5}, "sum to 1"),
        (1, "t0", {"x": 1}, "split_unknown"),
    ],
)
def test_what_cannot_be_split_is_refused(case, test, chances, message):
    table = askless.Table([[0, 0], [None, 1], [1, 0]], list("abc"))
    with pytest.raises(InvalidTableError, match=message):
        table.split_unknown(case, test, chances)
