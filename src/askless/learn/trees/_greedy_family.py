"""C4.5 and the learners made from it by another criterion: EG2, IDX, CS-ID3; and DTMC.

One grower, five criteria. C4.5's stopping and pruning stay when its criterion is
replaced, as in the papers that compare them.
"""

from __future__ import annotations

from typing import Any, ClassVar

from askless.learn._base import PolicyClassifier
from askless.learn._checks import check_number, check_share
from askless.learn._examples import Examples
from askless.learn.trees._induction import Induction
from askless.policy import Policy

__all__ = [
    "C45Classifier",
    "CSID3Classifier",
    "DTMCClassifier",
    "EG2Classifier",
    "IDXClassifier",
]


class _PrunedTreeClassifier(PolicyClassifier):
    """What C4.5 and its variants share: stopping, pruning, parameters."""

    _criterion: ClassVar[str]

    def __init__(
        self,
        costs: Any = None,
        mistakes: Any = None,
        *,
        min_weight: float = 2.0,
        confidence: float = 0.25,
        prune: bool = True,
        max_cost: float | None = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.mistakes = mistakes
        self.min_weight = min_weight
        self.confidence = confidence
        self.prune = prune
        self.max_cost = max_cost
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def _judging(self) -> dict[str, Any]:
        """Return what the criterion needs to know."""
        return {}

    def _grow(self, examples: Examples) -> Policy:
        check_number("min_weight", self.min_weight, least=0.0)
        check_share("confidence", self.confidence)
        induction = Induction.of(examples.code(), examples.classes, examples.costs)
        inducer = induction.inducer(
            self._criterion,
            value="errors",
            judging={
                "least_part": float(self.min_weight),
                "needs_gain": True,
                **self._judging(),
            },
            confidence=float(self.confidence),
            prunes=bool(self.prune),
        )
        return induction.tree(inducer.grow())


class C45Classifier(_PrunedTreeClassifier):
    """C4.5: the best gain ratio among tests of at least average gain; blind to costs.

    Parameters
    ----------
    costs : Costs, mapping or sequence, default=None
        What each test costs, by name or by position; 1 each by default. Costs do not
        change the tree, only what it is said to charge.
    mistakes : number, matrix or mapping, default=None
        Cost of a wrong decision, ``mistakes[true][decision]``. Leaves decide by it; the
        tree is grown without.
    min_weight : float, default=2.0
        At least two branches of a split must have this weight of rows.
    confidence : float, default=0.25
        Of the pessimistic error by which the tree is pruned; less prunes more.
    prune : bool, default=True
        Replace a subtree by a leaf that is expected to err no more.
    penalty : bool, default=False
        Take log2(cuts) / rows off the gain of a number, as in Release 8.
    max_cost : float, default=None
        The most that any row may cost, whatever its tests show: tests that alone cost
        more are left out, and a branch stops where the next test could cost more.
    class_weight : mapping or "balanced", default=None
        Factors of the weights of the rows of each class; "balanced" makes all classes
        weigh the same.
    n_jobs : int, default=None
        Threads for coding and predicting; results do not depend on it.

    Attributes
    ----------
    policy_ : Tree
        The policy that was learned.
    classes_ : ndarray
        The classes, ascending.
    point_ : ValidationPoint or None
        What it costs and how often it errs on the validation rows, if any were given.

    Notes
    -----
    As in the book, with three differences: a missing value is an outcome of its own (a
    branch of a category, the upper side of a cut) and not shared out in fractions;
    subtrees are replaced by leaves, never raised; a number is cut between two observed
    values and not at the lower one.

    References
    ----------
    .. [1] J. R. Quinlan, "C4.5: Programs for Machine Learning", 1993.

    Examples
    --------
    >>> X = [[1, 7], [2, 6], [8, 7], [9, 6]]
    >>> tree = C45Classifier().fit(X, ["low", "low", "high", "high"])
    >>> tree.predict([[3, 0], [7, 0]])
    array(['low', 'high'], dtype='<U4')
    """

    _criterion = "gain-ratio"

    def __init__(
        self,
        costs: Any = None,
        mistakes: Any = None,
        *,
        min_weight: float = 2.0,
        confidence: float = 0.25,
        prune: bool = True,
        penalty: bool = False,
        max_cost: float | None = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            costs,
            mistakes,
            min_weight=min_weight,
            confidence=confidence,
            prune=prune,
            max_cost=max_cost,
            class_weight=class_weight,
            n_jobs=n_jobs,
        )
        self.penalty = penalty

    def _judging(self) -> dict[str, Any]:
        return {"with_penalty": bool(self.penalty)}


class EG2Classifier(_PrunedTreeClassifier):
    """EG2: the most information for its price, ``(2**gain - 1) / (price + 1)**w``.

    Stops and prunes as C4.5 does. The price is that in context: nothing for a test
    that was bought before, the discounted one if its group is open.

    Parameters
    ----------
    costs : Costs, mapping or sequence, default=None
        What each test costs, by name or by position; 1 each by default.
    mistakes : number, matrix or mapping, default=None
        Cost of a wrong decision, ``mistakes[true][decision]``. Leaves decide by it; the
        tree is grown without.
    cost_weight : float, default=1.0
        The w above: how much prices matter; 0 ignores them.
    min_weight : float, default=2.0
        At least two branches of a split must have this weight of rows.
    confidence : float, default=0.25
        Of the pessimistic error by which the tree is pruned; less prunes more.
    prune : bool, default=True
        Replace a subtree by a leaf that is expected to err no more.
    max_cost : float, default=None
        The most that any row may cost, whatever its tests show: tests that alone cost
        more are left out, and a branch stops where the next test could cost more.
    class_weight : mapping or "balanced", default=None
        Factors of the weights of the rows of each class; "balanced" makes all classes
        weigh the same.
    n_jobs : int, default=None
        Threads for coding and predicting; results do not depend on it.

    Attributes
    ----------
    policy_ : Tree
        The policy that was learned.
    classes_ : ndarray
        The classes, ascending.
    point_ : ValidationPoint or None
        What it costs and how often it errs on the validation rows, if any were given.

    References
    ----------
    .. [1] M. Nunez, "The Use of Background Knowledge in Decision Tree Induction",
       Machine Learning 6, 1991.

    Examples
    --------
    The second test tells as much as the first, for less:

    >>> X = [[1, 1], [2, 2], [8, 8], [9, 9]]
    >>> tree = EG2Classifier(costs=[5, 1]).fit(X, ["low", "low", "high", "high"])
    >>> tree.cost(X)
    array([1., 1., 1., 1.])
    """

    _criterion = "eg2"

    def __init__(
        self,
        costs: Any = None,
        mistakes: Any = None,
        *,
        cost_weight: float = 1.0,
        min_weight: float = 2.0,
        confidence: float = 0.25,
        prune: bool = True,
        max_cost: float | None = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            costs,
            mistakes,
            min_weight=min_weight,
            confidence=confidence,
            prune=prune,
            max_cost=max_cost,
            class_weight=class_weight,
            n_jobs=n_jobs,
        )
        self.cost_weight = cost_weight

    def _judging(self) -> dict[str, Any]:
        check_number("cost_weight", self.cost_weight, least=0.0)
        return {"w": float(self.cost_weight)}


class IDXClassifier(_PrunedTreeClassifier):
    """IDX: the highest gain / price. Stops and prunes as C4.5 does.

    Parameters
    ----------
    costs : Costs, mapping or sequence, default=None
        What each test costs, by name or by position; 1 each by default.
    mistakes : number, matrix or mapping, default=None
        Cost of a wrong decision, ``mistakes[true][decision]``. Leaves decide by it; the
        tree is grown without.
    min_weight : float, default=2.0
        At least two branches of a split must have this weight of rows.
    confidence : float, default=0.25
        Of the pessimistic error by which the tree is pruned; less prunes more.
    prune : bool, default=True
        Replace a subtree by a leaf that is expected to err no more.
    max_cost : float, default=None
        The most that any row may cost, whatever its tests show: tests that alone cost
        more are left out, and a branch stops where the next test could cost more.
    class_weight : mapping or "balanced", default=None
        Factors of the weights of the rows of each class; "balanced" makes all classes
        weigh the same.
    n_jobs : int, default=None
        Threads for coding and predicting; results do not depend on it.

    Attributes
    ----------
    policy_ : Tree
        The policy that was learned.
    classes_ : ndarray
        The classes, ascending.
    point_ : ValidationPoint or None
        What it costs and how often it errs on the validation rows, if any were given.

    Notes
    -----
    A free test that tells anything comes before all others; of several, the one that
    tells most.

    References
    ----------
    .. [1] S. W. Norton, "Generating Better Decision Trees", IJCAI 1989.

    Examples
    --------
    >>> X = [[1, 1], [2, 2], [8, 8], [9, 9]]
    >>> tree = IDXClassifier(costs=[5, 1]).fit(X, ["low", "low", "high", "high"])
    >>> tree.cost(X)
    array([1., 1., 1., 1.])
    """

    _criterion = "idx"


class CSID3Classifier(_PrunedTreeClassifier):
    """CS-ID3: the highest gain**2 / price. Stops and prunes as C4.5 does.

    Parameters
    ----------
    costs : Costs, mapping or sequence, default=None
        What each test costs, by name or by position; 1 each by default.
    mistakes : number, matrix or mapping, default=None
        Cost of a wrong decision, ``mistakes[true][decision]``. Leaves decide by it; the
        tree is grown without.
    min_weight : float, default=2.0
        At least two branches of a split must have this weight of rows.
    confidence : float, default=0.25
        Of the pessimistic error by which the tree is pruned; less prunes more.
    prune : bool, default=True
        Replace a subtree by a leaf that is expected to err no more.
    max_cost : float, default=None
        The most that any row may cost, whatever its tests show: tests that alone cost
        more are left out, and a branch stops where the next test could cost more.
    class_weight : mapping or "balanced", default=None
        Factors of the weights of the rows of each class; "balanced" makes all classes
        weigh the same.
    n_jobs : int, default=None
        Threads for coding and predicting; results do not depend on it.

    Attributes
    ----------
    policy_ : Tree
        The policy that was learned.
    classes_ : ndarray
        The classes, ascending.
    point_ : ValidationPoint or None
        What it costs and how often it errs on the validation rows, if any were given.

    References
    ----------
    .. [1] M. Tan, J. Schlimmer, "Cost-Sensitive Concept Learning of Sensor Use in
       Approach and Recognition", 1989.

    Examples
    --------
    >>> X = [[1, 1], [2, 2], [8, 8], [9, 9]]
    >>> tree = CSID3Classifier(costs=[5, 1]).fit(X, ["low", "low", "high", "high"])
    >>> tree.cost(X)
    array([1., 1., 1., 1.])
    """

    _criterion = "csid3"


class DTMCClassifier(PolicyClassifier):
    """DTMC: buys the test that lowers total cost most at once; stops if none does.

    The total of a test is what it charges plus the mistakes of deciding right after
    it. Nothing is pruned.

    Parameters
    ----------
    costs : Costs, mapping or sequence, default=None
        What each test costs, by name or by position; 1 each by default.
    mistakes : number, matrix or mapping, default=None
        Cost of a wrong decision, ``mistakes[true][decision]``. If neither this nor
        `costs` says, ten times what all tests cost together.
    max_cost : float, default=None
        The most that any row may cost, whatever its tests show: tests that alone cost
        more are left out, and a branch stops where the next test could cost more.
    class_weight : mapping or "balanced", default=None
        Factors of the weights of the rows of each class; "balanced" makes all classes
        weigh the same.
    n_jobs : int, default=None
        Threads for coding and predicting; results do not depend on it.

    Attributes
    ----------
    policy_ : Tree
        The policy that was learned.
    classes_ : ndarray
        The classes, ascending.
    point_ : ValidationPoint or None
        What it costs and how often it errs on the validation rows, if any were given.

    Notes
    -----
    In the paper a case whose value is missing stays at the node and pays nothing.
    Here missing is an outcome: it shows only once the test is bought.

    References
    ----------
    .. [1] C. X. Ling, Q. Yang, J. Wang, S. Zhang, "Decision Trees with Minimal Costs",
       ICML 2004.

    Examples
    --------
    A test of 5 is worth it when a mistake costs 100, and not when it costs 2:

    >>> X, y = [[1], [2], [8], [9]], ["low", "low", "high", "high"]
    >>> DTMCClassifier([5], mistakes=100).fit(X, y).policy_.n_leaves
    2
    >>> DTMCClassifier([5], mistakes=2).fit(X, y).policy_.n_leaves
    1
    """

    def __init__(
        self,
        costs: Any = None,
        mistakes: Any = None,
        *,
        max_cost: float | None = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.mistakes = mistakes
        self.max_cost = max_cost
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def _grow(self, examples: Examples) -> Policy:
        induction = Induction.of(examples.code(), examples.classes, examples.costs)
        inducer = induction.inducer("dtmc", value="cost", prunes=False)
        return induction.tree(inducer.grow())
