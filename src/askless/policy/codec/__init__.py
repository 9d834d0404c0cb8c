"""How each kind of policy is written to a file and read again, one module a kind.

A codec turns a policy into records and back. Bytes, digests and limits are the
business of :mod:`askless.policy._file`.
"""

from __future__ import annotations

from askless.exceptions import PolicyFileError
from askless.policy._base import Policy
from askless.policy.codec._codec import Codec, check_parts
from askless.policy.codec._ensemble import ENSEMBLE
from askless.policy.codec._forest import FOREST
from askless.policy.codec._heading import check_writable, read_heading, write_tests
from askless.policy.codec._number_tree import NUMBER_TREE
from askless.policy.codec._posterior import POSTERIOR
from askless.policy.codec._records import PolicyRecord, SummaryRecord
from askless.policy.codec._rule import RULE
from askless.policy.codec._sequence import SEQUENCE
from askless.policy.codec._text import to_lines
from askless.policy.codec._tree import TREE

__all__ = [
    "CODECS",
    "check_writable",
    "summarise",
    "to_lines",
    "to_policy",
    "to_record",
]

CODECS: dict[str, Codec] = {
    codec.kind: codec
    for codec in (ENSEMBLE, FOREST, NUMBER_TREE, POSTERIOR, RULE, SEQUENCE, TREE)
}


def to_record(policy: Policy) -> PolicyRecord:
    """Return the record of a policy, still without a digest."""
    codec = _codec_of(policy)
    mistakes = None if policy.mistakes is None else policy.mistakes.tolist()
    record = PolicyRecord(
        format="askless-policy",
        version=1,
        kind=policy.kind,  # type: ignore[arg-type]
        tests=write_tests(policy),
        classes=list(policy.classes),
        summary=summarise(policy),
        mistakes=mistakes,
    )
    codec.write(policy, record)
    return record


def to_policy(record: PolicyRecord) -> Policy:
    """Return the policy that a record describes; its summary is not looked at."""
    heading = read_heading(record)
    codec = CODECS[record.kind]
    check_parts(codec, record)
    return codec.read(record, heading)


def summarise(policy: Policy) -> SummaryRecord:
    """Return what a policy amounts to."""
    measures = _codec_of(policy).measure(policy)
    return SummaryRecord(
        n_tests=len(policy.tests),
        n_classes=len(policy.classes),
        n_nodes=measures.n_nodes,
        expected_cost=measures.expected_cost,
        worst_cost=measures.worst_cost,
    )


def _codec_of(policy: Policy) -> Codec:
    codec = CODECS.get(policy.kind)
    if codec is None:
        raise PolicyFileError(
            f"A policy file holds policies of the kinds {', '.join(sorted(CODECS))}. "
            f"Got {policy.kind!r}. Write it out as one of them."
        )
    return codec
