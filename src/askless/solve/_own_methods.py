"""Methods of one's own: functions that make a policy of a table, and how to name them.

Whatever they say about their policies, costs are worked out here from the table. This
module knows no method.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any

import numpy as np

from askless.exceptions import (
    AsklessWarning,
    InvalidOptionError,
    InvalidPolicyError,
)
from askless.policy import Policy, Tree
from askless.policy._sample import sample_policy
from askless.problem import Table
from askless.solve._registry import METHODS, Method
from askless.solve._task import Limits, MethodResult, Priced, Task

__all__ = ["load_entry_points", "method_of", "register_method"]

# What packages list their methods under.
GROUP = "askless.methods"
# Tables of more cases than this are priced by drawn cases, unless the policy is a tree.
MOST_CASES = 20_000

Solver = Callable[..., Policy]


def register_method(
    name: str,
    solve: Solver,
    *,
    summary: str = "",
    guarantee: str = "None.",
    options: dict[str, str] | None = None,
) -> None:
    """Add a method, so that ``solve`` and the command line know it by name.

    A package offers methods without being imported by an entry point of the group
    ``askless.methods``, whose name is the method's and whose value is the function.

    Parameters
    ----------
    name : str
        What to call it; no method may be called so already.
    solve : callable
        ``solve(table, **options)`` returns a policy for a :class:`Table`. Its further
        parameters are the options of the method. If it has parameters ``random_state``
        or ``time_limit``, it gets those of :func:`askless.solve`.
    summary, guarantee : str
        What it does, and what is proved about it, for ``askless methods``. The first
        line of the docstring by default.
    options : dict of str to str, optional
        What each option means.

    Examples
    --------
    >>> import askless
    >>> def first_come(table):
    ...     "Asks the tests as they stand."
    ...     return askless.Sequence.from_table(table)
    >>> askless.register_method("first-come", first_come)
    >>> table = askless.datasets.load_car()
    >>> solution = askless.solve(table, method="first-come")
    >>> solution.error, solution.status
    (0.0, 'feasible')
    >>> from askless.solve import METHODS
    >>> del METHODS["first-come"]
    """
    if not isinstance(name, str) or not name.strip():
        raise InvalidOptionError(
            f"A method must have a name. Got {name!r}. Give it a short text."
        )
    if name in METHODS:
        raise InvalidOptionError(
            f"A method must have a name of its own. Got {name!r}, which is taken. "
            "Choose another one."
        )
    METHODS[name] = method_of(
        solve, name=name, summary=summary, guarantee=guarantee, options=options
    )


def method_of(
    solve: Solver,
    *,
    name: str | None = None,
    summary: str = "",
    guarantee: str = "None.",
    options: dict[str, str] | None = None,
) -> Method:
    """Return the method that a function of a table is."""
    if not callable(solve):
        raise InvalidOptionError(
            "A method must be a name, or a function that returns a policy for a table. "
            f"Got {type(solve).__name__}. See askless.register_method."
        )
    parameters = list(inspect.signature(solve).parameters.values())[1:]
    known = {p.name for p in parameters}
    text = summary or (inspect.getdoc(solve) or "").partition("\n")[0]
    called = name or str(getattr(solve, "__name__", type(solve).__name__))

    def run(task: Task, limits: Limits, **chosen: Any) -> MethodResult:
        if "time_limit" in known:
            chosen["time_limit"] = limits.time_limit
        table = _table_of(task)
        policy = _check_policy(solve(table, **chosen), table, called)
        return MethodResult(policy, priced=_price(policy, task))

    own = [p for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]
    shown = [p.replace(kind=p.KEYWORD_ONLY) for p in own if p.name != "time_limit"]
    first = inspect.Parameter("task", inspect.Parameter.POSITIONAL_ONLY)
    run.__signature__ = inspect.Signature([first, *shown])  # type: ignore[attr-defined]
    return Method(
        called,
        run,
        text or "A method of your own.",
        guarantee,
        options or {},
        is_anytime=True,
        is_random="random_state" in known,
    )


def _table_of(task: Task) -> Table:
    """Return the table with the decisions of the task as its classes."""
    if task.classes == task.table.classes:
        return task.table
    costs = task.table.costs.with_mistakes(None)
    return task.table._changed(
        classes=task.classes, class_ids=task.class_ids, costs=costs
    )


def _check_policy(policy: Any, table: Table, name: str) -> Policy:
    if not isinstance(policy, Policy):
        raise InvalidPolicyError(
            f"A method must return a policy. Got {type(policy).__name__} from {name!r}."
            " Return for example Tree.from_rule(table, choose)."
        )
    if policy.tests != table.tests or policy.classes != table.classes:
        raise InvalidPolicyError(
            "A method must return a policy over the tests and the classes of its table."
            f" Got others from {name!r}. Make the policy of the table that it is given."
        )
    return policy


def _price(policy: Policy, task: Task) -> Priced:
    """Return what a policy costs on the table, whatever its nodes say."""
    table, true = task.table, task.class_ids
    prior = table.prior
    if table.has_unknown or (
        table.n_cases > MOST_CASES and not isinstance(policy, Tree)
    ):
        sample = sample_policy(policy, table, true, most_runs=20_000)
        return Priced(
            sample.expected_cost, sample.worst_cost, sample.error, False, sample.margin
        )
    if isinstance(policy, Tree):
        codes: Any = table.codes
        leaf = policy.apply_codes(codes)
        cost = policy.spent[leaf]
        if policy.prices.engine.has_outcome_prices:
            cost = policy.charge_codes(codes)
        decided = policy.node_decision[leaf]
    else:
        cost, decided = _run_each(policy, table)
    wrong = float(prior @ (decided != true))
    return Priced(float(prior @ cost), float(cost.max()), wrong)


def _run_each(policy: Policy, table: Table) -> tuple[Any, Any]:
    """Return what each case pays, and what is decided for it."""
    cost, decided = np.zeros(table.n_cases), np.zeros(table.n_cases, dtype=np.int64)
    for case in range(table.n_cases):
        state, bill = policy.initial_state(), policy.prices.open_bill()
        while (test := policy.next_test(state)) is not None:
            code = int(table.codes[test, case])
            if policy.prices.delayed[test] and not bill.has_paid(test):
                bill.charge_together(policy.tests_ahead(state))
            else:
                bill.charge(test, code)
            state = policy.advance(state, code)
        cost[case], decided[case] = bill.spent, policy.decision(state)
    return cost, decided


def load_entry_points() -> None:
    """Add the methods that installed packages offer; one that fails is warned of."""
    for point in entry_points(group=GROUP):
        if point.name in METHODS:
            continue
        try:
            register_method(point.name, point.load())
        except Exception as error:
            warnings.warn(
                f"The method {point.name!r} of {point.value} cannot be loaded: "
                f"{type(error).__name__}: {error}",
                AsklessWarning,
                stacklevel=3,
            )
