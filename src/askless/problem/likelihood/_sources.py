"""Make tables of likelihoods: from cells, from examples, from a network.

:class:`Table` has these constructors. What its parts are is known here; what it does
with them is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from askless.problem._coding import Coding
from askless.problem._column import clean_column
from askless.problem._costs import Costs, as_costs
from askless.problem._table_parts import (
    check_chances,
    check_length,
    check_prior,
    check_size,
    number_classes,
    take_classes,
)
from askless.problem._tests import Outcome
from askless.problem.likelihood._cells import Grid, match_cases, settle_cells
from askless.problem.likelihood._estimates import Estimate, estimate_grid
from askless.problem.likelihood._forms import CellReading, read_grid
from askless.problem.likelihood._networks import network_grid

if TYPE_CHECKING:
    from askless.problem._table import Table

__all__ = ["LikelihoodSources"]


class LikelihoodSources:
    """The constructors of :class:`Table` that take likelihoods."""

    @classmethod
    def from_likelihoods(
        cls,
        likelihoods: Any,
        classes: Any = None,
        *,
        costs: Costs | Mapping[str, float] | Sequence[float] | None = None,
        prior: Any = None,
        tests: Sequence[str] | None = None,
        cases: Sequence[Any] | None = None,
        repeatable: Mapping[str, int] | None = None,
        missing: Literal["error", "unknown"] = "error",
        chances: Mapping[str, Mapping[Any, float]] | None = None,
        alphabet: Mapping[str, Sequence[Any]] | None = None,
        binary: tuple[Outcome, Outcome] = ("no", "yes"),
    ) -> Table:
        """Return a table of tests that can err: how likely each case shows what.

        Tests are independent of each other given the case. A test that is run twice
        shows the same again, unless it is repeatable.

        Parameters
        ----------
        likelihoods : mapping, rows, frame or arrays
            What each test shows for each case, and how likely. One of

            * a mapping of test to a mapping of case to a cell. A cell is a mapping of
              outcome to probability; or a number, the probability of the positive
              outcome; or text, an outcome that is certain; or None, an outcome that is
              unknown and has the chances of its test;
            * a frame, or a mapping of columns, with the columns ``case``, ``test``,
              ``outcome`` and ``probability``; or a list of such rows;
            * an array of shape (n_cases, n_tests) with the probabilities of the
              positive outcome, or of shape (n_cases, n_tests, n_outcomes); or a list of
              arrays of shape (n_cases, n_outcomes), one for each test.
        classes : array-like of shape (n_cases,), or mapping of case to class, optional
            The class of each case; every case is a class of its own by default.
        costs, prior, tests, cases
            As for :class:`Table`; `prior` may be a mapping of case to weight as well.
            `tests` and `cases` name those of arrays; of mappings and rows they say
            which to take and in which order.
        repeatable : mapping, optional
            Test to how often it can be run, each time with fresh noise. Each repeat is
            a test of its own, named "x (2)", "x (3)", ..., at the same price.
        missing : {"error", "unknown"}, default="error"
            What a cell that is left out means: a mistake, or an unknown outcome.
        chances, alphabet
            As for :class:`Table`. The alphabet names the outcomes of arrays in order.
        binary : pair of outcomes, default=("no", "yes")
            The negative and the positive outcome of cells that are numbers.

        See Also
        --------
        read_table : Read such a table from a file.

        Notes
        -----
        The probabilities of a cell must sum to one within 1e-6 for each outcome (they
        may have been rounded), and are then divided by their sum. An outcome of
        probability 1 is a fact, as in other tables.

        Examples
        --------
        >>> from askless import Table
        >>> table = Table.from_likelihoods(
        ...     {"fever": {"flu": 0.8, "cold": 0.1},
        ...      "swab": {"flu": "yes", "cold": 0.02}},
        ...     prior={"flu": 1, "cold": 4}, costs={"fever": 1, "swab": 20},
        ...     repeatable={"swab": 2})
        >>> table.test_names, table.cases
        (('fever', 'swab', 'swab (2)'), ('flu', 'cold'))
        >>> table.possible.outcome_chances(0)[:2]
        array([[0.2, 0.9],
               [0.8, 0.1]])
        """
        reading = CellReading(tests, cases, missing, alphabet, binary)
        grid = read_grid(likelihoods, reading)
        return cls._of_grid(grid, classes, prior, costs, chances, repeatable)

    @classmethod
    def from_examples(
        cls,
        X: Any,
        y: Any,
        costs: Costs | Mapping[str, float] | Sequence[float] | None = None,
        *,
        tests: Sequence[str] | None = None,
        prior: Any = None,
        levels: int = 4,
        smoothing: float = 1.0,
        sample_weight: Any = None,
        repeatable: Mapping[str, int] | None = None,
    ) -> Table:
        """Return a table of likelihoods that are estimated from past cases.

        Each class becomes one case of the table: how often its rows show what is how
        likely the case does. Tests are taken as independent given the class.

        Parameters
        ----------
        X : frame or array-like of shape (n_rows, n_tests)
            What the tests have shown. Empty cells are counted nowhere.
        y : array-like of shape (n_rows,), or str
            The class of each row, or the column of a frame that holds it.
        costs : Costs, mapping or sequence, optional
            What the tests cost; 1 each by default.
        tests : sequence of str, optional
            Names of the tests; of a frame, which columns are tests.
        prior : array-like or mapping, optional
            Weight of each class, ascending or by class; its share of the rows by
            default.
        levels : int, default=4
            Numbers are cut into at most this many levels that hold about equally many
            rows.
        smoothing : float, default=1.0
            How many rows to add to each class, that show the outcomes of all rows in
            their shares. With 0, an outcome that no row of a class has shown rules the
            class out.
        sample_weight : array-like of shape (n_rows,), optional
            The weight of each row.
        repeatable : mapping, optional
            Test to how often it can be run; see :meth:`from_likelihoods`.

        Notes
        -----
        The estimate is (n + m p) / (N + m): n of the N rows of the class show the
        outcome, p is its share of all rows, and m is the smoothing [1]_.

        References
        ----------
        .. [1] B. Cestnik (1990). Estimating probabilities: a crucial task in machine
           learning. ECAI, 147-149.

        Examples
        --------
        >>> X = {"fever": ["yes", "yes", "no", "no", "no", None]}
        >>> y = ["flu", "flu", "flu", "cold", "cold", "cold"]
        >>> from askless import Table
        >>> table = Table.from_examples(X, y, {"fever": 2}, smoothing=0)
        >>> table.cases, table.possible.outcome_chances(0)[1].round(2).tolist()
        (('cold', 'flu'), [0.0, 0.67])
        """
        columns, row_classes = take_classes(X, y, tests)
        n_rows = check_size(columns)
        check_length(row_classes, n_rows, "class")
        how = Estimate(levels, smoothing, sample_weight)
        grid = estimate_grid(columns, *number_classes(row_classes), how)
        remark = (
            f"Likelihoods were estimated from {n_rows:,} rows; tests are taken as "
            "independent of each other given the class."
        )
        return cls._of_grid(grid, None, prior, costs, None, repeatable, (remark,))

    @classmethod
    def from_network(
        cls,
        network: Any,
        target: str | Sequence[str],
        *,
        tests: Sequence[str] | None = None,
        healthy: Mapping[str, str] | None = None,
        costs: Costs | Mapping[str, float] | Sequence[float] | None = None,
        prior: Any = None,
        repeatable: Mapping[str, int] | None = None,
    ) -> Table:
        """Return a table of likelihoods that a Bayesian network implies.

        Given the case, tests are taken as independent of each other, as in all tables.
        In the network they need not be: the table is a model of its own.

        Parameters
        ----------
        network : path, or network of pyAgrum or pgmpy
            A file (``.bif``, ``.xdsl``, ``.net`` ...; needs the extra ``network``), or
            a network that one of the two libraries has read.
        target : str or sequence of str
            The variable to find out: a case for each of its states. Or several, the
            faults: a case for each fault alone, in each of its states, and one, "none
            of them", without any.
        tests : sequence of str, optional
            The variables that can be observed; all but the target by default. A fault
            may be among them: looking at it shows for sure what it is.
        healthy : mapping, optional
            Fault to its state in which nothing is wrong; by default the one that is
            called absent, healthy, none, normal or ok.
        costs, prior, repeatable
            As for :meth:`from_likelihoods`. The network gives the prior by default; a
            case that it deems impossible is left out.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> from askless import Table
        >>> path = Path(mkdtemp(), "illness.bif")
        >>> _ = path.write_text('''network illness {}
        ... variable illness { type discrete [ 2 ] { cold, flu }; }
        ... variable fever { type discrete [ 2 ] { no, yes }; }
        ... probability ( illness ) { table 0.8, 0.2; }
        ... probability ( fever | illness ) { (cold) 0.9, 0.1; (flu) 0.2, 0.8; }
        ... ''')
        >>> table = Table.from_network(path, "illness")
        >>> table.cases, table.possible.outcome_chances(0)[1].round(2).tolist()
        (('cold', 'flu'), [0.1, 0.8])
        """
        grid = network_grid(network, target, tests=tests, healthy=healthy)
        remark = (
            "Likelihoods were worked out from a network; tests are taken as "
            "independent of each other given the case, which they need not be there."
        )
        return cls._of_grid(grid, None, prior, costs, None, repeatable, (remark,))

    @classmethod
    def _of_grid(
        cls,
        grid: Grid,
        classes: Any = None,
        prior: Any = None,
        costs: Any = None,
        chances: Mapping[str, Mapping[Any, float]] | None = None,
        repeatable: Mapping[str, int] | None = None,
        remarks: tuple[str, ...] = (),
    ) -> Table:
        """Return the table of cells that have been read; remarks are for its notes."""
        n_tests, n_cases = len(grid.tests), len(grid.cases)
        classes = grid.classes if classes is None else classes
        classes = grid.cases if classes is None else classes
        classes = clean_column(match_cases(classes, grid.cases, "class"), "classes")
        check_length(classes, n_cases, "class")
        numbered, class_ids = number_classes(classes)
        prior = grid.prior if prior is None else prior
        costs = as_costs(costs, n_tests)
        shared = check_chances(chances or {}, grid.tests)
        codes, likelihoods = settle_cells(grid, shared)
        table = cls._of_parts(
            {
                "coding": Coding(grid.tests),
                "codes": codes,
                "is_ordered": np.zeros(n_tests, dtype=bool),
                "classes": numbered,
                "class_ids": class_ids,
                "prior": check_prior(match_cases(prior, grid.cases, "weight"), n_cases),
                "cases": grid.cases,
                "costs": costs,
                "prices": costs.price_list(grid.tests),
                "chances": shared,
                "likelihoods": likelihoods,
                "repeats": (-1,) * n_tests,
                "remarks": remarks,
            }
        )
        return table._repeated(repeatable) if repeatable else table

    @classmethod
    def _of_parts(cls, parts: Mapping[str, Any]) -> Table:
        """Return the table that has these parts; nothing is checked again."""
        raise NotImplementedError
