"""Where a case stands after some answers: what to ask next, or what is decided.

Plain data in, plain data out; the same for stateless requests, sessions, pages and
tools. This module must not know how a request came or where answers are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from askless.exceptions import InvalidAnswerError, InvalidOptionError
from askless.policy import Policy
from askless.problem import Test
from askless.run import Interview, Session
from askless.run._evidence import stops_by_price
from askless.serve.kept._paths import Paths

__all__ = [
    "EXTRAS",
    "Recall",
    "apply_answer",
    "collect",
    "describe_test",
    "explain",
    "follow",
    "list_unused",
]

# What is worked out only if it is asked for.
EXTRAS = ("why", "branches", "decision_now", "left_at_worst", "shares")
# Likely decisions beyond these are left out.
MAX_SHARES = 20


def follow(
    policy: Policy,
    answers: Sequence[Mapping[str, Any]],
    recall: Recall | None = None,
) -> Interview:
    """Return an interview that has taken all answers that the policy asks for.

    Answers may come in any order: each is used when its test is asked, and one that is
    never asked is left aside.

    Parameters
    ----------
    policy : Policy
    answers : sequence of mapping
        Each names its ``test``, and has an ``outcome``, or is ``skipped`` or
        ``unsure``.
    recall : Recall, optional
        Remembers where answers have led before.

    Raises
    ------
    InvalidAnswerError
        If an answer names no test, or one that cannot show what it says.
    """
    known: dict[str, Mapping[str, Any]] = {}
    for answer in answers:
        name = answer.get("test")
        if name not in policy.test_by_name:
            raise InvalidAnswerError(
                f"An answer must name a test of the policy. Got {name!r}. See the "
                "tests of the policy."
            )
        known[str(name)] = answer
    recall = recall or Recall(Paths(), "")
    path: tuple[Any, ...] = ()
    session = recall.find(path) or recall.keep(path, policy.start())
    # A skipped test may be asked again; then the case has nowhere to go.
    while session.test in known and len(path) <= len(known):
        answer = known[session.test]
        path += (_to_key(answer),)
        found = recall.find(path)
        if found is None:
            interview = Interview(policy, session=session.copy())
            apply_answer(interview, answer)
            found = recall.keep(path, interview.session)
        session = found
    return Interview(policy, session=session)


class Recall(NamedTuple):
    """Where the answers to one policy have led before."""

    paths: Paths
    digest: str

    def find(self, path: tuple[Any, ...]) -> Session | None:
        """Return the session at the end of a path, not to be changed."""
        return self.paths.find(self.digest, path)

    def keep(self, path: tuple[Any, ...], session: Session) -> Session:
        """Remember a session, and return it."""
        self.paths.keep(self.digest, path, session)
        return session


def _to_key(answer: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return an answer as a key. 1, 1.0 and true are equal, and yet three answers."""
    outcome = answer.get("outcome")
    kind = type(outcome).__name__
    unclear = bool(answer.get("skipped")), bool(answer.get("unsure"))
    return (answer["test"], kind, outcome, "outcome" in answer, *unclear)


def list_unused(
    interview: Interview, answers: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return the tests that were answered and not asked for."""
    asked = {entry["test"] for entry in interview.session.log}
    return [str(a["test"]) for a in answers if a["test"] not in asked]


def apply_answer(interview: Interview, answer: Mapping[str, Any]) -> None:
    """Take one answer: an outcome, or that the test was skipped or left unclear."""
    if answer.get("skipped"):
        interview.skip()
    elif answer.get("unsure"):
        interview.unsure()
    elif "outcome" in answer:
        interview.answer(answer["outcome"])
    else:
        raise InvalidAnswerError(
            "An answer must have an outcome, or be skipped or unsure. Got neither for "
            f"{answer.get('test')!r}. Say what the test showed."
        )


def explain(
    interview: Interview, include: Collection[str] = (), *, unused: Sequence[str] = ()
) -> dict[str, Any]:
    """Return where an interview stands.

    Parameters
    ----------
    interview : Interview
    include : collection of str
        What to work out besides, any of :data:`EXTRAS`.
    unused : sequence of str
        Tests whose answers were not asked for.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> interview = follow(askless.solve(table).policy, [])
    >>> state = explain(interview, ["why"])
    >>> state["test"]["name"], state["test"]["price"], state["spent"]
    ('last bit', 1.0, 0.0)
    >>> interview.answer(1)
    >>> explain(interview)["decision"]
    'odd'
    """
    for name in include:
        if name not in EXTRAS:
            raise InvalidOptionError(
                f"What to include must be any of {', '.join(EXTRAS)}. Got {name!r}. "
                "Leave it out."
            )
    session = interview.session
    conflict = session.contradictions
    state: dict[str, Any] = {
        "done": interview.is_over,
        "spent": session.spent,
        "bought": list(session.bought),
        "contradictions": list(conflict),
        "recheck": list(session.recheck) if conflict else [],
        "unused": list(unused),
    }
    if interview.is_over:
        state |= {
            "decision": session.decision,
            "certainty": _certainty(interview),
            "stop_reason": _stop_reason(interview),
            "cost_of_all": session.policy.prices.cost_of_all(),
            "unanswered": interview.n_unanswered,
        }
    else:
        state["test"] = describe_test(interview)
    for name in EXTRAS:
        if name in include:
            state[name] = _WORK[name](interview)
    return state


def describe_test(interview: Interview) -> dict[str, Any]:
    """Return the next test, with what it costs and what it can show."""
    session = interview.session
    assert session.test is not None
    test = session.policy.test_by_name[session.test]
    return {
        "name": test.name,
        "kind": test.kind,
        "price": session.price,
        "price_at_most": session.price_at_most,
        "bought_together": [name for name in session.ordered if name != test.name],
        **_values(test),
    }


def _values(test: Test) -> dict[str, Any]:
    if test.kind == "category":
        return {"outcomes": list(test.outcomes)}
    unit = unit_of(test.name)
    compared = {"from": min(test.cuts), "to": max(test.cuts)} if test.cuts else None
    return {"unit": unit, "compared": compared}


def unit_of(name: str) -> str | None:
    """Return the unit that the name of a test ends with, in brackets.

    Examples
    --------
    >>> unit_of("age (years)"), unit_of("lamp")
    ('years', None)
    """
    for left, right in ("()", "[]"):
        if name.endswith(right) and left in name[:-1]:
            unit = name[name.rindex(left) + 1 : -1].strip()
            return unit or None
    return None


def _certainty(interview: Interview) -> float | None:
    """Return the share of the decision among the classes, where there are classes."""
    policy = interview.session.policy
    return None if policy.answers_number else interview.certainty


def _stop_reason(interview: Interview) -> str:
    """Return why nothing more is asked."""
    if interview.session.contradictions:
        return "no case fits all answers"
    if interview.n_unanswered:
        return "no further test, some not answered"
    certainty = _certainty(interview)
    if certainty is not None and certainty < 1:
        is_dear = stops_by_price(interview.session.policy)
        return f"no further test{' is worth its price' * is_dear}"
    return "nothing else is possible"


def _branches(interview: Interview) -> list[dict[str, Any]]:
    if interview.is_over:
        return []
    return [
        {
            "label": branch.label,
            "share": branch.share,
            "test": branch.test,
            "decision": branch.decision,
            "taken_as": branch.taken_as,
        }
        for branch in interview.session.branches()
    ]


def collect(interview: Interview) -> list[dict[str, Any]]:
    """Return the likely decisions with their shares, the likeliest first."""
    if interview.session.policy.answers_number:
        return []
    shares = interview.session.probabilities
    likely = sorted(shares.items(), key=lambda item: -item[1])[:MAX_SHARES]
    return [{"decision": c, "share": s} for c, s in likely if s > 0]


_WORK: dict[str, Callable[[Interview], Any]] = {
    "why": lambda interview: interview.session.why(),
    "branches": _branches,
    "decision_now": lambda interview: interview.session.decision_now,
    "left_at_worst": lambda interview: interview.session.left_at_worst,
    "shares": collect,
}
