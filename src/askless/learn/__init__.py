"""Learn policies from examples: scikit-learn estimators that know what tests cost.

This package knows examples, tables' codes and policies. It does not know how a policy
is evaluated, shown or run.
"""

from askless.learn._greedy_tree import GreedyTreeClassifier
from askless.learn._registry import LEARNERS, Learner

__all__ = ["GreedyTreeClassifier", "LEARNERS", "Learner"]
