"""Sequences in policy files."""

from __future__ import annotations

from askless.policy._sequence import Sequence
from askless.policy.codec._cases import read_cases, write_cases
from askless.policy.codec._codec import Codec, Heading, Measures, price_together
from askless.policy.codec._records import PolicyRecord

__all__ = ["SEQUENCE"]


def _write(sequence: Sequence, record: PolicyRecord) -> None:
    record.order = sequence.order.tolist()
    record.stops_early = sequence.stops_early
    record.cases = write_cases(sequence)


def _read(record: PolicyRecord, heading: Heading) -> Sequence:
    most = max((test.n_levels for test in heading.tests), default=0)
    cases = read_cases(record, len(record.order), most)
    return Sequence(
        heading.tests,
        heading.classes,
        heading.prices,
        order=record.order,
        case_codes=cases.codes,
        case_class=cases.classes,
        case_weights=cases.weights,
        stops_early=record.stops_early,
        mistakes=heading.mistakes,
    )


def _measure(sequence: Sequence) -> Measures:
    return price_together(sequence, sequence.tests_ahead(sequence.initial_state()))


SEQUENCE = Codec(
    "sequence",
    _write,
    _read,
    _measure,
    needs=("cases",),
    may_have=("order", "stops_early"),
)
