"""Checks that any policy must pass, ours or anybody's.

They use only what every policy promises; they must not know what it looks like inside.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import InvalidOptionError
from askless.export import show
from askless.policy import Policy, load
from askless.policy._base import raw_columns
from askless.policy._file import dump
from askless.problem import as_columns
from askless.problem._frames import is_frame
from askless.run import CaseResult, Session
from askless.testing._hard_rows import make_hard_rows

__all__ = ["check_policy"]


def check_policy(policy: Policy, X: Any = None, *, source: Any = None) -> None:
    """Raise AssertionError unless a policy keeps its promises on some rows.

    One promise: whatever way a policy is run, it comes to the same. What it predicts
    and charges for many rows at once, what a session comes to when it is answered from
    each row, what ``run`` and ``run_many`` buy, what a saved and loaded policy says and
    what an export decides must agree row by row, spent to the last bit. A session's log
    must replay, and undo must lead back to the start.

    Parameters
    ----------
    policy : Policy
        What to check.
    X : frame, mapping of columns, or array-like of shape (n_rows, n_tests), optional
        Rows of raw values; see :meth:`Policy.predict`. By default rows at and beside
        the policy's own thresholds, with missing and unseen values.
    source : object, optional
        The model that the policy stands for; its ``predict`` must say the same.

    See Also
    --------
    make_hard_rows : The rows that are used by default.

    Examples
    --------
    >>> import askless
    >>> table = askless.datasets.load_car()
    >>> check_policy(askless.solve(table).policy, table.rows())
    """
    if X is None:
        X = make_hard_rows(policy)
    decided, shares, costs = _check_shapes(policy, X)
    columns = _all_columns(policy, X)
    sessions = []
    for row in range(len(costs)):
        values = {name: column[row] for name, column in columns.items()}
        session = _check_session(policy, values, f"row {row}")
        _check_ending(session, decided[row], shares[row], costs[row], f"row {row}")
        sessions.append(session)
    _check_buying(policy, columns, sessions)
    _check_file(policy, X, decided, shares, costs)
    _check_one_run(policy, X, decided, costs)
    needed = {name: columns[name] for name in policy.columns}
    if needed:
        same = policy.predict(needed).tolist() == decided.tolist()
        assert same, "predict must need no more than the policy's columns"
    _check_exports(policy, columns, decided)
    if source is not None:
        said = np.asarray(source.predict(X))
        differs = np.flatnonzero(said != decided)
        assert not len(differs), (
            f"row {differs[0]}: the source says {said[differs[0]]!r}, the policy "
            f"{decided[differs[0]]!r}"
        )


def _check_one_run(
    policy: Policy, X: Any, decided: NDArray[Any], costs: NDArray[np.float64]
) -> None:
    for n_jobs in (None, 2):
        together = policy.predict_and_cost(X, n_jobs=n_jobs)
        same = together[0].tolist() == decided.tolist()
        assert same, "predict_and_cost must decide as predict does"
        same = together[1].tolist() == costs.tolist()
        assert same, "predict_and_cost must charge as cost does"


def _check_buying(
    policy: Policy, columns: Mapping[str, NDArray[Any]], sessions: list[Session]
) -> None:
    """Buy each row's tests from code, one case at a time and several."""

    def fetch(row: int, test: str) -> Any:
        return columns[test][row]

    # An outcome that a test cannot show is a failed fetch, not an answer.
    rows = [r for r, s in enumerate(sessions) if not _has_unseen(policy, s)]
    for row in rows:
        _check_bought(policy.run(fetch, row), sessions[row], f"row {row}, run")
    report = policy.run_many(fetch, rows, max_workers=3)
    for row, result in zip(rows, report.results, strict=True):
        _check_bought(result, sessions[row], f"row {row}, run_many")


def _has_unseen(policy: Policy, session: Session) -> bool:
    tests = policy.test_by_name
    return any(
        tests[entry["test"]].code_of(entry["outcome"])
        == tests[entry["test"]].unknown_code
        for entry in session.log
    )


def _check_bought(result: CaseResult, session: Session, where: str) -> None:
    assert result.decision == session.decision, (
        f"{where}: decides {result.decision!r}, the session {session.decision!r}"
    )
    assert result.spent == session.spent, (
        f"{where}: spends {result.spent!r}, the session {session.spent!r}"
    )
    assert result.bought == session.bought, (
        f"{where}: buys {result.bought}, the session {session.bought}"
    )


def _check_exports(
    policy: Policy, columns: Mapping[str, NDArray[Any]], decided: NDArray[Any]
) -> None:
    """Run the exported program, where this kind of policy has one."""
    try:
        program = show(policy, "python")
    except InvalidOptionError:
        return
    module: dict[str, Any] = {}
    exec(program, module)
    # The program of an ensemble takes a while for each row.
    n_rows = 10 if policy.kind == "ensemble" else len(decided)
    for row, expected in enumerate(decided.tolist()[:n_rows]):
        values = {name: _plain(column[row]) for name, column in columns.items()}
        said = module["explain"](values)["decision"]
        # The last bits of an exponential are each engine's own.
        is_equal = policy.answers_number and math.isclose(said, expected, rel_tol=1e-6)
        assert is_equal or said == expected, (
            f"row {row}: predict says {expected!r}, the exported program {said!r}"
        )


def _plain(value: Any) -> Any:
    if value is None or value != value:
        return None
    return value.item() if isinstance(value, np.generic) else value


def _shares(policy: Policy, X: Any) -> NDArray[np.float64]:
    """Return the shares of classes; none of a policy that answers numbers."""
    if policy.classes:
        return policy.predict_proba(X)
    return np.empty((len(policy.cost(X)), 0))


def _check_shapes(
    policy: Policy, X: Any
) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]]:
    decided, shares, costs = policy.predict(X), _shares(policy, X), policy.cost(X)
    n, k = len(costs), len(policy.classes)
    assert costs.shape == (n,), f"cost must be one number a row, not {costs.shape}"
    assert decided.shape == (n,), f"predict must be one a row, not {decided.shape}"
    assert shares.shape == (n, k), f"predict_proba must be {n} x {k}"
    assert np.all(costs >= 0), "costs must be >= 0"
    assert np.all(shares >= 0), "shares must be >= 0"
    if policy.classes:
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
    log = session.log
    if all(
        np.isfinite(e["outcome"]) for e in log if isinstance(e.get("outcome"), float)
    ):
        log = json.loads(json.dumps(log))
    replayed = Session.replay(policy, log)
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
    same = _shares(again, X).tolist() == shares.tolist()
    assert same, "a saved policy must believe the same"
    same = again.cost(X).tolist() == costs.tolist()
    assert same, "a saved policy must charge the same"
