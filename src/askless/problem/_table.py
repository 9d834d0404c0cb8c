"""State a known table: what each test shows for each case, and the class of each case.

A :class:`Table` is immutable. It does not know who will solve it.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidTableError, suggest_name
from askless.problem._coding import (
    Coding,
    category_test,
    distinct_outcomes,
    quantile_test,
    uniform_test,
)
from askless.problem._costs import Costs
from askless.problem._files import read_columns
from askless.problem._frames import Column, as_columns, clean_column, is_frame
from askless.problem._indistinct import find_indistinct, merge_identical
from askless.problem._prices import PriceList
from askless.problem._tests import MAX_LEVELS, CodeArray, Outcome, Test

__all__ = ["Table", "read_table"]


class Table:
    """What each test shows for each case, with classes, weights and costs.

    Parameters
    ----------
    outcomes : frame or array-like of shape (n_cases, n_tests)
        What each test shows. ``None`` and NaN mark an unknown outcome.
    classes : array-like of shape (n_cases,), or str
        The class of each case, or the column of a frame that holds it.
    costs : Costs, mapping or sequence, optional
        What the tests cost; 1 each by default.
    prior : array-like of shape (n_cases,), optional
        Weight of each case, on any scale; equal by default.
    tests : sequence of str, optional
        Names of the tests; of a frame, which columns are tests.
    unknown : object, optional
        A further value that marks an unknown outcome, such as ``"?"``.
    cases : sequence of str, optional
        Names of the cases; "case 0", "case 1", ... by default.
    missing : {"unknown", "outcome"}, default="unknown"
        Whether an empty cell is an outcome that the table does not know, or an outcome
        of its own ("missing"), as when learning from records.
    levels : int, optional
        Cut every column of numbers into this many levels of equal width. By default
        each different number is an outcome.
    thresholds : bool, default=False
        Compare numbers with a threshold, instead of giving each level a branch.
    chances : mapping, optional
        Test to a mapping of outcome to the chance of seeing it where the outcome is
        unknown; all outcomes of the test are equally likely by default.

    Attributes
    ----------
    tests : tuple of Test
    classes : tuple
        The different classes, ascending.
    class_ids : ndarray of int32 of shape (n_cases,)
    prior : ndarray of shape (n_cases,)
        Sums to one.
    codes : ndarray of shape (n_tests, n_cases)
    costs : Costs
    prices : PriceList
    notes : list of str
        What a careful reader would remark: tests that show nothing, and the like.

    See Also
    --------
    read_table : Read a table from a CSV or Parquet file.

    Examples
    --------
    Four faults of a lamp, and what two checks show for them:

    >>> table = Table([["dark", "dead"], ["dark", "live"], ["dim", "live"]],
    ...               classes=["no power", "bulb", "dimmer"],
    ...               tests=["lamp", "socket"], costs={"lamp": 1, "socket": 5})
    >>> table
    Table(3 cases, 2 tests, 3 classes)
    >>> table.tests[0].outcomes
    ('dark', 'dim')
    """

    def __init__(
        self,
        outcomes: Any,
        classes: Any,
        *,
        costs: Costs | Mapping[str, float] | Sequence[float] | None = None,
        prior: Any = None,
        tests: Sequence[str] | None = None,
        unknown: Any = None,
        cases: Sequence[Any] | None = None,
        missing: Literal["unknown", "outcome"] = "unknown",
        levels: int | None = None,
        thresholds: bool = False,
        chances: Mapping[str, Mapping[Any, float]] | None = None,
    ) -> None:
        if missing not in ("unknown", "outcome"):
            raise InvalidTableError(
                f"missing must be 'unknown' or 'outcome'. Got {missing!r}. "
                "Choose 'outcome' if an empty cell says something by itself."
            )
        if isinstance(classes, str):
            classes, outcomes, tests = _split_target(outcomes, classes, tests)
        _check_levels(levels)
        columns = as_columns(outcomes, tests)
        n_cases = _check_size(columns)
        labels = _check_length(clean_column(classes, "classes"), n_cases, "class")
        marked = {name: _marked(column, unknown) for name, column in columns.items()}
        columns = {k: _blank(v, marked[k], k) for k, v in columns.items()}
        chosen = tuple(
            _choose_levels(name, column, levels, thresholds)
            for name, column in columns.items()
        )
        self.coding = Coding(chosen)
        codes = self.coding.encode(columns)
        for code, test in zip(codes, chosen, strict=True):
            if missing == "unknown":
                code[code == test.missing_code] = test.unknown_code
            else:
                code[marked[test.name]] = test.unknown_code
        self.codes: CodeArray = codes
        self.is_ordered: NDArray[np.bool_] = np.array(
            [thresholds and test.kind == "number" for test in chosen]
        )
        self.classes, self.class_ids = _number_classes(labels)
        self.prior = _check_prior(prior, n_cases)
        self.cases: tuple[str, ...] = _name_cases(cases, n_cases)
        self.costs = _as_costs(costs, len(chosen))
        self.prices: PriceList = self.costs.price_list(chosen)
        self.chances = _check_chances(chances or {}, chosen)
        self._freeze()

    def _freeze(self) -> None:
        arrays = (self.codes, self.class_ids, self.prior, self.is_ordered)
        for array in (*arrays, *self.chances):
            array.flags.writeable = False

    @property
    def tests(self) -> tuple[Test, ...]:
        """The tests, in order."""
        return self.coding.tests

    @property
    def test_names(self) -> tuple[str, ...]:
        """Names of the tests, in order."""
        return self.coding.names

    @property
    def n_cases(self) -> int:
        """How many cases there are."""
        return len(self.class_ids)

    @property
    def n_tests(self) -> int:
        """How many tests there are."""
        return len(self.tests)

    @property
    def n_classes(self) -> int:
        """How many different classes there are."""
        return len(self.classes)

    @property
    def case_classes(self) -> list[Outcome]:
        """The class of each case."""
        return [self.classes[i] for i in self.class_ids]

    @cached_property
    def is_unknown(self) -> NDArray[np.bool_]:
        """Which outcomes are unknown, of shape (n_tests, n_cases)."""
        unknown = np.array([test.unknown_code for test in self.tests])
        return np.asarray(self.codes == unknown[:, None])

    @cached_property
    def has_unknown(self) -> bool:
        """Whether any outcome is unknown."""
        return bool(self.is_unknown.any())

    @cached_property
    def indistinct(self) -> list[tuple[int, int]]:
        """Pairs of cases of different class that no test is sure to tell apart."""
        return find_indistinct(self.codes, self.is_unknown, self.class_ids)

    @cached_property
    def notes(self) -> list[str]:
        """Remarks on the table that a user should hear of."""
        notes = []
        if self.n_cases == 1:
            notes.append(
                f"There is only one case, {self.cases[0]!r}, so nothing is left to "
                "find out and no test is ever bought."
            )
        elif self.n_classes == 1:
            notes.append(
                f"All cases have the class {self.classes[0]!r}, so there is nothing to "
                "decide and no test is ever bought."
            )
        for i, test in enumerate(self.tests):
            if np.all(self.codes[i] == self.codes[i, 0]):
                notes.append(
                    f"The test {test.name!r} shows the same for every case, so it is "
                    "never bought."
                )
        if self.indistinct:
            notes.append(self._note_indistinct())
        return notes

    def _note_indistinct(self) -> str:
        a, b = self.indistinct[0]
        labels = self.case_classes
        n_pairs = len(self.indistinct)
        return (
            f"No test is sure to tell {self.cases[a]!r} from {self.cases[b]!r}, though "
            f"their classes differ ({labels[a]!r} and {labels[b]!r}): {n_pairs} such "
            f"pair{'s' * (n_pairs > 1)}. Add a test, or merge such cases by "
            "table.merged()."
        )

    def merged(self, *, weights: Literal["sum", "equal"] = "sum") -> Table:
        """Return the table with cases that show the same merged into one.

        The merged case has the commonest class of its cases, by weight; on a tie, the
        smallest. Unknown outcomes are the same only as unknown outcomes. A class that
        is left without cases is left out, of a matrix of mistakes too.

        Parameters
        ----------
        weights : {"sum", "equal"}, default="sum"
            Whether a merged case weighs as much as its cases together, or every case of
            the new table weighs the same, as in the papers.

        Examples
        --------
        >>> table = Table([[0], [0], [0], [1]], ["a", "b", "b", "a"])
        >>> table.merged().case_classes
        ['b', 'a']
        """
        firsts, class_ids, prior = merge_identical(
            self.codes, self.class_ids, self.prior
        )
        if weights == "equal":
            prior = np.full(len(firsts), 1.0 / len(firsts))
        present = np.unique(class_ids)
        merged = object.__new__(Table)
        merged.__dict__.update(
            coding=self.coding,
            codes=np.ascontiguousarray(self.codes[:, firsts]),
            is_ordered=self.is_ordered,
            classes=tuple(self.classes[i] for i in present),
            class_ids=np.searchsorted(present, class_ids).astype(np.int32),
            prior=prior,
            cases=tuple(self.cases[i] for i in firsts),
            costs=_keep_classes(self.costs, self.classes, present),
            prices=self.prices,
            chances=self.chances,
        )
        merged._freeze()
        return merged

    def rows(self) -> dict[str, list[Outcome | None]]:
        """Return what each test shows, by name, with None for unknown and missing.

        A level of a number is shown as a value inside it.

        Examples
        --------
        >>> Table([["a"], [None]], [1, 2], tests=["t"]).rows()
        {'t': ['a', None]}
        """
        return {
            test.name: [_example(test, code) for code in self.codes[i].tolist()]
            for i, test in enumerate(self.tests)
        }

    def __repr__(self) -> str:
        def count(n: int, word: str, many: str) -> str:
            return f"{n} {word if n == 1 else many}"

        return (
            f"Table({count(self.n_cases, 'case', 'cases')}, "
            f"{count(self.n_tests, 'test', 'tests')}, "
            f"{count(self.n_classes, 'class', 'classes')})"
        )


def _example(test: Test, code: int) -> Outcome | None:
    """Return a raw value that has the code."""
    if code >= test.n_levels:
        return None
    if test.kind == "category":
        return test.outcomes[code]
    if code < len(test.cuts):
        return test.cuts[code]
    return test.cuts[-1] + 1.0 + abs(test.cuts[-1]) if test.cuts else 0.0


def _choose_levels(
    name: str, column: Column, levels: int | None, thresholds: bool
) -> Test:
    is_number = column.dtype.kind in "if"
    if is_number and np.isinf(column).any():
        raise InvalidTableError(
            f"Numbers must be finite. Got an infinite value of {name!r}. Write it as "
            "missing, or as text."
        )
    if is_number and levels is not None:
        return uniform_test(name, column, levels)
    if is_number and thresholds:
        return quantile_test(name, column)
    return category_test(name, column)


def _check_levels(levels: int | None) -> None:
    if levels is None:
        return
    if not isinstance(levels, (int, np.integer)) or not 2 <= levels <= MAX_LEVELS:
        raise InvalidTableError(
            f"levels must be a whole number from 2 to {MAX_LEVELS:,}. Got {levels!r}. "
            "The papers use 10."
        )


def _marked(column: Column, unknown: Any) -> NDArray[np.bool_]:
    """Return which cells hold the value that marks an unknown outcome."""
    if unknown is None:
        return np.zeros(len(column), dtype=bool)
    return np.array([v == unknown for v in column.tolist()], dtype=bool)


def _blank(column: Column, marked: NDArray[np.bool_], name: str) -> Column:
    """Return the column without the marked cells, as numbers if the rest is numbers."""
    if not marked.any():
        return column
    cells = zip(column.tolist(), marked, strict=True)
    return clean_column([None if is_marked else v for v, is_marked in cells], name)


def _check_size(columns: dict[str, Column]) -> int:
    if not columns:
        raise InvalidTableError(
            "A table must have at least one test. Got no columns of outcomes. Pass an "
            "array with a column for each test."
        )
    n_cases = len(next(iter(columns.values())))
    if n_cases == 0:
        raise InvalidTableError(
            "A table must have at least one case. Got none. Pass a row of outcomes for "
            "each case."
        )
    return n_cases


def _check_length(values: Column, n_cases: int, what: str) -> Column:
    if len(values) != n_cases:
        raise InvalidTableError(
            f"There must be a {what} for each case. Got {len(values)} for {n_cases} "
            "cases. Pass as many as there are rows."
        )
    return values


def _number_classes(labels: Column) -> tuple[tuple[Outcome, ...], NDArray[np.int32]]:
    classes = tuple(distinct_outcomes(labels))
    index = {label: i for i, label in enumerate(classes)}
    # Neither None nor NaN is a class.
    ids = np.array([index.get(label, -1) for label in labels.tolist()], dtype=np.int32)
    lost = np.flatnonzero(ids < 0)
    if lost.size:
        raise InvalidTableError(
            f"Every case must have a class. Got none for case {lost[0]} "
            f"({lost.size} without one). Remove the case, or name its class."
        )
    return classes, ids


def _keep_classes(
    costs: Costs, classes: tuple[Outcome, ...], present: NDArray[Any]
) -> Costs:
    """Return the costs with the mistakes of the classes that are present."""
    if costs.mistakes is None or len(present) == len(classes):
        return costs
    matrix = costs.mistake_matrix(classes)
    assert matrix is not None
    return costs.with_mistakes(matrix[np.ix_(present, present)])


def _check_prior(prior: Any, n_cases: int) -> NDArray[np.float64]:
    if prior is None:
        return np.full(n_cases, 1.0 / n_cases)
    try:
        weights = np.array(prior, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidTableError(
            f"Weights must be numbers. Got {reprlib.repr(prior)}. Pass one number for "
            "each case."
        ) from None
    if weights.ndim != 1 or len(weights) != n_cases:
        raise InvalidTableError(
            f"There must be a weight for each case. Got {weights.size} for {n_cases} "
            "cases. Pass as many as there are rows."
        )
    if not np.all(np.isfinite(weights)) or np.any(weights < 0):
        wrong = int(np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[0])
        raise InvalidTableError(
            f"Weights must be finite and >= 0. Got {weights[wrong]} for case {wrong}. "
            "Give a case that cannot occur the weight 0."
        )
    largest = weights.max()
    if largest <= 0:
        raise InvalidTableError(
            "Weights must sum to more than 0. Got a sum of 0. Give at least one case a "
            "positive weight, or leave the prior out for equal weights."
        )
    # The sum of weights near the largest double may be infinite.
    weights = weights / largest if largest > 1e300 else weights
    return np.asarray(weights / weights.sum())


def _name_cases(cases: Sequence[Any] | None, n_cases: int) -> tuple[str, ...]:
    if cases is None:
        return tuple(f"case {i}" for i in range(n_cases))
    names = tuple(str(case) for case in cases)
    if len(names) != n_cases:
        raise InvalidTableError(
            f"There must be a name for each case. Got {len(names)} names for {n_cases} "
            "cases. Pass as many as there are rows."
        )
    return names


def _as_costs(costs: Any, n_tests: int) -> Costs:
    if costs is None:
        return Costs([1.0] * n_tests)
    return costs if isinstance(costs, Costs) else Costs(costs)


def _check_chances(
    chances: Mapping[str, Mapping[Any, float]], tests: tuple[Test, ...]
) -> tuple[NDArray[np.float64], ...]:
    names = {test.name: i for i, test in enumerate(tests)}
    checked = [np.full(max(t.n_levels, 1), 1.0 / max(t.n_levels, 1)) for t in tests]
    for name, given in chances.items():
        if name not in names:
            raise InvalidTableError(
                f"chances must name tests. Got {name!r}. {suggest_name(name, names)}"
                "Leave out what is not a test."
            )
        checked[names[name]] = _check_shares(tests[names[name]], given)
    return tuple(checked)


def _check_shares(test: Test, given: Mapping[Any, float]) -> NDArray[np.float64]:
    """Return the chance of each level of a test."""
    shares = np.zeros(test.n_levels)
    for outcome, chance in given.items():
        code = test.code_of(outcome)
        if code >= test.n_levels:
            raise InvalidTableError(
                f"chances must name outcomes of the test. Got {outcome!r} for "
                f"{test.name!r}, which shows {test.outcomes}. Leave it out."
            )
        try:
            shares[code] += float(chance)
        except (TypeError, ValueError):
            shares[code] = np.nan
    if not (np.all(shares >= 0) and np.isclose(shares.sum(), 1.0)):
        raise InvalidTableError(
            f"The chances of a test must be >= 0 and sum to 1. Got {dict(given)} for "
            f"{test.name!r}, with the sum {shares.sum():g}. Divide them by their sum."
        )
    return np.asarray(shares / shares.sum())


def _split_target(
    outcomes: Any, target: str, tests: Sequence[str] | None
) -> tuple[Column, dict[str, Column], list[str]]:
    """Take the column of classes out of a frame or a mapping of columns."""
    if not isinstance(outcomes, Mapping) and not is_frame(outcomes):
        raise InvalidTableError(
            "A class column is named only when the outcomes are a frame. Got "
            f"classes={target!r} with {type(outcomes).__name__}. Pass the class of each "
            "case as a list."
        )
    columns = as_columns(outcomes)
    if target not in columns:
        raise InvalidTableError(
            f"The target must be a column of the table. Got {target!r}, which is none "
            f"of {_some(columns)}. {suggest_name(target, columns)}Name the column that "
            "holds the classes."
        )
    if tests is not None and target in tests:
        raise InvalidTableError(
            f"The target must not be a test as well. Got {target!r} as both. Leave it "
            "out of the tests."
        )
    labels = columns.pop(target)
    return labels, columns, list(columns) if tests is None else list(tests)


def read_table(
    path: str | Path,
    target: str,
    *,
    costs: Costs | Mapping[str, float] | Sequence[float] | None = None,
    prior: str | None = None,
    case: str | None = None,
    drop: Sequence[str] = (),
    **options: Any,
) -> Table:
    r"""Read a table from a CSV or Parquet file.

    Parameters
    ----------
    path : str or Path
        The file; see :func:`read_columns`.
    target : str
        The column of classes.
    costs : Costs, mapping or sequence, optional
        What the tests cost; 1 each by default.
    prior, case : str, optional
        Columns of weights and of names of cases, which are then not tests.
    drop : sequence of str, default=()
        Columns that are not tests.
    **options
        Passed to :class:`Table`.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp(), "lamp.csv")
    >>> _ = path.write_text("lamp,socket,cause\ndark,dead,fuse\ndark,live,bulb\n")
    >>> read_table(path, "cause").test_names
    ('lamp', 'socket')
    """
    columns = read_columns(path, unknown=options.get("unknown"))
    for role, name in (("target", target), ("prior", prior), ("case", case)):
        if name is not None and name not in columns:
            raise InvalidTableError(
                f"The {role} must be a column of the table. Got {name!r}, which is "
                f"none of {_some(columns)} in {path}. {suggest_name(name, columns)}"
                "Name a column of the file."
            )
    for name in drop:
        if name not in columns:
            raise InvalidTableError(
                f"Only columns of the table can be dropped. Got {name!r} for {path}. "
                f"{suggest_name(name, columns)}Leave it out."
            )
    costs = costs if costs is None or isinstance(costs, Costs) else Costs(costs)
    if costs is not None and target in costs.costs:
        raise InvalidTableError(
            f"The target must not be a test as well. Got a cost for {target!r}, the "
            "target. Remove it from the costs, or choose another target."
        )
    not_tests = {prior, case, *drop} - {target}
    return Table(
        {name: column for name, column in columns.items() if name not in not_tests},
        target,
        costs=costs,
        prior=None if prior is None else columns[prior],
        cases=None if case is None else columns[case].tolist(),
        **options,
    )


def _some(names: Iterable[str], most: int = 8) -> str:
    listed = [repr(name) for name in names]
    return ", ".join(listed[:most]) + (", ..." if len(listed) > most else "")
