"""A policy as a tree: flat arrays of nodes in preorder.

The tree is checked when it is made and never changes. It does not know how it was
grown.

Layout, for the tree  lamp? -dark-> socket? -dead-> fuse
                                           -live-> bulb
                           -dim--> dimmer

    node              0 lamp   1 socket   2 fuse   3 bulb   4 dimmer     (preorder)
    test              0        1          -1       -1       -1
    branch_start      0        2          4        4        4        4
    branch_code       0 1      0 1
    branch_child      1 4      2 3
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from askless._core.price._prices import price_nodes
from askless._core.tree._forest import find_subtree_ends
from askless._core.tree._walk import charge_rows, walk_codes, walk_numbers
from askless.exceptions import InvalidPolicyError
from askless.policy._base import Policy, raw_columns
from askless.policy._check import check_tree
from askless.policy._decide import decide_nodes
from askless.problem import Outcome, PriceList, Test
from askless.problem._jobs import count_threads
from askless.problem._tests import CodeArray

__all__ = ["Tree", "is_matrix_of_floats"]

Ints = NDArray[np.int32]


class Tree(Policy):
    """A policy that asks one test after another, as the outcomes say.

    Parameters
    ----------
    tests, classes, prices, mistakes
        See :class:`Policy`.
    test : ndarray of int32 of shape (n_nodes,)
        The test of each node, -1 at a leaf. Nodes are in preorder.
    cut : ndarray of int32 of shape (n_nodes,)
        At a node that compares a number: which of the test's cuts. One past the last
        cut parts any number from a missing one. -1 elsewhere.
    branch_start : ndarray of int32 of shape (n_nodes + 1,)
        Where the branches of each node begin.
    branch_code, branch_child : ndarray of int32
        The code that a branch stands for, and the node it leads to. A node with a cut
        has two branches, 0 for values at most the cut and 1 for values above.
    default_branch : ndarray of int32 of shape (n_nodes,)
        The branch of a node that takes every outcome without one of its own.
    weight_start : ndarray of int64 of shape (n_nodes + 1,)
        Where the class weights of each node begin.
    weight_class, weight : ndarray
        How much of each class gets to a node; classes without weight are left out.
    decision : ndarray of int32 of shape (n_nodes,), optional
        The class decided at each node; the class of least expected mistake cost by
        default.

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
        test: Ints,
        cut: Ints,
        branch_start: Ints,
        branch_code: Ints,
        branch_child: Ints,
        default_branch: Ints,
        weight_start: NDArray[np.int64],
        weight_class: Ints,
        weight: NDArray[np.float64],
        decision: Ints | None = None,
        mistakes: NDArray[np.float64] | None = None,
    ) -> None:
        super().__init__(tests, classes, prices, mistakes)
        self.test = test
        self.cut = cut
        self.branch_start = branch_start
        self.branch_code = branch_code
        self.branch_child = branch_child
        self.default_branch = default_branch
        self.weight_start = weight_start
        self.weight_class = weight_class
        self.weight = weight
        check_tree(self)
        if decision is None:
            decision = decide_nodes(weight_start, weight_class, weight, mistakes)
        elif decision.shape != test.shape or not np.all(
            (decision >= 0) & (decision < len(classes))
        ):
            raise InvalidPolicyError(
                f"Every node must decide one of {len(classes)} classes. Got another "
                "index. Number the classes from 0."
            )
        self.node_decision = decision
        for array in (
            test, cut, branch_start, branch_code, branch_child, default_branch,
            weight_start, weight_class, weight, decision,
        ):  # fmt: skip
            array.flags.writeable = False

    # Shape.

    @property
    def n_nodes(self) -> int:
        """How many nodes there are, leaves included."""
        return len(self.test)

    @property
    def n_leaves(self) -> int:
        """How many leaves there are."""
        return int(np.count_nonzero(self.test < 0))

    @cached_property
    def used_tests(self) -> list[int]:
        """The tests that some node asks for, ascending."""
        return [int(test) for test in np.unique(self.test[self.test >= 0])]

    @cached_property
    def parent(self) -> Ints:
        """The parent of each node, -1 for the root."""
        parent = np.full(self.n_nodes, -1, dtype=np.int32)
        parent[self.branch_child] = self._branch_owner
        return parent

    @cached_property
    def parent_code(self) -> Ints:
        """The code of the branch that leads to each node, -1 for the root."""
        code = np.full(self.n_nodes, -1, dtype=np.int32)
        code[self.branch_child] = self.branch_code
        return code

    @cached_property
    def _branch_owner(self) -> Ints:
        counts = np.diff(self.branch_start)
        return np.repeat(np.arange(self.n_nodes, dtype=np.int32), counts)

    @cached_property
    def subtree_end(self) -> Ints:
        """One past the last node of the subtree of each node."""
        return find_subtree_ends(self.branch_start, self.branch_child)

    @cached_property
    def node_depth(self) -> Ints:
        """How many tests are asked before each node."""
        depth = np.zeros(self.n_nodes, dtype=np.int32)
        parent = self.parent
        for node in range(1, self.n_nodes):
            depth[node] = depth[parent[node]] + 1
        return depth

    @property
    def depth(self) -> int:
        """The most tests that are asked on any path."""
        return int(self.node_depth.max())

    # Costs and weights of nodes.

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

    @cached_property
    def node_weight(self) -> NDArray[np.float64]:
        """The weight of the cases that reach each node."""
        # Differences of a running sum would lose a node of little weight.
        return np.add.reduceat(self.weight, self.weight_start[:-1])

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
        return None if self.test[state] < 0 else int(self.test[state])

    def advance(self, state: int, code: int) -> int:
        """Return the child that a code leads to."""
        start = self.branch_start[state]
        if self.cut[state] >= 0:
            if code < self.tests[self.test[state]].n_levels:
                branch = 0 if code <= self.cut[state] else 1
            else:
                branch = self.default_branch[state]
            return int(self.branch_child[start + branch])
        end = self.branch_start[state + 1]
        here = np.flatnonzero(self.branch_code[start:end] == code)
        branch = here[0] if here.size else self.default_branch[state]
        return int(self.branch_child[start + branch])

    def class_weights(self, state: int) -> NDArray[np.float64]:
        """Return the weight of each class at a node."""
        weights = np.zeros(len(self.classes))
        start, end = self.weight_start[state], self.weight_start[state + 1]
        weights[self.weight_class[start:end]] = self.weight[start:end]
        return weights

    def shares_given(
        self, state: int, shown: Mapping[int, int | None]
    ) -> NDArray[np.float64]:
        """Return the share of each class among all leaves that the answers allow.

        A case whose test was skipped goes on by one branch, and may belong to another.
        """
        weights = np.zeros(len(self.classes))
        stack = [0]
        while stack:
            node = stack.pop()
            test = int(self.test[node])
            if test < 0:
                weights += self.class_weights(node)
            elif (code := shown.get(test)) is not None:
                stack.append(self.advance(node, code))
            else:
                start, end = self.branch_start[node], self.branch_start[node + 1]
                stack.extend(self.branch_child[start:end].tolist())
        return weights / weights.sum() if weights.any() else self.class_shares(state)

    def _even_weights(self, state: int) -> NDArray[np.float64]:
        weights = np.zeros(len(self.classes))
        start, end = self.weight_start[state], self.weight_start[state + 1]
        weights[self.weight_class[start:end]] = 1.0
        return weights

    def tests_ahead(self, state: int) -> list[int]:
        """Return the tests of the subtree of a node, in preorder."""
        below = self.test[state : self.subtree_end[state]]
        return [int(t) for t in below if t >= 0]

    def decision(self, state: int) -> int:
        """Return the class decided at a node."""
        return int(self.node_decision[state])

    # Many rows.

    def apply(self, X: Any, *, n_jobs: int = 1) -> Ints:
        """Return the leaf in which each row ends.

        Examples
        --------
        >>> import askless
        >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
        >>> askless.solve(table).policy.apply([[1], [0]])
        array([2, 1], dtype=int32)
        """
        n_jobs = count_threads(n_jobs)
        if self._compares_only and is_matrix_of_floats(X):
            return self._walk_matrix(X, n_jobs)
        columns, n_rows = raw_columns(X, self.coding, self.used_tests)
        if not self.used_tests:
            return np.zeros(n_rows, dtype=np.int32)
        codes = self.coding.encode(columns, self.used_tests)
        return walk_codes(
            codes, self._code_column, self._child_start, self._child_of_code, n_jobs
        )

    def apply_codes(self, codes: CodeArray, *, n_jobs: int = 1) -> Ints:
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
        return charge_rows(
            self.prices.engine,
            self._check_codes(codes),
            self.test,
            self.test,
            self._child_start,
            self._child_of_code,
        )

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

    def predict(self, X: Any, *, n_jobs: int = 1) -> NDArray[Any]:
        """Return the decision for each row; see :meth:`Policy.predict`."""
        leaf = self.apply(X, n_jobs=n_jobs)
        return self._class_array[self.node_decision[leaf]]

    def predict_proba(self, X: Any, *, n_jobs: int = 1) -> NDArray[np.float64]:
        """Return the share of each class in the leaf of each row."""
        leaf = self.apply(X, n_jobs=n_jobs)
        used, where = np.unique(leaf, return_inverse=True)
        shares = np.array([self.class_shares(node) for node in used])
        return shares.reshape(len(used), len(self.classes))[where]

    def cost(self, X: Any, *, n_jobs: int = 1) -> NDArray[np.float64]:
        """Return what each row pays."""
        if not self.prices.engine.has_outcome_prices:
            return self.spent[self.apply(X, n_jobs=n_jobs)]
        columns, n_rows = raw_columns(X, self.coding, self.used_tests)
        if not self.used_tests:
            return np.zeros(n_rows)
        return charge_rows(
            self.prices.engine,
            self.coding.encode(columns, self.used_tests),
            self._code_column,
            self.test,
            self._child_start,
            self._child_of_code,
        )

    @cached_property
    def _compares_only(self) -> bool:
        """Whether every node compares a number, so that raw rows can be walked."""
        return bool(np.all((self.cut >= 0) | (self.test < 0)))

    @cached_property
    def thresholds(self) -> NDArray[np.float64]:
        """The number that each node compares with; NaN where it does not.

        Infinity where a node only asks whether there is a number at all.
        """
        values = np.full(self.n_nodes, np.nan)
        for node in np.flatnonzero(self.cut >= 0):
            cuts = (*self.tests[self.test[node]].cuts, np.inf)
            values[node] = cuts[self.cut[node]]
        return values

    def _walk_matrix(self, X: NDArray[Any], n_jobs: int) -> Ints:
        if X.ndim != 2 or X.shape[1] != len(self.tests):
            raw_columns(X, self.coding, self.used_tests)
        if X.dtype not in (np.float32, np.float64) or not X.flags.c_contiguous:
            X = np.ascontiguousarray(X, dtype=np.float64)
        left, right, default = self._binary_children
        return walk_numbers(
            X, self.thresholds, self.test, left, right, default, self.depth, n_jobs
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
        sizes = [0 if t < 0 else self.tests[t].n_levels + 2 for t in self.test]
        return np.concatenate([[0], np.cumsum(sizes)])[:-1].astype(np.int64)

    @cached_property
    def _child_of_code(self) -> Ints:
        """The child of every code of every inner node, one node after another."""
        children = []
        for node in np.flatnonzero(self.test >= 0):
            test = self.tests[self.test[node]]
            start, end = self.branch_start[node], self.branch_start[node + 1]
            default = self.branch_child[start + self.default_branch[node]]
            row = np.full(test.n_levels + 2, default, dtype=np.int32)
            if self.cut[node] >= 0:
                row[: self.cut[node] + 1] = self.branch_child[start]
                row[self.cut[node] + 1 : test.n_levels] = self.branch_child[start + 1]
            else:
                row[self.branch_code[start:end]] = self.branch_child[start:end]
            children.append(row)
        return np.concatenate([*children, np.zeros(1, dtype=np.int32)])

    def __repr__(self) -> str:
        return (
            f"Tree({self.n_nodes} nodes, depth {self.depth}, expected cost "
            f"{self.expected_cost:.4g}, worst {self.worst_cost:.4g})"
        )

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, NDArray[Any]],
        tests: tuple[Test, ...],
        classes: tuple[Outcome, ...],
        prices: PriceList,
        mistakes: NDArray[np.float64] | None = None,
    ) -> Tree:
        """Make a tree from the arrays that a grower returns."""
        return cls(tests, classes, prices, mistakes=mistakes, **arrays)


def is_matrix_of_floats(X: object) -> bool:
    """Return whether rows are plain numbers, which need not be taken apart."""
    # What a mask hides is missing, which the coded walk knows.
    if not isinstance(X, np.ndarray) or isinstance(X, np.ma.MaskedArray):
        return False
    return bool(X.dtype.kind == "f")
