"""What any door of the service asks a policy for: the list, what next, why, rows.

Plain data in, plain data out. It must not know whether HTTP, a tool call or a form
asks, and keeps no session.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from askless.policy import Policy
from askless.policy._base import raw_columns
from askless.run import Interview
from askless.serve._steps import Recall, explain, follow, list_unused
from askless.serve.kept._library import Library, Offer
from askless.serve.kept._paths import Paths

__all__ = ["Asker", "describe_offer", "describe_policy"]


class Asker:
    """Answers questions about policies, from all answers so far.

    Parameters
    ----------
    library : Library
        The policies.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> asker = Asker(Library([("parity", askless.solve(table).policy)]))
    >>> offer = asker.find("parity")
    >>> asker.next(offer, [])["test"]["name"]
    'last bit'
    >>> asker.next(offer, [{"test": "last bit", "outcome": 1}])["decision"]
    'odd'
    >>> asker.decide(offer, [{"last bit": 0}])
    [{'decision': 'even', 'cost': 1.0}]
    """

    def __init__(self, library: Library) -> None:
        self.library = library
        self._paths = Paths()

    def find(self, name: str) -> Offer:
        """Return the policy that ``name`` or ``name@version`` stands for."""
        self.library.refresh()
        plain, _, version = name.partition("@")
        return self.library.find(plain, version or None)

    def list(self) -> list[dict[str, Any]]:
        """Return what is offered."""
        self.library.refresh()
        return [describe_offer(offer) for offer in self.library.offers()]

    def follow(self, offer: Offer, answers: Sequence[dict[str, Any]]) -> Interview:
        """Return where answers lead; what is returned must not be changed."""
        return follow(offer.policy, answers, Recall(self._paths, offer.digest))

    def next(
        self,
        offer: Offer,
        answers: Sequence[dict[str, Any]],
        include: Collection[str] = (),
    ) -> dict[str, Any]:
        """Return what to ask after some answers, or what is decided."""
        interview = self.follow(offer, answers)
        unused = list_unused(interview, answers)
        state = explain(interview, include, unused=unused)
        return {"policy": offer.name, "version": offer.digest, **state}

    def decide(self, offer: Offer, rows: Sequence[dict[str, Any]]) -> Any:
        """Return the decision for each row, and what it pays."""
        if not rows:
            return []
        policy = offer.policy
        columns: dict[str, Any] = {}
        for name in policy.columns:
            column = np.empty(len(rows), dtype=object)
            column[:] = [row.get(name) for row in rows]
            columns[name] = column
        if not columns:
            # Nothing is asked; any column says how many rows there are.
            columns[policy.test_names[0]] = np.zeros(len(rows), dtype=object)
        decisions, costs = policy.predict_and_cost(columns)
        decided = [
            {"decision": decision, "cost": cost}
            for decision, cost in zip(decisions.tolist(), costs.tolist(), strict=True)
        ]
        for name, unseen in _find_unseen(policy, columns):
            for row in unseen:
                decided[row].setdefault("unseen", []).append(name)
        return decided


def _find_unseen(
    policy: Policy, columns: dict[str, Any]
) -> Iterator[tuple[str, list[int]]]:
    """Yield each category with the rows whose outcome the policy does not know.

    They are decided all the same, as if the outcome were open.
    """
    used = [
        i
        for i, test in enumerate(policy.tests)
        if test.kind == "category" and test.name in columns
    ]
    cleaned, _ = raw_columns(columns, policy.coding, used)
    for index in used:
        test = policy.tests[index]
        unseen = test.encode_clean(cleaned[test.name]) == test.unknown_code
        if unseen.any():
            yield test.name, np.flatnonzero(unseen).tolist()


def describe_offer(offer: Offer) -> dict[str, Any]:
    """Return what a list of policies says of one."""
    policy = offer.policy
    return {
        "name": offer.name,
        "version": offer.digest,
        "kind": policy.kind,
        "n_tests": len(policy.tests),
        "n_classes": len(policy.classes),
        "cost_of_all": policy.prices.cost_of_all(),
    }


def describe_policy(offer: Offer) -> dict[str, Any]:
    """Return a policy with its tests, prices and classes."""
    policy = offer.policy
    tests = [
        {
            "name": test.name,
            "kind": test.kind,
            "cost": float(policy.prices.full[index]),
            "outcomes": list(test.outcomes) if test.kind == "category" else None,
        }
        for index, test in enumerate(policy.tests)
    ]
    return {**describe_offer(offer), "tests": tests, "classes": list(policy.classes)}
