"""Rules in policy files: the cases, and how a test is chosen."""

from __future__ import annotations

import numpy as np

from askless.exceptions import PolicyFileError
from askless.policy._rule import Rule
from askless.policy.codec._cases import read_cases, write_cases
from askless.policy.codec._codec import Codec, Heading, Measures, price_together
from askless.policy.codec._records import ChoiceRecord, PolicyRecord

__all__ = ["RULE"]


def _write(rule: Rule, record: PolicyRecord) -> None:
    if type(rule) is not Rule:
        raise PolicyFileError(
            "A policy file holds rules that look at the state alone. Got "
            f"{type(rule).__name__}, which keeps more in mind. Make it again from "
            "its table, or let it be written out as a tree."
        )
    chances = [given.tolist() for given in rule.chances]
    record.choice = ChoiceRecord(rule.rule, chances)  # type: ignore[arg-type]
    # Left out only if it is the very object of the default.
    if rule.form != "paper":
        record.choice.form = rule.form  # type: ignore[assignment]
    record.cases = write_cases(rule)
    if rule.order is not None:
        record.order = rule.order.tolist()


def _read(record: PolicyRecord, heading: Heading) -> Rule:
    assert record.choice is not None  # a part that a rule needs
    most = max((test.n_levels for test in heading.tests), default=0)
    cases = read_cases(record, len(heading.tests), most)
    is_order = record.choice.by == "order"
    if bool(record.order) and not is_order:
        raise PolicyFileError(
            "Only a rule that chooses by order must have an order. Got one for "
            f"{record.choice.by!r}. Save the policy again."
        )
    return Rule(
        heading.tests,
        heading.classes,
        heading.prices,
        rule=record.choice.by,
        form=record.choice.form,
        case_codes=cases.codes,
        case_class=cases.classes,
        case_weights=cases.weights,
        chances=tuple(np.array(c, dtype=np.float64) for c in record.choice.chances),
        order=record.order if is_order else None,
        mistakes=heading.mistakes,
    )


def _measure(rule: Rule) -> Measures:
    return price_together(rule, rule.tests_ahead(rule.initial_state()))


RULE = Codec(
    "rule", _write, _read, _measure, needs=("choice", "cases"), may_have=("order",)
)
