"""A policy as a tree: what a case is asked next depends on what it has shown.

The tree is checked when it is made and never changes. It does not know how it was
grown; how its nodes are laid out is said in :mod:`askless.policy._nodes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from askless._core.price._prices import price_nodes
from askless._core.tree._walk import charge_rows, walk_codes, walk_numbers
from askless.exceptions import InvalidPolicyError
from askless.policy._base import raw_columns
from askless.policy._from_rule import Choose, grow_by_rule
from askless.policy._node_policy import NodePolicy, is_matrix_of_floats
from askless.policy._nodes import Ints, Nodes
from askless.policy._recheck import recheck_in_tree
from askless.problem import Outcome, PriceList, Table, Test
from askless.problem._jobs import count_threads
from askless.problem._tests import CodeArray

__all__ = ["Tree"]


class Tree(NodePolicy):
    """A policy that asks one test after another, as the outcomes say.

    Parameters
    ----------
    tests, classes, prices, mistakes
        See :class:`Policy`.
    nodes : Nodes
        The nodes of one tree. Where they do not say what they decide, it is the class
        of least expected mistake cost.
    objective : {"total"}, optional
        What the tree is best for, where that says why it stops: with "total", no test
        that is left is worth its price.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> tree = askless.solve(table).policy
    >>> tree.n_nodes, tree.n_leaves, tree.depth
    (3, 2, 1)
    >>> tree.predict([[1], [0]])
    array(['odd', 'even'], dtype='<U4')
    """

    kind: ClassVar[str] = "tree"

    def __init__(
        self,
        tests: tuple[Test, ...],
        classes: tuple[Outcome, ...],
        prices: PriceList,
        *,
        nodes: Nodes,
        mistakes: NDArray[np.float64] | None = None,
        objective: Literal["total"] | None = None,
    ) -> None:
        super().__init__(tests, classes, prices, nodes=nodes, mistakes=mistakes)
        self.objective = objective
        if nodes.n_trees != 1:
            raise InvalidPolicyError(
                f"A tree must have one root. Got the nodes of {nodes.n_trees} trees. "
                "Make a forest of them."
            )

    @classmethod
    def from_rule(cls, table: Table, choose: Choose) -> Tree:
        """Return the tree that a function grows by choosing tests.

        Parameters
        ----------
        table : Table
            What each test shows for each case.
        choose : callable
            ``choose(cases, asked)`` is told which cases are left, by their numbers, and
            the names of the tests that were asked. It returns the next test by its name
            or number, a pair of a test and a threshold, or None to decide. It is not
            called where one class is left.

        Examples
        --------
        Ask whatever divides the cases into the most parts:

        >>> import askless
        >>> table = askless.datasets.load_car()
        >>> def choose(cases, asked):
        ...     left = [t for t in table.test_names if t not in asked]
        ...     parts = {t: len(set(table.codes[table.test_names.index(t), cases]))
        ...              for t in left}
        ...     return max(left, key=parts.get)
        >>> tree = askless.Tree.from_rule(table, choose)
        >>> askless.evaluate(tree, table).error
        0.0
        """
        return Tree(
            table.tests,
            table.classes,
            table.prices,
            nodes=grow_by_rule(table, choose),
            mistakes=table.costs.mistake_matrix(table.classes),
        )

    # Shape.

    @property
    def n_leaves(self) -> int:
        """How many leaves there are."""
        return int(np.count_nonzero(self.test < 0))

    @property
    def parent(self) -> Ints:
        """The parent of each node, -1 for the root."""
        return self.nodes.parent

    @property
    def parent_code(self) -> Ints:
        """The code of the branch that leads to each node, -1 for the root."""
        return self.nodes.parent_code

    @property
    def node_depth(self) -> Ints:
        """How many tests are asked before each node."""
        return self.nodes.depth

    @cached_property
    def depth(self) -> int:
        """The most tests that are asked on any path."""
        return int(self.node_depth.max())

    # Costs and weights of nodes.

    def _with_prices(self, prices: PriceList) -> Self:
        """Return the same tree at other prices, which it was not solved for."""
        other = super()._with_prices(prices)
        other.objective = None
        return other

    @cached_property
    def spent(self) -> NDArray[np.float64]:
        """What a case has spent on reaching each node; at a leaf, its whole cost."""
        return price_nodes(
            self.prices.engine,
            self.test,
            self.parent,
            self.parent_code,
            self.subtree_end,
        )

    @property
    def node_weight(self) -> NDArray[np.float64]:
        """The weight of the cases that reach each node."""
        return self.nodes.total_weight

    @property
    def expected_cost(self) -> float:
        """Mean cost over the weights that the tree was made from."""
        leaves = self.test < 0
        shares = self.node_weight[leaves] / self.node_weight[leaves].sum()
        return float(shares @ self.spent[leaves])

    @property
    def worst_cost(self) -> float:
        """Cost of the dearest leaf."""
        return float(self.spent[self.test < 0].max())

    # The machine: a state is a node.

    def initial_state(self) -> int:
        """Return the root."""
        return 0

    def next_test(self, state: int) -> int | None:
        """Return the test of a node, or None at a leaf."""
        test = int(self.nodes.test[state])
        return None if test < 0 else test

    def advance(self, state: int, code: int) -> int:
        """Return the child that a code leads to."""
        n_levels = self.tests[self.nodes.test[state]].n_levels
        return self.nodes.follow(state, code, n_levels)

    def class_weights(self, state: int) -> NDArray[np.float64]:
        """Return the weight of each class at a node."""
        weights = np.zeros(len(self.classes))
        listed, amounts = self.nodes.weights_at(state)
        weights[listed] = amounts
        return weights

    def shares_given(
        self, state: int, shown: Mapping[int, int | None]
    ) -> NDArray[np.float64]:
        """Return the share of each class among all leaves that the answers allow.

        A case whose test was skipped goes on by one branch, and may belong to another;
        and so may one that has shown what nothing in the node shows.
        """
        weights = np.zeros(len(self.classes))
        stack = [0]
        while stack:
            node = stack.pop()
            test = int(self.test[node])
            if test < 0:
                weights += self.class_weights(node)
            elif (code := shown.get(test)) is not None and code == self.code_followed(
                node, code
            ):
                stack.append(self.advance(node, code))
            else:
                stack.extend(self.nodes.children(node))
        return weights / weights.sum() if weights.any() else self.class_shares(state)

    def code_followed(self, state: int, code: int) -> int:
        """Return the code whose branch a code takes: its own, or the default one."""
        return self.nodes.followed(state, code)

    def recheck(self, shown: dict[int, int]) -> tuple[int, ...]:
        """Return the fewest tests whose answers keep a case out of every leaf."""
        return recheck_in_tree(self.nodes, self.tests, shown)

    def _even_weights(self, state: int) -> NDArray[np.float64]:
        weights = np.zeros(len(self.classes))
        weights[self.nodes.weights_at(state)[0]] = 1.0
        return weights

    def tests_ahead(self, state: int) -> list[int]:
        """Return the tests of the subtree of a node, in preorder."""
        return self.nodes.tests_below(state)

    def decision(self, state: int) -> int:
        """Return the class decided at a node."""
        return int(self.node_decision[state])

    # Many rows.

    def apply(self, X: Any, *, n_jobs: int | None = None) -> Ints:
        """Return the leaf in which each row ends.

        Examples
        --------
        >>> import askless
        >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
        >>> askless.solve(table).policy.apply([[1], [0]])
        array([2, 1], dtype=int32)
        """
        n_threads = count_threads(n_jobs)
        if self._compares_only and is_matrix_of_floats(X):
            return self._walk_matrix(X, n_threads)
        codes, n_rows = self._encode(X)
        if codes is None:
            return np.zeros(n_rows, dtype=np.int32)
        return walk_codes(
            codes, self._code_column, self._child_start, self._child_of_code, n_threads
        )

    def apply_codes(self, codes: CodeArray, *, n_jobs: int | None = None) -> Ints:
        """Return the leaf of each coded row, given codes of shape (n_tests, n_rows)."""
        return walk_codes(
            self._check_codes(codes),
            self.test,
            self._child_start,
            self._child_of_code,
            count_threads(n_jobs),
        )

    def charge_codes(self, codes: CodeArray) -> NDArray[np.float64]:
        """Return what each coded row pays, given codes of shape (n_tests, n_rows)."""
        return self._charge(self._check_codes(codes), self.test)[1]

    def _check_codes(self, codes: CodeArray) -> Any:
        """Return codes that the compiled walk may follow without looking."""
        most = np.array([test.unknown_code for test in self.tests]).reshape(-1, 1)
        fits = codes.ndim == 2 and len(codes) == len(most)
        if not fits or not np.all(codes <= most):
            raise InvalidPolicyError(
                f"Codes must have a row for each of {len(most)} tests, and no code "
                f"beyond the test's own. Got others, of shape {codes.shape}. Code the "
                "rows by these very tests."
            )
        return np.ascontiguousarray(codes)

    def predict(self, X: Any, *, n_jobs: int | None = None) -> NDArray[Any]:
        """Return the decision for each row; see :meth:`Policy.predict`."""
        return self._decide(self.apply(X, n_jobs=n_jobs))

    def predict_proba(
        self, X: Any, *, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """Return the share of each class in the leaf of each row."""
        leaf = self.apply(X, n_jobs=n_jobs)
        used, where = np.unique(leaf, return_inverse=True)
        shares = np.array([self.class_shares(node) for node in used])
        return shares.reshape(len(used), len(self.classes))[where]

    def cost(self, X: Any, *, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return what each row pays."""
        return self._run(X, n_jobs)[1]

    def predict_and_cost(
        self, X: Any, *, n_jobs: int | None = None
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the decision for each row and what it pays, from one walk."""
        return self.apply_and_charge(X, n_jobs=n_jobs)[1:]

    def apply_and_charge(
        self, X: Any, *, n_jobs: int | None = None
    ) -> tuple[Ints, NDArray[Any], NDArray[np.float64]]:
        """Return the leaf of each row, its decision and what it pays, from one walk.

        Examples
        --------
        >>> import askless
        >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
        >>> askless.solve(table).policy.apply_and_charge([[1]])
        (array([2], dtype=int32), array(['odd'], dtype='<U4'), array([1.]))
        """
        leaf, paid = self._run(X, n_jobs)
        return leaf, self._decide(leaf), paid

    def _decide(self, leaf: Ints) -> NDArray[Any]:
        return self._class_array[self.node_decision[leaf]]

    def _run(self, X: Any, n_jobs: int | None) -> tuple[Ints, NDArray[np.float64]]:
        """Return the leaf in which each row ends, and what it pays."""
        if not self.prices.engine.has_outcome_prices:
            leaf = self.apply(X, n_jobs=n_jobs)
            return leaf, self.spent[leaf]
        count_threads(n_jobs)
        codes, n_rows = self._encode(X)
        if codes is None:
            return np.zeros(n_rows, dtype=np.int32), np.zeros(n_rows)
        return self._charge(codes, self._code_column)

    def _charge(self, codes: Any, column: Ints) -> tuple[Ints, NDArray[np.float64]]:
        """Walk coded rows, and charge each for the outcomes that it shows."""
        return charge_rows(
            self.prices.engine,
            codes,
            column,
            self.test,
            self._child_start,
            self._child_of_code,
        )

    def _encode(self, X: Any) -> tuple[Any, int]:
        """Return the codes of what rows are asked, and their number; None for none."""
        columns, n_rows = raw_columns(X, self.coding, self.used_tests)
        if not self.used_tests:
            return None, n_rows
        return self.coding.encode(columns, self.used_tests), n_rows

    @cached_property
    def _compares_only(self) -> bool:
        """Whether every node compares a number, so that raw rows can be walked."""
        return bool(np.all((self.cut >= 0) | (self.test < 0)))

    @cached_property
    def thresholds(self) -> NDArray[np.float64]:
        """The number that each node compares with; NaN where it does not.

        Infinity where a node only asks whether there is a number at all.
        """
        listed = [np.append(test.cut_array, np.inf) for test in self.tests]
        starts = np.cumsum([0] + [len(cuts) for cuts in listed])
        values = np.full(self.n_nodes, np.nan)
        compares = np.flatnonzero(self.cut >= 0)
        if compares.size:
            places = starts[self.test[compares]] + self.cut[compares]
            values[compares] = np.concatenate(listed)[places]
        return values

    def _walk_matrix(self, X: NDArray[Any], n_threads: int) -> Ints:
        if X.ndim != 2 or X.shape[1] != len(self.tests):
            raw_columns(X, self.coding, self.used_tests)
        if X.dtype not in (np.float32, np.float64) or not X.flags.c_contiguous:
            X = np.ascontiguousarray(X, dtype=np.float64)
        left, right, default = self._binary_children
        return walk_numbers(
            X, self.thresholds, self.test, left, right, default, self.depth, n_threads
        )

    @cached_property
    def _binary_children(self) -> tuple[Ints, Ints, Ints]:
        left = np.full(self.n_nodes, -1, dtype=np.int32)
        right, default = left.copy(), left.copy()
        inner = np.flatnonzero(self.cut >= 0)
        first = self.branch_start[inner]
        left[inner] = self.branch_child[first]
        right[inner] = self.branch_child[first + 1]
        default[inner] = self.branch_child[first + self.default_branch[inner]]
        return left, right, default

    @cached_property
    def _code_column(self) -> Ints:
        """The row of the coded matrix that each node reads; -1 at a leaf."""
        column = np.full(len(self.tests) + 1, -1, dtype=np.int32)
        column[self.used_tests] = np.arange(len(self.used_tests), dtype=np.int32)
        return column[self.test]

    @cached_property
    def _child_start(self) -> NDArray[np.int64]:
        """Where the children of each node begin in ``_child_of_code``."""
        sizes = np.array([*(test.n_levels + 2 for test in self.tests), 0])
        return np.cumsum(np.append(0, sizes[self.test]))[:-1].astype(np.int64)

    @cached_property
    def _child_of_code(self) -> Ints:
        """The child of every code of every inner node, one node after another."""
        nodes, children = self.nodes, []
        for node in np.flatnonzero(nodes.test >= 0):
            n_levels = self.tests[nodes.test[node]].n_levels
            start, end = nodes.branch_start[node], nodes.branch_start[node + 1]
            branches = nodes.branch_child[start:end]
            default = branches[nodes.default_branch[node]]
            row = np.full(n_levels + 2, default, dtype=np.int32)
            if (cut := nodes.cut[node]) >= 0:
                row[: cut + 1] = branches[0]
                row[cut + 1 : n_levels] = branches[1]
            else:
                row[nodes.branch_code[start:end]] = branches
            children.append(row)
        return np.concatenate([*children, np.zeros(1, dtype=np.int32)])

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.n_nodes} nodes, depth {self.depth}, expected "
            f"cost {self.expected_cost:.4g}, worst {self.worst_cost:.4g})"
        )
