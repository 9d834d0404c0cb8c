"""Which outcomes are possible for a case, and which tests are sure to tell two apart.

A table knows most outcomes. Where it does not, any outcome of the test that has a
chance may be seen. The chances are those of the test, or the cell's own: a likelihood.
So a test is *sure to tell* two cases apart if no outcome is possible for both; and it
*may rule out* a case if another one, should it be true, may show what that case cannot.
A test without a single level tells nothing.

Works on codes; names occur in what is said about cases only. The kernels of
``_core/unknown`` follow the same rules state by state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidTableError, suggest_name
from askless.problem._identical import number_columns, pair_identical
from askless.problem._tests import CodeArray, Test

__all__ = [
    "Possible",
    "explain_pair",
    "find_case",
    "find_indistinct",
    "find_recheck",
    "find_test",
    "list_draws",
]

Flags = NDArray[np.bool_]

# Comparing every case that has unknown outcomes with every other one is quadratic;
# beyond this many cells only identical cases are found.
MOST_CELLS = 500_000_000


class Cells(NamedTuple):
    """Some cells of a table: rows are tests.

    Attributes
    ----------
    codes : ndarray
    is_known : ndarray of bool or None
        None if all are.
    is_never : ndarray of bool or None
        Which are known, and not possible where the outcome of the test is unknown; None
        if none is.
    is_always : ndarray of bool or None
        Which are known, and sure to be seen where the outcome is unknown; likewise.
    """

    codes: NDArray[Any]
    is_known: Flags | None
    is_never: Flags | None
    is_always: Flags | None


def tell_apart(some: Cells, others: Cells) -> Flags:
    """Return where tests are sure to tell cells apart; shapes are broadcast."""
    tells = np.asarray(some.codes != others.codes)
    if some.is_known is None or others.is_known is None:
        return tells
    tells &= some.is_known
    tells &= others.is_known
    if some.is_never is not None and others.is_never is not None:
        tells |= some.is_never & ~others.is_known
        tells |= others.is_never & ~some.is_known
    return tells


def may_rule_out(true: Cells, others: Cells) -> Flags:
    """Return where tests may rule out other cells if some are true."""
    out = np.asarray(true.codes != others.codes)
    if true.is_known is None or others.is_known is None:
        return out
    out &= true.is_known
    out &= others.is_known
    draws = ~true.is_known & others.is_known
    if others.is_always is not None:
        draws &= ~others.is_always
    out |= draws
    if true.is_never is not None:
        out |= true.is_never & ~others.is_known
    return out


class Possible:
    """What each test may show for each case.

    Parameters
    ----------
    codes : ndarray of shape (n_tests, n_cases)
        Not copied.
    tests : sequence of Test
    chances : sequence of ndarray
        The chance of each level of each test where its outcome is unknown.
    likelihoods : sequence of (ndarray of shape (n_levels, n_cases) or None), optional
        For each test in which some cells have chances of their own: the chances of
        every cell. None for the others, and for all tests by default.

    Examples
    --------
    >>> from askless import Table
    >>> table = Table([[0, 0], [None, 1], [1, 1]], ["a", "b", "c"])
    >>> possible = table.possible
    >>> possible.list_codes(0, [1]), possible.list_codes(1, [1])
    ([0, 1], [1])
    >>> possible.tells_from(1)[:, 0].tolist()
    [False, True]
    """

    def __init__(
        self,
        codes: CodeArray,
        tests: Sequence[Test],
        chances: Sequence[NDArray[np.float64]],
        likelihoods: Sequence[NDArray[np.float64] | None] | None = None,
    ) -> None:
        self.codes = codes
        self.tests = tuple(tests)
        self.chances = tuple(chances)
        none = (None,) * len(self.tests)
        self.likelihoods = none if likelihoods is None else tuple(likelihoods)

    @cached_property
    def is_unknown(self) -> Flags:
        """Which outcomes are unknown, of shape (n_tests, n_cases)."""
        unknown = np.array([test.unknown_code for test in self.tests], dtype=np.int64)
        return np.asarray(self.codes == unknown[:, None])

    def is_unknown_in(self, test: int, cases: Any = None) -> Flags:
        """Return for which of some cases the outcome of a test is unknown."""
        codes = self.codes[test] if cases is None else self.codes[test, cases]
        return np.asarray(codes == self.tests[test].unknown_code)

    def chances_of(self, test: int) -> NDArray[np.float64]:
        """Return the chance of each code of a test where its outcome is unknown.

        A test without a level shows what nobody has seen: the last code.
        """
        n_levels = self.tests[test].n_levels
        chances = np.zeros(n_levels + 2)
        if n_levels:
            chances[:n_levels] = self.chances[test]
        else:
            chances[-1] = 1.0
        return chances

    def outcome_chances(self, test: int) -> NDArray[np.float64]:
        """Return the chance that each case shows each code of a test.

        Of shape (n_levels + 1, n_cases): the levels, then "missing"; the columns sum to
        one. What is known has the chance 1. A test without a level is taken to show
        "missing" for every case.

        Examples
        --------
        >>> from askless import Table
        >>> table = Table([[0], [None], [1]], ["a", "b", "c"])
        >>> table.possible.outcome_chances(0)
        array([[1. , 0.5, 0. ],
               [0. , 0.5, 1. ],
               [0. , 0. , 0. ]])
        """
        n_levels, codes = self.tests[test].n_levels, self.codes[test]
        chances = np.zeros((n_levels + 1, len(codes)))
        if not n_levels:
            chances[:] = 1.0
            return chances
        own = self.likelihoods[test]
        if own is not None:
            chances[:n_levels] = own
            chances[n_levels, codes == n_levels] = 1.0
            return chances
        is_unknown = self.is_unknown_in(test)
        known = np.flatnonzero(~is_unknown)
        chances[codes[known], known] = 1.0
        chances[:n_levels, is_unknown] = self.chances[test][:, None]
        return chances

    @cached_property
    def _own_tests(self) -> list[int]:
        """The tests with cells that have chances of their own."""
        return [i for i, own in enumerate(self.likelihoods) if own is not None]

    @cached_property
    def _supports(self) -> dict[int, Flags]:
        """Of tests with likelihoods: which codes each case may show."""
        return {test: self.outcome_chances(test) > 0 for test in self._own_tests}

    @cached_property
    def profiles(self) -> NDArray[Any]:
        """The codes, but numbers of equal chances where a test has likelihoods.

        Two cases show the same, with the same chances, if their columns are equal.
        """
        if not self._own_tests:
            return self.codes
        rows = self.codes.astype(np.int64)
        for test in self._own_tests:
            rows[test] = number_columns(self.outcome_chances(test))
        return rows

    @cached_property
    def flat_chances(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The chances of all tests in one array, and where those of each begin."""
        starts = np.cumsum([0, *map(len, self.chances)]).astype(np.int64)
        return np.concatenate([*self.chances, np.zeros(0)]), starts

    # What may be seen.

    def list_codes(
        self, test: int, cases: Any = None, chances: NDArray[np.float64] | None = None
    ) -> list[int]:
        """Return the codes that a test may show for some cases, ascending.

        `chances` are those of the codes where the outcome is unknown, if they are not
        those of the test; a test with likelihoods has no others.
        """
        cases = slice(None) if cases is None else cases
        if test in self._supports:
            shown = self._supports[test][:, cases].any(axis=1)
            return [int(code) for code in np.flatnonzero(shown)]
        is_unknown = self.is_unknown_in(test, cases)
        codes = set(self.codes[test, cases][~is_unknown].tolist())
        if is_unknown.any():
            chances = self.chances_of(test) if chances is None else chances
            codes |= set(np.flatnonzero(chances > 0).tolist())
        return sorted(codes)

    def can_show(self, test: int, code: int) -> Flags:
        """Return which cases can show a code, of shape (n_cases,)."""
        if self.tests[test].n_levels == 0:
            return np.ones(self.codes.shape[1], dtype=bool)
        if test in self._supports and code <= self.tests[test].n_levels:
            return np.array(self._supports[test][code])
        shows = self.codes[test] == code
        if self.chances_of(test)[code] > 0:
            shows |= self.is_unknown_in(test)
        return np.asarray(shows)

    def can_show_each(self, test: int) -> Flags:
        """Return which cases can show each code, of shape (n_levels + 2, n_cases)."""
        n_codes = self.tests[test].n_levels + 2
        return np.stack([self.can_show(test, code) for code in range(n_codes)])

    def draw(self, test: int, case: int, rng: np.random.Generator) -> int:
        """Return what a test shows for a case, drawn if it is unknown."""
        n_levels, code = self.tests[test].n_levels, int(self.codes[test, case])
        if code != self.tests[test].unknown_code or not n_levels:
            return code
        own = self.likelihoods[test]
        return int(rng.choice(n_levels, p=_column(own, case, self.chances[test])))

    def draw_all(
        self, test: int, cases: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Return what a test shows for some cases, each drawn if it is unknown."""
        codes: NDArray[np.int64] = self.codes[test, cases].astype(np.int64)
        unknown = np.flatnonzero(self.is_unknown_in(test, cases))
        own = self.likelihoods[test]
        if own is not None:
            # The first level whose chance, added to those before it, is above a draw.
            ends = np.cumsum(own[:, cases[unknown]], axis=0)
            draws = rng.random(unknown.size) * ends[-1]
            draws = np.minimum(draws, np.nextafter(ends[-1], 0.0))
            codes[unknown] = (ends <= draws).sum(axis=0)
        elif unknown.size and self.tests[test].n_levels:
            chances = self.chances[test]
            codes[unknown] = rng.choice(len(chances), unknown.size, p=chances)
        return codes

    @cached_property
    def draw_bits(self) -> NDArray[np.float64]:
        """The logarithm of how many ways the draws of each case can come."""
        bits = np.zeros(self.codes.shape[1])
        for test in range(len(self.tests)):
            if test in self._supports:
                bits += np.log2(np.maximum(1, self._supports[test].sum(axis=0)))
            else:
                bits += self.bits_of_draw(test) * self.is_unknown_in(test)
        return bits

    def bits_of_draw(self, test: int) -> float:
        """Return the logarithm of how many outcomes an unknown one may be.

        Not of a likelihood, which depends on the case.
        """
        return float(np.log2(max(1, int(np.count_nonzero(self.chances[test])))))

    # What tells cases apart.

    @cached_property
    def _cells(self) -> Cells:
        if not self.is_unknown.any():
            return Cells(self.codes, None, None, None)
        never = [self.chances_of(test) <= 0 for test in range(len(self.tests))]
        always = [self.chances_of(test) >= 1 for test in range(len(self.tests))]
        for test, (is_never, is_always) in enumerate(zip(never, always, strict=True)):
            is_never[-1] = is_always[-1] = False
            if self.tests[test].n_levels == 0:
                # Whatever is known of it, an unknown outcome may be as well.
                is_never[0], is_always[0] = False, True
        return Cells(
            self.codes, ~self.is_unknown, self._mark(never), self._mark(always)
        )

    def _mark(self, by_code: list[Flags]) -> Flags | None:
        """Return the cells whose codes are marked; None if there are none."""
        if not any(marks.any() for marks in by_code):
            return None
        marked = np.zeros(self.codes.shape, dtype=bool)
        for test, marks in enumerate(by_code):
            marked[test] = marks[self.codes[test]]
        return marked if marked.any() else None

    def _take(self, *where: Any) -> Cells:
        """Return some cells; `where` are indices, one after another."""
        cells: list[Any] = list(self._cells)
        for index in where:
            cells = [None if part is None else part[index] for part in cells]
        return Cells(*cells)

    def tells_from(self, case: int, others: Any = None) -> Flags:
        """Return which tests are sure to tell a case from others.

        Of shape (n_tests, n_others); from all cases by default.
        """
        others = slice(None) if others is None else others
        tells = tell_apart(
            self._take((slice(None), [case])), self._take((slice(None), others))
        )
        for test, support in self._supports.items():
            tells[test] = ~np.any(support[:, [case]] & support[:, others], axis=0)
        return tells

    def tells(self, test: int, cases: Any = None) -> Flags:
        """Return which pairs of cases a test is sure to tell apart.

        Of shape (n_cases, n_cases).
        """
        cases = slice(None) if cases is None else cases
        if test in self._supports:
            shows = self._supports[test][:, cases].astype(np.float64)
            return np.asarray(shows.T @ shows == 0)
        own = self._take((test, cases))
        return tell_apart(self._take((test, cases), (slice(None), None)), own)

    def rules_out(self, test: int, cases: Any = None) -> Flags:
        """Return whether a test may rule out a case (column) if another is true (row).

        Of shape (n_cases, n_cases).
        """
        cases = slice(None) if cases is None else cases
        if test in self._supports:
            shows = self._supports[test][:, cases].astype(np.float64)
            return np.asarray(shows.T @ (1.0 - shows) > 0)
        own = self._take((test, cases))
        return may_rule_out(self._take((test, cases), (slice(None), None)), own)

    def rules_out_others(self, case: int, others: Any) -> Flags:
        """Return which tests may rule out other cases if a case is true.

        Of shape (n_tests, n_others).
        """
        out = may_rule_out(
            self._take((slice(None), [case])), self._take((slice(None), others))
        )
        for test, support in self._supports.items():
            out[test] = np.any(support[:, [case]] & ~support[:, others], axis=0)
        return out

    @cached_property
    def finds_all_pairs(self) -> bool:
        """Whether unknown outcomes are few enough to find all that look alike."""
        n_partial = int(np.count_nonzero(self.is_unknown.any(axis=0)))
        return n_partial * self.codes.size <= MOST_CELLS


def _column(
    own: NDArray[np.float64] | None, case: int, shared: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the chances of an unknown cell: its own, or those of its test."""
    return shared if own is None else own[:, case]


# Cases that look alike.


def find_indistinct(
    possible: Possible, class_ids: NDArray[np.int32]
) -> list[tuple[int, int]]:
    """Return pairs of cases of different class that no test is sure to tell apart.

    Of a set of cases that show the same, each is paired with the first one of another
    class. A case with unknown outcomes is paired with every case that it may look the
    same as.
    """
    pairs = pair_identical(possible.profiles, class_ids)
    if possible.finds_all_pairs:
        for case in np.flatnonzero(possible.is_unknown.any(axis=0)).tolist():
            is_told = possible.tells_from(case).any(axis=0)
            near = np.flatnonzero(~is_told & (class_ids != class_ids[case]))
            pairs |= {(min(case, other), max(case, other)) for other in near.tolist()}
    return sorted(pairs)


def explain_pair(possible: Possible, names: Sequence[str], a: int, b: int) -> str:
    """Say in a sentence what would tell two cases apart for sure."""
    said = f"{names[a]!r} and {names[b]!r} may look the same."
    is_unknown, tests = possible.is_unknown, possible.tests
    for test in range(len(tests)):
        for known, unknown in ((a, b), (b, a)):
            if is_unknown[test, unknown] and not is_unknown[test, known]:
                shown = tests[test].label(int(possible.codes[test, known]))
                return (
                    f"{said} They differ for sure if {tests[test].name!r} of "
                    f"{names[unknown]!r} is known to be other than {shown!r}."
                )
    both = np.flatnonzero(is_unknown[:, a] & is_unknown[:, b])
    if both.size:
        name = tests[both[0]].name
        return f"{said} They differ for sure if {name!r} is known to differ for them."
    return f"{said} They show the same for every test: only a new test can tell them."


# Answers that no case fits.


def find_recheck(possible: Possible, shown: Mapping[int, int]) -> tuple[int, ...]:
    """Return the fewest tests whose answers must be wrong, or none if a case fits.

    If one case were true, all answers that it cannot show would be wrong; the smallest
    such set is returned, that of the first case on a tie.

    Parameters
    ----------
    possible : Possible
    shown : mapping of int to int
        The code that each answered test has shown.

    Examples
    --------
    >>> from askless import Table
    >>> table = Table([[0, 0, 0], [1, 1, 1]], ["a", "b"])
    >>> find_recheck(table.possible, {0: 1, 1: 1, 2: 0})
    (2,)
    """
    asked = sorted(shown)
    against = np.zeros((len(asked), possible.codes.shape[1]), dtype=bool)
    for i, test in enumerate(asked):
        against[i] = ~possible.can_show(test, shown[test])
    likeliest = int(np.argmin(against.sum(axis=0)))
    return tuple(test for i, test in enumerate(asked) if against[i, likeliest])


# A case whose unknown outcome has chances of its own. An unknown outcome is drawn once,
# so such a case is the same as several cases of its class, one for each outcome that
# may be drawn, with the weight shared by chance.


def find_case(cases: Sequence[str], case: str | int) -> int:
    """Return the number of a case, by its number or its name."""
    if isinstance(case, (int, np.integer)) and not isinstance(case, bool):
        if 0 <= case < len(cases):
            return int(case)
        raise InvalidTableError(
            f"A case must be one of the cases 0 to {len(cases) - 1}. Got {case}. "
            "Number them from 0, or use its name."
        )
    found = [i for i, name in enumerate(cases) if name == case]
    if len(found) != 1:
        raise InvalidTableError(
            f"A case must be named as one case of the table is. Got {case!r}, which "
            f"names {len(found)}. {suggest_name(str(case), cases)}Use its number."
        )
    return found[0]


def find_test(tests: Sequence[Test], name: str) -> int:
    """Return the number of a test by its name."""
    names = [test.name for test in tests]
    if name not in names:
        raise InvalidTableError(
            f"A test must be one of the table's. Got {name!r}. "
            f"{suggest_name(str(name), names)}Use the name of a column."
        )
    return names.index(name)


def list_draws(
    test: Test, case: str, shares: NDArray[np.float64]
) -> tuple[list[int], list[float], list[str]]:
    """Return codes, shares and names of the cases that one case is split into."""
    codes = [int(code) for code in np.flatnonzero(shares > 0)]
    names = [f"{case}, {test.name}: {test.label(code)}" for code in codes]
    return codes, [float(shares[code]) for code in codes], names
