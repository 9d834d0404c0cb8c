"""Save and load policies as JSON, trusting nothing that is read.

A file is decoded into typed records, its digest is compared with its content, the parts
are checked against one another, and the summary is worked out again. Reading runs no
code from the file. This module must not know how policies are walked or drawn.
"""

from __future__ import annotations

import hashlib
import math
import os
import secrets
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from askless.exceptions import AsklessError, PolicyFileError
from askless.policy._base import Policy
from askless.policy._ensemble import Ensemble
from askless.policy._ensemble_file import (
    ensemble_lines,
    from_ensemble,
    to_ensemble,
)
from askless.policy._forest import Forest
from askless.policy._records import (
    CaseRecord,
    ChoiceRecord,
    NodeRecord,
    PolicyRecord,
    SummaryRecord,
    TestRecord,
)
from askless.policy._rule import Rule
from askless.policy._sequence import Sequence
from askless.policy._tree import Tree
from askless.problem import Outcome, PriceList, Test
from askless.problem._tests import MAX_LEVELS, code_dtype

__all__ = ["dump", "load", "policy_digest", "policy_schema", "save"]

# Larger files are refused before they are read.
MAX_BYTES = 512 * 1024 * 1024
# Files are read in pieces of this many bytes.
CHUNK = 1024 * 1024
# Costs in a summary may differ from the ones worked out by no more than rounding.
SUMMARY_TOLERANCE = 1e-9


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
    for test in policy.tests:
        _check_writable(test.outcomes, f"outcomes of {test.name!r}")
    _check_writable(policy.classes, "classes")
    record = _to_record(policy)
    try:
        record.digest = _digest(record)
        return _lines(record)
    except UnicodeEncodeError as error:
        raise PolicyFileError(
            "Names in a policy file must be text in UTF-8. Got half of a surrogate "
            f"pair in {error.object!r}. Rename it."
        ) from error


def _check_writable(labels: tuple[Outcome, ...], what: str) -> None:
    for label in labels:
        is_label = isinstance(label, (str, bool, int, float))
        if isinstance(label, float):
            is_label = math.isfinite(label)
        if not is_label or _is_too_long(label):
            raise PolicyFileError(
                f"The {what} in a policy file must be text, booleans, or finite "
                f"numbers of at most 64 bits. Got {label!r}. Turn it into text."
            )


def save(policy: Policy, path: str | Path) -> None:
    """Write a policy to a file, whole or not at all."""
    # Through a link, so that the file it points to is replaced and not the link.
    path = Path(os.path.realpath(path))
    content = dump(policy)
    draft = path.with_name(f".askless-{secrets.token_hex(8)}")
    try:
        file = open(draft, "xb")  # noqa: SIM115 (closed below, whatever happens)
    except OSError as error:
        raise PolicyFileError(
            f"The folder of a policy file must be writable. Got: {error.strerror} for "
            f"{path}. Choose another folder, or make this one."
        ) from error
    try:
        with file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException as error:
        draft.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise PolicyFileError(
                f"A policy file must be writable. Got: {error.strerror} for {path}. "
                "Choose another path."
            ) from error
        raise


def _lines(record: PolicyRecord) -> bytes:
    """Encode a record with a line for each field, and for each test, node and case."""
    fields = []
    for name, value in msgspec.to_builtins(record).items():
        if name in ("tests", "nodes", "cases"):
            text = _list_lines(value)
        elif name == "ensemble":
            text = ensemble_lines(value)
        elif name == "trees":
            text = b"[" + b",".join(_list_lines(tree) for tree in value) + b"]"
        else:
            text = msgspec.json.encode(value)
        fields.append(f'"{name}": '.encode() + text)
    return b"{" + b",\n ".join(fields) + b"}\n"


def _list_lines(items: list[Any]) -> bytes:
    lines = b",\n  ".join(msgspec.json.encode(item) for item in items)
    return b"[\n  " + lines + b"\n ]"


def _digest(record: PolicyRecord) -> str:
    """Return the digest of everything in a record but the digest itself."""
    body = msgspec.structs.replace(record, digest="")
    return "sha256:" + hashlib.sha256(msgspec.json.encode(body)).hexdigest()


def policy_digest(policy: Policy) -> str:
    """Return the digest that the file of a policy carries."""
    return _digest(_to_record(policy))


def _to_record(policy: Policy) -> PolicyRecord:
    mistakes = None if policy.mistakes is None else policy.mistakes.tolist()
    record = PolicyRecord(
        format="askless-policy",
        version=1,
        kind=policy.kind,  # type: ignore[arg-type]
        tests=[_test_record(policy, i) for i in range(len(policy.tests))],
        classes=list(policy.classes),
        summary=_summarise(policy),
        mistakes=mistakes,
    )
    if isinstance(policy, Ensemble):
        record.ensemble = from_ensemble(policy)
    elif isinstance(policy, Tree):
        record.nodes = _node_records(policy)
    elif isinstance(policy, Forest):
        # A field with its default value is left out: this must be the very object.
        if policy.rule == "counts":
            record.rule = "counts"
        record.trees = [_node_records(policy, tree) for tree in range(policy.n_trees)]
    elif isinstance(policy, Sequence):
        record.order = policy.order.tolist()
        record.stops_early = policy.stops_early
        record.cases = _case_records(policy)
    elif isinstance(policy, Rule):
        _write_rule(policy, record)
    return record


def _case_records(policy: Sequence | Rule) -> list[CaseRecord]:
    return [
        CaseRecord(label, weight, codes)
        for label, weight, codes in zip(
            policy.case_class.tolist(),
            policy.case_weights.tolist(),
            policy.case_codes.T.tolist(),
            strict=True,
        )
    ]


def _write_rule(policy: Rule, record: PolicyRecord) -> None:
    if type(policy) is not Rule:
        raise PolicyFileError(
            "A policy file holds rules that look at the state alone. Got "
            f"{type(policy).__name__}, which keeps more in mind. Make it again from "
            "its table, or let it be written out as a tree."
        )
    chances = [given.tolist() for given in policy.chances]
    record.choice = ChoiceRecord(policy.rule, chances, policy.form)  # type: ignore[arg-type]
    record.cases = _case_records(policy)
    if policy.order is not None:
        record.order = policy.order.tolist()


def _test_record(policy: Policy, index: int) -> TestRecord:
    test, prices = policy.tests[index], policy.prices
    group = prices.group[index]
    by_outcome = prices.by_outcome.get(index)
    return TestRecord(
        name=test.name,
        kind=test.kind,
        cost=float(prices.full[index]),
        outcomes=list(test.outcomes),
        cuts=list(test.cuts),
        group=group,
        discounted_cost=None if group is None else float(prices.discounted[index]),
        delayed=bool(prices.delayed[index]),
        cost_by_outcome=None if by_outcome is None else by_outcome.tolist(),
    )


def _node_records(policy: Tree | Forest, tree: int = 0) -> list[NodeRecord]:
    """Return the nodes of a tree, numbered from its own root."""
    first, last = 0, policy.n_nodes
    if isinstance(policy, Forest):
        first, last = policy.tree_start[tree : tree + 2].tolist()
    return [_node_record(policy, node, first) for node in range(first, last)]


def _node_record(tree: Tree | Forest, node: int, root: int) -> NodeRecord:
    start, end = tree.weight_start[node], tree.weight_start[node + 1]
    classes, weights = tree.weight_class[start:end], tree.weight[start:end]
    record = NodeRecord(
        weights=list(zip(classes.tolist(), weights.tolist(), strict=True)),
        decision=int(tree.node_decision[node]),
    )
    if tree.test[node] >= 0:
        first, last = tree.branch_start[node], tree.branch_start[node + 1]
        record.test = int(tree.test[node])
        record.cut = int(tree.cut[node]) if tree.cut[node] >= 0 else None
        record.default = int(tree.default_branch[node])
        record.branches = list(
            zip(
                tree.branch_code[first:last].tolist(),
                (tree.branch_child[first:last] - root).tolist(),
                strict=True,
            )
        )
    return record


def _summarise(policy: Policy) -> SummaryRecord:
    if isinstance(policy, Tree):
        expected, worst, n_nodes = (
            policy.expected_cost,
            policy.worst_cost,
            policy.n_nodes,
        )
    else:
        # What a sequence or a forest costs depends on the rows; the price of all tests
        # that it asks for is what it may cost.
        n_nodes, asked = 0, policy.tests_ahead(policy.initial_state())
        if isinstance(policy, (Ensemble, Forest)):
            n_nodes, asked = policy.n_nodes, policy.used_tests
        worst = expected = policy.prices.open_bill().charge_together(asked)
    return SummaryRecord(
        n_tests=len(policy.tests),
        n_classes=len(policy.classes),
        n_nodes=n_nodes,
        expected_cost=expected,
        worst_cost=worst,
    )


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
        Accept a file whose content no longer matches its digest, because it was edited
        by hand. Everything else is checked all the same.
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
    record = _decode(content)
    if not edited and record.digest != _digest(record):
        raise PolicyFileError(
            "The digest of a policy file must match its content. Got another one: the "
            "file was changed or damaged. If you edited it by hand, load it with "
            "edited=True and save it again."
        )
    try:
        policy = _to_policy(record)
    except PolicyFileError:
        raise
    except AsklessError as error:
        raise PolicyFileError(str(error)) from error
    _check_summary(policy, record.summary)
    return policy


def _decode(content: bytes) -> PolicyRecord:
    try:
        return msgspec.json.decode(content, type=PolicyRecord)
    except msgspec.ValidationError as error:
        raise PolicyFileError(
            f"A policy file must follow its schema. Got: {error}. Save the policy "
            "again."
        ) from error
    except (ValueError, RecursionError) as error:
        raise PolicyFileError(
            f"A policy file must be whole and valid JSON. Got: {error}. Copy or save "
            "it again."
        ) from error


def _to_policy(record: PolicyRecord) -> Policy:
    tests = tuple(_test(entry) for entry in record.tests)
    prices = _prices(record.tests)
    mistakes = _mistakes(record)
    _check_labels(record.classes, "class")
    if record.ensemble is not None or record.kind == "ensemble":
        _check_ensemble(record)
        assert record.ensemble is not None
        classes = tuple(record.classes)
        return to_ensemble(record.ensemble, tests, classes, prices, mistakes)
    _check_parts(record)
    if record.kind == "forest":
        return Forest.from_arrays(
            [_tree_arrays(nodes) for nodes in record.trees],
            tests,
            tuple(record.classes),
            prices,
            rule=record.rule,
            mistakes=mistakes,
        )
    if record.kind == "tree":
        return Tree(
            tests,
            tuple(record.classes),
            prices,
            mistakes=mistakes,
            **_tree_arrays(record.nodes),
        )
    if record.kind == "rule":
        return _rule(record, tests, prices, mistakes)
    return _sequence(record, tests, prices, mistakes)


def _check_parts(record: PolicyRecord) -> None:
    """Every kind of policy must have its own parts and no others."""
    is_plain = not record.order and not record.cases and record.stops_early
    is_forest = bool(record.trees) or record.rule != "votes"
    if (record.kind == "rule") != (record.choice is not None) or (
        record.kind == "rule"
        and (record.nodes or is_forest or not record.cases or not record.stops_early)
    ):
        raise PolicyFileError(
            "A rule must have a choice and cases, and no nodes, trees, rule or "
            "stops_early; nothing else has a choice. Got another mix. Save the policy "
            "again."
        )
    if record.kind == "tree" and (not is_plain or is_forest or not record.nodes):
        raise PolicyFileError(
            "A tree must have nodes, and no order, cases or stops_early, nor trees or "
            "a rule. Got another mix. Save the policy again."
        )
    if record.kind == "sequence" and (record.nodes or is_forest or not record.cases):
        raise PolicyFileError(
            "A sequence must have cases, and no nodes, trees or rule. Got another mix. "
            "Save the policy again."
        )
    if record.kind == "forest" and (
        not is_plain or record.nodes or not all(record.trees) or not record.trees
    ):
        raise PolicyFileError(
            "A forest must have trees with nodes, and no nodes, order, cases or "
            "stops_early of its own. Got another mix. Save the policy again."
        )


def _check_ensemble(record: PolicyRecord) -> None:
    others = (record.nodes, record.order, record.cases, record.trees, record.choice)
    is_plain = record.stops_early and record.rule == "votes"
    if record.kind != "ensemble" or record.ensemble is None or any(others):
        is_plain = False
    if not is_plain:
        raise PolicyFileError(
            "An ensemble must have its own parts, and no nodes, order, cases or rule. "
            "Got another mix. Save the policy again."
        )


def _test(entry: TestRecord) -> Test:
    if entry.kind == "category":
        if entry.cuts or len(entry.outcomes) > MAX_LEVELS:
            raise PolicyFileError(
                f"A category must have no cuts and at most {MAX_LEVELS:,} outcomes. "
                f"Got others for test {entry.name!r}. Save the policy again."
            )
        _check_labels(entry.outcomes, f"outcome of {entry.name!r}")
    elif entry.outcomes or len(entry.cuts) >= MAX_LEVELS:
        raise PolicyFileError(
            f"A number must have no outcomes and fewer than {MAX_LEVELS:,} cuts. Got "
            f"others for test {entry.name!r}. Save the policy again."
        )
    elif any(not a < b for a, b in zip(entry.cuts, entry.cuts[1:], strict=False)):
        raise PolicyFileError(
            f"Cuts must ascend. Got others for test {entry.name!r}. Sort them."
        )
    return Test(entry.name, entry.kind, tuple(entry.outcomes), tuple(entry.cuts))


def _is_too_long(label: object) -> bool:
    """Return whether a label is a whole number that no column of data can hold."""
    return isinstance(label, int) and not -(2**63) <= label < 2**63


def _check_labels(labels: list[Any], what: str) -> None:
    if any(_is_too_long(label) for label in labels):
        raise PolicyFileError(
            f"Every {what} must fit in 64 bits if it is a whole number. Got a larger "
            "one. Write it as text."
        )
    # 1, 1.0 and True are the same key, so they cannot be told apart.
    if len(set(labels)) != len(labels):
        raise PolicyFileError(
            f"Every {what} must be listed once. Got one again. Save the policy again."
        )


def _prices(entries: list[TestRecord]) -> PriceList:
    for entry in entries:
        priced = entry.cost_by_outcome
        if priced is not None and (
            len(priced) != len(entry.outcomes) or entry.group is not None
        ):
            raise PolicyFileError(
                "A test priced by outcome must have a price for each outcome and no "
                f"group. Got otherwise for {entry.name!r}. Save the policy again."
            )
        if (entry.group is None) != (entry.discounted_cost is None):
            raise PolicyFileError(
                "A test must have a group and a discounted cost, or neither. Got one "
                f"of them for {entry.name!r}. Save the policy again."
            )
    if any(e.delayed for e in entries) and any(e.cost_by_outcome for e in entries):
        raise PolicyFileError(
            "Prices by outcome cannot be combined with delayed tests. Got both. Save "
            "the policy again."
        )
    full = np.array([entry.cost for entry in entries], dtype=np.float64)
    discounted = np.array(
        [e.cost if e.discounted_cost is None else e.discounted_cost for e in entries],
        dtype=np.float64,
    )
    return PriceList(
        full,
        discounted,
        tuple(entry.group for entry in entries),
        np.array([entry.delayed for entry in entries], dtype=bool),
        {
            i: np.array(entry.cost_by_outcome, dtype=np.float64)
            for i, entry in enumerate(entries)
            if entry.cost_by_outcome is not None
        },
    )


def _mistakes(record: PolicyRecord) -> np.ndarray[Any, Any] | None:
    if record.mistakes is None:
        return None
    n = len(record.classes)
    if len(record.mistakes) != n or any(len(row) != n for row in record.mistakes):
        raise PolicyFileError(
            f"mistakes must have {n} rows and columns, one for each class. Got another "
            "shape. Save the policy again."
        )
    return np.array(record.mistakes, dtype=np.float64)


def _tree_arrays(nodes: list[NodeRecord]) -> dict[str, Any]:
    def ints(values: list[int]) -> Any:
        if any(value > np.iinfo(np.int32).max for value in values):
            raise PolicyFileError(
                "Indices must fit in 32 bits. Got a larger one. Save the policy again."
            )
        return np.array(values, dtype=np.int32)

    n_branches = np.cumsum([0] + [len(node.branches) for node in nodes])
    n_weights = np.cumsum([0] + [len(node.weights) for node in nodes])
    return {
        "test": ints([-1 if n.test is None else n.test for n in nodes]),
        "cut": ints([-1 if n.cut is None else n.cut for n in nodes]),
        "default_branch": ints([-1 if n.default is None else n.default for n in nodes]),
        "decision": ints([n.decision for n in nodes]),
        "branch_start": n_branches.astype(np.int32),
        "branch_code": ints([code for n in nodes for code, _ in n.branches]),
        "branch_child": ints([child for n in nodes for _, child in n.branches]),
        "weight_start": n_weights.astype(np.int64),
        "weight_class": ints([label for n in nodes for label, _ in n.weights]),
        "weight": np.array([w for n in nodes for _, w in n.weights], dtype=np.float64),
    }


def _case_arrays(record: PolicyRecord, n_tests: int, most: int) -> tuple[Any, Any, Any]:
    """Return codes by test, classes and weights of the cases of a file."""
    for case in record.cases:
        if len(case.codes) != n_tests or any(c > most + 1 for c in case.codes):
            raise PolicyFileError(
                "Every case must have a code for each test of the order, or of the "
                "rule, within the test's outcomes. Got others. Save the policy again."
            )
    codes = np.array([case.codes for case in record.cases], dtype=code_dtype(most))
    labels = [case.label for case in record.cases]
    if max(labels) >= len(record.classes):
        raise PolicyFileError(
            f"Cases must be of one of {len(record.classes)} classes. Got class "
            f"{max(labels)}. Number the classes from 0."
        )
    if any(index >= len(record.tests) for index in record.order):
        raise PolicyFileError(
            f"The order must name tests 0 to {len(record.tests) - 1}. Got "
            f"{max(record.order)}. Save the policy again."
        )
    return (
        np.ascontiguousarray(codes.reshape(len(record.cases), n_tests).T),
        np.array(labels, dtype=np.int32),
        np.array([case.weight for case in record.cases], dtype=np.float64),
    )


def _sequence(
    record: PolicyRecord, tests: tuple[Test, ...], prices: PriceList, mistakes: Any
) -> Sequence:
    most = max((test.n_levels for test in tests), default=0)
    codes, labels, weights = _case_arrays(record, len(record.order), most)
    return Sequence(
        tests,
        tuple(record.classes),
        prices,
        order=record.order,
        case_codes=codes,
        case_class=labels,
        case_weights=weights,
        stops_early=record.stops_early,
        mistakes=mistakes,
    )


def _rule(
    record: PolicyRecord, tests: tuple[Test, ...], prices: PriceList, mistakes: Any
) -> Rule:
    assert record.choice is not None
    most = max((test.n_levels for test in tests), default=0)
    codes, labels, weights = _case_arrays(record, len(tests), most)
    is_order = record.choice.by == "order"
    if bool(record.order) and not is_order:
        raise PolicyFileError(
            "Only a rule that chooses by order must have an order. Got one for "
            f"{record.choice.by!r}. Save the policy again."
        )
    return Rule(
        tests,
        tuple(record.classes),
        prices,
        rule=record.choice.by,
        form=record.choice.form,
        case_codes=codes,
        case_class=labels,
        case_weights=weights,
        chances=tuple(np.array(c, dtype=np.float64) for c in record.choice.chances),
        order=record.order if is_order else None,
        mistakes=mistakes,
    )


def _check_summary(policy: Policy, stated: SummaryRecord) -> None:
    found = _summarise(policy)
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
