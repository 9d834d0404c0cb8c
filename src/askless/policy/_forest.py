"""A policy as a forest: many trees over one set of tests, and one bill.

A case walks the trees one after another and buys each test at most once; what it has
shown is used again by every later tree. The forest does not know how it was grown.

Layout: the nodes of all trees follow one another, each tree in preorder, and branches
name nodes by their place in the whole list:

    tree_start     0          5                8
    node           0 1 2 3 4  5 6 7
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from askless._core.code._codes import CutIndex
from askless._core.tree._forest import ForestWalker, find_subtree_ends
from askless.exceptions import InvalidPolicyError
from askless.policy._base import Policy, raw_columns
from askless.policy._check import check_nodes
from askless.policy._decide import decide_classes, decide_nodes
from askless.policy._tree import Tree, is_matrix_of_floats
from askless.problem import Outcome, PriceList, Test
from askless.problem._jobs import count_threads

__all__ = ["Forest", "Rule"]

Ints = NDArray[np.int32]
Rule = Literal["votes", "counts"]

# The arrays that have an entry for each node, branch or weight.
ARRAYS = (
    "test", "cut", "default_branch", "branch_start", "branch_code", "branch_child",
    "weight_start", "weight_class", "weight",
)  # fmt: skip


class Standing(NamedTuple):
    """Where a case stands: what it has shown, and the node it has come to by tree."""

    known: tuple[int, ...]  # the code of each test, -1 if it was not asked
    at: tuple[int, ...]
    tree: int  # the first tree that has not ended


class Forest(Policy):
    """A policy of many trees, which decide together.

    Parameters
    ----------
    tests, classes, prices, mistakes
        See :class:`Policy`.
    tree_start : ndarray of int32 of shape (n_trees + 1,)
        Where the nodes of each tree begin.
    test, cut, branch_start, branch_code, branch_child, default_branch, \
weight_start, weight_class, weight, decision
        The nodes of all trees one after another; see :class:`Tree`. Branches name
        nodes by their place in the whole forest.
    rule : {"votes", "counts"}, default="votes"
        Whether each tree has a vote for the class of its leaf, or the class weights of
        the leaves are added up. Costs of mistakes count once: in the votes, or in the
        decision by the sum.
    is_checked : bool, default=False
        Take the arrays as they are, because they come from a grower or from a forest;
        checking a large forest takes a while.

    Notes
    -----
    The next test is the one that the first unfinished tree asks for. Where it is
    delayed, the rest of that tree is ordered with it; other trees do not wait for it.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"], costs=[1, 5])
    >>> tree = askless.solve(table).policy
    >>> forest = Forest.from_trees([tree, tree, tree])
    >>> forest.predict([[0, 1], [1, 1]])
    array(['b', 'c'], dtype='<U1')
    >>> forest.cost([[0, 1], [1, 1]])  # nothing is paid for twice
    array([6., 1.])
    """

    kind: ClassVar[str] = "forest"

    def __init__(
        self,
        tests: tuple[Test, ...],
        classes: tuple[Outcome, ...],
        prices: PriceList,
        *,
        tree_start: Ints,
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
        rule: Rule = "votes",
        mistakes: NDArray[np.float64] | None = None,
        is_checked: bool = False,
    ) -> None:
        super().__init__(tests, classes, prices, mistakes)
        if rule not in ("votes", "counts"):
            raise InvalidPolicyError(
                f"The rule of a forest must be 'votes' or 'counts'. Got {rule!r}. "
                "Choose one of them."
            )
        self.tree_start = tree_start
        self.test = test
        self.cut = cut
        self.branch_start = branch_start
        self.branch_code = branch_code
        self.branch_child = branch_child
        self.default_branch = default_branch
        self.weight_start = weight_start
        self.weight_class = weight_class
        self.weight = weight
        self.rule: Rule = "votes" if rule == "votes" else "counts"
        if not is_checked:
            check_nodes(self, tree_start)
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
        for name in (*ARRAYS, "tree_start", "node_decision"):
            getattr(self, name).flags.writeable = False

    @classmethod
    def from_trees(cls, trees: Iterable[Tree], *, rule: Rule = "votes") -> Forest:
        """Put trees of the same tests, classes and prices together."""
        listed = list(trees)
        if not listed:
            raise InvalidPolicyError(
                "A forest must have a tree. Got none. Give at least a tree of one leaf."
            )
        first = listed[0]
        for tree in listed[1:]:
            if tree.tests != first.tests or tree.classes != first.classes:
                raise InvalidPolicyError(
                    "The trees of a forest must have the same tests and classes. Got "
                    "others. Grow them on the same coded examples."
                )
        return cls.from_arrays(
            [
                {name: getattr(tree, name) for name in ARRAYS}
                | {"decision": tree.node_decision}
                for tree in listed
            ],
            first.tests,
            first.classes,
            first.prices,
            rule=rule,
            mistakes=first.mistakes,
        )

    @classmethod
    def from_arrays(
        cls,
        trees: Iterable[Mapping[str, NDArray[Any]]],
        tests: tuple[Test, ...],
        classes: tuple[Outcome, ...],
        prices: PriceList,
        *,
        rule: Rule = "votes",
        mistakes: NDArray[np.float64] | None = None,
        is_checked: bool = False,
    ) -> Forest:
        """Make a forest from the arrays that a grower returns for each tree.

        Arrays with a ``tree_start`` hold several trees.
        """
        listed = list(trees)
        arrays = dict(listed[0]) if len(listed) == 1 else _join(listed)
        if "tree_start" not in arrays:
            arrays = _join(listed)
        return cls(
            tests,
            classes,
            prices,
            rule=rule,
            mistakes=mistakes,
            is_checked=is_checked,
            **arrays,
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that the forest is made of, by name.

        Examples
        --------
        >>> import askless
        >>> tree = askless.solve(askless.datasets.load_car()).policy
        >>> forest = Forest.from_trees([tree])
        >>> twice = [forest.arrays(), forest.arrays()]
        >>> Forest.from_arrays(twice, tree.tests, tree.classes, tree.prices).n_trees
        2
        """
        return {
            "tree_start": self.tree_start,
            "decision": self.node_decision,
            **{name: getattr(self, name) for name in ARRAYS},
        }

    # Shape.

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return len(self.tree_start) - 1

    @property
    def n_nodes(self) -> int:
        """How many nodes all trees have together, leaves included."""
        return len(self.test)

    @cached_property
    def used_tests(self) -> list[int]:
        """The tests that some node asks for, ascending."""
        is_used = np.bincount(self.test + 1, minlength=len(self.tests) + 1)[1:] > 0
        return [int(test) for test in np.flatnonzero(is_used)]

    def tree(self, index: int) -> Tree:
        """Return one of the trees as a policy of its own."""
        index = range(self.n_trees)[index]
        return Tree(
            self.tests,
            self.classes,
            self.prices,
            mistakes=self.mistakes,
            **_cut_out(self, index, index + 1),
        )

    def first_trees(self, n_trees: int) -> Forest:
        """Return the forest of the first trees only.

        Examples
        --------
        >>> import askless
        >>> tree = askless.solve(askless.datasets.load_car()).policy
        >>> Forest.from_trees([tree, tree]).first_trees(1).n_trees
        1
        """
        if not 1 <= n_trees <= self.n_trees:
            raise InvalidPolicyError(
                f"There must be from 1 to {self.n_trees} trees. Got {n_trees}. Choose "
                "fewer."
            )
        return Forest(
            self.tests,
            self.classes,
            self.prices,
            rule=self.rule,
            mistakes=self.mistakes,
            tree_start=self.tree_start[: n_trees + 1].copy(),
            is_checked=True,
            **_cut_out(self, 0, n_trees),
        )

    @cached_property
    def subtree_end(self) -> Ints:
        """One past the last node of the subtree of each node."""
        return find_subtree_ends(self.branch_start, self.branch_child)

    # The machine.

    def initial_state(self) -> Standing:
        """Return the state in which nothing is known."""
        known = (-1,) * len(self.tests)
        return self._settle(known, self.tree_start[:-1].copy())

    def next_test(self, state: Standing) -> int | None:
        """Return the test that the first unfinished tree asks for."""
        if state.tree == self.n_trees:
            return None
        return int(self.test[state.at[state.tree]])

    def advance(self, state: Standing, code: int) -> Standing:
        """Walk every tree on with what the next test has shown."""
        test = self.test[state.at[state.tree]]
        known = (*state.known[:test], int(code), *state.known[test + 1 :])
        return self._settle(known, np.array(state.at, dtype=np.int32))

    def _settle(self, known: tuple[int, ...], at: Ints) -> Standing:
        first = self._walker.settle(np.array(known, dtype=np.int32), at)
        return Standing(known, tuple(at.tolist()), first)

    def class_weights(self, state: Standing) -> NDArray[np.float64]:
        """Return the votes, or the sum of class weights; of an open tree, its node's.

        A tree that has not ended votes with the shares of the classes where it stands.
        """
        totals = np.zeros(len(self.classes))
        for node in state.at:
            if self.rule == "votes" and self.test[node] < 0:
                totals[self.node_decision[node]] += 1.0
                continue
            start, end = self.weight_start[node], self.weight_start[node + 1]
            weights = self.weight[start:end]
            if self.rule == "votes":
                total = weights.sum()
                weights = weights / total if total > 0 else 1.0 / (end - start)
            totals[self.weight_class[start:end]] += weights
        return totals

    def _even_weights(self, state: Standing) -> NDArray[np.float64]:
        totals = np.zeros(len(self.classes))
        for node in state.at:
            start, end = self.weight_start[node], self.weight_start[node + 1]
            totals[self.weight_class[start:end]] += 1.0
        return totals

    def decision(self, state: Standing) -> int:
        """Return the class of most votes, or of least mistake cost by the sum."""
        return int(self._decide(self._belief(state)[None, :])[0])

    def _decide(self, class_weights: NDArray[np.float64]) -> Ints:
        mistakes = self.mistakes if self.rule == "counts" else None
        return decide_classes(class_weights, mistakes)

    def tests_ahead(self, state: Standing) -> list[int]:
        """Return the tests of the rest of the first unfinished tree, in preorder."""
        if state.tree == self.n_trees:
            return []
        node = state.at[state.tree]
        below = self.test[node : self.subtree_end[node]]
        return [int(t) for t in below if t >= 0]

    def tests_possible(self, state: Standing) -> list[int]:
        """Return the tests of the rest of all trees that are not known yet."""
        below = [self.test[node : self.subtree_end[node]] for node in state.at]
        tests = np.concatenate(below)
        unknown = np.unique(tests[tests >= 0]).tolist()
        return [test for test in unknown if state.known[test] < 0]

    # Many rows.

    @cached_property
    def _walker(self) -> ForestWalker:
        return ForestWalker(
            self.prices.engine,
            self.arrays(),
            np.array([test.n_levels for test in self.tests], dtype=np.int32),
            np.array(self.used_tests, dtype=np.int32),
            len(self.classes),
            _sums_exactly(self.prices),
        )

    def __getstate__(self) -> dict[str, Any]:
        # What is compiled is made again when it is asked for.
        return {
            name: value
            for name, value in self.__dict__.items()
            if name not in ("_walker", "_cuts")
        }

    def _run(self, X: Any, n_jobs: int, **wanted: tuple[type, int]) -> dict[str, Any]:
        """Walk rows and return the outputs asked for, given their type and width."""
        n_jobs = count_threads(n_jobs)
        walker = self._walker
        is_matrix = walker.is_fast and is_matrix_of_floats(X)
        if is_matrix and X.ndim == 2 and X.shape[1] == len(self.tests):
            if X.dtype not in (np.float32, np.float64) or not X.flags.c_contiguous:
                X = np.ascontiguousarray(X, dtype=np.float64)
            outputs = _make_outputs(len(X), wanted)
            walker.run_matrix(X, self._cuts, n_jobs, **outputs)
            return outputs
        columns, n_rows = raw_columns(X, self.coding, self.used_tests)
        codes: Any = np.zeros((0, n_rows), dtype=self.coding.dtype)
        if self.used_tests:
            codes = self.coding.encode(columns, self.used_tests)
        outputs = _make_outputs(n_rows, wanted)
        walker.run_codes(codes, n_rows, n_jobs, **outputs)
        return outputs

    @cached_property
    def _cuts(self) -> CutIndex:
        """The cuts of all used tests, in order."""
        listed = [self.tests[test].cut_array for test in self.used_tests]
        starts = np.cumsum([0] + [len(cuts) for cuts in listed]).astype(np.int64)
        return CutIndex(np.concatenate([*listed, np.zeros(1)]), starts)

    def apply(self, X: Any, *, n_jobs: int = 1) -> Ints:
        """Return the leaf of each row in each tree, of shape (n_rows, n_trees)."""
        leaf: Ints = self._run(X, n_jobs, leaf=(np.int32, self.n_trees))["leaf"]
        return leaf

    def predict(self, X: Any, *, n_jobs: int = 1) -> NDArray[Any]:
        """Return the decision for each row; see :meth:`Policy.predict`."""
        decided: Ints
        if self.rule == "votes":
            decided = self._run(X, n_jobs, decision=(np.int32, 0))["decision"]
        else:
            decided = self._decide(self._believe(X, n_jobs))
        return self._class_array[decided]

    def predict_proba(self, X: Any, *, n_jobs: int = 1) -> NDArray[np.float64]:
        """Return the share of the votes, or of the added weights, of each class."""
        weights = self._believe(X, n_jobs)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def cost(self, X: Any, *, n_jobs: int = 1) -> NDArray[np.float64]:
        """Return what each row pays over all trees."""
        paid: NDArray[np.float64] = self._run(X, n_jobs, cost=(np.float64, 0))["cost"]
        return paid

    def predict_and_cost(
        self, X: Any, *, n_jobs: int = 1
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the decision and the cost of each row, in one walk.

        Examples
        --------
        >>> import askless
        >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
        >>> forest = Forest.from_trees([askless.solve(table).policy])
        >>> forest.predict_and_cost([[1]])
        (array(['odd'], dtype='<U4'), array([1.]))
        """
        if self.rule == "votes":
            found = self._run(X, n_jobs, decision=(np.int32, 0), cost=(np.float64, 0))
            return self._class_array[found["decision"]], found["cost"]
        return self.predict(X, n_jobs=n_jobs), self.cost(X, n_jobs=n_jobs)

    def walk_path(self, X: Any, *, n_jobs: int = 1) -> tuple[Ints, NDArray[np.float64]]:
        """Return the leaf and the cost so far of each row, tree by tree.

        Returns
        -------
        leaf : ndarray of shape (n_rows, n_trees)
            The leaf of each row in each tree.
        cost : ndarray of shape (n_trees, n_rows)
            What each row has paid after each tree.

        Examples
        --------
        >>> import askless
        >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
        >>> tree = askless.solve(table).policy
        >>> Forest.from_trees([tree, tree]).walk_path([[1]])[1]
        array([[1.], [1.]])
        """
        found = self._run(
            X, n_jobs, leaf=(np.int32, self.n_trees), cost=(np.float64, 0),
            path_cost=(np.float64, -self.n_trees),
        )  # fmt: skip
        return found["leaf"], found["path_cost"]

    def walk_path_codes(
        self, codes: Any, *, n_jobs: int = 1
    ) -> tuple[Ints, NDArray[np.float64]]:
        """Do what :meth:`walk_path` does, given codes of shape (n_tests, n_rows)."""
        used = np.ascontiguousarray(codes[self.used_tests])
        n_rows = codes.shape[1]
        outputs = _make_outputs(
            n_rows,
            {
                "leaf": (np.int32, self.n_trees),
                "cost": (np.float64, 0),
                "path_cost": (np.float64, -self.n_trees),
            },
        )
        self._walker.run_codes(used, n_rows, count_threads(n_jobs), **outputs)
        return outputs["leaf"], outputs["path_cost"]

    def count_leaves(self, X: Any, *, n_jobs: int = 1) -> NDArray[np.float64]:
        """Return the class weights of the leaves of each row, added over the trees."""
        shape = (np.float64, len(self.classes))
        weights: NDArray[np.float64] = self._run(X, n_jobs, weights=shape)["weights"]
        return weights

    def _believe(self, X: Any, n_jobs: int) -> NDArray[np.float64]:
        """Return the class weights of each row, even ones where all are zero."""
        if self.rule == "votes":
            tally = self._run(X, n_jobs, tally=(np.int32, len(self.classes)))["tally"]
            return np.asarray(tally, dtype=np.float64)
        weights = self.count_leaves(X, n_jobs=n_jobs)
        empty = np.flatnonzero(~weights.any(axis=1))
        if empty.size:
            for row, leaves in zip(empty, self.apply(X)[empty], strict=True):
                ended = Standing((), tuple(leaves.tolist()), self.n_trees)
                weights[row] = self._even_weights(ended)
        return weights

    def __repr__(self) -> str:
        return f"Forest({self.n_trees} trees, {self.n_nodes} nodes, {self.rule} decide)"


def _join(trees: list[Mapping[str, NDArray[Any]]]) -> dict[str, Any]:
    """Put the arrays of trees one after another and renumber what they point to."""
    joined: dict[str, Any] = {}
    for name in ("test", "cut", "default_branch", "branch_code", "weight_class",
                 "weight"):  # fmt: skip
        joined[name] = np.concatenate([tree[name] for tree in trees])
    if all("decision" in tree for tree in trees):
        joined["decision"] = np.concatenate([tree["decision"] for tree in trees])
    sizes = [len(tree["test"]) for tree in trees]
    first_node = np.cumsum([0, *sizes])
    starts = [
        tree["tree_start"][:-1] + first if "tree_start" in tree else [first]
        for tree, first in zip(trees, first_node, strict=False)
    ]
    joined["tree_start"] = np.concatenate([*starts, first_node[-1:]]).astype(np.int32)
    joined["branch_child"] = np.concatenate(
        [
            tree["branch_child"] + np.int32(first)
            for tree, first in zip(trees, first_node, strict=False)
        ]
    )
    for name, dtype in (("branch_start", np.int32), ("weight_start", np.int64)):
        first = np.cumsum([0] + [tree[name][-1] for tree in trees])
        parts = [
            tree[name][:-1] + dtype(start)
            for tree, start in zip(trees, first, strict=False)
        ]
        joined[name] = np.concatenate([*parts, first[-1:]]).astype(dtype)
    return joined


def _cut_out(forest: Forest, first: int, last: int) -> dict[str, Any]:
    """Return the arrays of some trees that follow one another, as a forest of them."""
    start, end = int(forest.tree_start[first]), int(forest.tree_start[last])
    branches = slice(forest.branch_start[start], forest.branch_start[end])
    weights = slice(forest.weight_start[start], forest.weight_start[end])
    nodes = slice(start, end)
    return {
        "test": forest.test[nodes].copy(),
        "cut": forest.cut[nodes].copy(),
        "default_branch": forest.default_branch[nodes].copy(),
        "decision": forest.node_decision[nodes].copy(),
        "branch_start": forest.branch_start[start : end + 1] - np.int32(branches.start),
        "branch_code": forest.branch_code[branches].copy(),
        "branch_child": forest.branch_child[branches] - np.int32(start),
        "weight_start": forest.weight_start[start : end + 1] - np.int64(weights.start),
        "weight_class": forest.weight_class[weights].copy(),
        "weight": forest.weight[weights].copy(),
    }


def _make_outputs(n_rows: int, wanted: dict[str, tuple[type, int]]) -> dict[str, Any]:
    """Return zeros of each type and width; of a negative one, a row for each tree."""
    return {
        name: np.zeros(
            (-width, n_rows) if width < 0 else (n_rows, width) if width else n_rows,
            dtype=dtype,
        )
        for name, (dtype, width) in wanted.items()
    }


def _sums_exactly(prices: PriceList) -> bool:
    """Return whether any set of prices adds up to the same in any order.

    So it is if all are multiples of one power of two and few enough digits hold the
    sum, and if what a test charges does not depend on what was bought before.
    """
    if prices.engine.has_groups or prices.engine.has_delays or prices.by_outcome:
        return False
    scaled = prices.full * 2.0**16
    return bool(np.all(scaled == np.floor(scaled)) and scaled.sum() < 2.0**52)
