"""Ensembles in policy files: trees as short lists of numbers, sets as lists of codes.

What is read is checked twice: each list against the others here, and the trees that
they make by the policy itself.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import PolicyFileError
from askless.policy.codec._codec import Codec, Heading, Measures, price_together
from askless.policy.codec._records import EnsembleRecord, PolicyRecord, TreeRecord
from askless.policy.ensemble._ensemble import Ensemble
from askless.policy.ensemble._output import SINGLE_SUMS, Output
from askless.policy.ensemble._parts import IS_SET, EnsembleTrees
from askless.problem import Test
from askless.problem._tests import MAX_LEVELS

__all__ = ["ENSEMBLE"]

LARGEST_INDEX = int(np.iinfo(np.int32).max)


def _write(policy: Ensemble, record: PolicyRecord) -> None:
    record.ensemble = _from_ensemble(policy)


def _from_ensemble(policy: Ensemble) -> EnsembleRecord:
    for test in policy.tests:
        if len(test.cuts) >= MAX_LEVELS:
            raise PolicyFileError(
                f"A test in a policy file has fewer than {MAX_LEVELS:,} cuts. Got "
                f"{len(test.cuts):,} for {test.name!r}. Grow smaller trees."
            )
    trees, output = policy.trees, policy.output
    sets: list[list[int]] = []
    listed = [
        _tree_record(policy, first, last, int(output), sets)
        for (first, last), output in zip(
            pairwise(trees.tree_start.tolist()), trees.output, strict=True
        )
    ]
    record = EnsembleRecord(
        link=output.link,
        offset=list(output.offset),
        bounds=policy.bounds,  # type: ignore[arg-type]
        trees=listed,
        sets=sets,
        divisor=output.divisor,
        slope=output.slope,
        single_precision=output.is_single,
        threshold=policy.threshold,
        varies_together=policy.varies_together,
        max_cost=policy.max_cost,
        complete=policy.is_complete,
        tolerance=policy.tolerance,
        eagerness=list(policy.eagerness or ()),
    )
    # Left out only if it is the very object of the default, not one that was pickled.
    if output.decides_by != "raw":
        record.decides_by = output.decides_by
    if output.functions != "numpy":
        record.functions = output.functions
    return record


def _tree_record(
    policy: Ensemble, first: int, last: int, output: int, sets: list[list[int]]
) -> TreeRecord:
    trees = policy.trees
    inner = first + np.flatnonzero(~trees.is_leaf[first:last])
    leaves = first + np.flatnonzero(trees.is_leaf[first:last])
    cuts = trees.cut[inner].tolist()
    for i, node in enumerate(inner.tolist()):
        if trees.flags[node] & IS_SET:
            cuts[i] = len(sets)
            sets.append(_codes_of(trees, node, policy.tests[trees.test[node]]))
    return TreeRecord(
        output=output,
        test=trees.test[first:last].tolist(),
        cut=cuts,
        right=(trees.right[inner] - first).tolist(),
        flags=trees.flags[inner].tolist(),
        weight=trees.weight[leaves].tolist(),
        value=trees.value[leaves].tolist(),
    )


def _codes_of(trees: EnsembleTrees, node: int, test: Test) -> list[int]:
    """Return the codes of a set that go left."""
    n_words = (test.n_levels + 2 + 63) // 64
    start = int(trees.cut[node])
    words = trees.words[start : start + n_words].astype("<u8")
    bits = np.unpackbits(words.view(np.uint8), bitorder="little")
    return np.flatnonzero(bits[: test.n_levels + 2]).tolist()


def _read(whole: PolicyRecord, heading: Heading) -> Ensemble:
    assert whole.ensemble is not None  # a part that an ensemble needs
    record = whole.ensemble
    if record.link in SINGLE_SUMS and len(record.offset) != 1:
        _refuse("An ensemble of two classes or numbers must have one offset", "others")
    return Ensemble(
        heading.tests,
        heading.classes,
        heading.prices,
        trees=_read_trees(record, heading.tests),
        output=Output(
            record.link,
            tuple(record.offset),
            divisor=record.divisor,
            slope=record.slope,
            decides_by=record.decides_by,
            is_single=record.single_precision,
            functions=record.functions,
        ),
        threshold=record.threshold,
        varies_together=record.varies_together,
        max_cost=record.max_cost,
        is_complete=record.complete,
        tolerance=record.tolerance,
        eagerness=record.eagerness or None,
        bounds=record.bounds,
        mistakes=heading.mistakes,
    )


def _read_trees(record: EnsembleRecord, tests: tuple[Test, ...]) -> EnsembleTrees:
    sizes = [len(tree.test) for tree in record.trees]
    starts = np.cumsum([0, *sizes]).astype(np.int64)
    n_nodes = int(starts[-1])
    width = len(record.trees[0].value[0]) if record.trees[0].value else 0
    test = _ints([t for tree in record.trees for t in tree.test])
    is_leaf = test < 0
    for i, tree in enumerate(record.trees):
        n_inner = int(np.count_nonzero(~is_leaf[starts[i] : starts[i + 1]]))
        n_leaves = len(tree.test) - n_inner
        lengths = [len(tree.cut), len(tree.right), len(tree.flags)]
        if lengths != [n_inner] * 3 or len(tree.weight) != n_leaves:
            _refuse("A tree must have a cut, a right child and flags for each test, "
                    "and a weight for each leaf", f"others in tree {i}")  # fmt: skip
        if len(tree.value) != n_leaves or any(len(v) != width for v in tree.value):
            _refuse(f"A leaf must have {width} values", f"others in tree {i}")
    cut, right, flags = (np.zeros(n_nodes, dtype=np.int32) for _ in range(3))
    weight, value = np.ones(n_nodes), np.zeros((n_nodes, width))
    cut[~is_leaf] = _ints([c for tree in record.trees for c in tree.cut])
    flags[~is_leaf] = _ints([f for tree in record.trees for f in tree.flags])
    right[~is_leaf] = _ints(
        [
            r + start
            for tree, start in zip(record.trees, starts.tolist(), strict=False)
            for r in tree.right
        ]
    )
    weight[is_leaf] = [w for tree in record.trees for w in tree.weight]
    value[is_leaf] = [v for tree in record.trees for v in tree.value]
    words = _place_sets(record.sets, test, cut, flags, tests)
    return EnsembleTrees(
        test=test,
        cut=cut,
        right=right,
        flags=flags,
        words=words,
        tree_start=starts,
        output=_ints([tree.output for tree in record.trees]),
        weight=weight,
        value=value,
    )


def _place_sets(
    sets: list[list[int]],
    test: NDArray[np.int32],
    cut: NDArray[np.int32],
    flags: NDArray[np.int32],
    tests: tuple[Test, ...],
) -> NDArray[np.uint64]:
    """Turn sets into words, and let the nodes name where theirs start."""
    words = []
    n_words = 0
    for node in np.flatnonzero(flags & IS_SET):
        which, asked = int(cut[node]), int(test[node])
        if not (0 <= which < len(sets) and 0 <= asked < len(tests)):
            _refuse("A split by a set must name a set and a test", "another")
        n_codes = tests[asked].n_levels + 2
        if any(code >= n_codes for code in sets[which]):
            _refuse(f"A set of {tests[asked].name!r} must be of its codes", "others")
        bits = np.zeros((n_codes + 63) // 64 * 64, dtype=np.uint8)
        bits[sets[which]] = 1
        packed = np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)
        cut[node] = n_words
        n_words += len(packed)
        words.append(packed)
    return np.concatenate([*words, np.zeros(0, dtype=np.uint64)])


def _ints(values: list[int]) -> NDArray[np.int32]:
    if any(not -1 <= value <= LARGEST_INDEX for value in values):
        _refuse("Indices must fit in 32 bits", "a larger one")
    return np.array(values, dtype=np.int32)


def _refuse(rule: str, got: str) -> None:
    raise PolicyFileError(f"{rule}. Got {got}. Save the policy again.")


def _measure(policy: Ensemble) -> Measures:
    return price_together(policy, policy.used_tests, policy.n_nodes)


ENSEMBLE = Codec("ensemble", _write, _read, _measure, needs=("ensemble",))
