"""Posteriors in policy files: the cases, and the chances of what they show."""

from __future__ import annotations

import numpy as np

from askless.exceptions import PolicyFileError
from askless.policy.codec._cases import read_cases
from askless.policy.codec._codec import Codec, Heading, Measures, price_together
from askless.policy.codec._records import CaseRecord, PolicyRecord, PosteriorRecord
from askless.policy.online._posterior import Posterior

__all__ = ["POSTERIOR"]


def _write(policy: Posterior, record: PolicyRecord) -> None:
    model = policy.model
    record.cases = [
        CaseRecord(label, weight, [])
        for label, weight in zip(
            model.case_class.tolist(), model.case_weights.tolist(), strict=True
        )
    ]
    record.posterior = PosteriorRecord(
        policy.criterion,  # type: ignore[arg-type]
        policy.factor,
        [model.rows_of(test).tolist() for test in range(len(policy.tests))],
    )


def _read(record: PolicyRecord, heading: Heading) -> Posterior:
    assert record.posterior is not None  # a part that a posterior needs
    cases = read_cases(record, 0, 0)
    for test, rows in enumerate(record.posterior.chances):
        if any(len(row) != len(record.cases) for row in rows):
            raise PolicyFileError(
                "A posterior must have a chance for each case and outcome. Got others "
                f"for test {test}. Save the policy again."
            )
    return Posterior(
        heading.tests,
        heading.classes,
        heading.prices,
        criterion=record.posterior.by,
        factor=record.posterior.factor,
        chances=[np.array(rows, dtype=np.float64) for rows in record.posterior.chances],
        case_class=cases.classes,
        case_weights=cases.weights,
        mistakes=heading.mistakes,
    )


def _measure(policy: Posterior) -> Measures:
    return price_together(policy, policy.tests_ahead(policy.initial_state()))


POSTERIOR = Codec("posterior", _write, _read, _measure, needs=("posterior", "cases"))
