"""Price a policy exactly: expected, worst, quantiles, error, cost of mistakes.

This package knows policies, tables and rows. It does not know how policies are found or
shown.
"""

from askless.evaluate._compare import Comparison, compare
from askless.evaluate._drift import diagnose
from askless.evaluate._evaluate import evaluate
from askless.evaluate._evaluation import Evaluation

__all__ = ["Comparison", "Evaluation", "compare", "diagnose", "evaluate"]
