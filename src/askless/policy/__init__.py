"""The artefact: answers so far in, next test or decision out.

A policy is self-contained: names, costs and levels are inside, so a file of it is
enough to run it. This package does not know how a policy was found.
"""

from askless.policy._base import Policy
from askless.policy._decide import decide_classes
from askless.policy._degenerate import explain_degenerate
from askless.policy._file import load, policy_schema
from askless.policy._nodes import Nodes
from askless.policy._nodes_builder import NodesBuilder
from askless.policy._number_tree import NumberTree
from askless.policy._rule import Rule
from askless.policy._sequence import Sequence
from askless.policy._tree import Tree
from askless.policy.ensemble._ensemble import Ensemble
from askless.policy.ensemble._output import Output
from askless.policy.ensemble._parts import EnsembleTrees
from askless.policy.forest._forest import Forest
from askless.policy.online._posterior import Posterior

__all__ = [
    "Ensemble",
    "EnsembleTrees",
    "Forest",
    "Nodes",
    "NodesBuilder",
    "NumberTree",
    "Output",
    "Policy",
    "Posterior",
    "Rule",
    "Sequence",
    "Tree",
    "decide_classes",
    "explain_degenerate",
    "load",
    "policy_schema",
]
