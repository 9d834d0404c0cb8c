"""Random tables: problems of any size on which every method can be tried.

Draws outcomes, classes, costs and priors. It knows nothing of solvers, so it does not
know which tables are hard for them.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from askless.datasets._rng import RandomState, make_rng
from askless.exceptions import InvalidOptionError, UnknownNameError
from askless.problem import Costs, Table

__all__ = ["make_random_table"]

_LARGEST_COST = 10
# Below this many profiles, draw without repetition from all of them; above, a drawn
# profile is almost surely a new one.
_FEW_PROFILES = 2**16
_TRIES = 50

# What every case shows for every test.
_Profiles = NDArray[np.int64]


def _draw_classes(
    n_cases: int, n_classes: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return a class for each case; every class occurs."""
    first = np.arange(n_classes)
    rest = rng.integers(n_classes, size=n_cases - n_classes)
    return rng.permutation(np.concatenate([first, rest]))


def _draw_distinct(
    n_profiles: int, n_tests: int, n_outcomes: int, rng: np.random.Generator
) -> _Profiles:
    """Return rows of outcomes, no two of them equal."""
    # Python's integers: the power overflows 64 bits for 64 binary tests.
    n_possible = n_outcomes**n_tests
    if n_possible <= _FEW_PROFILES:
        drawn = rng.choice(n_possible, size=n_profiles, replace=False)
        places = n_outcomes ** np.arange(n_tests)
        digits: _Profiles = drawn[:, None] // places % n_outcomes
        return digits
    seen: dict[bytes, _Profiles] = {}
    while len(seen) < n_profiles:
        row = rng.integers(n_outcomes, size=n_tests)
        seen.setdefault(row.tobytes(), row)
    return np.array(list(seen.values()))


def _draw_complete(
    classes: NDArray[np.int64], n_tests: int, n_outcomes: int, rng: np.random.Generator
) -> _Profiles:
    """Return outcomes in which cases of different class differ on some test.

    Every class first gets a profile of its own. A further case draws one at random, and
    draws again if that belongs to another class; should this go on (few tests, many
    cases), it takes the profile of its class. So this ends whenever there are at least
    as many profiles as classes.
    """
    n_classes = int(classes.max()) + 1
    own = _draw_distinct(n_classes, n_tests, n_outcomes, rng)
    owner = {row.tobytes(): number for number, row in enumerate(own)}
    outcomes = np.empty((len(classes), n_tests), dtype=np.int64)
    has_case = np.zeros(n_classes, dtype=bool)
    for case, number in enumerate(classes.tolist()):
        outcomes[case] = own[number]
        if not has_case[number]:
            has_case[number] = True
            continue
        for _ in range(_TRIES):
            row = rng.integers(n_outcomes, size=n_tests)
            if owner.setdefault(row.tobytes(), number) == number:
                outcomes[case] = row
                break
    return outcomes


def _hide_some(
    outcomes: _Profiles,
    classes: NDArray[np.int64],
    n_hidden: int,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """Return which cells to make unknown so that the table stays complete.

    Visits the cells in random order and hides one if every pair of cases it helps to
    tell apart is told apart by another test that is known for both.
    """
    n_cases, n_tests = outcomes.shape
    is_known = np.ones(outcomes.shape, dtype=bool)
    differ = classes[:, None] != classes[None, :]
    # n_telling[i, j]: tests known for both i and j on which they differ.
    n_telling = np.zeros((n_cases, n_cases), dtype=np.int64)
    for test in range(n_tests):
        n_telling += outcomes[:, test, None] != outcomes[None, :, test]
    for cell in rng.permutation(outcomes.size).tolist():
        if n_hidden == 0:
            break
        case, test = divmod(cell, n_tests)
        told = is_known[:, test] & (outcomes[:, test] != outcomes[case, test])
        if np.any(told & differ[case] & (n_telling[case] <= 1)):
            continue
        is_known[case, test] = False
        n_telling[case, told] -= 1
        n_telling[told, case] -= 1
        n_hidden -= 1
    if n_hidden > 0:
        raise InvalidOptionError(
            "The share of unknown outcomes must leave cases of different class a test "
            f"that tells them apart. Got {n_hidden} outcomes too many for "
            f"{n_cases} cases and {n_tests} tests. Lower `unknown`, take more tests, "
            "or pass complete=False."
        )
    return ~is_known


def _draw_costs(
    shape: tuple[int, ...], kind: str, rng: np.random.Generator
) -> NDArray[np.float64]:
    if kind == "unit":
        return np.ones(shape)
    if kind == "integers":
        return rng.integers(1, _LARGEST_COST, size=shape, endpoint=True).astype(float)
    if kind == "uniform":
        return rng.uniform(1, _LARGEST_COST, size=shape)
    raise UnknownNameError(
        f"costs must be 'unit', 'integers' or 'uniform'. Got {kind!r}. Take one of "
        "them."
    )


def _draw_table_costs(
    names: list[str],
    cells: NDArray[Any],
    kind: str,
    outcome_costs: bool,
    rng: np.random.Generator,
) -> Costs:
    """Return a cost for each test, or for each outcome that a test can show."""
    if not outcome_costs:
        drawn = _draw_costs((len(names),), kind, rng)
        return Costs(dict(zip(names, drawn.tolist(), strict=True)))
    by_outcome: dict[str, dict[int, float]] = {}
    for name, column in zip(names, cells.T.tolist(), strict=True):
        outcomes = sorted({outcome for outcome in column if outcome is not None})
        drawn = _draw_costs((len(outcomes),), kind, rng)
        by_outcome[name] = dict(zip(outcomes, drawn.tolist(), strict=True))
    # The cost of the test itself is the most it can charge.
    dearest = {
        name: max(prices.values(), default=1.0) for name, prices in by_outcome.items()
    }
    return Costs(dearest, by_outcome=by_outcome)


def _draw_likelihoods(table: Table, share: float, rng: np.random.Generator) -> Table:
    """Give some cells chances of their own."""
    drawn: dict[str, dict[str | int, dict[Any, float]]] = {}
    n_cells = round(share * table.codes.size)
    for cell in rng.permutation(table.codes.size)[:n_cells].tolist():
        number, case = divmod(cell, table.n_cases)
        test = table.tests[number]
        if test.n_levels:
            parts = rng.standard_exponential(test.n_levels)
            chances = dict(
                zip(test.outcomes, (parts / parts.sum()).tolist(), strict=True)
            )
            drawn.setdefault(test.name, {})[case] = chances
    return table.with_likelihoods(drawn)


def _check_sizes(
    n_cases: int, n_tests: int, n_outcomes: int, n_classes: int, complete: bool
) -> None:
    if min(n_cases, n_tests, n_classes) < 1 or n_outcomes < 2:
        raise InvalidOptionError(
            "A random table needs at least 1 case, 1 test, 1 class and 2 outcomes. Got "
            f"{n_cases} cases, {n_tests} tests, {n_classes} classes and {n_outcomes} "
            "outcomes. Raise the one that is too small."
        )
    if n_classes > n_cases:
        raise InvalidOptionError(
            "Every class must have a case, so n_classes must not exceed n_cases. Got "
            f"{n_classes} classes and {n_cases} cases. Lower n_classes."
        )
    if complete and n_outcomes**n_tests < n_classes:
        raise InvalidOptionError(
            "A complete table must be able to tell its classes apart, so "
            "n_outcomes ** n_tests must be at least n_classes. Got "
            f"{n_outcomes} ** {n_tests} = {n_outcomes**n_tests} for {n_classes} "
            "classes. Take more tests or outcomes, or pass complete=False."
        )


def make_random_table(
    n_cases: int,
    n_tests: int,
    *,
    n_outcomes: int = 2,
    n_classes: int = 2,
    costs: Literal["unit", "integers", "uniform"] = "unit",
    prior: Literal["uniform", "random"] = "uniform",
    unknown: float = 0.0,
    likelihoods: float = 0.0,
    outcome_costs: bool = False,
    complete: bool = True,
    random_state: RandomState = None,
) -> Table:
    """Make a random table.

    Parameters
    ----------
    n_cases, n_tests : int
        How many cases and tests.
    n_outcomes : int, default=2
        Outcomes of every test: 0, 1, ..., n_outcomes - 1, equally likely.
    n_classes : int, default=2
        Classes: 0, 1, ..., n_classes - 1; each has a case. With `n_cases` of them,
        each case is its own class.
    costs : {"unit", "integers", "uniform"}, default="unit"
        All 1; integers 1 to 10; or numbers between 1 and 10.
    prior : {"uniform", "random"}, default="uniform"
        All cases equally likely; or weights drawn evenly from all priors.
    unknown : float, default=0.0
        The share of outcomes to make unknown, at random, in [0, 1].
    likelihoods : float, default=0.0
        The share of cells to give chances of their own, at random, in [0, 1], facts or
        unknown before. All distributions are equally likely.
    outcome_costs : bool, default=False
        Draw a cost for every outcome of every test instead of one for the test.
    complete : bool, default=True
        Every two cases of different class differ on a test known for both, before any
        cells become likelihoods.
    random_state : int, Generator, RandomState or None, default=None
        The same seed gives the same table.

    Returns
    -------
    Table
        With tests ``t1``, ``t2``, ...

    Raises
    ------
    InvalidOptionError
        If no complete table of these sizes exists, or the unknown outcomes leave none.
    UnknownNameError
        If `costs` or `prior` is not one of the names above.

    Notes
    -----
    Cases of the same class may have the same outcomes. O(n_cases n_tests) without
    unknown outcomes; with them, and complete, O(n_cases^2 n_tests).

    Examples
    --------
    Eight cases, each its own class, need at least three binary tests:

    >>> table = make_random_table(8, 3, n_classes=8, random_state=0)
    >>> table.n_cases, table.n_tests, len(table.classes)
    (8, 3, 8)
    >>> make_random_table(8, 2, n_classes=8)
    Traceback (most recent call last):
    ...
    askless.exceptions.InvalidOptionError: A complete table must be able to tell its
    classes apart, so n_outcomes ** n_tests must be at least n_classes. Got 2 ** 2 = 4
    for 8 classes. Take more tests or outcomes, or pass complete=False.
    """
    _check_sizes(n_cases, n_tests, n_outcomes, n_classes, complete)
    if prior not in ("uniform", "random"):
        raise UnknownNameError(
            f"prior must be 'uniform' or 'random'. Got {prior!r}. Take one of them."
        )
    for option, share in (("unknown", unknown), ("likelihoods", likelihoods)):
        if not 0 <= share <= 1:
            raise InvalidOptionError(
                f"{option} must be a share in [0, 1]. Got {share}. Give the share of "
                "the outcomes, 0.1 for every tenth."
            )
    rng = make_rng(random_state)
    classes = _draw_classes(n_cases, n_classes, rng)
    n_hidden = round(unknown * n_cases * n_tests)
    if complete:
        outcomes = _draw_complete(classes, n_tests, n_outcomes, rng)
        hidden = _hide_some(outcomes, classes, n_hidden, rng) if n_hidden else None
    else:
        outcomes = rng.integers(n_outcomes, size=(n_cases, n_tests))
        cells = rng.permutation(outcomes.size).reshape(outcomes.shape)
        hidden = cells < n_hidden
    cells_shown = outcomes.astype(object)
    if hidden is not None:
        cells_shown[hidden] = None
    names = [f"t{test}" for test in range(1, n_tests + 1)]
    weights = rng.standard_exponential(n_cases) if prior == "random" else None
    table = Table(
        cells_shown,
        classes.tolist(),
        costs=_draw_table_costs(names, cells_shown, costs, outcome_costs, rng),
        prior=weights,
        tests=names,
    )
    return _draw_likelihoods(table, likelihoods, rng) if likelihoods else table
