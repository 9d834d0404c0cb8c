"""Price a policy exactly: expected, worst, quantiles, error, cost of mistakes.

And compare models: error against cost by cross-validation, rankings by query. This
package knows policies, tables and rows. It does not know how policies are found or
shown.
"""

from askless.evaluate._compare import Comparison, compare
from askless.evaluate._drift import diagnose
from askless.evaluate._evaluate import evaluate
from askless.evaluate._evaluation import Evaluation
from askless.evaluate._frontier import frontier
from askless.evaluate._frontier_points import Frontier, FrontierPoint
from askless.evaluate._ranking import precision_at

__all__ = [
    "Comparison",
    "Evaluation",
    "Frontier",
    "FrontierPoint",
    "compare",
    "diagnose",
    "evaluate",
    "frontier",
    "precision_at",
]
