"""Checks that any policy must pass, ours or anybody's.

They use only what every policy promises; they must not know what it looks like inside.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.policy import Policy, load
from askless.policy._base import raw_columns
from askless.policy._file import dump
from askless.problem import as_columns
from askless.problem._frames import is_frame
from askless.run import Session

__all__ = ["check_policy"]


def check_policy(policy: Policy, X: Any) -> None:
    """Raise AssertionError unless a policy keeps its promises on some rows.

    What it predicts and charges for many rows at once must be what a session comes to
    when it is answered from each row, spent to the last bit; a session's log must
    replay, and undo must lead back to the start; the file of a policy must give the
    same policy again.

    Parameters
    ----------
    policy : Policy
        What to check.
    X : frame, mapping of columns, or array-like of shape (n_rows, n_tests)
        Rows of raw values; see :meth:`Policy.predict`.

    Examples
    --------
    >>> import askless
    >>> table = askless.datasets.load_car()
    >>> check_policy(askless.solve(table).policy, table.rows())
    """
    decided, shares, costs = _check_shapes(policy, X)
    columns = _all_columns(policy, X)
    for row in range(len(costs)):
        values = {name: column[row] for name, column in columns.items()}
        session = _check_session(policy, values, f"row {row}")
        _check_ending(session, decided[row], shares[row], costs[row], f"row {row}")
    _check_file(policy, X, decided, shares, costs)
    _check_one_run(policy, X, decided, costs)
    needed = {name: columns[name] for name in policy.columns}
    if needed:
        same = policy.predict(needed).tolist() == decided.tolist()
        assert same, "predict must need no more than the policy's columns"


def _check_one_run(
    policy: Policy, X: Any, decided: NDArray[Any], costs: NDArray[np.float64]
) -> None:
    for n_jobs in (None, 2):
        together = policy.predict_and_cost(X, n_jobs=n_jobs)
        same = together[0].tolist() == decided.tolist()
        assert same, "predict_and_cost must decide as predict does"
        same = together[1].tolist() == costs.tolist()
        assert same, "predict_and_cost must charge as cost does"


def _check_shapes(
    policy: Policy, X: Any
) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]]:
    decided, shares, costs = policy.predict(X), policy.predict_proba(X), policy.cost(X)
    n, k = len(costs), len(policy.classes)
    assert costs.shape == (n,), f"cost must be one number a row, not {costs.shape}"
    assert decided.shape == (n,), f"predict must be one a row, not {decided.shape}"
    assert shares.shape == (n, k), f"predict_proba must be {n} x {k}"
    assert np.all(costs >= 0), "costs must be >= 0"
    assert np.all(shares >= 0), "shares must be >= 0"
    assert np.allclose(shares.sum(axis=1), 1.0), "shares must sum to 1"
    strangers = set(decided.tolist()) - set(policy.classes)
    assert not strangers, f"{strangers} are decided, which are no classes"
    for n_jobs in (2, -1):
        same = policy.predict(X, n_jobs=n_jobs).tolist() == decided.tolist()
        assert same, f"predict must not depend on n_jobs={n_jobs}"
        same = policy.cost(X, n_jobs=n_jobs).tolist() == costs.tolist()
        assert same, f"cost must not depend on n_jobs={n_jobs}"
    return decided, shares, costs


def _all_columns(policy: Policy, X: Any) -> Mapping[str, NDArray[Any]]:
    if isinstance(X, Mapping) or is_frame(X):
        return as_columns(X)
    return raw_columns(X, policy.coding, list(range(len(policy.tests))))[0]


def _check_session(policy: Policy, values: Mapping[str, Any], where: str) -> Session:
    """Answer a session from a row, checking each step; return it at its end."""
    session = policy.start()
    moments = [_moment(session)]
    while session.test is not None:
        before, quoted = session.spent, session.price
        assert session.decision is None, f"{where}: a decision and a test at once"
        assert quoted >= 0, f"{where}: the price {quoted} of {session.test!r}"
        session.answer(values[session.test], allow_unseen=True)
        paid = session.log[-1]["paid"]
        assert session.spent == before + paid, f"{where}: {paid} is not what was paid"
        moments.append(_moment(session))
        assert len(moments) < 10_000, f"{where}: the session does not end"
    replayed = Session.replay(policy, json.loads(json.dumps(session.log)))
    assert _moment(replayed) == _moment(session), f"{where}: the log does not replay"
    for moment in reversed(moments[:-1]):
        replayed.undo()
        assert _moment(replayed) == moment, f"{where}: undo does not restore"
    return session


def _moment(session: Session) -> tuple[Any, ...]:
    return (
        session.test,
        session.price,
        session.spent,
        session.decision,
        session.probabilities,
        session.why(),
        len(session.log),
    )


def _check_ending(
    session: Session, decided: Any, shares: NDArray[np.float64], cost: float, where: str
) -> None:
    assert session.decision == decided, (
        f"{where}: predict says {decided!r}, the session {session.decision!r}"
    )
    assert session.spent == cost, (
        f"{where}: cost says {cost!r}, the session has spent {session.spent!r}"
    )
    believed = list(session.probabilities.values())
    assert np.allclose(believed, shares, rtol=1e-12, atol=1e-300), (
        f"{where}: predict_proba says {shares}, the session {believed}"
    )


def _check_file(
    policy: Policy,
    X: Any,
    decided: NDArray[Any],
    shares: NDArray[np.float64],
    costs: NDArray[np.float64],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "policy.json")
        policy.save(path)
        again = load(path)
        left = [entry.name for entry in Path(folder).iterdir()]
    assert left == ["policy.json"], f"saving leaves {left} behind"
    assert dump(again) == dump(policy), "a saved policy must load as it was"
    assert again.kind == policy.kind, "a saved policy must keep its kind"
    assert again.classes == policy.classes, "a saved policy must keep its classes"
    assert again.tests == policy.tests, "a saved policy must keep its tests"
    same = again.predict(X).tolist() == decided.tolist()
    assert same, "a saved policy must decide the same"
    same = again.predict_proba(X).tolist() == shares.tolist()
    assert same, "a saved policy must believe the same"
    same = again.cost(X).tolist() == costs.tolist()
    assert same, "a saved policy must charge the same"
