"""State a known table: what each test shows for each case, and the class of each case.

A :class:`Table` is immutable. It does not know who will solve it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import (
    InvalidAnswerError,
    InvalidTableError,
    suggest_name,
)
from askless.problem._coding import Coding, HasCoding
from askless.problem._costs import Costs, as_costs
from askless.problem._frames import list_some
from askless.problem._identical import merge_identical
from askless.problem._outcomes import Reading, code_outcomes, example_value
from askless.problem._possible import (
    Possible,
    explain_pair,
    find_case,
    find_indistinct,
    find_recheck,
    find_test,
    list_draws,
)
from askless.problem._table_notes import list_notes
from askless.problem._table_parts import (
    check_chances,
    check_length,
    check_prior,
    check_shares,
    check_size,
    keep_classes,
    name_cases,
    number_classes,
    take_classes,
)
from askless.problem._tests import Outcome
from askless.problem.likelihood._cells import Likelihoods, set_cells, take_cases
from askless.problem.likelihood._repeats import plan_repeats, repeat_costs
from askless.problem.likelihood._sources import LikelihoodSources

__all__ = ["Table"]

# What a table is made of; all else is worked out from these.
PARTS = (
    "coding", "codes", "is_ordered", "classes", "class_ids", "prior", "cases", "costs",
    "prices", "chances", "likelihoods", "repeats", "remarks",
)  # fmt: skip


class Table(HasCoding, LikelihoodSources):
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
        unknown; all outcomes of the test are equally likely by default. They hold for
        every case; for a case with chances of its own see :meth:`split_unknown`.
    alphabet : mapping, optional
        Test to the outcomes that it can show, if they do not all occur in the table;
        an unknown outcome may be any of them.

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
    likelihoods : tuple of (ndarray of shape (n_levels, n_cases) or None)
        For each test that has cells with chances of their own, the chances of every
        cell: 0 and 1 where the outcome is known, those of the test where it is unknown.
        In `codes` such a cell is unknown. A cell that is known to show "missing" has
        zeros alone.
    repeats : tuple of int
        For each test that repeats another one with fresh noise, the index of that one,
        which is never a repeat itself; -1 for others.
    notes : list of str
        What a careful reader would remark: tests that show nothing, and the like.

    See Also
    --------
    read_table : Read a table from a CSV or Parquet file.
    from_likelihoods : A table of tests that can err.

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
        alphabet: Mapping[str, Sequence[Any]] | None = None,
    ) -> None:
        reading = Reading(unknown, missing, levels, thresholds, alphabet)
        columns, case_classes = take_classes(outcomes, classes, tests)
        n_cases = check_size(columns)
        check_length(case_classes, n_cases, "class")
        self.coding, self.codes, self.is_ordered = code_outcomes(columns, reading)
        self.classes, self.class_ids = number_classes(case_classes)
        self.prior = check_prior(prior, n_cases)
        self.cases = name_cases(cases, n_cases)
        self.costs = as_costs(costs, self.n_tests)
        self.prices = self.costs.price_list(self.tests)
        self.chances = check_chances(chances or {}, self.tests)
        self.likelihoods: Likelihoods = (None,) * self.n_tests
        self.repeats: tuple[int, ...] = (-1,) * self.n_tests
        self.remarks: tuple[str, ...] = ()
        self._freeze()

    def _repeated(self, repeatable: Mapping[str, int]) -> Table:
        """Return the table with each repeat of a test as a test of its own."""
        can_err = np.asarray(self.is_unknown.any(axis=1))
        plan = plan_repeats(self.tests, can_err, repeatable)
        order = plan.order
        costs = repeat_costs(self.costs, plan)
        return self._changed(
            coding=Coding(plan.tests),
            codes=np.ascontiguousarray(self.codes[order]),
            is_ordered=self.is_ordered[order],
            costs=costs,
            prices=costs.price_list(plan.tests),
            chances=tuple(self.chances[i] for i in order),
            likelihoods=tuple(self.likelihoods[i] for i in order),
            repeats=plan.repeats,
        )

    @classmethod
    def _of_parts(cls, parts: Mapping[str, Any]) -> Table:
        table = object.__new__(cls)
        table.__dict__.update(parts)
        table._freeze()
        return table

    def _changed(self, **parts: Any) -> Table:
        """Return the table with some of its parts changed; nothing is checked again."""
        return self._of_parts({name: self.__dict__[name] for name in PARTS} | parts)

    def _freeze(self) -> None:
        arrays = (self.codes, self.class_ids, self.prior, self.is_ordered)
        own = [array for array in self.likelihoods if array is not None]
        for array in (*arrays, *self.chances, *own):
            array.flags.writeable = False

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
    def possible(self) -> Possible:
        """Which outcomes are possible for a case, and what tells two apart."""
        return Possible(self.codes, self.tests, self.chances, self.likelihoods)

    @property
    def is_unknown(self) -> NDArray[np.bool_]:
        """Which outcomes are not known, of shape (n_tests, n_cases)."""
        return self.possible.is_unknown

    @cached_property
    def has_unknown(self) -> bool:
        """Whether any outcome is not known: unknown, or only likely."""
        return bool(self.is_unknown.any())

    @property
    def has_likelihoods(self) -> bool:
        """Whether an outcome that is not known has chances of its own."""
        return any(own is not None for own in self.likelihoods)

    @cached_property
    def indistinct(self) -> list[tuple[int, int]]:
        """Pairs of cases of different class that no test is sure to tell apart."""
        return find_indistinct(self.possible, self.class_ids)

    @cached_property
    def notes(self) -> list[str]:
        """Remarks on the table that a user should know of."""
        return list_notes(self)

    def with_remarks(self, remarks: Sequence[str]) -> Table:
        """Return the table with remarks on how it was read, which its notes begin with.

        Examples
        --------
        >>> table = Table([[0], [1]], ["even", "odd"])
        >>> table.with_remarks(["Read from a photograph."]).notes
        ['Read from a photograph.']
        """
        return self._changed(remarks=(*self.remarks, *remarks))

    def merged(self, *, weights: Literal["sum", "equal"] = "sum") -> Table:
        """Return the table with cases that show the same merged into one.

        The merged case has the commonest class of its cases, by weight; on a tie, the
        smallest. Unknown outcomes are the same only as unknown outcomes, likelihoods as
        equal ones. A class that is left without cases is left out, of a matrix of
        mistakes too.

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
            self.possible.profiles, self.class_ids, self.prior
        )
        if weights == "equal":
            prior = np.full(len(firsts), 1.0 / len(firsts))
        present = np.unique(class_ids)
        return self._changed(
            codes=np.ascontiguousarray(self.codes[:, firsts]),
            likelihoods=take_cases(self.likelihoods, firsts),
            classes=tuple(self.classes[i] for i in present),
            class_ids=np.searchsorted(present, class_ids).astype(np.int32),
            prior=prior,
            cases=tuple(self.cases[i] for i in firsts),
            costs=keep_classes(self.costs, self.classes, present),
        )

    def split_unknown(
        self, case: str | int, test: str, chances: Mapping[Any, float] | None = None
    ) -> Table:
        """Return the table with an unknown outcome of one case at its own chances.

        The case becomes several cases of its class, one for each outcome that may be
        seen, with its weight shared by chance. That is the same: an unknown outcome is
        drawn once and then fixed. What is to be found out is the class; rules that
        count cases count each of them. Where it was not sure to be told from another
        case, it may be now by some of its outcomes, and a policy goes on to do so.

        Parameters
        ----------
        case : str or int
            The case, by name or by number from 0.
        test : str
            The test whose outcome is unknown for it.
        chances : mapping, optional
            Outcome to the chance of seeing it; by default what the table says, which is
            the cell's likelihood or the chances of the test.

        Examples
        --------
        >>> table = Table([["yes"], [None], ["no"]], ["a", "b", "c"], tests=["smoke"],
        ...               prior=[0.25, 0.5, 0.25])
        >>> split = table.split_unknown("case 1", "smoke", {"yes": 0.9, "no": 0.1})
        >>> split.rows()["smoke"], split.prior.round(2).tolist()
        (['yes', 'no', 'yes', 'no'], [0.25, 0.05, 0.45, 0.25])
        >>> split.cases[1]
        'case 1, smoke: no'
        """
        row, column = find_case(self.cases, case), find_test(self.tests, test)
        if not self.is_unknown[column, row]:
            shown = self.tests[column].label(int(self.codes[column, row]))
            raise InvalidTableError(
                f"Only an unknown outcome has chances. Got {test!r} of "
                f"{self.cases[row]!r}, which is known to be {shown!r}. Leave it as it "
                "is, or mark it as unknown first."
            )
        if chances is None and self.tests[column].n_levels:
            shares = self.possible.outcome_chances(column)[:-1, row]
        else:
            shares = check_shares(self.tests[column], chances or {})
        codes, parts, names = list_draws(self.tests[column], self.cases[row], shares)
        order = np.repeat(
            np.arange(self.n_cases),
            [len(codes) if i == row else 1 for i in range(self.n_cases)],
        )
        split_codes, likelihoods = set_cells(
            np.ascontiguousarray(self.codes[:, order]),
            take_cases(self.likelihoods, order),
            self.chances,
            {
                (column, row + i): np.eye(len(shares))[code]
                for i, code in enumerate(codes)
            },
        )
        prior = self.prior[order].copy()
        prior[row : row + len(codes)] *= parts
        cases = list(self.cases)
        cases[row : row + 1] = names
        return self._changed(
            codes=split_codes,
            likelihoods=likelihoods,
            class_ids=np.ascontiguousarray(self.class_ids[order]),
            prior=prior,
            cases=tuple(cases),
        )

    def with_likelihoods(
        self,
        likelihoods: Mapping[str, Mapping[str | int, Mapping[Any, float]]],
        *,
        repeatable: Mapping[str, int] | None = None,
    ) -> Table:
        """Return the table with chances of their own for some cells.

        So facts, unknown outcomes and likelihoods come together in one table.

        Parameters
        ----------
        likelihoods : mapping
            Test to a mapping of case to a mapping of outcome to its chance. A case is
            given by name, or by number from 0. An outcome of chance 1 is a fact.
        repeatable : mapping, optional
            Test to how often it can be run; see :meth:`from_likelihoods`.

        Examples
        --------
        >>> table = Table([["yes"], [None], ["no"]], ["a", "b", "c"], tests=["smoke"])
        >>> table.with_likelihoods({"smoke": {0: {"yes": 0.9, "no": 0.1}}}).likelihoods
        (array([[0.1, 0.5, 1. ],
               [0.9, 0.5, 0. ]]),)
        """
        cells = {}
        for name, row in likelihoods.items():
            test = find_test(self.tests, name)
            for case, chances in row.items():
                shares = check_shares(self.tests[test], chances)
                cells[test, find_case(self.cases, case)] = shares
        codes, own = set_cells(self.codes, self.likelihoods, self.chances, cells)
        table = self._changed(codes=codes, likelihoods=own)
        return table._repeated(repeatable) if repeatable else table

    def with_costs(
        self, costs: Costs | Mapping[str, float] | Sequence[float] | None
    ) -> Table:
        """Return the same table with other costs.

        Examples
        --------
        >>> table = Table([[0], [1]], ["a", "b"], tests=["lamp"])
        >>> table.with_costs({"lamp": 3}).prices.full
        array([3.])
        """
        costs = as_costs(costs, self.n_tests)
        return self._changed(costs=costs, prices=costs.price_list(self.tests))

    def recheck(self, answers: Mapping[str, Any]) -> list[str]:
        """Return the fewest answers that must be wrong, none if some case fits all.

        Parameters
        ----------
        answers : mapping
            Test to what it has shown; None says nothing.

        Examples
        --------
        >>> table = Table([[0, 0, 0], [1, 1, 1]], ["a", "b"], tests=["x", "y", "z"])
        >>> table.recheck({"x": 1, "y": 1, "z": 0})
        ['z']
        """
        shown = {}
        index = {test.name: i for i, test in enumerate(self.tests)}
        for name, outcome in answers.items():
            if name not in index:
                raise InvalidTableError(
                    f"Answers must be of tests of the table. Got {name!r}. "
                    f"{suggest_name(name, index)}Leave it out."
                )
            test = self.tests[index[name]]
            code = test.code_of(outcome)
            if code == test.unknown_code:
                raise InvalidAnswerError(
                    f"The test {name!r} shows one of {list_some(test.outcomes, 12)}. "
                    f"Got {outcome!r}. Use one of these, or leave the test out."
                )
            says_nothing = code == test.missing_code and not np.any(
                self.codes[index[name]] == code
            )
            if not says_nothing:
                shown[index[name]] = code
        found = find_recheck(self.possible, shown)
        return [self.tests[test].name for test in found]

    def explain_indistinct(self, most: int = 10) -> list[str]:
        """Say which cases cannot be told apart, and what outcome would tell them.

        Parameters
        ----------
        most : int, default=10
            How many pairs to explain.

        Examples
        --------
        >>> table = Table([["yes", 0], [None, 0], ["no", 0]], ["a", "b", "c"],
        ...               tests=["smoke", "noise"])
        >>> print(table.explain_indistinct()[0])
        'case 0' and 'case 1' may look the same. They differ for sure if 'smoke' of
        'case 1' is known to be other than 'yes'.
        """
        return [
            explain_pair(self.possible, self.cases, a, b)
            for a, b in self.indistinct[:most]
        ]

    def rows(self) -> dict[str, list[Outcome | None]]:
        """Return what each test shows, by name, with None for unknown and missing.

        A level of a number is shown as a value inside it.

        Examples
        --------
        >>> Table([["a"], [None]], [1, 2], tests=["t"]).rows()
        {'t': ['a', None]}
        """
        return {
            test.name: [example_value(test, code) for code in self.codes[i].tolist()]
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
