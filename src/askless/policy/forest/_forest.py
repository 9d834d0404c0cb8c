"""A policy as a forest: many trees over one set of tests, and one bill.

A case walks the trees one after another and buys each test at most once; what it has
shown is used again by every later tree. The forest does not know how it was grown; how
its nodes are laid out is said in :mod:`askless.policy._nodes`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidPolicyError
from askless.policy._decide import decide_classes
from askless.policy._node_policy import NodePolicy
from askless.policy._nodes import Ints, Nodes
from askless.policy._tree import Tree
from askless.policy.forest._rows import ForestRows
from askless.problem import Outcome, PriceList, Test
from askless.problem._jobs import count_threads

__all__ = ["Forest", "ForestState", "Voting"]

Voting = Literal["votes", "counts"]


class ForestState(NamedTuple):
    """Where a case stands: what it has shown, and the node it has come to by tree."""

    known: tuple[int, ...]  # the code of each test, -1 if it was not asked
    at: tuple[int, ...]
    tree: int  # the first tree that has not ended


class Forest(NodePolicy):
    """A policy of many trees, which decide together.

    Parameters
    ----------
    tests, classes, prices, mistakes
        See :class:`Policy`.
    nodes : Nodes
        The nodes of all trees. Where they do not say what they decide, it is the class
        of least expected mistake cost.
    voting : {"votes", "counts"}, default="votes"
        Whether each tree has a vote for the class of its leaf, or the class weights of
        the leaves are added up. Costs of mistakes count once: in the votes, or in the
        decision by the sum.
    is_checked : bool, default=False
        Take the nodes as they are, because they come from a grower or from a forest;
        checking a large forest takes a while.

    Notes
    -----
    The next test is the one that the first unfinished tree asks for. Where it is
    delayed, the rest of that tree is bought with it; other trees do not wait for it.

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
        nodes: Nodes,
        voting: Voting = "votes",
        mistakes: NDArray[np.float64] | None = None,
        is_checked: bool = False,
    ) -> None:
        if voting not in ("votes", "counts"):
            raise InvalidPolicyError(
                f"The voting of a forest must be 'votes' or 'counts'. Got {voting!r}. "
                "Choose one of them."
            )
        super().__init__(
            tests,
            classes,
            prices,
            nodes=nodes,
            mistakes=mistakes,
            is_checked=is_checked,
        )
        self.voting: Voting = voting

    @classmethod
    def from_trees(cls, trees: Iterable[Tree], *, voting: Voting = "votes") -> Forest:
        """Put trees of the same tests, classes and prices together."""
        listed = list(trees)
        nodes = Nodes.join(tree.nodes for tree in listed)
        first = listed[0]
        for tree in listed[1:]:
            if tree.tests != first.tests or tree.classes != first.classes:
                raise InvalidPolicyError(
                    "The trees of a forest must have the same tests and classes. Got "
                    "others. Grow them on the same coded examples."
                )
        return cls(
            first.tests,
            first.classes,
            first.prices,
            nodes=nodes,
            voting=voting,
            mistakes=first.mistakes,
        )

    # Shape.

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return self.nodes.n_trees

    @property
    def tree_start(self) -> Ints:
        """Where the nodes of each tree begin; see :class:`Nodes`."""
        return self.nodes.tree_start

    def tree(self, index: int) -> Tree:
        """Return one of the trees as a policy of its own."""
        index = range(self.n_trees)[index]
        return Tree(
            self.tests,
            self.classes,
            self.prices,
            nodes=self.nodes.take_trees(index, index + 1),
            mistakes=self.mistakes,
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
            nodes=self.nodes.take_trees(0, n_trees),
            voting=self.voting,
            mistakes=self.mistakes,
            is_checked=True,
        )

    # The machine.

    def initial_state(self) -> ForestState:
        """Return the state in which nothing is known."""
        known = (-1,) * len(self.tests)
        return self._settle(known, self.tree_start[:-1].copy())

    def next_test(self, state: ForestState) -> int | None:
        """Return the test that the first unfinished tree asks for."""
        if state.tree == self.n_trees:
            return None
        return int(self.test[state.at[state.tree]])

    def advance(self, state: ForestState, code: int) -> ForestState:
        """Walk every tree on with what the next test has shown."""
        test = self.test[state.at[state.tree]]
        known = (*state.known[:test], int(code), *state.known[test + 1 :])
        return self._settle(known, np.array(state.at, dtype=np.int32))

    def _settle(self, known: tuple[int, ...], at: Ints) -> ForestState:
        first = self._rows.walker.settle(np.array(known, dtype=np.int32), at)
        return ForestState(known, tuple(at.tolist()), first)

    def class_weights(self, state: ForestState) -> NDArray[np.float64]:
        """Return the votes, or the sum of class weights; of an open tree, its node's.

        A tree that has not ended votes with the shares of the classes where it stands.
        """
        totals = np.zeros(len(self.classes))
        for node in state.at:
            if self.voting == "votes" and self.test[node] < 0:
                totals[self.node_decision[node]] += 1.0
                continue
            listed, weights = self.nodes.weights_at(node)
            if self.voting == "votes":
                total = weights.sum()
                if total > 0:
                    weights = weights / total
                else:
                    weights = np.full(len(listed), 1.0 / len(listed))
            totals[listed] += weights
        return totals

    def _even_weights(self, state: ForestState) -> NDArray[np.float64]:
        totals = np.zeros(len(self.classes))
        for node in state.at:
            totals[self.nodes.weights_at(node)[0]] += 1.0
        return totals

    def decision(self, state: ForestState) -> int:
        """Return the class of most votes, or of least mistake cost by the sum."""
        return int(self._decide(self._belief(state)[None, :])[0])

    def _decide(self, class_weights: NDArray[np.float64]) -> Ints:
        mistakes = self.mistakes if self.voting == "counts" else None
        return decide_classes(class_weights, mistakes)

    def tests_ahead(self, state: ForestState) -> list[int]:
        """Return the tests of the rest of the first unfinished tree, in preorder."""
        if state.tree == self.n_trees:
            return []
        return self.nodes.tests_below(state.at[state.tree])

    def tests_possible(self, state: ForestState) -> list[int]:
        """Return the tests of the rest of all trees that are not known yet."""
        below = [self.test[node : self.subtree_end[node]] for node in state.at]
        tests = np.concatenate(below)
        unknown = np.unique(tests[tests >= 0]).tolist()
        return [test for test in unknown if state.known[test] < 0]

    # Many rows.

    @cached_property
    def _rows(self) -> ForestRows:
        return ForestRows(self.nodes, self.coding, self.prices, len(self.classes))

    def __getstate__(self) -> dict[str, Any]:
        # What is compiled is made again when it is asked for.
        return {k: v for k, v in self.__dict__.items() if k != "_rows"}

    def _run(self, X: Any, n_jobs: int | None, *wanted: str) -> dict[str, Any]:
        return self._rows.run(X, count_threads(n_jobs), *wanted)

    def apply(self, X: Any, *, n_jobs: int | None = None) -> Ints:
        """Return the leaf of each row in each tree, of shape (n_rows, n_trees)."""
        leaf: Ints = self._run(X, n_jobs, "leaf")["leaf"]
        return leaf

    def predict(self, X: Any, *, n_jobs: int | None = None) -> NDArray[Any]:
        """Return the decision for each row; see :meth:`Policy.predict`."""
        return self._decide_rows(X, n_jobs)[0]

    def predict_proba(
        self, X: Any, *, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """Return the share of the votes, or of the added weights, of each class."""
        if self.voting == "votes":
            tally = self._run(X, n_jobs, "tally")["tally"]
            weights = np.asarray(tally, dtype=np.float64)
        else:
            weights = self._believe(X, self.count_leaves(X, n_jobs=n_jobs))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def cost(self, X: Any, *, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return what each row pays over all trees."""
        paid: NDArray[np.float64] = self._run(X, n_jobs, "cost")["cost"]
        return paid

    def predict_and_cost(
        self, X: Any, *, n_jobs: int | None = None
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the decision for each row and what it pays, from one walk.

        Examples
        --------
        >>> import askless
        >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
        >>> forest = Forest.from_trees([askless.solve(table).policy])
        >>> forest.predict_and_cost([[1]])
        (array(['odd'], dtype='<U4'), array([1.]))
        """
        decided, found = self._decide_rows(X, n_jobs, "cost")
        return decided, found["cost"]

    def _decide_rows(
        self, X: Any, n_jobs: int | None, *wanted: str
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Return the decision for each row, and what else is wanted of that walk."""
        decided: Ints
        if self.voting == "votes":
            found = self._run(X, n_jobs, "decision", *wanted)
            decided = found["decision"]
        else:
            found = self._run(X, n_jobs, "weights", *wanted)
            decided = self._decide(self._believe(X, found["weights"]))
        return self._class_array[decided], found

    def walk_path(
        self, X: Any, *, n_jobs: int | None = None
    ) -> tuple[Ints, NDArray[np.float64]]:
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
        found = self._run(X, n_jobs, "leaf", "cost", "path_cost")
        return found["leaf"], found["path_cost"]

    def walk_path_codes(
        self, codes: Any, *, n_jobs: int | None = None
    ) -> tuple[Ints, NDArray[np.float64]]:
        """Do what :meth:`walk_path` does, given codes of shape (n_tests, n_rows)."""
        found = self._rows.run_codes(
            codes, count_threads(n_jobs), "leaf", "cost", "path_cost"
        )
        return found["leaf"], found["path_cost"]

    def count_leaves(self, X: Any, *, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return the class weights of the leaves of each row, added over the trees."""
        weights: NDArray[np.float64] = self._run(X, n_jobs, "weights")["weights"]
        return weights

    def _believe(self, X: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the class weights of each row, even ones where all are zero."""
        empty = np.flatnonzero(~weights.any(axis=1))
        if empty.size:
            for row, leaves in zip(empty, self.apply(X)[empty], strict=True):
                ended = ForestState((), tuple(leaves.tolist()), self.n_trees)
                weights[row] = self._even_weights(ended)
        return weights

    def __repr__(self) -> str:
        decide = f"{self.voting} decide"
        return f"Forest({self.n_trees} trees, {self.n_nodes} nodes, {decide})"
