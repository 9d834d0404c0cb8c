"""Turn a model that was read, or a policy of Askless, into an ensemble that buys.

This module must not know when the ensemble stops.
"""

from __future__ import annotations

from typing import Any

from askless.exceptions import InvalidOptionError
from askless.learn._mistakes import settle_costs
from askless.learn.sources import Source, read_policy
from askless.policy import Ensemble, Forest, Tree
from askless.policy.ensemble._bounds import choose_bounds

__all__ = ["compile_policy", "compile_source"]


def compile_source(
    source: Source,
    costs: Any,
    *,
    mistakes: Any = None,
    names: list[str] | None = None,
    stops_early: bool = False,
    **options: Any,
) -> Ensemble:
    """Return a source model as a policy.

    Parameters
    ----------
    source : Source
        The trees of the model.
    costs, mistakes
        What tests and mistakes cost, as estimators take them.
    names : list of str, optional
        Names of the features; the model's own by default.
    stops_early : bool, default=False
        Whether the policy will be given a rule to stop by before it is settled, so that
        bounds, and the order of tests with them, are chosen for that from the start.
    **options
        Of :class:`~askless.policy.Ensemble`: when it stops, how bounds are kept.
    """
    names = names or source.names or [f"x{i}" for i in range(source.n_features)]
    if len(names) != source.n_features:
        raise InvalidOptionError(
            f"There must be a name for each of the {source.n_features} features of the "
            f"model. Got {len(names)}. List them in the order of its columns."
        )
    tests, trees = source.assemble(names)
    if stops_early and options.get("bounds", "auto") == "auto":
        options["bounds"] = choose_bounds(
            trees, source.output, tests, is_settled_only=False
        )
    settled = settle_costs(costs, source.n_features, mistakes)
    return Ensemble(
        tests,
        source.classes,
        settled.price_list(tests),
        trees=trees,
        output=source.output,
        mistakes=settled.mistake_matrix(source.classes) if source.classes else None,
        **options,
    )


def compile_policy(
    policy: Tree | Forest, costs: Any, *, mistakes: Any = None, **options: Any
) -> Ensemble:
    """Return a tree or forest of Askless as an ensemble, by default at its price."""
    trees, output = read_policy(policy)
    prices, matrix = policy.prices, policy.mistakes
    settled = settle_costs(costs, len(policy.tests), mistakes)
    if costs is not None:
        prices = settled.price_list(policy.tests)
    if costs is not None or mistakes is not None:
        matrix = settled.mistake_matrix(policy.classes)
    return Ensemble(
        policy.tests,
        policy.classes,
        prices,
        trees=trees,
        output=output,
        mistakes=matrix,
        **options,
    )
