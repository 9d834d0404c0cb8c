"""Save and load policies as JSON, trusting nothing that is read.

A file is decoded into typed records, its digest is compared with its content, the parts
are checked against one another, and the summary is worked out again. Reading runs no
code from the file. What each kind of policy puts into a file is said by its codec; this
module knows bytes, digests and limits, and must not know kinds.
"""

from __future__ import annotations

import gc
import hashlib
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal
from weakref import WeakKeyDictionary

import msgspec

from askless._disk import write_whole
from askless.exceptions import AsklessError, PolicyFileError
from askless.policy._base import Policy
from askless.policy.codec import (
    check_writable,
    summarise,
    to_lines,
    to_policy,
    to_record,
)
from askless.policy.codec._records import PolicyRecord, SummaryRecord

__all__ = ["dump", "load", "policy_digest", "policy_schema", "save"]

# The newest version of the format; ``PolicyRecord`` has it as a type.
VERSION = 1
# Larger files are refused before they are read.
MAX_BYTES = 512 * 1024 * 1024
# Files are read in pieces of this many bytes.
CHUNK = 1024 * 1024
# Costs in a summary may differ from the ones worked out by no more than rounding.
SUMMARY_TOLERANCE = 1e-9

# Policies never change, so a digest is worked out once. By the policy itself and not in
# it: a copy that is given another way to stop must not keep the digest.
_digests: WeakKeyDictionary[Policy, str] = WeakKeyDictionary()


@contextmanager
def _without_collector() -> Iterator[None]:
    """Keep Python from looking for cycles of objects meanwhile.

    Records are many and have no cycles: looking for them was half of the time in which
    a file of 200,000 nodes was read, and two thirds of that in which it was written.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


# From a policy to bytes.


def dump(policy: Policy) -> bytes:
    """Return a policy as the content of a policy file.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> dump(askless.solve(table).policy)[:28]
    b'{"format": "askless-policy",'
    """
    check_writable(policy)
    try:
        with _without_collector():
            record = to_record(policy)
            record.digest = _remember_digest(policy, record)
            return to_lines(record)
    except UnicodeEncodeError as error:
        raise PolicyFileError(
            "Names in a policy file must be text in UTF-8. Got half of a surrogate "
            f"pair in {error.object!r}. Rename it."
        ) from error


def save(policy: Policy, path: str | Path) -> None:
    """Write a policy to a file, whole or not at all."""
    content = dump(policy)
    try:
        write_whole({Path(path): content})
    except OSError as error:
        raise PolicyFileError(
            "The folder of a policy file must be there, and the file must be writable. "
            f"Got: {error.strerror} for {path}. Choose another path."
        ) from error


def policy_digest(policy: Policy) -> str:
    """Return the digest that the file of a policy carries.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> policy_digest(askless.solve(table).policy)[:7]
    'sha256:'
    """
    if policy in _digests:
        return _digests[policy]
    with _without_collector():
        return _remember_digest(policy, to_record(policy))


def _remember_digest(policy: Policy, record: PolicyRecord) -> str:
    if policy not in _digests:
        _digests[policy] = _digest(record)
    return _digests[policy]


def _digest(record: PolicyRecord) -> str:
    """Return the digest of everything in a record but the digest itself."""
    body = msgspec.structs.replace(record, digest="")
    return "sha256:" + hashlib.sha256(msgspec.json.encode(body)).hexdigest()


# From bytes to a policy.


def load(
    path: str | Path, *, edited: bool = False, max_bytes: int = MAX_BYTES
) -> Policy:
    """Read a policy from a file, and check all of it.

    Parameters
    ----------
    path : str or Path
        A file that :meth:`Policy.save` has written.
    edited : bool, default=False
        Accept a file that was edited by hand: its digest may no longer match its
        content, and its summary is worked out again. Everything else is checked all the
        same. To make it a policy file like any other, save it.
    max_bytes : int, default=536870912
        Refuse larger files.

    Raises
    ------
    PolicyFileError
        If the file is not a policy, or not the one that it claims to be.

    Examples
    --------
    >>> import askless, tempfile
    >>> path = Path(tempfile.mkdtemp(), "car.json")
    >>> askless.solve(askless.datasets.load_car()).policy.save(path)
    >>> askless.load(path).start().test in askless.load(path).test_names
    True
    """
    path = Path(path)
    try:
        content = _read_at_most(path, max_bytes + 1)
    except (OSError, ValueError) as error:
        raise PolicyFileError(
            "A policy file must be there and readable. Got: "
            f"{getattr(error, 'strerror', None) or error} for {path}. Check the path."
        ) from error
    if len(content) > max_bytes:
        raise PolicyFileError(
            f"A policy file must have at most {max_bytes:,} bytes. Got more in {path}. "
            "If it is meant to be that large, pass max_bytes."
        )
    try:
        return parse(content, edited=edited)
    except PolicyFileError as error:
        raise PolicyFileError(f"{error} (in {path})") from error


def _read_at_most(path: Path, n_bytes: int) -> bytes:
    """Read the beginning of a file. Its stated size is no help: a device has none."""
    parts: list[bytes] = []
    with open(path, "rb") as file:
        while n_bytes > 0 and (part := file.read(min(n_bytes, CHUNK))):
            parts.append(part)
            n_bytes -= len(part)
    return b"".join(parts)


def parse(content: bytes, *, edited: bool = False) -> Policy:
    """Return the policy that the content of a file describes; see :func:`load`."""
    with _without_collector():
        return _parse(content, edited)


def _parse(content: bytes, edited: bool) -> Policy:
    record = _decode(content)
    if not edited and record.digest != _digest(record):
        raise PolicyFileError(
            "The digest of a policy file must match its content. Got another one: the "
            "file was changed or damaged. If you edited it by hand, load it with "
            "edited=True and save it again; on the command line: askless show POLICY "
            "--edited --as json -o POLICY."
        )
    try:
        policy = to_policy(record)
    except PolicyFileError:
        raise
    except AsklessError as error:
        raise PolicyFileError(str(error)) from error
    found = summarise(policy)
    if not edited:
        _check_summary(found, record.summary)
        _digests[policy] = record.digest
    return policy


def _decode(content: bytes) -> PolicyRecord:
    try:
        return msgspec.json.decode(content, type=PolicyRecord)
    except msgspec.ValidationError as error:
        _check_version(content)
        raise PolicyFileError(
            f"A policy file must follow its schema. Got: {error}. Save the policy "
            "again."
        ) from error
    except (ValueError, RecursionError) as error:
        raise PolicyFileError(
            f"A policy file must be whole and valid JSON. Got: {error}. Copy or save "
            "it again."
        ) from error


class _Version(msgspec.Struct):
    """What files of every version begin with."""

    format: Literal["askless-policy"]
    version: int


def _check_version(content: bytes) -> None:
    """Refuse a file of a later version in words of its own; other ones pass."""
    try:
        version = msgspec.json.decode(content, type=_Version).version
    except (ValueError, RecursionError):
        return
    if version > VERSION:
        raise PolicyFileError(
            f"A policy file must have version {VERSION} or an earlier one. Got version "
            f"{version}, which a newer Askless wrote. Update Askless to read it."
        )


def _check_summary(found: SummaryRecord, stated: SummaryRecord) -> None:
    for name in SummaryRecord.__struct_fields__:
        a, b = getattr(stated, name), getattr(found, name)
        if not math.isclose(a, b, rel_tol=SUMMARY_TOLERANCE, abs_tol=SUMMARY_TOLERANCE):
            raise PolicyFileError(
                f"The summary of a policy file must be true. Got {name} {a}, and it is "
                f"{b}. Save the policy again."
            )


def policy_schema() -> dict[str, Any]:
    """Return the JSON Schema of a policy file.

    Examples
    --------
    >>> policy_schema()["title"]
    'Askless policy, version 1'
    """
    schema = msgspec.json.schema(PolicyRecord)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Askless policy, version 1",
        **schema,
    }
