"""Slow twins of the kernels and solvers, to check them and anything built on them.

Each function here is as plain as it can be made: it follows the rules word by word and
calls nothing compiled. Tests compare costs with these.
"""

from askless.testing._checks import check_policy
from askless.testing._hard_rows import make_hard_rows
from askless.testing._reference_boost import (
    PlainBoostColumn,
    PlainBoostSplit,
    PlainBoostTree,
    plain_charged_tree,
    plain_charges,
    plain_derivatives,
    plain_drawn_columns,
    plain_log_loss,
)
from askless.testing._reference_codes import encode_category, encode_number
from askless.testing._reference_cost_tree import PlainCostTree
from askless.testing._reference_costs import path_cost, sequence_cost
from askless.testing._reference_dectree import PlainDecTree
from askless.testing._reference_ensemble import (
    PlainState,
    plain_ensemble_answer,
    plain_ensemble_state,
)
from askless.testing._reference_likelihoods import plain_likelihoods
from askless.testing._reference_out_of_bag import PlainForest
from askless.testing._reference_pairs import plain_pair_cost
from askless.testing._reference_policy import (
    PlainEvaluation,
    PlainRun,
    plain_evaluate,
    plain_run,
    plain_walk,
)
from askless.testing._reference_posterior import plain_posterior_scores
from askless.testing._reference_solve import (
    brute_force_cost,
    brute_force_pareto,
    count_pairs,
    plain_greedy_costs,
)
from askless.testing._reference_total import reference_total
from askless.testing._reference_tradeoff import (
    Tradeoff,
    brute_force_tradeoffs,
    list_prunings,
)
from askless.testing._reference_trees import (
    PlainGrower,
    plain_errors,
    plain_errors_c45,
    plain_trial,
)
from askless.testing._reference_unknown import (
    PlainUnknown,
    brute_force_unknown,
    plain_rule_cost,
    plain_rule_score,
)

__all__ = [
    "PlainBoostColumn",
    "PlainBoostSplit",
    "PlainBoostTree",
    "PlainCostTree",
    "PlainDecTree",
    "PlainEvaluation",
    "PlainForest",
    "PlainGrower",
    "PlainRun",
    "PlainState",
    "PlainUnknown",
    "Tradeoff",
    "brute_force_cost",
    "brute_force_pareto",
    "brute_force_tradeoffs",
    "brute_force_unknown",
    "check_policy",
    "count_pairs",
    "encode_category",
    "encode_number",
    "list_prunings",
    "make_hard_rows",
    "path_cost",
    "plain_charged_tree",
    "plain_charges",
    "plain_derivatives",
    "plain_drawn_columns",
    "plain_ensemble_answer",
    "plain_ensemble_state",
    "plain_errors",
    "plain_errors_c45",
    "plain_evaluate",
    "plain_greedy_costs",
    "plain_likelihoods",
    "plain_log_loss",
    "plain_pair_cost",
    "plain_posterior_scores",
    "plain_rule_cost",
    "plain_rule_score",
    "plain_run",
    "plain_trial",
    "plain_walk",
    "reference_total",
    "sequence_cost",
]
