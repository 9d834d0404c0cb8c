"""Put coded examples into a workspace, and arrays of nodes into a tree.

What the greedy family, the look-ahead learners and ICET share. It must not know how any
of them chooses a test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless._core.cost._criteria import SplitCriterion
from askless._core.cost._induce import Inducer
from askless._core.cost._samples import Sampling
from askless._core.cost._workspace import Workspace
from askless.learn._examples import CodedExamples
from askless.learn._mistakes import settle_mistakes
from askless.learn.trees._row_weights import settle_weights
from askless.policy import Nodes, Tree
from askless.problem import Costs, Outcome, PriceList, Test

__all__ = ["Induction"]


def _never() -> NDArray[np.int32]:
    """Return a flag that nobody raises."""
    return np.zeros(1, dtype=np.int32)


@dataclass(frozen=True)
class Induction:
    """Examples ready to grow trees from.

    Attributes
    ----------
    tests, classes
        Of the policy.
    prices : PriceList
        What the tests charge.
    stated : ndarray or None
        Mistakes as the user gave them, for the policy's decisions.
    mistakes : ndarray of shape (n_classes, n_classes)
        Mistakes to grow by.
    workspace : Workspace
    weight : float
        Of all rows.
    """

    tests: tuple[Test, ...]
    classes: tuple[Outcome, ...]
    prices: PriceList
    stated: NDArray[np.float64] | None
    mistakes: NDArray[np.float64]
    workspace: Workspace
    weight: float

    @classmethod
    def of(
        cls, examples: CodedExamples, classes: tuple[Outcome, ...], costs: Costs
    ) -> Induction:
        """Settle prices, mistakes and weights, and lay the examples out."""
        prices = costs.price_list(examples.tests)
        stated = costs.mistake_matrix(classes)
        mistakes = settle_mistakes(stated, prices, len(classes))
        n_rows = examples.codes.shape[1]
        weights = np.ascontiguousarray(settle_weights(examples.weights, n_rows))
        workspace = Workspace(
            examples.codes,
            examples.n_levels,
            examples.is_ordered,
            np.arange(n_rows + 1, dtype=np.int64),
            examples.class_ids,
            weights,
            mistakes,
            prices.engine,
        )
        return cls(
            examples.tests,
            classes,
            prices,
            stated,
            mistakes,
            workspace,
            float(weights.sum()),
        )

    def at_prices(self, prices: PriceList) -> Induction:
        """Return the same examples with tests that charge something else."""
        workspace = self.workspace.copy(prices.engine)
        return replace(self, prices=prices, workspace=workspace)

    def inducer(
        self,
        criterion: str,
        *,
        value: str,
        judging: Mapping[str, Any] | None = None,
        sampling: Sampling | None = None,
        stop: NDArray[np.int32] | None = None,
        **options: Any,
    ) -> Inducer:
        """Return a grower of trees; see the compiled classes for all options.

        ``judging`` are those of the criterion.
        """
        return Inducer(
            self.workspace,
            SplitCriterion(criterion, **(judging or {})),
            sampling,
            value=value,
            stop=_never() if stop is None else stop,
            **options,
        )

    def tree(self, arrays: Mapping[str, NDArray[Any]]) -> Tree:
        """Return the policy of grown arrays."""
        return Tree(
            self.tests,
            self.classes,
            self.prices,
            nodes=Nodes.from_arrays(arrays),
            mistakes=self.stated,
        )
