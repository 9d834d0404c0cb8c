"""Describe where an interview stands, in plain data that any screen can show.

It must not know how a question is shown.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from askless.run._ahead import Branch
from askless.run._interview import Interview
from askless.run._session import Session

__all__ = ["describe"]


def describe(interview: Interview) -> dict[str, Any]:
    """Return the next question of an interview, or its decision, as plain data.

    Parameters
    ----------
    interview : Interview
        What to describe; it is not changed.

    Returns
    -------
    dict
        ``event`` is ``"question"`` or ``"decision"``. Both have ``spent``,
        ``left_at_worst``, ``why`` it is asked or decided, and ``likely``: the decisions
        that are possible with their shares, the likeliest first. ``mistake_now`` is
        what deciding now costs in mistakes on average, None if they have no price.
        ``unlikely`` is None, or says that hardly any case gives such answers: the
        ``best`` class for them, the ``chance`` that a case of it gives them, what is
        ``usual``, and the ``share`` of all cases that are as odd. A question has the
        ``test``, its ``kind``, ``outcomes``, ``price``, ``price_at_most``, ``ordered``
        (itself, and the tests that are bought together with it), the ``branches`` that
        may follow, and ``decision_now``. A decision has its ``certainty``, which is for
        the cases that the policy was made from, ``cost_of_all``, ``n_unanswered`` and
        the ``path`` to it. ``conflict`` is None, or says that the answers contradict
        the policy: what each of them is ``taken_as`` (None: as if it was skipped), and
        which to ``recheck`` since no case shows them all. All of it can be written as
        JSON.

    Examples
    --------
    >>> import askless
    >>> from askless.run import Interview
    >>> table = askless.Table([["dark", "dead"], ["dark", "live"], ["dim", "live"]],
    ...                       ["fuse", "bulb", "dimmer"], tests=["lamp", "socket"],
    ...                       costs={"lamp": 1, "socket": 5})
    >>> interview = Interview(askless.solve(table).policy)
    >>> question = describe(interview)
    >>> question["test"], question["price"], question["outcomes"]
    ('lamp', 1.0, ['dark', 'dim'])
    >>> interview.answer("dim")
    >>> decision = describe(interview)
    >>> decision["decision"], decision["certainty"], decision["spent"]
    ('dimmer', 1.0, 1.0)
    """
    session = interview.session
    shares = session.shares_that_fit
    money = {
        "spent": session.spent,
        "left_at_worst": session.left_at_worst,
        "conflict": _describe_conflict(session),
        "unlikely": _describe_oddity(session),
        "mistake_now": session.mistake_now,
        "why": session.why(),
    }
    likely = [
        {"decision": label, "share": shares[label]}
        for label in sorted(shares, key=lambda label: -shares[label])
        if shares[label] > 0
    ]
    if interview.is_over:
        return {
            "event": "decision",
            "decision": session.decision,
            "certainty": interview.certainty,
            **money,
            "cost_of_all": session.policy.prices.cost_of_all(),
            "n_unanswered": interview.n_unanswered,
            "path": session.log,
            "likely": likely,
        }
    assert session.test is not None
    test = session.policy.test_by_name[session.test]
    return {
        "event": "question",
        "test": test.name,
        "kind": test.kind,
        "outcomes": list(test.outcomes),
        "price": session.price,
        "price_at_most": session.price_at_most,
        "ordered": list(session.ordered),
        **money,
        "branches": [_describe_branch(branch) for branch in session.branches()],
        "decision_now": session.decision_now,
        "likely": likely,
    }


def _describe_conflict(session: Session) -> dict[str, Any] | None:
    """Return what was answered that no case shows, or None."""
    taken_as = session.contradictions
    if not taken_as:
        return None
    return {"taken_as": taken_as, "recheck": list(session.recheck)}


def _describe_oddity(session: Session) -> dict[str, Any] | None:
    """Return how unlikely the answers are if hardly any case gives such, or None."""
    oddity = session.oddity
    return None if oddity is None or not oddity.is_rare else asdict(oddity)


def _describe_branch(branch: Branch) -> dict[str, Any]:
    return {
        "label": branch.label,
        "outcomes": list(branch.outcomes),
        "share": branch.share,
        "test": branch.test,
        "decision": branch.decision,
        "n_decisions": branch.n_decisions,
        "taken_as": branch.taken_as,
    }
