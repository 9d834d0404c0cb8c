"""Evaluate a policy on a known table, or on rows whose class is known."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from askless.evaluate._evaluation import Evaluation
from askless.evaluate._row_costs import charge_rows
from askless.evaluate._table import Ending, walk_table
from askless.exceptions import InvalidTableError
from askless.policy import Policy
from askless.policy._sample import draw_runs
from askless.problem import Table
from askless.problem._column import clean_column

__all__ = ["evaluate", "evaluate_rows"]

# With more ways to go than this, cases are drawn instead of followed.
MOST_ENDINGS = 300_000


def evaluate(
    policy: Policy,
    data: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    costs: Any = None,
    row_costs: Any = None,
) -> Evaluation:
    """Return what a policy costs and how often it is wrong.

    Parameters
    ----------
    policy : Policy
        What to evaluate.
    data : Table, frame or array-like of shape (n_rows, n_tests)
        A known table, every unknown outcome of which is followed both ways with the
        right chances; or rows of raw values.
    y : array-like of shape (n_rows,), optional
        The true class of each row, or the true number of a policy that says numbers;
        not for a table.
    sample_weight : array-like of shape (n_rows,), optional
        The weight of each row; not for a table, which has a prior.
    costs : Costs, mapping or sequence, optional
        What the tests cost now, if that is not what the policy was made for; see
        :meth:`Policy.with_costs`. The costs of a table are not looked at.
    row_costs : frame, mapping, or array-like of shape (n_rows, n_tests), optional
        What each test costs each row, where that differs from row to row; not for a
        table. A test that is left out costs what it always does. The policy still buys
        by its own prices: to buy well on average, make it with the mean prices. What a
        group or an outcome changes of a price, it changes in proportion.

    Examples
    --------
    One outcome is unknown, so half of the time the second test is needed:

    >>> import askless
    >>> table = askless.Table([[0, 0], [None, 1]], ["a", "b"], costs=[1, 2])
    >>> policy = askless.solve(table).policy
    >>> askless.evaluate(policy, table).expected_cost
    2.0

    The same policy, after the price of what it asks has gone up:

    >>> askless.evaluate(policy, table, costs=[1, 4]).expected_cost
    4.0

    The same, where the second test is dear for the second row:

    >>> dear = {"t1": [2, 9]}
    >>> askless.evaluate(policy, [[0, 0], [0, 1]], row_costs=dear).case_cost
    array([2., 9.])
    """
    policy = policy if costs is None else policy.with_costs(costs)
    if isinstance(data, Table):
        if any(given is not None for given in (y, sample_weight, row_costs)):
            raise InvalidTableError(
                "A table brings its own classes and weights. Got y, sample_weight or "
                "row_costs as well. Leave them out."
            )
        return _evaluate_table(policy, data)
    return evaluate_rows(policy, data, y, sample_weight, row_costs)[0]


def _evaluate_table(policy: Policy, table: Table) -> Evaluation:
    if policy.answers_number:
        raise InvalidTableError(
            "A policy that says numbers must be evaluated on rows and their numbers. "
            "Got a table, which has classes. Pass rows and y."
        )
    true = _true_classes(policy, table)
    try:
        endings = walk_table(policy, table, MOST_ENDINGS)
    except OverflowError:
        return _sample_table(policy, table, true)
    n = table.n_cases
    cost, worst, error = np.zeros(n), np.zeros(n), np.zeros(n)
    mistake = np.zeros(n)
    for ending in endings:
        cases = ending.cases
        cost[cases] += ending.chances * ending.spent
        worst[cases] = np.maximum(worst[cases], ending.spent)
        is_wrong = true[cases] != ending.decision
        error[cases] += ending.chances * is_wrong
        if policy.mistakes is not None:
            mistake[cases] += (
                ending.chances * policy.mistakes[true[cases], ending.decision]
            )
    costs, weights = _distribution(endings, table.prior)
    return Evaluation(
        expected_cost=float(cost @ table.prior),
        worst_cost=float(worst.max()),
        error=float(error @ table.prior),
        mistake_cost=(
            None if policy.mistakes is None else float(mistake @ table.prior)
        ),
        case_cost=cost,
        case_worst=worst,
        case_error=error,
        costs=costs,
        weights=weights,
    )


def _sample_table(policy: Policy, table: Table, true: NDArray[np.int64]) -> Evaluation:
    """Evaluate on cases drawn from the prior, since there are too many ways to go."""
    runs = draw_runs(policy, table, true.astype(np.int32), most_runs=2000)
    costs, where = np.unique(runs.costs, return_inverse=True)
    mistake = None
    if policy.mistakes is not None:
        mistake = float(policy.mistakes[true[runs.cases], runs.decisions].mean())
    unsaid = np.full(table.n_cases, np.nan)
    sample = runs.summary
    return Evaluation(
        expected_cost=sample.expected_cost,
        worst_cost=sample.worst_cost,
        error=sample.error,
        mistake_cost=mistake,
        case_cost=unsaid,
        case_worst=unsaid,
        case_error=unsaid,
        costs=costs,
        weights=_sum_by(where, np.full(len(runs.costs), 1 / len(runs.costs))),
        is_exact=False,
        margin=sample.margin,
    )


def _true_classes(policy: Policy, table: Table) -> NDArray[np.int64]:
    """Return, for each case, which of the policy's decisions is right."""
    index = {known: i for i, known in enumerate(policy.classes)}
    # A policy that finds out the case lists the cases as they stand.
    finds_case = policy.classes == table.cases and policy.classes != table.classes
    if not finds_case and all(known in index for known in table.classes):
        by_class = np.array([index[known] for known in table.classes])
        return by_class[table.class_ids]
    if all(case in index for case in table.cases):
        return np.array([index[case] for case in table.cases])
    absent = next(known for known in table.classes if known not in index)
    raise InvalidTableError(
        "The classes of the table must be decisions of the policy. Got "
        f"{absent!r}, which the policy never decides. Evaluate it on its own table."
    )


def _distribution(
    endings: list[Ending], prior: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    spent = np.array([ending.spent for ending in endings])
    weights = np.array([float(e.chances @ prior[e.cases]) for e in endings])
    costs, where = np.unique(spent, return_inverse=True)
    return costs, _sum_by(where, weights)


def _sum_by(where: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.bincount(where, weights=weights).astype(np.float64)


def evaluate_rows(
    policy: Policy, X: Any, y: Any, sample_weight: Any, row_costs: Any = None
) -> tuple[Evaluation, NDArray[Any]]:
    """Return what a policy costs on rows, and what it decides, from one run.

    Parameters
    ----------
    policy, X, y, sample_weight, row_costs
        See :func:`evaluate`.
    """
    decided, cost = policy.predict_and_cost(X)
    n = len(cost)
    if row_costs is not None:
        cost = charge_rows(policy, X, row_costs, n)
    if n == 0:
        raise InvalidTableError(
            "There must be at least one row to evaluate. Got none. Check the data."
        )
    weights = _check_weights(sample_weight, n)
    errors = _Errors(np.full(n, np.nan))
    if y is not None:
        true = clean_column(y, "y")
        if len(true) != n:
            raise InvalidTableError(
                f"There must be a class for each row. Got {len(true)} for {n} rows. "
                "Pass as many as there are rows."
            )
        judge = _judge_numbers if policy.answers_number else _judge_classes
        errors = judge(policy, true, decided, weights)
    costs, where = np.unique(cost, return_inverse=True)
    found = Evaluation(
        expected_cost=float(cost @ weights),
        worst_cost=float(cost.max()),
        error=errors.share,
        mistake_cost=errors.mistake_cost,
        case_cost=cost,
        case_worst=cost,
        case_error=errors.by_row,
        costs=costs,
        weights=_sum_by(where, weights),
        squared_error=errors.squared,
        absolute_error=errors.absolute,
    )
    return found, decided


class _Errors(NamedTuple):
    """How wrong rows are: how often, or how far off."""

    by_row: NDArray[np.float64]
    share: float = float("nan")
    mistake_cost: float | None = None
    squared: float = float("nan")
    absolute: float = float("nan")


def _judge_classes(
    policy: Policy,
    true: NDArray[Any],
    decided: NDArray[Any],
    weights: NDArray[np.float64],
) -> _Errors:
    truth, decision = _match_classes(policy, true, decided)
    is_wrong = (truth != decision).astype(np.float64)
    mistake_cost = None
    if policy.mistakes is not None:
        if np.any(truth < 0):
            new = true.tolist()[np.flatnonzero(truth < 0)[0]]
            raise InvalidTableError(
                "To price mistakes, every true class must be known to the policy. "
                f"Got {new!r}. Leave such rows out."
            )
        mistake_cost = float(policy.mistakes[truth, decision] @ weights)
    return _Errors(is_wrong, float(is_wrong @ weights), mistake_cost)


def _judge_numbers(
    policy: Policy,
    true: NDArray[Any],
    said: NDArray[Any],
    weights: NDArray[np.float64],
) -> _Errors:
    try:
        gap = np.abs(true.astype(np.float64) - said)
    except (TypeError, ValueError):
        gap = np.full(len(said), np.nan)
    if not np.isfinite(gap).all():
        first = true.tolist()[int(np.flatnonzero(~np.isfinite(gap))[0])]
        raise InvalidTableError(
            "A policy that says numbers must be judged by numbers. Got "
            f"{first!r}. Leave such rows out, or check which column is the target."
        )
    return _Errors(gap, squared=float(gap**2 @ weights), absolute=float(gap @ weights))


def _match_classes(
    policy: Policy, true: NDArray[Any], decided: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return true and decided classes, numbered alike; text may spell a number."""
    index: dict[Any, int] = {known: i for i, known in enumerate(policy.classes)}
    for i, known in enumerate(policy.classes):
        index.setdefault(str(known), i)
    truth = np.array([index.get(known, -1) for known in true.tolist()])
    return truth, np.array([index[known] for known in decided.tolist()])


def _check_weights(sample_weight: Any, n: int) -> NDArray[np.float64]:
    if sample_weight is None:
        return np.full(n, 1.0 / n)
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.empty(0)
    is_right = weights.shape == (n,) and bool(np.all(weights >= 0))
    # Python's sum is infinite where numpy's would warn as well.
    if not is_right or not 0 < sum(weights.tolist()) < np.inf:
        raise InvalidTableError(
            f"sample_weight must have {n} finite values >= 0 with a positive and "
            "finite sum. Got others. Leave it out for equal weights."
        )
    return np.asarray(weights / weights.sum())
